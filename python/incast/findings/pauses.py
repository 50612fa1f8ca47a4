"""Findings about PFC pauses."""

from __future__ import annotations

from collections.abc import Iterator

from incast.charts.source import Source
from incast.charts.storms import configured
from incast.findings.chains import trees
from incast.findings.finding import LONG_PAUSES, PAUSES, Finding
from incast.findings.words import longest, prefix_if_equal, share

ROOT = 0.25
"""Smallest share of the paused time for which the root is named (our choice)."""
LONG = 0.01
"""Smallest share of the time for which a port is paused that counts as long (our choice)."""


def pauses(source: Source) -> Iterator[Finding]:
    """Number of paused ports, the port paused longest, and the root of the most paused time, if at least a quarter.

    Shares count from the first start of a flow or pause to the end of the run. Runs with a configured storm have the
    finding about storms instead.
    """
    if not source.count("pauses") or configured(source):
        return
    spans = {name: max(1, int(each["end_ps"]) - source.begins.get(name, 0)) for name, each in source.manifests.items()}
    rows = source.rows(
        "select scheme, count(distinct port) filter (paused_ps > 0), max(paused_ps), "
        "arg_max(node_name || ' to ' || peer_name, paused_ps) from ports group by scheme"
    )
    found = {scheme: values for scheme, *values in source.by_scheme(rows)}
    ports = {scheme: values[0] for scheme, values in found.items() if values[0]}
    if not ports:
        return
    shares = {scheme: found[scheme][1] / spans[scheme] for scheme in ports}
    worst = max(shares, key=lambda scheme: shares[scheme])
    several = len(ports) > 1
    text = f"{prefix_if_equal(ports, source.schemes)}PFC paused {longest(ports, shares, 'the time')}"
    text += f" ({found[worst][2]}{f' under {worst}' if several else ''})"
    mine = [tree for tree in trees(source) if tree.scheme == worst]
    part = mine[0].paused_ps / sum(tree.paused_ps for tree in mine) if mine else 0
    if part >= ROOT:
        time = "all" if part == 1 else f"{share(part)} of the"
        text += f"; {mine[0].root} was the root of {time} paused time{f' under {worst}' if several else ''}"
    importance = LONG_PAUSES if shares[worst] >= LONG else PAUSES
    yield Finding("pauses", importance, text + ".", tuple(ports))
