"""Series of a study's charts: one order and one colour for each in all figures."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from incast.charts import look

if TYPE_CHECKING:
    from incast.study.drawing import DrawnChart
    from incast.study.drawing_figures import DrawnFigure

Places = Mapping[str, Mapping[Any, int]]
"""By column of series, the place of each value among the colours."""


def ordered(figures: Sequence[DrawnFigure]) -> tuple[DrawnFigure, ...]:
    """The figures with series, and schemes along an axis, in the same order in all charts."""
    ranks = {
        column: {name: rank for rank, name in enumerate(merged(orders))} for column, orders in _orders(figures).items()
    }
    return tuple(
        replace(figure, charts=tuple(_sorted(chart, ranks[chart.series]) for chart in figure.charts))
        for figure in figures
    )


def _sorted(chart: DrawnChart, rank: Mapping[Any, int]) -> DrawnChart:
    order = tuple(sorted(chart.order, key=lambda name: rank[name]))
    if chart.x != chart.series:
        return replace(chart, order=order)
    panels = chart.panels_in_order()
    bars = sorted(chart.bars, key=lambda bar: (panels.index(bar.panel), rank[bar.series]))
    return replace(chart, order=order, bars=tuple(bars))


def places(figures: Sequence[DrawnFigure]) -> Places:
    """Places of series among the colours: different for all series as far as there are colours, and in each figure."""
    found: dict[str, dict[Any, int]] = {}
    for column, orders in _orders(figures).items():
        chosen = found.setdefault(column, {})
        together = [
            {name for chart in figure.charts if chart.series == column for name in chart.order} for figure in figures
        ]
        for name in merged(orders):
            taken = {chosen[other] for names in together if name in names for other in names if other in chosen}
            free = set(range(len(look.LIGHT))) - set(chosen.values())
            chosen[name] = min(free or set(range(len(taken) + 1)) - taken)
    return found


def merged(orders: Iterable[Sequence[Any]]) -> list[Any]:
    """One order for all names. Where orders contradict each other, the first counts."""
    after: dict[Any, set[Any]] = {}
    for order in orders:
        for name in order:
            after.setdefault(name, set())
        for one, next_ in pairwise(order):
            if not _reaches(after, next_, one):
                after[one].add(next_)
    found: list[Any] = []
    while left := [name for name in after if name not in found]:
        found.append(next(name for name in left if not any(name in after[other] for other in left)))
    return found


def _reaches(after: Mapping[Any, set[Any]], start: Any, end: Any) -> bool:
    """True if `end` comes after `start`, or is `start`."""
    return start == end or any(_reaches(after, name, end) for name in after[start])


def _orders(figures: Sequence[DrawnFigure]) -> dict[str, list[tuple[Any, ...]]]:
    """Orders of series of all charts, by their column."""
    found: dict[str, list[tuple[Any, ...]]] = {}
    for figure in figures:
        for chart in figure.charts:
            found.setdefault(chart.series, []).append(chart.order)
    return found
