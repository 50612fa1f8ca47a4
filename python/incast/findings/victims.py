"""Findings about flows that PFC blocks although they do not cause the congestion."""

from __future__ import annotations

from collections.abc import Iterator

from incast.charts.source import Source
from incast.findings.finding import LONG_PAUSES, Finding
from incast.findings.words import counted, prefix_if_equal, share, spread, time

PART = 0.01
"""Smallest share of victim time in blocked time that is reported (our choice)."""


def victims(source: Source) -> Iterator[Finding]:
    """Flows blocked as victims, their time as such, and its share of the time blocked by PFC; needs `measure.blocking`.

    Not for schemes with a deadlock: queues of a cycle wait for each other, so their flows have no root elsewhere.
    """
    if not source.count("waits"):
        return
    rows = source.rows(
        "select scheme, count(*) filter (victim_ps + host_victim_ps > 0), "
        "sum(victim_ps + host_victim_ps)::double, sum(blocked_ps + host_blocked_ps)::double from waits group by scheme"
    )
    found = {
        scheme: values
        for scheme, *values in source.by_scheme(rows)
        if values[2] and not source.manifests[scheme].get("deadlocks")
    }
    if any(victim >= PART * blocked for _, victim, blocked in found.values()):
        flows = {scheme: each[0] for scheme, each in found.items()}
        times = {scheme: each[1] for scheme, each in found.items()}
        parts = {scheme: victim / blocked for scheme, (_, victim, blocked) in found.items()}
        text = (
            f"{prefix_if_equal(flows, source.schemes)}PFC blocked {counted(flows, 'flow')} as victims, for "
            f"{spread(times, time)} summed over packets, at hosts over flows: {spread(parts, share)} of the blocked "
            "time had its root cause elsewhere."
        )
        # Next to the pauses: `measure.blocking` asks for victims, and a summary prints few findings.
        yield Finding("victims", LONG_PAUSES - 1, text, tuple(found))
