"""Cumulative distributions of completion times and slowdowns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from incast._nearest import keywords
from incast.charts import look
from incast.charts.chart import Chart, Field, Spec
from incast.charts.source import Source

POINTS = 200
"""Points of a line (our choice): a screen cannot show more."""
TAIL = (0.99, 0.995, 0.999, 0.9995, 0.9999)
"""Additional shares, for the tail."""

Measure = Literal["fct", "slowdown"]
COLUMN = {"fct": "fct_ps", "slowdown": "slowdown_hpcc"}
TITLE = {"fct": "Completion times", "slowdown": "Slowdowns"}
ABOUT = {
    "fct": "Share of completed flows with at most this completion time.",
    "slowdown": "Share of completed flows with at most this slowdown: completion time / HPCC's ideal completion time, "
    "also below 1.",
}


@keywords
def cdf(source: Source, of: Measure = "fct", *, label: str | None = None, points: int = POINTS) -> Chart:
    """Cumulative distribution of completion times or slowdowns, of all flows or of one label.

    Backlogged flows, which end at a fixed time, are not included.
    """
    column = COLUMN[of]
    count = "count(slowdown_hpcc)"
    totals = source.rows(
        f"select scheme, {count} from flows where $label is null or label = $label group by scheme", {"label": label}
    )
    flows = dict(totals)
    rows: list[tuple[str, float, float]] = []
    for scheme in source.schemes:
        number = flows.get(scheme, 0)
        if number:
            ranks = chosen(number, points)
            values = source.rows(
                f"select rank, {column} from (select {column}, row_number() over (order by {column}) as rank "
                "from flows where scheme = $scheme and slowdown_hpcc is not null "
                "and ($label is null or label = $label)) where list_contains($ranks, rank) order by rank",
                {"scheme": scheme, "label": label, "ranks": ranks},
            )
            rows += [(scheme, rank / number, value) for rank, value in values]
    most = max(flows.values(), default=0)
    fewer = (f"Curve of {points} points, for up to {most:,} flows of a scheme; the tail has additional points.",)
    of_label = f" of flows labelled {label}" if label else ""
    unit = "ps" if of == "fct" else None
    return Chart(
        name=f"cdf-{of}",
        title=f"{TITLE[of]}{of_label}",
        about=ABOUT[of],
        fields=(
            Field("scheme", "scheme"),
            Field("share", "share of completed flows with at most this value"),
            Field(column, "value", unit),
        ),
        rows=rows,
        palette=tuple(source.palette),
        spec=spec(source.palette, of, [row[2] for row in rows]),
        left_out=fewer if most > points else (),
        why_empty=None if rows else f"No flow{of_label} completed.",
    )


def chosen(count: int, points: int) -> list[int]:
    """The ranks to draw, from 1 to `count`: all if there are few."""
    if count <= points:
        return list(range(1, count + 1))
    steps = {max(1, -(-count * step // points)) for step in range(points + 1)}
    return sorted(steps | {max(1, -(-int(count * 10_000 * share) // 10_000)) for share in TAIL})


def spec(schemes: Sequence[str], of: Measure, values: Sequence[float]) -> Spec:
    """A step for each scheme, on a logarithmic axis."""
    axis = {"labelExpr": look.TIME} if of == "fct" else {"format": "~g"}
    title = "completion time" if of == "fct" else "slowdown"
    return {
        "width": 420,
        "height": 260,
        "mark": {"type": "line", "interpolate": "step-after", "strokeWidth": 1.8},
        "encoding": {
            "x": {
                "field": COLUMN[of],
                "type": "quantitative",
                "title": title,
                "scale": {"type": "log", "nice": False},
                "axis": {**axis, "labelOverlap": True, "values": look.log_ticks(values)},
            },
            "y": {
                "field": "share",
                "type": "quantitative",
                "title": "share of flows",
                "scale": {"domain": [0, 1]},
                "axis": {"format": "~%"},
            },
            "color": look.colour(schemes),
            "strokeDash": look.dash(schemes),
            "order": {"field": "share", "type": "quantitative"},
            "tooltip": [
                {"field": "scheme"},
                {"field": "share", "type": "quantitative", "format": ".2%"},
                {"field": COLUMN[of], "type": "quantitative", "format": ",.6~g"},
            ],
        },
    }
