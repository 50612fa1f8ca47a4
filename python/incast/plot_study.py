"""Figures of studies as vector files for papers, with matplotlib (extra `incast[plot]`).

results = incast.open_study("results/hpcc-quick")
plot.save(results.plot("websearch-30"), "websearch-30.pdf")
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from incast import plot_kinds, plot_style, plot_text
from incast.charts import look
from incast.charts.chart import Chart
from incast.charts.pauses import pauses as pauses_of
from incast.charts.source import Source
from incast.charts.study import domain_of, goes_on
from incast.errors import ResultsError
from incast.study import series
from incast.study.drawing import Bar, DrawnChart, Mark, bare
from incast.study.drawing_figures import DrawnFigure
from incast.study.series import Places

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure

PANEL = 3.4
"""Inches of a panel's width with several panels in a row (our choice)."""
ALONE = 7.0
"""Inches of the width of a single panel (our choice)."""
HEIGHT = 2.6
"""Inches of a panel's height (our choice)."""
LEAST = 1.6
"""Inches that a panel has at least; with less, the page becomes higher (our choice)."""
ZERO = 2.0
"""Points of the line of a measured 0, half of it above the axis (our choice): a missing bar has none."""
MARKS = 40
"""Most marks of a line (our choice): of hundreds, each would hide the line."""
BESIDE = 0.8
"""Share of the distance of two names along the axis that their bars take (our choice)."""
Style = dict[str, Any]


class NothingToDrawError(ResultsError):
    """No chart of a figure has a value."""


def draw(
    drawn: DrawnFigure,
    sources: Mapping[str, Source],
    places: Places | None = None,
    *,
    width: float | None = None,
    height: float | None = None,
    title: str | None = None,
) -> Figure:
    """A figure of a study with published values.

    Args:
        drawn: The figure.
        sources: Tables by sweep, for charts of pauses.
        places: Places of the study's series among the colours; default: of those of this figure.
        width: Width in inches.
        height: Height in inches.
        title: Text above the panels. Default: title and source of the figure.

    Raises:
        MissingLibraryError: Matplotlib is not installed.
        NothingToDrawError: The figure has no chart with a value.
        ResultsError: Width or height is too small for the figure.

    """
    places = series.places([drawn]) if places is None else places
    charts = [chart for chart in drawn.charts if chart.bars or chart.published]
    pauses = [found for each in drawn.pauses if (found := _pauses(each.sweep, sources)) is not None]
    if not charts and not pauses:
        raise NothingToDrawError(f"figure {drawn.id} has nothing to draw{_instead(drawn)}")
    heights = [_rows(chart)[0] * HEIGHT + 0.6 for chart in charts] + [
        plot_kinds.DRAWN["pauses"][1][1](list(chart.dicts())) for chart in pauses
    ]
    usual = max([min(3, _rows(chart)[1]) * PANEL if _rows(chart)[1] > 1 else ALONE for chart in charts] or [8])
    inches = plot_text.inches_of("width", width, usual)
    page = Page(
        charts=charts,
        pauses=pauses,
        places=places,
        title=f"{drawn.title} ({drawn.source})" if title is None else title,
        width=inches,
        height=None if height is None else plot_text.inches_of("height", height, 0),
    )
    with plot_style.matplotlib().rc_context(plot_text.text_size(inches)):
        figure, lacking = page.draw(heights)
        if height is None and any(lacking):
            figure, _ = page.draw([each + more for each, more in zip(heights, lacking, strict=True)])
    return figure


@dataclass(frozen=True, kw_only=True)
class Page:
    """Charts below each other on a page, then those of pauses."""

    charts: Sequence[DrawnChart]
    pauses: Sequence[Chart]
    places: Places
    title: str
    width: float
    height: float | None

    def draw(self, heights: Sequence[float]) -> tuple[Figure, list[float]]:
        """The figure with charts of these heights in inches, and the inches that the panels of each lack."""
        figure: Figure = plot_style.matplotlib("figure").Figure(
            figsize=(self.width, sum(heights) if self.height is None else self.height), layout="constrained"
        )
        parts = list(figure.subfigures(len(heights), 1, squeeze=False, height_ratios=heights)[:, 0])
        of_charts, of_pauses = parts[: len(self.charts)], parts[len(self.charts) :]
        for chart, part in zip(self.charts, of_charts, strict=True):
            _chart(part, chart, self.places[chart.series], named=len(heights) > 1)
        for shown, part in zip(self.pauses, of_pauses, strict=True):
            _draw_pauses(part, shown, self.places.get("scheme", {}), named=len(heights) > 1)
        for axes in figure.axes:
            axes.spines[["top", "right"]].set_visible(False)
        if self.title:
            plot_text.add_title(figure, self.title)
        plot_text.fit_labels(figure)
        lacking = [_lacking(part, chart) for chart, part in zip(self.charts, of_charts, strict=True)]
        return figure, [*lacking, *[0.0] * len(of_pauses)]


def _lacking(part: SubFigure, chart: DrawnChart) -> float:
    """Inches that the panels of a chart lack because of long names, titles and legends."""
    low = min(float(axes.get_window_extent().height) for axes in part.axes if axes.get_visible()) / part.dpi
    return max(0.0, LEAST - low) * _rows(chart)[0]


def _draw_pauses(part: SubFigure, chart: Chart, known: Mapping[Any, int], *, named: bool) -> None:
    """A chart of pauses, with the study's colours of schemes; `named` adds its heading."""
    palette = plot_style.palette_of(chart)
    styles = {
        plot_style.shown_name(name): plot_style.style_at(known.get(name, place)) for place, name in enumerate(palette)
    }
    plot_kinds.DRAWN["pauses"][0](part, plot_style.rows_of(chart, palette), styles)
    if named:
        plot_text.add_title(part, chart.title)


def _pauses(sweep: str, sources: Mapping[str, Source]) -> Chart | None:
    """The chart of pauses of a sweep; `None` if nothing paused."""
    chart = pauses_of(sources[sweep]) if sweep in sources else None
    return chart if chart and chart.rows else None


def _instead(drawn: DrawnFigure) -> str:
    """The reason why a figure has nothing to draw."""
    if drawn.tables and not drawn.charts:
        return f": it is a table, see {', '.join(f'tables/{table.name}.csv' for table in drawn.tables)}"
    notes = [note for chart in drawn.charts for note in (*chart.absent, *chart.missing)]
    return f": not measured: {notes[0]}" if notes else ""


def _rows(chart: DrawnChart) -> tuple[int, int]:
    """Rows and columns of panels."""
    count = len(chart.panels_in_order())
    columns = min(chart.columns, count)
    return math.ceil(count / columns), columns


def _chart(place: SubFigure, chart: DrawnChart, colours: Mapping[Any, int], *, named: bool) -> None:
    """The panels of a chart, with a legend below them; `named` adds its heading."""
    rows, columns = _rows(chart)
    panels = place.subplots(rows, columns, squeeze=False, sharex=True, sharey=True).flat
    values = chart.panels_in_order()
    for axes in panels[len(values) :]:
        axes.set_visible(False)
    for axes, panel in zip(panels, values, strict=False):
        bars = [bar for bar in chart.bars if bar.panel == panel]
        marks = [mark for mark in chart.published if mark.panel == panel]
        (_lines if chart.lines or chart.cdf else _bars)(axes, chart, bars, marks, colours)
        _axes(axes, chart)
        if chart.panels:
            text = f"{chart.panels} {panel}" if bare(values) else str(panel)
            axes.set_title(text, loc="left", fontsize="medium")
    if named:
        plot_text.add_title(place, chart.title)
    handles: dict[str, Any] = {}
    along = panels[0].get_xlabel()
    for number, axes in enumerate(place.axes):
        axes.label_outer(remove_inner_ticks=False)
        if number < len(values) <= number + columns:  # the last of its column
            axes.tick_params(labelbottom=True)
            axes.set_xlabel(along)
        axes.set_axisbelow(True)
        handles |= {label: handle for handle, label in zip(*axes.get_legend_handles_labels(), strict=True)}
    # In the order of the bars: the first panel may lack a series.
    names = [*map(str, chart.order), plot_kinds.PUBLISHED]
    handles = {name: handles[name] for name in names if name in handles}
    if handles:
        plot_text.add_legend(place, handles, _of_series(chart))


def _of_series(chart: DrawnChart) -> str | None:
    """Title of a legend: the column of the series, unless it is that of schemes or in the names, as in `flow 1`."""
    clear = chart.series in ("scheme", chart.x) or all(chart.series in str(name) for name in chart.order)
    # The colon and its place at the left distinguish it from the title of the axis above.
    return None if clear else f"{chart.series}:"


def _axes(axes: Axes, chart: DrawnChart) -> None:
    """Scales and titles of a panel."""
    unit = f" ({chart.unit})" if chart.unit else ""
    title = chart.y_title or f"{chart.about}{unit}"
    short = title if len(title) <= plot_kinds.LABEL else chart.unit
    along = chart.x_title or chart.x
    limits = domain_of(chart)
    if chart.cdf:
        axes.set(xlabel=short, ylabel=along, xscale="log" if chart.log else "linear", xlim=limits)
        if chart.log:
            plot_text.label_powers(axes.xaxis)
        return
    named = not chart.lines and chart.x_title is None and not bare(chart.along())
    axes.set(xlabel="" if named else along, ylabel=short, yscale="log" if chart.log else "linear", ylim=limits)
    axes.grid(axis="y", linewidth=0.4, alpha=0.5)
    if chart.log_x:
        axes.set_xscale("log")
        plot_text.label_powers(axes.xaxis)
    if chart.log:
        plot_text.label_powers(axes.yaxis)
    else:
        axes.yaxis.set_major_formatter("{x:,.10g}")


def _lines(
    axes: Axes, chart: DrawnChart, bars: Sequence[Bar], marks: Sequence[Mark], colours: Mapping[Any, int]
) -> None:
    """A line for each series, with its intervals."""
    below = goes_on(chart)
    for name in chart.order:
        mine = [bar for bar in bars if bar.series == name]
        if not mine:
            continue
        style = {
            "label": str(name),
            "markersize": 3,
            "linewidth": 1.2,
            "markevery": math.ceil(len(mine) / MARKS),
            **plot_style.style_at(colours[name]),
        }
        along, values = [bar.x for bar in mine], [bar.value for bar in mine]
        ends = _ends(mine)
        if chart.cdf:
            axes.errorbar(values, along, xerr=ends, elinewidth=0.6, **style)
        else:
            axes.errorbar(along, values, yerr=ends, elinewidth=0.6, **style)
        _open_ends(axes, chart, [bar.x for bar in mine if bar in below], style["color"])
    for mark in marks:
        x, y = (mark.value, mark.x) if chart.cdf else (mark.x, mark.value)
        colour = plot_style.style_at(colours[mark.series])["color"] if mark.series is not None else look.INK
        _published(axes, x, y, colour, "none")


def _bars(
    axes: Axes, chart: DrawnChart, bars: Sequence[Bar], marks: Sequence[Mark], colours: Mapping[Any, int]
) -> None:
    """Bars or points side by side at each place along the axis."""
    places = {value: place for place, value in enumerate(chart.along())}
    series = [None] if chart.series == chart.x else list(chart.order)
    step = BESIDE / max(1, len(series))
    below = goes_on(chart)

    def place(one: Bar | Mark) -> float:
        number = series.index(one.series) if one.series in series else (len(series) - 1) / 2
        return places[one.x] + (number - (len(series) - 1) / 2) * step

    for name in chart.order:
        mine = [bar for bar in bars if bar.series == name and (bar.value > 0 or not chart.log)]
        if not mine:
            continue
        style = plot_style.style_at(colours[name])
        at, values = [place(bar) for bar in mine], [bar.value for bar in mine]
        label: Style = {} if chart.series == chart.x else {"label": str(name)}
        pale = look.PALE if colours[name] >= len(look.LIGHT) else 1
        if chart.log:
            points: Style = {
                "color": style["color"],
                "fmt": style["marker"],
                "markersize": 4,
                "elinewidth": 0.8,
                **label,
            }
            axes.errorbar(at, values, yerr=_ends(mine), alpha=pale, **points)
            _open_ends(axes, chart, [place(bar) for bar in mine if bar in below], style["color"])
        else:
            wide = 0.95 * step
            axes.bar(at, values, wide, yerr=_ends(mine), color=style["color"], alpha=pale,
                     error_kw={"elinewidth": 0.8, "ecolor": look.INK}, **label)  # fmt: skip
            left, right = (
                [middle + half for middle, value in zip(at, values, strict=True) if not value]
                for half in (-wide / 2, wide / 2)
            )
            axes.hlines([0.0] * len(left), left, right, color=style["color"], alpha=pale, linewidth=ZERO)
    for mark in marks:
        # Ground would hide a point, as ink would be hard to see on a bar.
        _published(axes, place(mark), mark.value, look.INK, "none" if chart.log else look.GROUND)
    names, turn = plot_text.names_below(axes, list(map(str, places)), _rows(chart)[1])
    axes.set_xticks(range(len(names)), names, **turn)
    # `fit_labels` hides labels that overlap, unless their formatter is fixed.
    axes.xaxis.set_major_formatter(plot_style.matplotlib("ticker").FixedFormatter(names))
    margin = (1 + plot_text.MARGIN) / 2
    axes.set_xlim(-margin, len(names) - 1 + margin)


def _published(axes: Axes, x: float, y: float, colour: str, fill: str) -> None:
    """A hollow mark, once in the legend."""
    label: Style = (
        {} if plot_kinds.PUBLISHED in axes.get_legend_handles_labels()[1] else {"label": plot_kinds.PUBLISHED}
    )
    style: Style = {"marker": "D", "markersize": 5, "linestyle": "", "zorder": 5, "clip_on": False}
    axes.plot([x], [y], markerfacecolor=fill, markeredgecolor=colour, **style, **label)


def _open_ends(axes: Axes, chart: DrawnChart, along: Sequence[Any], colour: str) -> None:
    """Triangles at the begin of a logarithmic axis, where intervals go on below it."""
    floors = [domain_of(chart)[0]] * len(along)
    style: Style = {"color": colour, "marker": "<" if chart.cdf else "v", "markersize": 4, "linestyle": ""}
    if along:
        axes.plot(*((floors, along) if chart.cdf else (along, floors)), clip_on=False, **style)


def _ends(bars: Sequence[Bar]) -> list[list[float]]:
    """Distances from the values to the ends of their intervals; 0 without an interval."""
    below = [bar.value - bar.low if bar.low is not None else 0.0 for bar in bars]
    above = [bar.high - bar.value if bar.high is not None else 0.0 for bar in bars]
    return [below, above]
