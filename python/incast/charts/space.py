"""Charts of a map: points by verdict of a claim, over the parameters that decide it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from incast.charts import look
from incast.charts.chart import Chart, Field, Spec
from incast.study.mapped import Axis, MappedClaim, StudyMap
from incast.study.space import Scalar

LOOKS = {
    "holds": (look.LIGHT[2], "circle"),
    "fails": (look.LIGHT[1], "cross"),
    "not measured": (look.LIGHT[5], "triangle-up"),
}
"""Colour and shape by verdict."""
LABELS = {"size": look.BYTES, "time": look.TIME, "rate": look.RATE}
"""Labels of axes, by kind of quantity."""
UNITS = {"size": "B", "time": "ps", "rate": "bit/s"}
RATIOS = {"x": 0.618034, "y": 0.381966}
HEIGHT = 260
STRIP = 90
"""Height of a chart with one parameter."""


def of_claim(found: StudyMap, claim: MappedClaim) -> Chart:
    """The points in the plane of the claim's two strongest parameters, or on a line if there is one."""
    names = [each.name for each in claim.influences[:2]]
    axes = [next(axis for axis in found.axes if axis.name == name) for name in names]
    rows = [
        (place, *(_coordinate(axis, point[axis.name]) for axis in axes), verdict, "judged" if place == 0 else "sampled")
        for place, (point, verdict) in enumerate(zip(found.points, claim.verdicts, strict=True))
    ]
    fields = (
        Field("point", "number of the point; 0 is the judged setting"),
        *(Field(axis.name, axis.why, UNITS.get(axis.kind or "")) for axis in axes),
        Field("verdict", "verdict on the claim there, of means over seeds"),
        Field("setting", "the judged setting, or a sampled point"),
    )
    decided = " and ".join(claim.deciding)
    about = f"{claim.statement}. Decided by {decided}." if decided else f"{claim.statement}. No parameter decides it."
    return Chart(
        name=claim.id,
        title=f"{claim.id}: holds at {claim.holds} of {claim.points} points",
        about=f"{about} Ring: the judged setting.",
        fields=fields,
        rows=rows,
        spec=_spec(axes, rows),
    )


def _coordinate(axis: Axis, value: Any) -> Any:
    """A number in the base unit, or a name."""
    scalar = Scalar.of(value) if axis.ordered else None
    return scalar.number if scalar else str(value)


def _spec(axes: list[Axis], rows: Sequence[tuple[Any, ...]]) -> Spec:
    """Points by verdict, and a ring around the judged setting."""
    place: Spec = {}
    for number, (channel, axis) in enumerate(zip(("x", "y"), axes, strict=False), 1):
        place[channel] = _encoding(axis, [row[number] for row in rows], upwards=channel == "y")
        if axis.choices:
            place[f"{channel}Offset"] = {"field": channel, "type": "quantitative", "scale": {"domain": [-0.5, 1.5]}}
    colour = {"domain": list(LOOKS), "range": [colour for colour, _ in LOOKS.values()]}
    shape = {"domain": list(LOOKS), "range": [shape for _, shape in LOOKS.values()]}
    legend = {"title": None, "orient": "top"}
    tooltip = [{"field": name} for name in ("point", *(_escaped(axis.name) for axis in axes), "verdict")]
    points: Spec = {
        "mark": {"type": "point", "size": 60, "filled": True},
        "encoding": {
            **place,
            "color": {"field": "verdict", "type": "nominal", "scale": colour, "legend": legend},
            "shape": {"field": "verdict", "type": "nominal", "scale": shape, "legend": legend},
            "tooltip": tooltip,
        },
    }
    ring: Spec = {
        "transform": [{"filter": "datum.setting == 'judged'"}],
        "mark": {"type": "point", "size": 260, "filled": False, "strokeWidth": 1.6, "color": look.MUTED},
        "encoding": place,
    }
    # Points with equal values lie side by side, at shares of the golden ratio and of its square.
    spread = [{"calculate": f"(datum.point * {ratio}) % 1", "as": channel} for channel, ratio in RATIOS.items()]
    height = HEIGHT if len(axes) > 1 else STRIP
    return {"width": 420, "height": height, "transform": spread, "layer": [points, ring]}


def _encoding(axis: Axis, values: Sequence[Any], *, upwards: bool) -> Spec:
    """A parameter with these values along an axis; numbers rise to the right, or upwards."""
    field = {"field": _escaped(axis.name), "title": axis.name}
    if axis.choices:
        places = [_coordinate(axis, value) for value in axis.choices]
        named = {"labelExpr": LABELS[axis.kind]} if axis.kind else {}
        order = sorted(places, reverse=upwards) if axis.ordered else places
        return {**field, "type": "ordinal", "sort": order, "axis": {"labelAngle": 0, "labelLimit": 200, **named}}
    labels: Spec = {"labelExpr": LABELS[axis.kind]} if axis.kind else {"format": "~g"}
    ticks = {"values": look.log_ticks(values)} if axis.log else {"tickCount": 6}
    scale = {"type": "log" if axis.log else "linear", "zero": False, "nice": not axis.log, "padding": 12}
    return {**field, "type": "quantitative", "scale": scale, "axis": {**labels, **ticks}}


def _escaped(name: str) -> str:
    """A column as Vega-Lite's name of a field."""
    return name.replace("\\", "\\\\").replace(".", "\\.").replace("[", "\\[").replace("]", "\\]")
