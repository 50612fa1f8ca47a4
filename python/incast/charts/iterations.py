"""Times of the iterations of collectives: communication and compute."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from incast.charts import look
from incast.charts.chart import Chart, Field, Spec
from incast.charts.source import Source

BARS = 40
"""Most bars of a scheme in a panel (our choice)."""
PARTS = {"communication_ps": "communication", "compute_ps": "compute"}
"""Parts of an iteration, from the bottom of a bar."""
FADED = 0.35
"""Opacity of compute."""


def iterations(source: Source) -> Chart:
    """Time of every iteration under each scheme, with a panel for each collective."""
    rows: list[tuple[Any, ...]] = []
    together = 1
    if source.count("iterations"):
        count = source.rows("select max(iteration) + 1 from iterations")[0][0]
        together = -(-count // BARS)
        rows = source.by_scheme(source.rows(_TIMES, {"together": together}))
    return Chart(
        name="iterations",
        title="Iterations of collectives",
        about="Communication: from the first message of an iteration to its last byte, without compute time. Compute: "
        "configured time before the iteration and within it.",
        fields=(
            Field("scheme", "scheme"),
            Field("who", "label of the collective; with its number if several have the label"),
            Field("iteration", "number of the iteration, from 0"),
            Field("communication_ps", "communication time", "ps"),
            Field("compute_ps", "compute time", "ps"),
        ),
        rows=rows,
        palette=tuple(source.palette),
        spec=_spec(source.palette, list(dict.fromkeys(row[1] for row in rows))),
        left_out=(f"Each bar is the mean of {together} iterations.",) if together > 1 else (),
        why_empty=None if rows else "No iteration of a collective completed.",
    )


_TIMES = """
    with counts as (select label, count(distinct collective) as jobs from iterations group by label)
    select scheme, label || case when any_value(jobs) > 1 then ' ' || collective else '' end, min(iteration),
        avg(communication_ps), avg(compute_ps + end_ps - start_ps - communication_ps)
    from iterations join counts using (label)
    group by scheme, collective, label, iteration // $together order by collective, 3
"""


def _spec(schemes: Sequence[str], who: Sequence[str]) -> Spec:
    """A panel for each collective, a bar for each scheme and iteration."""
    parts = list(PARTS.values())
    return {
        "transform": [
            {"calculate": json.dumps(parts), "as": "part"},
            {"calculate": f"[{', '.join(f'datum.{column}' for column in PARTS)}]", "as": "time_ps"},
            {"flatten": ["part", "time_ps"]},
        ],
        "facet": {
            "field": "who",
            "type": "nominal",
            "sort": list(who),
            "header": {"title": None, "labelAnchor": "start"},
        },
        "columns": 1,
        "spec": {
            "width": 640,
            "height": 200,
            "mark": "bar",
            "encoding": {
                "x": {
                    "field": "iteration",
                    "type": "ordinal",
                    "title": "iteration",
                    "axis": {"labelAngle": 0, "labelOverlap": True},
                },
                "xOffset": {"field": "scheme", "type": "nominal", "scale": {"domain": list(schemes)}},
                "y": {
                    "field": "time_ps",
                    "type": "quantitative",
                    "title": "time",
                    "axis": {"labelExpr": look.TIME, "tickCount": 5},
                },
                "color": look.colour(schemes),
                "opacity": {
                    "field": "part",
                    "type": "nominal",
                    "scale": {"domain": parts, "range": [1, FADED]},
                    "legend": {"title": None, "orient": "top"},
                },
                "order": {"field": "part", "type": "nominal"},
                "tooltip": [
                    {"field": "scheme"},
                    {"field": "iteration"},
                    {"field": "part"},
                    {"field": "time_ps", "type": "quantitative", "title": "time (ps)", "format": ",.0f"},
                ],
            },
        },
        "resolve": {"scale": {"y": "independent"}},
    }
