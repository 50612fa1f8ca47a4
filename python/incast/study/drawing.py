"""The charts of a study: a metric with its interval over seeds, in the order of the runs, and published values."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from statistics import fmean
from typing import Any

from incast._interval import interval, share_interval
from incast._quantity import parsed
from incast.study.description import Check, Metric, Selection, StudyChart
from incast.study.figures import VALUE, Measured, figures, listed, order, same

NUMBER = re.compile(r"\d+(\.\d+)?")
"""Text of a number."""
LISTED = 6
"""Most values of a column that a note names (our choice)."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Bar:
    """A figure of a chart."""

    x: Any
    series: Any
    panel: Any
    value: float
    """Its mean over seeds."""
    low: float | None
    """Lower end of the 95 % confidence interval; `None` with fewer than two seeds."""
    high: float | None
    """Its upper end."""
    seeds: int
    """Seeds it was measured under; 0 if the metric does not distinguish them."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Mark:
    """A published value of a chart."""

    x: Any
    series: Any
    """Series of the value; `None` without one."""
    panel: Any
    value: float


@dataclass(frozen=True, kw_only=True, slots=True)
class DrawnChart:
    """A chart of a study as it is kept in claims.json."""

    title: str
    about: str
    unit: str
    x: str
    series: str
    panels: str | None
    bars: tuple[Bar, ...]
    """In the order of the runs."""
    missing: tuple[str, ...]
    """Figures that were not measured, and why."""
    absent: tuple[str, ...] = ()
    """Values of columns that only other scales have: `load 0.5, 0.7`."""
    published: tuple[Mark, ...] = ()
    """Published values."""
    published_source: str | None = None
    """Place of the published values in the publication."""
    x_title: str | None = None
    """Title of the axis of `x`; `None` for the name of a column of numbers."""
    y_title: str | None = None
    """Title of the axis of the values, with the unit; `None` for the metric's."""
    log: bool = False
    """If true, the scale of the values is logarithmic."""
    log_x: bool = False
    """If true, the scale of `x` is logarithmic."""
    lines: bool = False
    """If true, a line joins the values of a series along `x`, a number."""
    cdf: bool = False
    """If true, lines have their values along the horizontal axis, and `x` upwards."""
    columns: int = 2
    """Panels in a row."""
    order: tuple[Any, ...] = ()
    """The values of the series in the order of the runs."""

    def to_tree(self) -> dict[str, Any]:
        """As in claims.json."""
        return asdict(self)

    @classmethod
    def from_tree(cls, tree: dict[str, Any]) -> DrawnChart:
        """From claims.json."""
        bars = tuple(Bar(**bar) for bar in tree["bars"])
        published = tuple(Mark(**mark) for mark in tree["published"])
        lists = {name: tuple(tree[name]) for name in ("missing", "absent", "order")}
        return cls(**{**tree, **lists, "bars": bars, "published": published})

    def along(self) -> list[Any]:
        """The values of `x` in order: those of bars, then those that only published values have; numbers by size."""
        measured = list(dict.fromkeys(bar.x for bar in self.bars))
        values = list(dict.fromkeys([*measured, *(mark.x for mark in self.published)]))
        numbers = all(isinstance(value, (int, float)) for value in values)
        return sorted(values) if numbers and len(values) > len(measured) else values

    def panels_in_order(self) -> list[Any]:
        """The values of the column of panels, in order."""
        return list(dict.fromkeys([*(bar.panel for bar in self.bars), *(mark.panel for mark in self.published)]))


def bare(values: Iterable[Any]) -> bool:
    """True for numbers, and texts such as `20` or `64kB`: they do not say what they count."""
    return all(isinstance(value, (int, float)) or NUMBER.fullmatch(value) or parsed(value) for value in values)


class NotNumberError(Exception):
    """A chart of lines runs along a column that holds something else than numbers."""


def draw(chart: StudyChart, metric: Metric, measured: Measured, known: Mapping[str, list[Any]]) -> DrawnChart:
    """The bars or lines of a chart; `known` has the values of columns at any scale.

    Raises:
        NotUniqueError: The metric has several rows for one of them.
        NotNumberError: Lines have no numbers along `x`.

    """
    spread = share_interval if metric.share else interval
    bars, missing = [], []
    here, absent = _at_this_scale(chart, measured, known)
    found = figures(Check(metric=chart.metric, at=here), measured) if all(here.values()) else ()
    for figure in found:
        if figure.missing or not figure.values:
            missing.append(figure.missing or "no value")
            continue
        low, high = spread(figure.values) if len(figure.values) > 1 else (None, None)
        at = figure.where
        bars.append(
            Bar(
                x=at[chart.x],
                series=at[chart.series],
                panel=at[chart.panels] if chart.panels else None,
                value=fmean(figure.values),
                low=low,
                high=high,
                seeds=len(figure.seeds),
            )
        )
    numbers = chart.lines or chart.cdf
    if numbers and (other := next((bar.x for bar in bars if type(bar.x) not in (int, float)), None)) is not None:
        raise NotNumberError(str(other))
    places = {name: _order(measured, name) for name in (chart.x, chart.series, chart.panels) if name}
    bars.sort(
        key=lambda bar: [
            _place(places.get(name or "", []), value)
            for name, value in ((chart.panels, bar.panel), (chart.x, bar.x), (chart.series, bar.series))
        ]
    )
    unit = f" ({metric.unit})" if metric.unit else ""
    drawn = DrawnChart(
        title=chart.title or sentence(metric.about),
        about=metric.about,
        unit=metric.unit,
        x=chart.x,
        series=chart.series,
        panels=chart.panels,
        bars=tuple(bars),
        missing=tuple(dict.fromkeys(missing)),
        absent=absent,
        x_title=chart.x_title,
        y_title=f"{chart.y_title}{unit}" if chart.y_title else None,
        log=chart.log,
        log_x=chart.log_x,
        lines=chart.lines,
        cdf=chart.cdf,
        columns=chart.columns,
        order=tuple(dict.fromkeys(value for value in places[chart.series] if value in {bar.series for bar in bars})),
    )
    return _with_published(drawn, chart)


def _at_this_scale(
    chart: StudyChart, measured: Measured, known: Mapping[str, list[Any]]
) -> tuple[Selection, tuple[str, ...]]:
    """The values of `where` that planned runs have, and the values of the chart's columns that none has."""
    planned = {name: [run.columns[name] for run in measured.runs if name in run.columns] for name in known}
    here: Selection = {}
    absent: dict[str, list[Any]] = {}
    for name in dict.fromkeys([*chart.where, chart.x, chart.series, *([chart.panels] if chart.panels else [])]):
        chosen = chart.where.get(name, known.get(name, []))
        values = listed(chosen)
        there = [value for value in values if name not in known or any(same(value, other) for other in planned[name])]
        if name in chart.where:
            here[name] = list(there)
        if lacking := [value for value in values if value not in there]:
            absent[name] = lacking
    return here, tuple(f"{name} {_listed(values)}" for name, values in absent.items())


def _listed(values: list[Any]) -> str:
    """The first values, and the number of the others."""
    shown = ", ".join(f'"{value}"' if "," in str(value) else str(value) for value in values[:LISTED])
    return f"{shown} and {len(values) - LISTED} others" if len(values) > LISTED else shown


def _with_published(drawn: DrawnChart, chart: StudyChart) -> DrawnChart:
    """A chart with its published values."""
    if chart.published is None:
        return drawn
    marks = tuple(
        Mark(
            x=row[chart.x],
            series=row.get(chart.series),
            panel=row[chart.panels] if chart.panels else None,
            value=float(row[VALUE]),
        )
        for row in chart.published.rows
    )
    named = dict.fromkeys([*drawn.order, *(mark.series for mark in marks if mark.series is not None)])
    return replace(drawn, published=marks, published_source=chart.published.source, order=tuple(named))


def sentence(text: str) -> str:
    """Text that begins with a capital letter, except names such as `p99`."""
    return text if text[1:2].isdigit() else f"{text[:1].upper()}{text[1:]}"


def _order(measured: Measured, name: str) -> list[Any]:
    """The values of a column in the order of the runs; after them those that only rows have, in order."""
    of_runs = dict.fromkeys(run.columns[name] for run in measured.runs if name in run.columns)
    of_rows = sorted(dict.fromkeys(row[name] for row in measured.rows if name in row), key=order)
    found: list[Any] = []
    for value in (*of_runs, *of_rows):
        if not any(same(value, other) for other in found):
            found.append(value)
    return found


def _place(values: list[Any], value: Any) -> int:
    return next((place for place, other in enumerate(values) if same(value, other)), len(values))
