"""Findings about PFC storms and the PFC watchdog."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from incast.charts.source import Source
from incast.charts.storms import Storm, configured, dynamic
from incast.findings.chains import paused_by
from incast.findings.finding import STORM, Finding
from incast.findings.interval import longest_pause
from incast.findings.words import counted, joined, prefix, sentence, time

SPANS = 3
"""Most times of storms in a finding (our choice)."""


def storms(source: Source) -> Iterator[Finding]:
    """Configured storms of a sender: root, times, ports that followed, and how long one of them was paused at most.

    Ports follow if they were paused behind a port that the storm paused. Storms that begin after the end of the run
    have the finding about events that it did not reach.
    """
    by_storms: dict[tuple[Storm, ...], list[str]] = {}
    for scheme, mine in begun(source).items():
        by_storms.setdefault(mine, []).append(scheme)
    if not by_storms:
        return
    found = paused_by(source, [(storm.node, storm.priority) for mine in by_storms for storm in mine], dynamic(source))
    for mine, schemes in by_storms.items():
        # The pauses of one sender are told together: tables do not tell its storms apart.
        of_sender: dict[tuple[str, int], list[Storm]] = {}
        for storm in mine:
            of_sender.setdefault((storm.node, storm.priority), []).append(storm)
        for (node, priority), its in of_sender.items():
            paused = {scheme: found.get((node, priority, scheme), (0, 0)) for scheme in schemes}
            ports = {scheme: count for scheme, (count, _) in paused.items()}
            longest = {scheme: longest_ps for scheme, (_, longest_ps) in paused.items()}
            text = (
                f"{prefix(schemes, source.schemes)}{node} sent PFC pauses of priority {priority} "
                f"{joined(dict.fromkeys(map(_span, its)), SPANS)} (configured {'storm' if len(its) == 1 else 'storms'})"
            )
            if any(ports.values()):
                text += f"; they paused {longest_pause(source, ports, longest)}"
            yield Finding("storm", STORM + 1, text + ".", tuple(schemes))


def _span(storm: Storm) -> str:
    end = "the end of the run" if storm.until_ps is None else time(storm.until_ps)
    return f"from {time(storm.from_ps)} to {end}"


def begun(source: Source) -> dict[str, tuple[Storm, ...]]:
    """Configured storms that began before the end of the run, by scheme; one cut off by the end lasts until there."""
    found = {}
    for scheme, storms_ in configured(source).items():
        end_ps = int(source.manifests[scheme]["end_ps"])
        before = [storm for storm in storms_ if storm.from_ps < end_ps]
        whole = [storm.until_ps is not None and storm.until_ps < end_ps for storm in before]
        if before:
            found[scheme] = tuple(
                storm if ended else replace(storm, until_ps=None) for storm, ended in zip(before, whole, strict=True)
            )
    return found


def watchdog(source: Source) -> Iterator[Finding]:
    """Storms that the PFC watchdog detected: number of ports, the first of them, dropped packets."""
    if not source.count("storms"):
        return
    rows = source.rows(
        "select scheme, count(*), count(distinct port), arg_min(node_name || ' to ' || peer_name, (start_ps, port)), "
        "min(start_ps) from storms group by scheme"
    )
    found = {scheme: values for scheme, *values in source.by_scheme(rows)}
    storms_ = {scheme: values[0] for scheme, values in found.items()}
    ports = {scheme: values[1] for scheme, values in found.items()}
    first = joined(dict.fromkeys(f"{values[2]} at {time(values[3])}" for values in found.values()), 3)
    dropped = {scheme: int(source.manifests[scheme]["counts"].get("watchdog_drops", 0)) for scheme in found}
    text = (
        f"{prefix(list(found), source.schemes)}the PFC watchdog detected {counted(storms_, 'storm')} at "
        f"{counted(ports, 'port')}, first {first}"
    )
    if any(dropped.values()):
        text += f", and dropped {counted(dropped, 'packet')}"
    yield Finding("watchdog", STORM, sentence(text) + ".", tuple(found))
