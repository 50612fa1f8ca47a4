"""Cumulative distributions of completion times and slowdowns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from incast._nearest import keywords
from incast.charts import look
from incast.charts.chart import Chart, Field, Spec
from incast.charts.source import Source, of_labels
from incast.results import ALL

POINTS = 200
"""Points of a line (our choice): a screen cannot show more."""
TAIL = 100
"""Part of the flows with additional points, those with the largest values: one in so many."""

SHARE = "share of completed flows"
"""Title of the vertical axis."""
Measure = Literal["fct", "slowdown"]
COLUMN = {"fct": "fct_ps", "slowdown": "slowdown_hpcc"}
TITLE = {"fct": "Completion times", "slowdown": "Slowdowns"}
ABOUT = {
    "fct": "Share of completed flows with at most this completion time.",
    "slowdown": f"Share of completed flows with at most this slowdown: completion time / {look.IDEAL}, also below 1.",
}


@keywords
def cdf(source: Source, of: Measure = "fct", *, label: str | None = None, points: int = POINTS) -> Chart:
    """Cumulative distribution of completion times or slowdowns, per label, of one label, or of `"all"` flows together.

    Backlogged flows, which end at a fixed time, are not included.
    """
    column = COLUMN[of]
    groups = source.groups(label)
    flows: dict[tuple[str, str], int] = {}
    rows: list[tuple[str, str, float, float]] = []
    for name, labels in groups:
        chosen_flows = "slowdown_hpcc is not null and ($all or list_contains($labels, label))"
        given: dict[str, object] = {"labels": labels, "all": not labels}
        totals = source.rows(f"select scheme, count(*) from flows where {chosen_flows} group by scheme", given)
        flows |= {(scheme, name): number for scheme, number in totals}
        drawn = [(scheme, rank) for scheme, number in totals for rank in chosen(number, points)]
        values = source.rows(
            "with drawn as (select unnest($schemes::varchar[]) as scheme, unnest($ranks::bigint[]) as rank), "
            f"ranked as (select scheme, {column}, row_number() over (partition by scheme order by {column}) as rank "
            f"from flows where {chosen_flows}) "
            f"select scheme, rank, {column} from ranked join drawn using (scheme, rank) order by rank",
            {**given, "schemes": [scheme for scheme, _ in drawn], "ranks": [rank for _, rank in drawn]},
        )
        rows += [(scheme, name, rank / flows[scheme, name], value) for scheme, rank, value in values]
    rows = source.by_scheme(rows)
    most = max(flows.values(), default=0)
    fewer = (f"Each curve has {points} points, plus up to {points} for the largest 1 % of the flows.",)
    of_label = f" of flows labelled {label}" if label not in (None, ALL) else ""
    unit = "ps" if of == "fct" else None
    unfinished = source.of_unfinished(label)
    return Chart(
        name=f"cdf-{of}",
        title=f"{TITLE[of]}{of_label}",
        about=ABOUT[of],
        fields=(
            Field("scheme", "scheme"),
            Field("label", "label of the flows, or the name of several labels together"),
            Field("share", "share of completed flows with at most this value"),
            Field(column, "value", unit),
        ),
        rows=rows,
        palette=tuple(source.palette),
        spec=spec(source.palette, of, [row[3] for row in rows], [name for name, _ in groups]),
        incomplete="".join(unfinished),
        left_out=(*source.of_queue_pairs, *unfinished, *of_labels(groups), *(fewer if most > points else ())),
        why_empty=None if rows else source.why_no_slowdown(label),
    )


POINTED = 50
"""Most values that are drawn with points (our choice): a single one has no line."""


def chosen(count: int, points: int) -> list[int]:
    """The ranks to draw, from 1 to `count`: all if there are few; else equal steps, and smaller ones in the tail."""
    if count <= points:
        return list(range(1, count + 1))
    steps = {max(1, -(-count * step // points)) for step in range(points + 1)}
    tail = -(-count // TAIL)
    return sorted(steps | set(range(count, count - tail, -max(1, -(-tail // points)))))


def spec(schemes: Sequence[str], of: Measure, values: Sequence[float], groups: Sequence[str]) -> Spec:
    """A step for each scheme, on a logarithmic axis; a panel for each label."""
    title = "completion time" if of == "fct" else "slowdown"
    several = len(groups) > 1
    axis: Spec = {"labelOverlap": True, "labelSeparation": 6, "labelExpr": look.TIME if of == "fct" else look.NUMBER}
    if several:  # each panel has its own range, and the ticks that Vega chooses for it
        axis["labelExpr"] = look.rounded_log(axis["labelExpr"])
    else:
        axis["values"] = look.log_ticks(values)
    panel: Spec = {
        "width": 340 if several else 420,
        "height": 220 if several else 260,
        "mark": {
            "type": "line",
            "interpolate": "step-after",
            "strokeWidth": 1.8,
            "point": {"size": 20} if len(values) <= POINTED else False,
        },
        "encoding": {
            "x": {
                "field": COLUMN[of],
                "type": "quantitative",
                "title": title,
                "scale": {"type": "log", "nice": False},
                "axis": axis,
            },
            "y": {
                "field": "share",
                "type": "quantitative",
                "title": SHARE,
                "scale": {"domain": [0, look.ABOVE]},
                "axis": {"labelExpr": look.SHARE},
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
    if not several:
        return panel
    return {
        "facet": {
            "field": "label",
            "type": "nominal",
            "sort": list(groups),
            "header": {"title": None, "labelAnchor": "start"},
        },
        "columns": 2,
        "spec": panel,
        "resolve": {"scale": {"x": "independent"}},
    }
