"""Slowdown of flows by size, as in most papers on congestion control."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from incast._nearest import keywords
from incast.charts import look
from incast.charts.cdf import cdf
from incast.charts.chart import Chart, Field, Spec
from incast.charts.source import Source, of_labels
from incast.results import ALL

BINS = 20
"""Bins of about equally many flows: as many as in the HPCC evaluation (fct_analysis.py of its authors)."""
PERCENTILES = {"p50": "median", "p95": "95th percentile", "p99": "99th percentile"}
"""Drawn side by side, as in the HPCC paper's figures 11 and 13."""
SLOWDOWN = f"Slowdown = completion time / {look.IDEAL}, at least 1."
ABOUT = (
    f"{SLOWDOWN} Bins hold about equally many flows, and all flows of a size; each tick is the largest size of "
    "a bin. Each label has its own panel."
)


@keywords
def slowdown(source: Source, *, bins: int = BINS, label: str | None = None) -> Chart:
    """Percentiles of slowdown by flow size for each scheme, with a panel for each label.

    A label with flows of one size has no panel. If all labels have flows of one size, the chart is the distribution of
    slowdowns (`cdf`).

    Args:
        source: Results to draw.
        bins: Bins of about equally many flows for each label.
        label: One label, or `"all"` for the flows of all labels together.

    """
    chart = by_size(source, bins=bins, label=label)
    if chart.rows:
        return chart
    distribution = cdf(source, "slowdown", label=label)
    if not distribution.rows:
        return chart
    return replace(distribution, left_out=(chart.why_empty or "", *distribution.left_out))


def by_size(source: Source, *, bins: int = BINS, label: str | None = None) -> Chart:
    """Percentiles of slowdown by flow size; without rows if all labels have flows of one size."""
    groups = source.groups(label)
    tables = [results._slowdown(groups, bins=bins) for results in source.results]
    alike = one_size(row for table in tables for row in table.dicts())
    columns = tables[0].columns
    place = [column.name for column in columns].index("label")
    fields = tuple(Field(column.name, column.description or "", column.unit) for column in columns)
    rows = source.by_scheme(row for table in tables for row in table.rows() if row[place] not in alike)
    together = of_labels([group for group in groups if group[0] not in alike])
    of_sizes = ", ".join(f"{name} ({look.size(size)})" for name, size in alike.items())
    note = f"{of_sizes}: all flows have one size; their slowdowns are drawn as a distribution."
    named = label is None and len(source.labels) > 1
    if not rows:
        why = note if alike else source.why_no_slowdown(label)
        return replace(of_rows(fields, rows, source.palette, label=label), why_empty=why)
    left_out = [*source.of_queue_pairs, *source.of_unfinished(label), *together, *([note] if alike else [])]
    return of_rows(fields, rows, source.palette, label=label, left_out=left_out, named=named)


def of_one_size(source: Source, chart: Chart) -> Chart | None:
    """The distribution of slowdowns of the labels that a chart of all labels by size lacks, if it lacks any."""
    if chart.name != "slowdown":
        return None
    drawn = {row["label"] for row in chart.dicts()}
    whole = cdf(source, "slowdown")
    rows = [row for row in whole.rows if row[1] not in drawn]
    return replace(whole, rows=rows) if rows else None


def one_size(rows: Iterable[dict[str, Any]]) -> dict[str, int]:
    """The labels with completed flows of one size, and that size."""
    sizes: dict[str, set[int]] = {}
    for row in rows:
        sizes.setdefault(row["label"], set()).update((row["size_min_bytes"], row["size_max_bytes"]))
    return {label: found.pop() for label, found in sizes.items() if len(found) == 1}


def of_rows(
    fields: tuple[Field, ...],
    rows: list[tuple[Any, ...]],
    schemes: Sequence[str],
    *,
    label: str | None = None,
    left_out: Sequence[str] = (),
    named: bool = False,
) -> Chart:
    """The chart of given slowdowns; `named` names a single label too."""
    names = [each.name for each in fields]
    edges = [{name: row[names.index(name)] for name in ("scheme", "label", "bin", "size_max_bytes")} for row in rows]
    ticks = labels(edges, schemes)
    left_out = list(left_out)
    differing = [edge for edge in edges if look.size(edge["size_max_bytes"]) != ticks[edge["label"]][edge["bin"]]]
    if differing:
        who = ", ".join(dict.fromkeys(str(edge["scheme"]) for edge in differing))
        left_out.append(f"The bins of {who} differ from the ticks, because other flows completed.")
    return Chart(
        name="slowdown",
        title=heading(label),
        about=ABOUT,
        fields=fields,
        rows=rows,
        palette=tuple(schemes),
        spec=spec(schemes, ticks, named=named),
        left_out=tuple(left_out),
    )


def heading(label: str | None) -> str:
    """The heading of the chart of a label, or of all."""
    return f"Slowdown by flow size{f' of flows labelled {label}' if label not in (None, ALL) else ''}"


def labels(edges: Iterable[dict[str, Any]], schemes: Sequence[str]) -> dict[str, dict[int, str]]:
    """Ticks by label and bin: the largest size of a non-empty bin, under the first scheme with this bin."""
    found: dict[str, dict[int, str]] = {}
    for edge in sorted(edges, key=lambda edge: schemes.index(edge["scheme"])):
        found.setdefault(edge["label"], {}).setdefault(edge["bin"], look.size(edge["size_max_bytes"]))
    return {label: dict(sorted(ticks.items())) for label, ticks in found.items()}


STEP = 1000
"""Between the first bins of two labels on the axis, which has one number for each bin of each label."""


def spec(schemes: Sequence[str], ticks: dict[str, dict[int, str]], *, named: bool = False) -> Spec:
    """A panel for each label and percentile, a row of panels for each label where they fit; a line for each scheme.

    `named` names a single label too.
    """
    names = list(PERCENTILES)
    groups = list(ticks)
    places = {place * STEP + bin_: text for place, group in enumerate(groups) for bin_, text in ticks[group].items()}
    axis = {
        "values": list(places),
        "labelExpr": f"{json.dumps(places)}[datum.value]",
        "labelOverlap": True,
        "labelAngle": -40,
        "grid": False,
        "tickMinStep": 1,
    }
    several = named or len(groups) > 1
    panels = [f"{group}: {PERCENTILES[name]}" if several else PERCENTILES[name] for group in groups for name in names]
    of_label = "datum.label + ': ' + " if several else ""
    panel = {
        "field": "panel",
        "type": "nominal",
        "sort": panels,
        "header": {"title": None, "labelAnchor": "start"},
    }
    return {
        "transform": [
            {"fold": names, "as": ["percentile", "slowdown"]},
            {"calculate": f"{STEP} * indexof({json.dumps(groups)}, datum.label) + datum.bin", "as": "place"},
            {"calculate": f"{of_label}{json.dumps(PERCENTILES)}[datum.percentile]", "as": "panel"},
        ],
        "facet": panel,
        "columns": len(names),
        "spec": {
            "width": 250,
            "height": 230,
            "mark": {"type": "line", "point": {"size": 28}, "strokeWidth": 1.6},
            "encoding": {
                "x": {
                    "field": "place",
                    "type": "quantitative",
                    "title": "flow size up to",
                    "scale": {"zero": False},
                    "axis": axis,
                },
                "y": {
                    "field": "slowdown",
                    "type": "quantitative",
                    "title": "slowdown",
                    "scale": {"type": "log", "nice": False, "domainMin": 1},
                    "axis": {"labelExpr": look.LOG},
                },
                "color": look.colour(schemes),
                "shape": look.shape(schemes),
                "strokeDash": look.dash(schemes),
                "tooltip": [
                    {"field": "scheme"},
                    {"field": "label"},
                    {"field": "percentile"},
                    {"field": "slowdown", "type": "quantitative", "format": ".4~g"},
                    {"field": "size_min_bytes", "type": "quantitative", "title": "from (B)", "format": ","},
                    {"field": "size_max_bytes", "type": "quantitative", "title": "to (B)", "format": ","},
                    {"field": "flows", "type": "quantitative", "format": ","},
                ],
            },
        },
        "resolve": {"scale": {"x": "independent", "y": "independent"}},
    }
