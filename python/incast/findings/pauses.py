"""Findings about PFC pauses."""

from __future__ import annotations

from collections.abc import Iterator

from incast.charts.source import Source
from incast.findings.chains import trees
from incast.findings.finding import LONG_PAUSES, PAUSES, Finding
from incast.findings.interval import longest_run
from incast.findings.storms import begun
from incast.findings.words import prefix_if_equal, share

ROOT = 0.25
"""Smallest share of the paused time for which the root is named (our choice)."""
LONG = 0.01
"""Smallest share of the longest run for which a port is paused that counts as long (our choice)."""


def pauses(source: Source) -> Iterator[Finding]:
    """Number of paused ports, the port paused longest, and the root of the most paused time, if at least a quarter.

    The share of time is of the longest run, for all schemes. Runs with a configured storm have the finding about
    storms instead.
    """
    if not source.count("pauses") or begun(source):
        return
    rows = source.rows(
        "select scheme, count(distinct port) filter (paused_ps > 0), max(paused_ps), "
        "arg_max(node_name || ' to ' || peer_name, paused_ps) from ports group by scheme"
    )
    found = {scheme: values for scheme, *values in source.by_scheme(rows)}
    ports = {scheme: values[0] for scheme, values in found.items() if values[0]}
    if not ports:
        return
    longest = {scheme: found[scheme][1] for scheme in ports}
    worst = max(longest, key=lambda scheme: longest[scheme])
    several = len(ports) > 1
    interval = longest_run(source)
    text = f"{prefix_if_equal(ports, source.schemes)}PFC paused {interval.longest(ports, longest)}"
    text += f" ({found[worst][2]}{f' under {worst}' if several else ''})"
    mine = [tree for tree in trees(source) if tree.scheme == worst]
    part = mine[0].paused_ps / sum(tree.paused_ps for tree in mine) if mine else 0
    if part >= ROOT:
        time = "all" if part == 1 else f"{share(part)} of the"
        text += f"; {mine[0].root} was the root of {time} paused time{f' under {worst}' if several else ''}"
    importance = LONG_PAUSES if longest[worst] >= LONG * interval.ps else PAUSES
    yield Finding("pauses", importance, text + ".", tuple(ports))
