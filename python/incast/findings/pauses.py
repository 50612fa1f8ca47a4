"""Findings about PFC pauses."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from incast.charts.source import Source
from incast.charts.storms import dynamic
from incast.findings.chains import trees
from incast.findings.finding import LONG_PAUSES, PAUSES, Finding
from incast.findings.interval import longest_pause, shares_of
from incast.findings.storms import begun
from incast.findings.words import counted, prefix, prefix_if_equal, share, time

ROOT = 0.25
"""Smallest share of the paused time for which the root is named (our choice)."""
LONG = 0.01
"""Smallest share of its scheme's run for which a port is paused that counts as long (our choice)."""


def pauses(source: Source) -> Iterator[Finding]:
    """Number of paused ports, the port paused longest, and the root of the most paused time, if at least a quarter.

    The share of time is that of the scheme's own run, the largest of all schemes. Runs with a configured storm have the
    finding about storms instead, and here the largest other root.
    """
    if not source.count("pauses"):
        return
    if stormy := begun(source):
        yield from _apart(source, {scheme: {storm.node for storm in mine} for scheme, mine in stormy.items()})
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
    text = f"{prefix_if_equal(ports, source.schemes)}PFC paused {longest_pause(source, ports, longest)}"
    text += f" ({found[worst][2]}{f' under {worst}' if several else ''})"
    mine = [tree for tree in trees(source) if tree.scheme == worst]
    part = mine[0].paused_ps / sum(tree.paused_ps for tree in mine) if mine else 0
    if part >= ROOT:
        whole = "all" if part == 1 else f"{share(part)} of the"
        text += f"; {mine[0].root} was the root of {whole} paused time{f' under {worst}' if several else ''}"
    importance = LONG_PAUSES if max(shares_of(source, longest).values()) >= LONG else PAUSES
    yield Finding("pauses", importance, text + ".", tuple(ports))


def _apart(source: Source, stormy: Mapping[str, set[str]]) -> Iterator[Finding]:
    """The root of at least a quarter of the paused time that is no storm, where storms have not filled the buffer.

    `stormy`: senders of storms by scheme.
    """
    filled = source.rows(
        "select distinct scheme from pauses join ports using (scheme, port) "
        "where culprit_peer_name = pauses.node_name and peak_queue_bytes > 0"
    )
    shared = {scheme for (scheme,) in filled} & set(dynamic(source))
    found = list(trees(source))
    for scheme in (each for each in source.schemes if each not in shared):
        mine = [tree for tree in found if tree.scheme == scheme]
        others = [tree for tree in mine if tree.root.partition(" to ")[0] not in stormy.get(scheme, ())]
        part = others[0].paused_ps / sum(tree.paused_ps for tree in mine) if others else 0
        if part >= ROOT:
            root, ports = others[0], counted({scheme: others[0].ports}, "port")
            apart = ", apart from configured storms" if scheme in stormy else ""
            text = (
                f"{prefix([scheme], source.schemes)}{root.root} was the root of {share(part)} of the paused time{apart}"
                f": it paused {ports}, the longest for {time(root.longest_ps)} ({root.longest})"
            )
            yield Finding("pauses", PAUSES, text + ".", (scheme,))
