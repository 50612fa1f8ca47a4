"""Charts of results as figures that a notebook shows."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from incast import plot
from incast.charts import kinds
from incast.charts.source import Source
from incast.errors import ResultsError
from incast.results import Results

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def of_results(
    results: Results,
    kind: str,
    given: Mapping[str, Any],
    *,
    width: float | None,
    height: float | None,
    title: str | None,
) -> Figure:
    """The chart `kind` with the options `given` (`Results.plot`)."""
    source = Source([results])
    try:
        chart, options = kinds.make(source, kind, **given)
        if not chart.rows:
            raise ResultsError(f"{results.path}: {chart.why_empty or 'nothing to draw'}")
        above = source.title if title is None else title
        figure = plot.draw(chart, width=width, height=height, title=above, **options)
    finally:
        source.close()
    # A notebook shows figures of pyplot only; this one is made without it.
    vars(figure)["_repr_svg_"] = partial(_svg, figure)
    return figure


def _svg(figure: Figure) -> str:
    """The figure as SVG."""
    return plot.encoded(figure, ".svg").decode()
