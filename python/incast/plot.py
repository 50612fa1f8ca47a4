"""Charts as vector files for papers, with matplotlib (extra `incast[plot]`).

chart = charts.slowdown(charts.Source([incast.open("results/quickstart")]))
plot.save(plot.draw(chart), "slowdown.pdf")
"""

from __future__ import annotations

import io
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from incast._svg import smaller
from incast._whole import write_whole
from incast.charts import environment
from incast.charts.chart import Chart
from incast.charts.events import COLOUR
from incast.charts.over import titles
from incast.errors import ResultsError
from incast.plot_kinds import DRAWN, height_of
from incast.plot_style import matplotlib, palette_of, rows_of, scheme_styles
from incast.plot_text import (
    TooSmallError,
    add_legend,
    add_title,
    fit_labels,
    fitting,
    inches_of,
    least_height,
    text_size,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

HIGHEST = 20.0
"""Inches of the highest figure that is proposed (our choice)."""
UPPER = 1.2
"""Height of a row of the upper part of a small figure, relative to the lower part (our choice)."""
DPI = 200
"""Dots per inch of a PNG (our choice)."""


def draw(
    chart: Chart,
    *,
    width: float | None = None,
    height: float | None = None,
    title: str = "",
    below: Chart | None = None,
    **options: Any,
) -> Figure:
    """A chart as a matplotlib figure.

    Args:
        chart: A chart of `incast.charts`.
        width: Width in inches, at least 2; each chart has a default. Text has 8 points below 4 inches.
        height: Height in inches. Default: depends on the chart, and on its texts if these are long.
        title: Text above the panels.
        below: Another chart of the same schemes, drawn below the first.
        options: Options of the chart: `percentiles` for slowdown, `x` and `of` for over.

    Raises:
        MissingLibraryError: Matplotlib is not installed.
        ResultsError: Width or height is too small for the chart.
        ValueError: The chart has no rows.

    """
    sizes: dict[str, Any] = {"width": width, "title": title, "below": below, **options}
    try:
        return _drawn(chart, height=height, **sizes)
    except TooSmallError as error:
        least = least_height(lambda inches: _drawn(chart, height=inches, **sizes), error.height, HIGHEST)
        if height is None and least:
            # Long texts, and panels as high as usual.
            return _drawn(chart, height=min(least + error.height, HIGHEST), **sizes)
        raise ResultsError(f"{error}{f', such as a height of {least:g}' if least else ''}") from None


def _drawn(
    chart: Chart, *, width: float | None, height: float | None, title: str, below: Chart | None, **options: Any
) -> Figure:
    """As `draw`, with `TooSmallError` for a figure that is too small."""
    figures = matplotlib("figure")
    if not chart.rows:
        raise ValueError(chart.why_empty or "nothing to draw")
    parts = [chart] if below is None else [chart, below]
    rows = [rows_of(part, palette_of(chart)) for part in parts]
    usual_width = DRAWN[chart.name][1][0]
    inches = inches_of("width", width, usual_width(rows[0]) if callable(usual_width) else usual_width)
    heights = [height_of(part, mine, inches, options) for part, mine in zip(parts, rows, strict=True)]
    if height is not None and height < sum(heights):
        # The upper part has labels of two lines.
        heights = [UPPER * len({row["label"] for row in rows[0]}), 1] if below else heights
    with matplotlib().rc_context(text_size(inches)):
        figure: Figure = figures.Figure(
            figsize=(inches, inches_of("height", height, sum(heights))), layout="constrained"
        )
        places = figure.subfigures(len(parts), 1, squeeze=False, height_ratios=heights)[:, 0] if below else [figure]
        styles = scheme_styles(chart)
        for part, mine, place in zip(parts, rows, places, strict=True):
            make = DRAWN[part.name][0]
            given = options if part is chart else {}
            given = {"titles": titles(part), **given} if part.name == "over" else given
            make(place, mine, styles, **given, **({"named": True} if below else {}))
            _events(place, part)
        handles: dict[str, Any] = {}
        for axes in figure.axes:
            handles |= {label: handle for handle, label in zip(*axes.get_legend_handles_labels(), strict=True)}
            axes.spines[["top", "right"]].set_visible(False)
        if handles:
            # Matplotlib lists lines before bars.
            notes = " ".join(dict.fromkeys(part.incomplete for part in parts if part.incomplete))
            add_legend(figure, dict(sorted(handles.items(), key=lambda item: item[0] not in styles)), notes or None)
        if title:
            add_title(figure, title)
        fit_labels(figure)
    return figure


def _events(figure: Figure, chart: Chart) -> None:
    """A dotted line for each event, in the panel that has its name as title; the legend names the kinds of events."""
    kinds = f"events: {', '.join(dict.fromkeys(event['what'] for event in chart.events))}"
    for axes in figure.axes:
        panel = axes.get_title(loc="left")
        for event in chart.events:
            if panel in event.values():
                axes.axvline(event["event_ps"], color=COLOUR, linestyle=":", linewidth=0.9, label=kinds)


MANY = 500
"""Bars of a chart beyond which a small SVG has an image of them."""


def save(figure: Figure, path: str | PathLike[str], *, overwrite: bool = True) -> Path:
    """Write a figure to a file. The same results give the same file."""
    file = Path(path)
    write_whole(file, encoded(figure, file.suffix), overwrite=overwrite)
    return file


def encoded(figure: Figure, suffix: str, *, outlines: bool = True) -> bytes:
    """Content of a file with a figure; without `outlines` an SVG is smaller, with text as text and 1/100 of a point."""
    environment.check_epoch()
    out = io.BytesIO()
    # No date, no random names.
    settings = {
        "svg.hashsalt": "incast",
        "pdf.fonttype": 42,
        "svg.fonttype": "path" if outlines else "none",
        **text_size(figure.get_figwidth()),
    }
    with matplotlib().rc_context(settings):
        if not outlines:
            _rasterise(figure)
        metadata = {".svg": {"Date": None}, ".pdf": {"CreationDate": None}}.get(suffix)
        with fitting(figure):
            figure.savefig(out, format=suffix.removeprefix("."), dpi=DPI, metadata=metadata)
    return out.getvalue() if outlines else smaller(out.getvalue().decode()).encode()


def _rasterise(figure: Figure) -> None:
    """Make an image of thousands of bars, such as pauses, in the middle of a vector graphic."""
    for axes in figure.axes:
        many = sum(len(collection.get_paths()) for collection in axes.collections) > MANY
        for collection in axes.collections:
            collection.set_rasterized(many)
