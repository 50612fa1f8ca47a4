"""Colours, markers and lines of schemes in figures, and matplotlib itself."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from incast._library import needed
from incast.charts import environment, look
from incast.charts.chart import Chart

MARKERS = dict(zip(look.SHAPES, ("o", "s", "^", "D", "P", "v"), strict=True))
DASHES = ("-", "--", ":")
Row = dict[str, Any]


def matplotlib(module: str = "") -> Any:
    """Matplotlib or a module of it.

    Raises:
        MissingLibraryError: It cannot be imported.
        IncastError: The environment variable MPLBACKEND names no backend.

    """
    with environment.backend():
        return needed(f"matplotlib.{module}" if module else "matplotlib", "drawing")


def rows_of(chart: Chart, palette: Sequence[str]) -> list[Row]:
    """The rows of a chart in the order of the schemes, with their names in a legend."""
    rows = sorted(chart.dicts(), key=lambda row: palette.index(row["scheme"]))
    return [{**row, "scheme": shown_name(row["scheme"])} for row in rows]


def scheme_styles(chart: Chart) -> dict[str, dict[str, Any]]:
    """Colour, marker and line of every scheme, as on the page."""
    return styles_of([shown_name(scheme) for scheme in palette_of(chart)])


def shown_name(scheme: str) -> str:
    """The name of a scheme in a legend: matplotlib leaves out names that begin with an underscore."""
    return f" {scheme}" if scheme.startswith("_") else scheme


def styles_of(schemes: Sequence[str]) -> dict[str, dict[str, Any]]:
    """Colours, markers and lines of names in this order."""
    return {scheme: style_at(place) for place, scheme in enumerate(schemes)}


def style_at(place: int) -> dict[str, Any]:
    """Colour, marker and line of the name at this place."""
    return {
        "color": look.LIGHT[place % len(look.LIGHT)],
        "marker": list(MARKERS.values())[place % len(MARKERS)],
        "linestyle": DASHES[place // len(look.LIGHT) % len(DASHES)],
    }


def palette_of(chart: Chart) -> list[str]:
    """The schemes in the order of their colours."""
    place = [each.name for each in chart.fields].index("scheme")
    return list(dict.fromkeys([*chart.palette, *(row[place] for row in chart.rows)]))
