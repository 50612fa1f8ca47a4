"""Findings about the time until the last flow of a group completes."""

from __future__ import annotations

from collections.abc import Iterator

from incast.charts.source import Source
from incast.findings.finding import COMPARISON, Finding
from incast.findings.words import count, joined, number, time

FEW = 20
"""Fewest flows for which slowdowns are compared in place of completion times (our choice)."""
OTHERS = 3
"""Most other schemes that are named next to the fastest (our choice)."""


def completion(source: Source) -> Iterator[Finding]:
    """Time from the first start to the last completion of a label, under the fastest scheme and the others.

    For labels with flows that wait for each other, such as collectives, and for 2 to 19 flows in a comparison of
    schemes. All flows of the label must complete under every scheme.
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
    several, waiting = len(source.labels) > 1, in_order(source)
    for label, times in by_label.items():
        compared = 2 <= counts[label] < FEW and len(source.schemes) > 1
        if len(times) < len(source.schemes) or not (label in waiting or compared):
            continue
        (best, least), *others = sorted(times.items(), key=lambda each: each[1])
        what = count(counts[label], "flow") + (f" of label {label}" if several else "")
        if not others or others[-1][1] == least:
            text = f"The {what} complete in {time(least)}."
        else:
            listed = others if len(others) <= OTHERS else [others[0], others[-1]]
            against = joined(f"{time(took)} under {scheme} ({distance(took, least)})" for scheme, took in listed)
            text = f"{best} completes the {what} first: in {time(least)}, against {against}."
        yield Finding("completion", COMPARISON + 1, text, tuple(times))


def in_order(source: Source) -> set[str]:
    """Labels with flows that wait for other flows."""
    return {label for (label,) in source.rows("select distinct label from flows where dependency is not null")}


def distance(value: float, lowest: float) -> str:
    """Distance from the lowest value, as a factor or in percent."""
    if value >= 2 * lowest:
        return f"{number(value / lowest)} times"
    percent = (value / lowest - 1) * 100
    return f"+{percent:.0f} %" if percent >= 9.5 else f"+{percent:.1g} %"
