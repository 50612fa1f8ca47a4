"""The charts of a study: a metric with its interval over seeds, in the order of what was run."""

from __future__ import annotations

import itertools
from dataclasses import asdict, dataclass
from statistics import fmean
from typing import Any

from incast._interval import interval, share_interval
from incast.study.description import Check, Metric, StudyChart
from incast.study.figures import Choice, Measured, figures, order, same


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
class DrawnChart:
    """A chart of a study as it is kept in claims.json."""

    title: str
    about: str
    unit: str
    x: str
    series: str
    panels: str | None
    bars: tuple[Bar, ...]
    """In the order of what was run."""
    missing: tuple[str, ...]
    """Figures that were not measured, and why."""
    log: bool = False
    """If true, the scale is logarithmic."""
    lines: bool = False
    """If true, a line joins the values of a series along `x`, a number."""
    columns: int = 2
    """Panels beside each other."""
    order: tuple[Any, ...] = ()
    """The values of the series in the order of what was run."""

    def to_tree(self) -> dict[str, Any]:
        """As in claims.json."""
        return asdict(self)

    @classmethod
    def from_tree(cls, tree: dict[str, Any]) -> DrawnChart:
        """From claims.json."""
        bars = tuple(Bar(**bar) for bar in tree["bars"])
        lists = {name: tuple(tree.get(name, ())) for name in ("missing", "order")}
        return cls(**{**tree, **lists, "bars": bars})


class NotNumberError(Exception):
    """A chart of lines runs along a column that holds something else than numbers."""


def draw(chart: StudyChart, metric: Metric, measured: Measured) -> DrawnChart:
    """The bars or lines of a chart; `NotUniqueError` if the metric has several rows for one of them."""
    spread = share_interval if metric.share else interval
    bars, missing = [], []
    for figure in figures(Check(metric=chart.metric), measured):
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
    if chart.lines and (other := next((bar.x for bar in bars if type(bar.x) not in (int, float)), None)) is not None:
        raise NotNumberError(str(other))
    places = {name: _order(measured, name) for name in (chart.x, chart.series, chart.panels) if name}
    bars.sort(
        key=lambda bar: [
            _place(places.get(name or "", []), value)
            for name, value in ((chart.panels, bar.panel), (chart.x, bar.x), (chart.series, bar.series))
        ]
    )
    return DrawnChart(
        title=chart.title or sentence(metric.about),
        about=metric.about,
        unit=metric.unit,
        x=chart.x,
        series=chart.series,
        panels=chart.panels,
        bars=tuple(bars),
        missing=tuple(dict.fromkeys(missing)),
        log=chart.log,
        lines=chart.lines,
        columns=chart.columns,
        order=tuple(dict.fromkeys(value for value in places[chart.series] if value in {bar.series for bar in bars})),
    )


def sentence(text: str) -> str:
    """Text that begins with a capital letter, except names such as `p99`."""
    return text if text[1:2].isdigit() else f"{text[:1].upper()}{text[1:]}"


def _order(measured: Measured, name: str) -> list[Any]:
    """The values of a column in the order in which they were run; after them those that only rows have, in order."""
    found: list[Any] = []
    columns: list[Choice] = [run.columns for run in measured.runs]
    rows = sorted((row for row in measured.rows if name in row), key=lambda row: order(row[name]))
    for choice in itertools.chain(columns, rows):
        if name in choice and not any(same(choice[name], other) for other in found):
            found.append(choice[name])
    return found


def _place(values: list[Any], value: Any) -> int:
    return next((place for place, other in enumerate(values) if same(value, other)), len(values))
