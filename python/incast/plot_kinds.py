"""How matplotlib draws each chart."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any

from incast.charts import look
from incast.charts.cdf import SHARE
from incast.charts.chart import Chart
from incast.charts.closing import BEHIND, COLOURS, ON_CYCLE, PASSING
from incast.charts.events import COLOUR
from incast.charts.iterations import FADED, PARTS
from incast.charts.over import Along, along, ends, error_bars, written
from incast.charts.rates import MEASURED, last_times, own_axes
from incast.charts.slowdown import PERCENTILES, labels
from incast.plot_style import DASHES, Row, matplotlib
from incast.plot_text import (
    NARROW,
    SLANT,
    level_ticks,
    slanted_ticks,
    small,
    title_below,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure

LEAST = 7.0
"""Points of the smallest text, the names of ports (our choice): journals ask for 6 to 8 at least."""
FEW_TICKS = 6
"""Most ticks of a logarithmic axis at 1, 2 and 5 times powers of ten (our choice); of more, the powers suffice."""
FEW_VALUES = 12
"""Most values of a sweep that each have a tick on a logarithmic axis (our choice)."""
TICKS = 8
"""Most ticks of an axis of flow sizes (our choice)."""
MARGINS = 1.1
"""Length of an axis as a multiple of its data's, with matplotlib's margins."""
STACKED = 1.6
"""Inches of each of several panels below each other on a narrow page (our choice)."""
STACKED_LEAST = 0.8
"""Inches of a lower panel, below which panels stand side by side (our choice)."""
LABEL = 48
"""Letters of an axis's title that fit next to a panel."""
BARS = {
    "": "",
    "range": ", mean and range of runs",
    "interval": ", mean and 95 % confidence interval",
}
"""Error bars in the title of an axis."""
PUBLISHED = "published"
"""Name of published values in a legend."""
OVER_AXIS: dict[str, Any] = {"clip_on": False, "zorder": 3}
"""Draws a line over the axis: it lies there while nothing arrives."""
LATE = 100
"""Times as long as an axis that it may begin after 0 (our choice): ticks have four digits."""


def _slowdown(
    figure: Figure,
    rows: Sequence[Row],
    styles: dict[str, dict[str, Any]],
    percentiles: Sequence[str] = (),
    named: bool = False,
) -> None:
    """A panel for each percentile, in a row for each label; `named` names a single label too."""
    formatter = matplotlib("ticker").LogFormatter
    chosen = list(percentiles) or list(PERCENTILES)
    groups = [*by(rows, "label")]
    ticks_of = labels(rows, list(styles))
    stacked = _stacked(figure, len(groups) * len(chosen))
    shape = (len(groups) * len(chosen), 1) if stacked else (len(groups), len(chosen))
    compact = small(figure, *shape)
    panels = figure.subplots(*shape, squeeze=False)
    most = min(TICKS, slanted_ticks(figure, panels.shape[1]))
    names = {name: name for name in chosen} if compact and shape[1] > 1 else PERCENTILES
    for (label, of_label), of_percentiles in zip(groups, panels.reshape(len(groups), len(chosen)), strict=True):
        for axes, percentile in zip(of_percentiles, chosen, strict=True):
            for scheme, mine in by(of_label, "scheme"):
                axes.plot([row["bin"] for row in mine], [row[percentile] for row in mine], label=scheme, markersize=3,
                          linewidth=1.2, **styles[scheme])  # fmt: skip
            several = named or len(groups) > 1
            title = f"{label}: {names[percentile]}" if several else names[percentile]
            axes.set_title(title, loc="left", fontsize="medium")
            axes.set_yscale("log")
            axes.set_ylim(1, 1.15 * max(1, *(row[percentile] for row in of_label)))
            axes.yaxis.set_major_formatter("{x:g}")
            axes.yaxis.set_minor_formatter(formatter(minor_thresholds=(1.5, 0.5)))
            _log_ticks(axes.yaxis, axes.get_ylim())
            ticks = ticks_of[label]
            if compact:
                lines = {bin_: text.replace(" ", "\n") for bin_, text in ticks.items()}
                shown = spaced(list(lines), min(TICKS, level_ticks(figure, panels.shape[1], lines.values())))
                axes.set_xticks(shown, [lines[bin_] for bin_ in shown])
            else:
                shown = spaced(list(ticks), most)
                axes.set_xticks(shown, [ticks[bin_] for bin_ in shown], rotation=SLANT, ha="right")
            axes.grid(axis="y", which="both", linewidth=0.4, alpha=0.5)
        for axes in of_percentiles if stacked else of_percentiles[:1]:
            axes.set_ylabel("slowdown")
        # Percentiles of a label have the same bins.
        for axes in of_percentiles[:-1] if stacked else []:
            axes.tick_params(labelbottom=False)
    title_below(panels[-1], "flow size up to", shared=compact)


def _cdf(figure: Figure, rows: Sequence[Row], styles: dict[str, dict[str, Any]], named: bool = False) -> None:
    """A panel for each label, a step for each scheme; `named` names a single label too."""
    column = "fct_ps" if "fct_ps" in rows[0] else "slowdown_hpcc"
    groups = [*by(rows, "label")]
    stacked = _stacked(figure, len(groups))
    panels = figure.subplots(*((len(groups), 1) if stacked else (1, len(groups))), squeeze=False)
    for axes, (label, of_label) in zip(panels.flat, groups, strict=True):
        for scheme, mine in by(of_label, "scheme"):
            style = {name: value for name, value in styles[scheme].items() if name != "marker"}
            values = [row[column] for row in mine]
            # From 0 on: a single value has a step too.
            axes.step([values[0], *values], [0, *(row["share"] for row in mine)], where="post", label=scheme, **style)
        axes.set_xscale("log")
        axes.xaxis.set_major_formatter((lambda value, _: look.time(value)) if column == "fct_ps" else "{x:g}")
        _log_ticks(axes.xaxis, [row[column] for row in of_label])
        axes.set_ylim(0, look.ABOVE)
        axes.grid(which="major", linewidth=0.4, alpha=0.5)
        if named or len(groups) > 1:
            axes.set_title(label, loc="left", fontsize="medium")
    for axes in panels[:, 0]:
        axes.set_ylabel(SHARE)
    title_below(
        panels[-1], "completion time" if column == "fct_ps" else "slowdown", shared=small(figure, *panels.shape)
    )


def _log_ticks(axis: Axis, values: Sequence[float]) -> None:
    """Ticks of a short logarithmic axis.

    Powers of ten alone would be too few, and matplotlib labels the others as powers.
    """
    ticks = look.log_ticks(values)
    if len(ticks) <= FEW_TICKS:
        axis.set_ticks(ticks)
        axis.set_minor_formatter(matplotlib("ticker").NullFormatter())


def _iterations(figure: Figure, rows: Sequence[Row], styles: dict[str, dict[str, Any]]) -> None:
    """A panel for each collective; bars of communication by iteration and scheme, with compute on top."""
    panels = [*by(rows, "who")]
    for axes, (who, of_job) in zip(_column(figure, len(panels)), panels, strict=True):
        numbers = sorted({row["iteration"] for row in of_job})
        schemes = [*by(of_job, "scheme")]
        width = 0.8 / len(schemes)
        for place, (scheme, mine) in enumerate(schemes):
            at = [numbers.index(row["iteration"]) + (place + 0.5) * width - 0.4 for row in mine]
            communication, compute = ([row[name] for row in mine] for name in PARTS)
            style = {"color": styles[scheme]["color"], "linewidth": 0}
            axes.bar(at, communication, width, label=scheme, **style)
            axes.bar(at, compute, width, bottom=communication, alpha=FADED, **style)
        axes.plot([], [], color=COLOUR, alpha=FADED, linewidth=6, label=f"lighter: {PARTS['compute_ps']}")
        every = -(-len(numbers) // 10)
        axes.set_xticks(range(0, len(numbers), every), numbers[::every])
        axes.set_title(who, loc="left", fontsize="medium")
        axes.yaxis.set_major_formatter(lambda value, _: look.time(value))
        axes.set_ylabel("time")
    figure.axes[-1].set_xlabel("iteration")


def _queues(figure: Figure, rows: Sequence[Row], styles: dict[str, dict[str, Any]]) -> None:
    """A panel for each port."""
    # As the chart has them: the port with the longest queue first.
    panels = sorted(by(rows, "link"), key=lambda panel: -max(row["queue_bytes"] for row in panel[1]))
    for axes, (link, of_port) in zip(_column(figure, len(panels)), panels, strict=True):
        for scheme, mine in by(of_port, "scheme"):
            style = {name: value for name, value in styles[scheme].items() if name != "marker"}
            axes.plot([row["time_ps"] for row in mine], [row["queue_bytes"] for row in mine], label=scheme, linewidth=1,
                      **style)  # fmt: skip
        axes.set_title(link, loc="left", fontsize="medium")
        axes.yaxis.set_major_formatter(lambda value, _: look.size(value))
        axes.set_ylabel("queue")
    _times(figure)


def _rates(figure: Figure, rows: Sequence[Row], _: dict[str, dict[str, Any]]) -> None:
    """A panel for each scheme, a line for each flow."""
    panels = [*by(rows, "scheme")]
    flows = list(dict.fromkeys(row["who"] for row in rows))
    own = own_axes(last_times(rows, "scheme", "time_ps"))
    for axes, (scheme, mine) in zip(_column(figure, len(panels), own=own), panels, strict=True):
        for who, line in by(mine, "who"):
            number = flows.index(who) % len(look.LIGHT)
            dashes = DASHES[look.LINES_OF_FLOWS[number]]
            axes.plot([row["time_ps"] for row in line], [row["acked_bps"] for row in line], color=look.LIGHT[number],
                      linestyle=dashes, label=who, linewidth=0.9, **OVER_AXIS)  # fmt: skip
        axes.set_title(scheme, loc="left", fontsize="medium")
        axes.yaxis.set_major_formatter(lambda value, _: look.rate(value))
        axes.set_ylabel(MEASURED)
        axes.set_ylim(bottom=0)
    _times(figure, own=own)


def _pauses(figure: Figure, rows: Sequence[Row], styles: dict[str, dict[str, Any]]) -> None:
    """A panel for each scheme, a row of bars for each port."""
    panels = [*by(rows, "scheme")]
    links = list(dict.fromkeys(row["link"] for row in rows))
    for axes, (scheme, mine) in zip(_column(figure, len(panels)), panels, strict=True):
        for link, bars in by(mine, "link"):
            spans = [(row["start_ps"], row["end_ps"] - row["start_ps"]) for row in bars]
            # Damaged results can have pauses that overlap.
            parts = [min(1.0, row["paused_ps"] / max(1, row["end_ps"] - row["start_ps"])) for row in bars]
            shares = [0.25 + 0.75 * part for part in parts]
            axes.broken_barh(spans, (links.index(link) - 0.35, 0.7), color=styles[scheme]["color"], alpha=shares,
                             linewidth=0)  # fmt: skip
        axes.set_yticks(range(len(links)), links, fontsize=LEAST)
        axes.set_ylim(len(links) - 0.4, -0.6)
        axes.set_title(scheme, loc="left", fontsize="medium")
    _times(figure)


def _closing(figure: Figure, rows: Sequence[Row], _: dict[str, dict[str, Any]]) -> None:
    """A panel for each scheme with a deadlock, a row of bars for each port, a rule where the cycle closed."""
    panels = [*by(rows, "scheme")]
    colours = dict(zip((ON_CYCLE, BEHIND, PASSING), COLOURS, strict=True))
    for axes, (scheme, mine) in zip(_column(figure, len(panels)), panels, strict=True):
        links = list(dict.fromkeys(row["link"] for row in mine))
        for part, bars in by(sorted(mine, key=lambda row: list(colours).index(row["part"])), "part"):
            for row in bars:
                span = [(row["start_ps"], row["end_ps"] - row["start_ps"])]
                axes.broken_barh(span, (links.index(row["link"]) - 0.35, 0.7), color=colours[part], linewidth=0)
            axes.plot([], [], color=colours[part], linewidth=6, label=part)
        axes.axvline(mine[0]["closed_ps"], color=look.INK, linestyle="--", linewidth=1, label="the cycle closes")
        axes.set_yticks(range(len(links)), links, fontsize=LEAST)
        axes.set_ylim(len(links) - 0.4, -0.6)
        axes.set_title(scheme, loc="left", fontsize="medium")
    _times(figure)


def _vms(figure: Figure, rows: Sequence[Row], styles: dict[str, dict[str, Any]]) -> None:
    """A panel for each VM, with its guarantee."""
    panels = [*by(rows, "who")]
    for axes, (who, of_vm) in zip(_column(figure, len(panels)), panels, strict=True):
        for scheme, mine in by(of_vm, "scheme"):
            style = {name: value for name, value in styles[scheme].items() if name != "marker"}
            axes.plot([row["time_ps"] for row in mine], [row["wire_bps"] for row in mine], label=scheme, linewidth=1,
                      **OVER_AXIS, **style)  # fmt: skip
        if of_vm[0]["guarantee_bps"]:
            axes.axhline(of_vm[0]["guarantee_bps"], color=COLOUR, linestyle="--", linewidth=0.8, label="guarantee")
        axes.set_title(who, loc="left", fontsize="medium")
        axes.yaxis.set_major_formatter(lambda value, _: look.rate(value))
        axes.set_ylabel("received")
        axes.set_ylim(bottom=0)
    _times(figure)


def _guarantees(figure: Figure, rows: Sequence[Row], styles: dict[str, dict[str, Any]]) -> None:
    """A step for each scheme, and a line where guarantees are kept."""
    axes = figure.subplots()
    for scheme, mine in by(rows, "scheme"):
        style = {name: value for name, value in styles[scheme].items() if name != "marker"}
        values = [row["satisfaction"] for row in mine]
        axes.step([0, *(row["share"] for row in mine)], [values[0], *values], where="pre", label=scheme, **style)
    axes.axhline(1, color=COLOUR, linestyle="--", linewidth=0.8)
    axes.set_yscale("symlog", linthresh=0.1)
    axes.set_ylim(bottom=0)
    ticks = [0, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100]
    most = max(row["satisfaction"] for row in rows)
    axes.set_yticks([tick for tick in ticks if tick <= max(1, 2 * most)], minor=False)
    axes.yaxis.set_major_formatter("{x:g}")
    axes.xaxis.set_major_formatter(lambda value, _: f"{100 * value:g} %")
    axes.set(xlim=(0, look.ABOVE), ylabel="received / guaranteed", xlabel="share of VMs")
    axes.grid(which="major", linewidth=0.4, alpha=0.5)


def _over(
    figure: Figure,
    rows: Sequence[Row],
    styles: dict[str, dict[str, Any]],
    titles: Mapping[str, str],
    x: str = "",
    of: str = "slowdown_p99",
) -> None:
    """Means with error bars over the values of one column."""
    axes = figure.subplots()
    kind = error_bars(rows, x, of)
    numbers = along(dict.fromkeys(row[x] for row in rows))
    for scheme, mine in by(rows, "scheme"):
        points = {value: [row[of] for row in found if row[of] is not None] for value, found in by(mine, x)}
        # Without a number, a value has its name as place.
        placed = {numbers.places.get(value, str(value)): found for value, found in points.items() if found}
        points = dict(sorted(placed.items())) if numbers.places else placed
        means = [mean(found) for found in points.values()]
        spans = [ends(found, of, kind) for found in points.values()]
        # Rounding can place an end on the other side of the mean.
        below = [max(0, centre - low) for centre, (low, _) in zip(means, spans, strict=True)]
        above = [max(0, high - centre) for centre, (_, high) in zip(means, spans, strict=True)]
        # A value at the end of the axis is drawn whole.
        axes.errorbar(list(points), means, (below, above), label=scheme, markersize=4, capsize=2, clip_on=False,
                      **styles[scheme])  # fmt: skip
    _values(axes, numbers)
    axes.set(xlabel=x, ylabel=f"{titles[of]}{BARS[kind]}")
    if of.endswith("_share"):
        low, high = axes.get_ylim()
        axes.set_ylim(max(low, 0), min(high, 1))
    write = written(of)[1]
    axes.yaxis.set_major_formatter(lambda value, _: write(value))
    axes.grid(axis="y", linewidth=0.4, alpha=0.5)


def mean(values: Sequence[float]) -> float:
    """Arithmetic mean, never outside the values: rounding can place that of equal values there."""
    return min(max(math.fsum(values) / len(values), min(values)), max(values))


def _values(axes: Axes, numbers: Along) -> None:
    """A horizontal axis of the values of a varied column; few of them have a tick each."""
    values = sorted(numbers.places.values())
    few = len(values) <= FEW_VALUES
    if log := look.geometric(values):
        axes.set_xscale("log")
    if numbers.places:
        axes.xaxis.set_major_formatter(lambda value, _: numbers.write(value))
    if log or (few and len(values) > 1):
        axes.set_xticks(values if few else look.log_ticks(values))
        axes.minorticks_off()


def spaced(bins: Sequence[int], most: int) -> list[int]:
    """Bins to label, so that labels do not overlap on an axis with space for `most`: the last, and earlier ones.

    Bins without flows are missing, so distances between neighbours differ.
    """
    least = MARGINS * (bins[-1] - bins[0]) / most
    shown: list[int] = []
    for bin_ in reversed(bins):
        if not shown or shown[-1] - bin_ >= least:
            shown.append(bin_)
    return shown[::-1]


def by(rows: Sequence[Row], name: str) -> Iterator[tuple[Any, list[Row]]]:
    """Rows by the values of a column, in order of their first row."""
    order = {value: place for place, value in enumerate(dict.fromkeys(row[name] for row in rows))}
    for value, group in groupby(sorted(rows, key=lambda row: order[row[name]]), lambda row: row[name]):
        yield value, list(group)


def _column(figure: Figure, count: int, *, own: bool = False) -> list[Axes]:
    """Panels below one another that share their times, unless each has its own."""
    return list(figure.subplots(count, squeeze=False, sharex=not own)[:, 0])


def _times(figure: Figure, *, own: bool = False) -> None:
    """An axis of times below the last panel, or below each with its own."""
    for panels in [[axes] for axes in figure.axes] if own else [figure.axes]:
        _time_axis(panels)


def _time_axis(panels: Sequence[Axes]) -> None:
    """An axis of times below the last of panels; of a short part of a run, after a round time before it."""
    axes = panels[-1]
    first = min(panel.dataLim.x0 for panel in panels)
    last = max(panel.dataLim.x1 for panel in panels)
    since = 0.0
    if 0 < last - first < first / LATE:
        step = 10 ** math.ceil(math.log10(last - first))
        since = first // step * step
    axes.xaxis.set_major_formatter(lambda value, _: look.time(value - since))
    axes.set_xlabel(f"time after {since / 10**12:.12g} s" if since else "time")


def height_of(chart: Chart, rows: Sequence[Row], inches: float, options: Mapping[str, Any]) -> float:
    """Inches of a chart on a page so wide."""
    labels_ = len({row["label"] for row in rows}) if "label" in rows[0] else 1
    if inches < NARROW and chart.name == "slowdown":
        return 1 + STACKED * labels_ * len(options.get("percentiles") or PERCENTILES)
    if inches < NARROW and labels_ > 1:
        return 1 + STACKED * labels_
    return DRAWN[chart.name][1][1](rows)


def _stacked(figure: Figure, panels: int) -> bool:
    """True if so many panels have space below each other, and not side by side."""
    width, height = (size / figure.dpi for size in figure.bbox.size)
    return width < NARROW and height > 1 + STACKED_LEAST * panels


def _panels(name: str, each: float) -> Callable[[Sequence[Row]], float]:
    """Inches for a panel for each value of a column."""
    return lambda rows: 1.2 + each * len({row[name] for row in rows})


def _bars(rows: Sequence[Row]) -> float:
    """Inches for a line for each port in a panel for each scheme."""
    schemes, links = ({row[name] for row in rows} for name in ("scheme", "link"))
    return 1 + len(schemes) * (0.5 + 0.14 * len(links))


def _across(rows: Sequence[Row]) -> float:
    """Inches for a panel for each label side by side."""
    return 2 + 4 * len({row["label"] for row in rows})


Inches = Callable[[Sequence[Row]], float]
DRAWN: dict[str, tuple[Callable[..., None], tuple[float | Inches, Inches]]] = {
    "slowdown": (_slowdown, (9, _panels("label", 2.4))),
    "cdf-fct": (_cdf, (_across, lambda _: 4)),
    "cdf-slowdown": (_cdf, (_across, lambda _: 4)),
    "iterations": (_iterations, (8, _panels("who", 2.2))),
    "queues": (_queues, (8, _panels("link", 1.9))),
    "rates": (_rates, (8, _panels("scheme", 1.9))),
    "pauses": (_pauses, (8, _bars)),
    "closing": (_closing, (8, _bars)),
    "vms": (_vms, (8, _panels("who", 1.9))),
    "guarantees": (_guarantees, (6, lambda _: 4)),
    "over": (_over, (6, lambda _: 4)),
}  # fmt: skip
"""How each chart is drawn, its width and its height in inches."""
