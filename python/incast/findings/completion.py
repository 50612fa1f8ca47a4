"""Findings about the time until the last flow of a group completes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from incast.charts.source import Source
from incast.findings.finding import COMPARISON, Finding
from incast.findings.words import count, joined, number, time

FEW = 20
"""Fewest flows for which slowdowns are compared in place of completion times (our choice)."""
OTHERS = 3
"""Most other schemes that are named next to the fastest (our choice)."""


def completion(source: Source) -> Iterator[Finding]:
    """Time from the first start to the last completion of a label, under the fastest scheme and the others.

    For labels with flows that wait for each other, and for 2 to 19 flows in a comparison of schemes. All flows of the
    label must complete under every scheme. Labels with iterations have the finding `iterations` instead.
    """
    rows = source.rows(
        """
        select label, scheme, count(*), (max(finish_ps) - min(start_ps))::bigint,
            count(*) filter (status <> 'completed'), min(min(flow)) over (partition by label)
        from flows group by label, scheme order by 6, label
        """
    )
    by_label: dict[str, dict[str, int]] = {}
    counts: dict[str, int] = {}
    for label, scheme, flows, took, left, _ in rows:
        if not left:
            by_label.setdefault(label, {})[scheme] = took
            counts[label] = flows
    several, waiting, collectives = len(source.labels) > 1, in_order(source), with_iterations(source)
    for label, times in by_label.items():
        compared = 2 <= counts[label] < FEW and len(source.schemes) > 1
        if len(times) < len(source.schemes) or label in collectives or not (label in waiting or compared):
            continue
        (best, least), *others = sorted(times.items(), key=lambda each: each[1])
        what = count(counts[label], "flow") + (f" of label {label}" if several else "")
        if not others or others[-1][1] == least:
            text = f"The {what} complete in {time(least)}."
        else:
            text = f"{best} completes the {what} first: in {time(least)}, against {against(others, least)}."
        yield Finding("completion", COMPARISON + 1, text, tuple(times))


def iterations(source: Source) -> Iterator[Finding]:
    """Mean communication time of a collective's iterations, under the scheme with the shortest and the others.

    For labels with a completed iteration under every scheme.
    """
    by_label: dict[str, dict[str, float]] = {}
    for label, scheme, mean in _mean_times(source):
        by_label.setdefault(label, {})[scheme] = mean
    for label, times in by_label.items():
        if len(times) < len(source.schemes):
            continue
        (best, least), *others = sorted(times.items(), key=lambda each: each[1])
        if not others or others[-1][1] == least:
            text = f"An iteration of label {label} communicates for {time(least)} on average."
        else:
            text = (
                f"{best} has the shortest iterations of label {label}: {time(least)} of communication on average, "
                f"against {against(others, least)}."
            )
        yield Finding("iterations", COMPARISON + 1, text, tuple(times))


def _mean_times(source: Source) -> list[tuple[str, str, float]]:
    """Label, scheme and mean communication time of iterations, by collective."""
    if not source.count("iterations"):
        return []
    rows = source.rows(
        "select scheme, label, avg(communication_ps) from iterations group by all order by min(collective), label"
    )
    return [(label, scheme, mean) for scheme, label, mean in source.by_scheme(rows)]


def with_iterations(source: Source) -> set[str]:
    """Labels with a completed iteration."""
    return {label for label, _, _ in _mean_times(source)}


def against(others: Sequence[tuple[str, float]], least: float) -> str:
    """Times of the other schemes, with their distance from the least: of many, the next and the longest."""
    listed = others if len(others) <= OTHERS else [others[0], others[-1]]
    return joined(f"{time(took)} under {scheme} ({distance(took, least)})" for scheme, took in listed)


def in_order(source: Source) -> set[str]:
    """Labels with flows that wait for other flows."""
    return {label for (label,) in source.rows("select distinct label from flows where dependency is not null")}


def distance(value: float, lowest: float) -> str:
    """Distance from the lowest value, as a factor or in percent."""
    if value >= 2 * lowest:
        return f"{number(value / lowest)} times"
    percent = (value / lowest - 1) * 100
    return f"+{percent:.0f} %" if percent >= 9.5 else f"+{percent:.1g} %"
