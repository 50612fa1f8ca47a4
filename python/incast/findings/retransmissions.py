"""Findings about retransmissions."""

from __future__ import annotations

from collections.abc import Iterator

from incast.charts.source import Source
from incast.findings.finding import RETRANSMISSIONS, Finding
from incast.findings.words import counted, prefix, prefix_if_equal, sentence, share, spread

PART = 0.01
"""Smallest share of retransmissions among sent packets that is reported (our choice)."""
TIMES = 2.0
"""Smallest number of retransmissions for each lost packet that is reported (our choice)."""


def retransmissions(source: Source) -> Iterator[Finding]:
    """Schemes that resent at least 1 % of their packets, and at least two for each lost packet.

    Resent packets without any loss are a warning of the run instead.
    """
    rows = source.rows("select scheme, sum(retransmitted)::bigint, sum(packets)::bigint from flows group by scheme")
    found = {}
    for scheme, resent, sent in source.by_scheme(rows):
        lost = int(source.manifests[scheme]["counts"]["drops"])
        if lost and resent >= TIMES * lost and resent >= PART * sent:
            found[scheme] = (resent, sent, lost)
    if found:
        again = counted({scheme: each[0] for scheme, each in found.items()}, "packet")
        part = spread({scheme: each[0] / each[1] for scheme, each in found.items()}, share)
        missing = counted({scheme: each[2] for scheme, each in found.items()}, "lost packet")
        yield Finding(
            "retransmissions",
            RETRANSMISSIONS,
            sentence(
                f"{prefix(list(found), source.schemes)}hosts resent {again}, {part} of those sent, for {missing}."
            ),
            tuple(found),
        )


def timeouts(source: Source) -> Iterator[Finding]:
    """Retransmission timeouts, unless links failed: then the finding about failures has their number."""
    if source.count("links"):
        return
    rows = source.rows(
        "select scheme, sum(timeouts)::bigint, count(*) filter (timeouts > 0), count(*) from flows group by scheme"
    )
    found = {scheme: values for scheme, *values in source.by_scheme(rows)}
    found = {scheme: values for scheme, values in found.items() if values[0]}
    if found:
        events, hit, all_ = ({scheme: each[place] for scheme, each in found.items()} for place in range(3))
        flows = "as many flows" if events == hit else counted(hit, "flow")
        text = f"hosts had {counted(events, 'retransmission timeout')}, in {flows} of {spread(all_)}."
        yield Finding(
            "timeouts", RETRANSMISSIONS, sentence(prefix_if_equal(events, source.schemes) + text), tuple(found)
        )
