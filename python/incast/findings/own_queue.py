"""Findings about the queues of hosts' own ports."""

from __future__ import annotations

from collections.abc import Iterator

from incast.charts.source import Source
from incast.findings.finding import RETRANSMISSIONS, Finding
from incast.findings.words import prefix, sentence, size, spread, time

LONG_PS = 10**9
"""Shortest wait in a host's own queue that is reported, in ps (our choice: 1 ms; TCP's small queues in Linux
hold as much at the pacing rate, `tcp_small_queue_check`)."""
TIMES = 10
"""Least ratio of this wait to the longest at a switch (our choice)."""


def own_queues(source: Source) -> Iterator[Finding]:
    """Schemes whose packets waited for 1 ms or more in the queue of their own host, ten times as long as at switches.

    A wait is the longest queue of a priority divided by the rate of the port.
    """
    waits = {scheme: row for scheme, *row in source.by_scheme(source.rows(_WAITS, {"long": LONG_PS, "times": TIMES}))}
    if not waits:
        return
    own = {scheme: row[0] for scheme, row in waits.items()}
    longest = max(own, key=lambda scheme: own[scheme])
    _, bytes_, host, at_switch = waits[longest]
    text = (
        f"{prefix(list(waits), source.schemes)}packets waited up to {spread(own, time)} in the queue of their own host "
        f"({host}: {size(bytes_)}), at switches up to {time(at_switch)}. This queue has no limit, unless "
        "`host.nic_queue` is `port` and `switch.queues` has a limit."
    )
    yield Finding("own_queue", RETRANSMISSIONS + 1, sentence(text), tuple(waits))


_WAITS = """
    with waits as (
        select scheme, node_name, tier, peak_queue_bytes, peak_queue_bytes * 8e12 / rate_bps as wait from ports)
    select scheme, max(wait) filter (tier = 0) as own, arg_max(peak_queue_bytes, wait) filter (tier = 0),
        arg_max(node_name, wait) filter (tier = 0), coalesce(max(wait) filter (tier > 0), 0) as others
    from waits group by scheme having own >= $long and own >= $times * others
"""
