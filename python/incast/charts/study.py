"""Charts of a study: a metric as bars with their confidence intervals over seeds."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Sequence

from incast.charts import look
from incast.charts.chart import Chart, Field, Spec
from incast.study.drawing import DrawnChart, sentence

FEW = 3
"""Most unmeasured figures that are named."""
WIDEST = 1.5
"""As far beyond the highest bar, as a multiple of it, intervals are drawn (our choice)."""
HEIGHT = 1.05
"""Height of the chart, as a multiple of the highest point of lines (our choice)."""
PLACE = 600
"""Pixels that the names beneath the bars share."""
LETTER = 6.5
"""Width of a letter of such a name (11 px)."""
TITLE = 48
"""Letters of an axis's title that fit beside a panel; a longer text stands above the chart alone."""


def of_study(number: int, drawn: DrawnChart) -> Chart:
    """One row per bar. Without panels the column of panels is missing."""
    columns = [name for name in (drawn.panels, drawn.x, drawn.series) if name]
    unit = drawn.unit or None
    fields = (
        *(Field(name, "column of the metric") for name in columns),
        Field("value", drawn.about, unit),
        Field("low", "lower end of the 95 % confidence interval over seeds", unit),
        Field("high", "upper end of the 95 % confidence interval over seeds", unit),
        Field("seeds", "number of seeds"),
    )
    rows = [
        (*([bar.panel] if drawn.panels else []), bar.x, bar.series, bar.value, bar.low, bar.high, bar.seeds)
        for bar in drawn.bars
    ]
    series = list(drawn.order) or list(dict.fromkeys(bar.series for bar in drawn.bars))
    about = sentence(drawn.about)
    # The heading of a chart without a title of its own is this text.
    texts = [_marks(drawn)] if about == drawn.title else [f"{about}.", _marks(drawn)]
    return Chart(
        name=f"study-{number + 1}",
        title=drawn.title,
        about=" ".join(texts),
        fields=fields,
        rows=rows,
        spec=_spec(drawn, columns, series),
        palette=tuple(map(str, series)),
        left_out=(*_lacking(drawn.missing), *_off_scale(drawn)),
        why_empty=None if rows else f"{about}. {_nothing(drawn.missing)}",
    )


def _marks(drawn: DrawnChart) -> str:
    """Legend of the marks."""
    if drawn.lines:
        return "Lines: means over seeds."
    marks = "Points" if drawn.log else "Bars"
    return f"{marks}: means over seeds. Lines: 95 % confidence intervals, possibly clipped."


def _spec(drawn: DrawnChart, columns: Sequence[str], series: Sequence[object]) -> Spec:
    """One chart, or one for each panel."""
    layers: Spec = {"height": 220, "layer": _layers(drawn, columns, series)}
    if not drawn.panels:
        return {"width": 640, **layers}
    facet = {
        "field": drawn.panels,
        "type": "nominal",
        "title": None,
        "sort": list(dict.fromkeys(bar.panel for bar in drawn.bars)),
    }
    width = 640 if drawn.columns == 1 else 420
    return {"facet": facet, "columns": drawn.columns, "spec": {"width": width, **layers}}


def _layers(drawn: DrawnChart, columns: Sequence[str], series: Sequence[object]) -> list[Spec]:
    """Lines; or bars side by side, in the order of what was run, with their intervals."""
    title = f"{drawn.about} ({drawn.unit})" if drawn.unit else drawn.about
    y: Spec = {
        "type": "quantitative",
        "title": title if len(title) <= TITLE else drawn.unit or None,
        "scale": {"type": "log", "domain": _decades(drawn)} if drawn.log else {"domain": _domain(drawn)},
        "axis": {"format": "~s", "tickCount": 6} if drawn.log else {},
    }
    tooltip = [{"field": name} for name in columns]
    tooltip += [{"field": name, "type": "quantitative", "format": ".4~g"} for name in ("value", "low", "high")]
    colour = look.colour([str(each) for each in series], drawn.series)
    if drawn.lines:
        along: Spec = {
            "field": drawn.x,
            "type": "quantitative",
            "title": drawn.x,
            "axis": {"grid": False, "format": "~g", "tickCount": 8},
        }
        encoding = {"x": along, "y": {"field": "value", **y}, "color": colour, "tooltip": tooltip}
        return [{"mark": {"type": "line", "point": {"size": 12}, "clip": True}, "encoding": encoding}]
    x: Spec = {
        "field": drawn.x,
        "type": "ordinal",
        "sort": list(dict.fromkeys(bar.x for bar in drawn.bars)),
        # What is a number says of what.
        "title": drawn.x if drawn.bars and all(isinstance(bar.x, (int, float)) for bar in drawn.bars) else None,
        "axis": {**_labels(drawn), "grid": False, "ticks": False},
    }
    offset: Spec = {"field": drawn.series, "sort": list(series)}
    bars: Spec = {
        **({"transform": [{"filter": "datum.value > 0"}]} if drawn.log else {}),
        "mark": {"type": "point", "filled": True, "size": 55} if drawn.log else {"type": "bar", "clip": True},
        "encoding": {
            "x": x,
            "xOffset": offset,
            "y": {"field": "value", **y},
            "color": colour,
            "opacity": _opacity(drawn.series, [str(each) for each in series]),
            "tooltip": tooltip,
        },
    }
    intervals = {
        "transform": [{"filter": "isValid(datum.low) && datum.low > 0" if drawn.log else "isValid(datum.low)"}],
        "mark": {"type": "rule", "strokeWidth": 1.2, "color": "#7d8790", "clip": True},
        "encoding": {"x": x, "xOffset": offset, "y": {"field": "low", **y}, "y2": {"field": "high"}},
    }
    return [bars, intervals]


def _labels(drawn: DrawnChart) -> Spec:
    """Names beneath the bars: in lines where they are long, or aslant where one word is wider than its place."""
    names = list(dict.fromkeys(str(bar.x) for bar in drawn.bars))
    beside = max(1, min(drawn.columns, len({bar.panel for bar in drawn.bars})))
    letters = int(PLACE / beside / max(1, len(names)) / LETTER)
    if max(map(len, names), default=0) <= letters:
        return {"labelAngle": 0}
    if max(len(word) for name in names for word in name.split() or [""]) > letters:
        return {"labelAngle": -40, "labelLimit": 220}
    lines = {name: textwrap.wrap(name, letters) for name in names}
    return {"labelAngle": 0, "labelLimit": PLACE, "labelExpr": f"({json.dumps(lines)})[datum.label]"}


def _opacity(name: str, series: Sequence[str]) -> Spec:
    """Pale from where colours begin anew; in the same legend as the colours."""
    values = [look.PALE if number >= len(look.LIGHT) else 1 for number in range(len(series))]
    legend = {"title": None, "orient": "top"}
    return {
        "field": name,
        "type": "nominal",
        "scale": {"type": "ordinal", "domain": list(series), "range": values},
        "legend": legend,
    }


def _nothing(missing: Sequence[str]) -> str:
    """Reason for an empty chart."""
    why = missing[0] if missing else "no planned run measures it"
    return f"Nothing to draw: {why}."


def _lacking(missing: Sequence[str]) -> tuple[str, ...]:
    """Notes about unmeasured figures: each if there are few."""
    if len(missing) <= FEW:
        return tuple(f"Not measured: {text}." for text in missing)
    return (f"{len(missing)} figures are not measured, such as: {missing[0]}.",)


def _off_scale(drawn: DrawnChart) -> tuple[str, ...]:
    """Note about figures that a logarithmic scale cannot show."""
    count = sum(bar.value <= 0 for bar in drawn.bars) if drawn.log else 0
    return (f"{count} of {len(drawn.bars)} figures are 0 or less and not drawn on this log scale.",) if count else ()


def _decades(drawn: DrawnChart) -> list[float]:
    """From below the lowest point to above the highest; intervals may be cut off."""
    values = [bar.value for bar in drawn.bars if bar.value > 0]
    return [min(values, default=1.0) / WIDEST, max(values, default=1.0) * WIDEST]


def _domain(drawn: DrawnChart) -> list[float]:
    """From 0 to beyond the bars, with their intervals unless these are so wide that the bars could not be read."""
    values = [bar.value for bar in drawn.bars]
    low, high = min(values, default=0.0), max(values, default=0.0)
    ends = [end for bar in drawn.bars for end in (bar.low, bar.high) if end is not None]
    bottom = 0.0 if low >= 0 else max(min([low, *ends]), WIDEST * low)
    top = 0.0 if high <= 0 else min(max([high, *ends]), WIDEST * high)
    if drawn.lines:
        top *= HEIGHT  # A line along the edge would be cut in half.
    return [bottom, top if top > bottom else 1.0]
