"""Charts of a study: a metric as bars, points or lines with intervals over seeds, next to published values."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Sequence
from typing import Any

from incast.charts import look
from incast.charts.chart import Chart, Field, Spec
from incast.study.drawing import Bar, DrawnChart, Mark, bare, sentence

FEW = 3
"""Most unmeasured figures that are named."""
WIDEST = 2.0
"""As far beyond the highest bar, as a multiple of it, intervals are drawn (our choice)."""
DECADE = 10
"""The same on a logarithmic axis, in both directions (our choice)."""
HEIGHT = 1.05
"""Height of the chart, as a multiple of the highest of its values and intervals (our choice)."""
BEYOND = 1.5
"""Ends of a logarithmic axis, as a multiple of its values (our choice)."""
PLACE = 600
"""Pixels that the names beneath the bars share."""
LETTER = 6.5
"""Width of a letter of such a name (11 px)."""
TITLE = 48
"""Letters of an axis's title that fit next to a panel; a longer text stands above the chart alone."""
SOURCE = "source"
"""Column that distinguishes values of runs from published ones."""
RUNS, PUBLISHED = "incast", "published"
"""Values of that column."""
NUMBER = "datum.value >= 1000 ? format(datum.value, '~s') : format(datum.value, '~g')"
"""Labels of a logarithmic axis, as Vega's expression."""
HORIZONTAL: Spec = {"grid": False, "labelExpr": NUMBER, "labelOverlap": "greedy", "labelSeparation": 6}
"""Horizontal axis of lines."""
MANY = 40
"""Most values along `x` with a bar for each interval (our choice); of more, bands are drawn."""


def of_study(name: str, drawn: DrawnChart) -> Chart:
    """One row per value. Charts without panels or published values lack the column of panels or of the source."""
    columns = list(dict.fromkeys(each for each in (drawn.panels, drawn.x, drawn.series) if each))
    unit = drawn.unit or None
    sources = (Field(SOURCE, f"`{RUNS}`, or `{PUBLISHED}`"),) if drawn.published else ()
    fields = (
        *(Field(each, "column of the metric") for each in columns),
        Field("value", drawn.about, unit),
        Field("low", "lower end of the 95 % confidence interval over seeds", unit),
        Field("high", "upper end of the 95 % confidence interval over seeds", unit),
        Field("seeds", "number of seeds"),
        *sources,
    )
    rows = [
        (*_keys(drawn, bar), bar.value, bar.low, bar.high, bar.seeds, *((RUNS,) if sources else ()))
        for bar in drawn.bars
    ]
    rows += [(*_keys(drawn, mark), mark.value, None, None, None, PUBLISHED) for mark in drawn.published]
    series = list(drawn.order) or list(dict.fromkeys(bar.series for bar in drawn.bars))
    about = sentence(drawn.about)
    # The heading of a chart without a title of its own is this text.
    texts = [_marks(drawn)] if about == drawn.title else [f"{about}.", _marks(drawn)]
    return Chart(
        name=name,
        title=drawn.title,
        about=" ".join(texts),
        fields=fields,
        rows=rows,
        spec=_spec(drawn, columns, series),
        palette=tuple(map(str, series)),
        left_out=(*_lacking(drawn), *_off_scale(drawn)),
        why_empty=None if rows else f"{about}. {_nothing(drawn)}",
    )


def _keys(drawn: DrawnChart, one: Bar | Mark) -> list[Any]:
    """The values of the columns that identify a value of a chart."""
    keys = {drawn.panels: one.panel, drawn.x: one.x}
    if drawn.series != drawn.x:
        keys[drawn.series] = one.series
    return [key for name, key in keys.items() if name]


def _marks(drawn: DrawnChart) -> str:
    """Legend of the marks."""
    lines = drawn.lines or drawn.cdf
    means = f"{'Lines' if lines else 'Points' if drawn.log else 'Bars'}: means over seeds."
    around = "Bands" if _banded(drawn) else "Bars" if lines else "Lines"
    measured = any(bar.low is not None for bar in drawn.bars)
    texts = [means] if drawn.bars else []
    texts += [f"{around}: 95 % confidence intervals, possibly clipped."] if measured else []
    texts += [f"Hollow diamonds: published values ({drawn.published_source})."] if drawn.published else []
    return " ".join(texts)


def _spec(drawn: DrawnChart, columns: Sequence[str], series: Sequence[object]) -> Spec:
    """One chart, or one for each panel."""
    layers: Spec = {"height": 220, "layer": _layers(drawn, columns, series)}
    if not drawn.panels:
        return {"width": 640, **layers}
    panels = drawn.panels_in_order()
    header: Spec = {"labelExpr": f"{json.dumps(drawn.panels)} + ' ' + datum.label"} if bare(panels) else {}
    facet = {"field": drawn.panels, "type": "nominal", "title": None, "sort": panels, "header": header}
    width = 640 if drawn.columns == 1 else 420
    return {"facet": facet, "columns": drawn.columns, "resolve": look.OWN_X_AXES, "spec": {"width": width, **layers}}


def _layers(drawn: DrawnChart, columns: Sequence[str], series: Sequence[object]) -> list[Spec]:
    """Values with their intervals, then published values."""
    names = [str(each) for each in series]
    tooltip = [{"field": name} for name in columns]
    tooltip += [{"field": name, "type": "quantitative", "format": ".4~g"} for name in ("value", "low", "high")]
    colour = look.colour(names, drawn.series)
    make = _lines if drawn.lines or drawn.cdf else _bars
    layers = make(drawn, names, colour, tooltip)
    if not drawn.published:
        return layers
    measured = {"filter": f"datum.{SOURCE} == '{RUNS}'"}
    layers = [{**layer, "transform": [measured, *layer.get("transform", ())]} for layer in layers]
    return [*layers, *_published(drawn, layers[0]["encoding"], colour, tooltip)]


def _values(drawn: DrawnChart) -> Spec:
    """The axis of values."""
    title = drawn.y_title or (f"{drawn.about} ({drawn.unit})" if drawn.unit else drawn.about)
    return {
        "type": "quantitative",
        "title": title if len(title) <= TITLE else drawn.unit or None,
        "scale": {**({"type": "log"} if drawn.log else {}), "domain": domain_of(drawn)},
        "axis": {"labelExpr": NUMBER, "tickCount": 6} if drawn.log else {},
    }


def _lines(drawn: DrawnChart, names: Sequence[str], colour: Spec, tooltip: list[Spec]) -> list[Spec]:
    """Lines along `x`, or upwards; dashed from where colours come again."""
    values = _values(drawn)
    along: Spec = {
        "field": drawn.x,
        "type": "quantitative",
        "title": drawn.x_title or drawn.x,
        "scale": {"type": "log", "nice": False} if drawn.log_x else {},
        "axis": {**HORIZONTAL, "tickCount": 8},
    }
    dashes: Spec = {"strokeDash": look.dash(names, drawn.series)} if len(names) > len(look.LIGHT) else {}
    line: Spec = {"type": "line", "point": {"size": 12}, "clip": True}
    ends = _ends(drawn)
    along_values, upwards = {"field": "value", **values}, along
    if drawn.cdf:
        along_values, upwards = {**along_values, "axis": HORIZONTAL}, {**along, "axis": {"labelExpr": NUMBER}}
    x, y, end = (along_values, upwards, "x") if drawn.cdf else (along, along_values, "y")
    order: Spec = {"order": {"field": drawn.x, "type": "quantitative"}} if drawn.cdf else {}
    encoding = {"x": x, "y": y, "color": colour, **dashes, **order, "tooltip": tooltip}
    low = {**(x if drawn.cdf else y), "field": "from"}
    mark: Spec = {"type": "area", "opacity": 0.15} if _banded(drawn) else {"type": "rule", "opacity": 0.55}
    intervals: Spec = {
        "transform": ends,
        "mark": {**mark, "clip": True},
        "encoding": {"x": x, "y": y, end: low, f"{end}2": {"field": "high"}, "color": colour},
    }
    return [{"mark": line, "encoding": encoding}, intervals, *_open_ends(drawn, {"x": x, "y": y, end: low}, colour)]


def _ends(drawn: DrawnChart) -> list[Spec]:
    """Lower ends of intervals, as `from`: a logarithmic axis has no place for an end at 0 or below."""
    shown = "isValid(datum.low) && datum.value > 0" if drawn.log else "isValid(datum.low)"
    return [
        {"filter": shown},
        {"calculate": f"max(datum.low, {json.dumps(domain_of(drawn)[0])})", "as": "from"},
    ]


def _open_ends(drawn: DrawnChart, places: Spec, colour: Spec) -> list[Spec]:
    """Triangles at the begin of a logarithmic axis, where intervals go on below it."""
    if not goes_on(drawn):
        return []
    shape = "triangle-left" if drawn.cdf else "triangle-down"
    return [
        {
            "transform": [*_ends(drawn), {"filter": f"datum.low < {json.dumps(domain_of(drawn)[0])}"}],
            "mark": {"type": "point", "shape": shape, "filled": True, "size": 80},
            "encoding": {**places, "color": colour},
        }
    ]


def goes_on(drawn: DrawnChart) -> set[Bar]:
    """The points of a logarithmic axis with intervals that go on below it."""
    floor = domain_of(drawn)[0]
    return {bar for bar in drawn.bars if drawn.log and bar.value > 0 and bar.low is not None and bar.low < floor}


def _banded(drawn: DrawnChart) -> bool:
    """True if the intervals of lines are bands."""
    return drawn.lines and len(drawn.along()) > MANY


def _bars(drawn: DrawnChart, names: Sequence[str], colour: Spec, tooltip: list[Spec]) -> list[Spec]:
    """Bars or points side by side, in the order of the runs, with their intervals."""
    along, y = drawn.along(), _values(drawn)
    x: Spec = {
        "field": drawn.x,
        "type": "ordinal",
        "sort": along,
        # A number alone does not say what it counts.
        "title": drawn.x_title or (drawn.x if bare(along) else None),
        "axis": {**_labels(drawn), "grid": False, "ticks": False},
    }
    offset: Spec = {
        "xOffset": {"field": drawn.series, "sort": list(names), "scale": {"domain": list(names)}},
    }
    if drawn.series == drawn.x:
        offset = {}
    bars: Spec = {
        **({"transform": [{"filter": "datum.value > 0"}]} if drawn.log else {}),
        "mark": {"type": "point", "filled": True, "size": 55} if drawn.log else {"type": "bar", "clip": True},
        "encoding": {
            "x": x,
            **offset,
            "y": {"field": "value", **y},
            "color": colour,
            "opacity": _opacity(drawn.series, names),
            "tooltip": tooltip,
        },
    }
    intervals = {
        "transform": _ends(drawn),
        "mark": {"type": "rule", "strokeWidth": 1.2, "color": look.INK, "clip": True},
        "encoding": {"x": x, **offset, "y": {"field": "from", **y}, "y2": {"field": "high"}},
    }
    return [bars, intervals, *_open_ends(drawn, {"x": x, **offset, "y": {"field": "from", **y}}, colour)]


def _published(drawn: DrawnChart, encoding: Spec, colour: Spec, tooltip: list[Spec]) -> list[Spec]:
    """Hollow marks at the places of the values; along lines in the colour of their series."""
    places: Spec = {name: encoding[name] for name in ("x", "y", "xOffset") if name in encoding}
    lines = drawn.lines or drawn.cdf
    # Ground hides what lies below: ink alone could hardly be seen on a bar, but points and lines stay visible.
    ground = {} if lines or drawn.log else {"fill": look.GROUND}
    mark = {"type": "point", "shape": "diamond", "filled": False, **ground, "size": 90, "strokeWidth": 2}
    chosen = f"datum.{SOURCE} == '{PUBLISHED}' && "
    series = f"datum[{json.dumps(drawn.series)}]"
    plain = {**mark, "stroke": look.INK}
    layers: list[Spec] = []
    if any(each.series is not None for each in drawn.published):
        # On a bar, a mark in its colour could not be seen.
        encoding = {**places, **({"color": colour} if lines else {}), "tooltip": tooltip}
        filtered = [{"filter": f"{chosen}isValid({series})"}]
        layers.append({"transform": filtered, "mark": mark if lines else plain, "encoding": encoding})
    if any(each.series is None for each in drawn.published):
        encoding = {**{name: place for name, place in places.items() if name != "xOffset"}, "tooltip": tooltip}
        layers.append({"transform": [{"filter": f"{chosen}!isValid({series})"}], "mark": plain, "encoding": encoding})
    return layers


def _labels(drawn: DrawnChart) -> Spec:
    """Names beneath the bars: in lines where they are long, or aslant where one word is wider than its place."""
    names = list(map(str, drawn.along()))
    across = max(1, min(drawn.columns, len(drawn.panels_in_order())))
    letters = int(PLACE / across / max(1, len(names)) / LETTER)
    if max(map(len, names), default=0) <= letters:
        return {"labelAngle": 0}
    if max(len(word) for name in names for word in name.split() or [""]) > letters:
        return {"labelAngle": -40, "labelLimit": 220}
    lines = {name: textwrap.wrap(name, letters) for name in names}
    return {"labelAngle": 0, "labelLimit": PLACE, "labelExpr": f"({json.dumps(lines)})[datum.label]"}


def _opacity(name: str, series: Sequence[str]) -> Spec:
    """Pale from where colours begin again; in the same legend as the colours."""
    values = [look.PALE if number >= len(look.LIGHT) else 1 for number in range(len(series))]
    legend = {"title": None, "orient": "top"}
    return {
        "field": name,
        "type": "nominal",
        "scale": {"type": "ordinal", "domain": list(series), "range": values},
        "legend": legend,
    }


def _nothing(drawn: DrawnChart) -> str:
    """Reason for an empty chart."""
    if drawn.missing:
        return f"Nothing to draw: {drawn.missing[0]}."
    if drawn.absent:
        return f"Nothing to draw: this scale does not run {drawn.absent[0]}."
    return "Nothing to draw: no planned run measures it."


def _lacking(drawn: DrawnChart) -> tuple[str, ...]:
    """Notes about unmeasured figures: each if there are few."""
    absent = tuple(f"Not run at this scale: {text}." for text in drawn.absent)
    if len(drawn.missing) <= FEW:
        return (*absent, *(f"Not measured: {text}." for text in drawn.missing))
    return (*absent, f"{len(drawn.missing)} figures are not measured, such as: {drawn.missing[0]}.")


def _off_scale(drawn: DrawnChart) -> tuple[str, ...]:
    """Note about figures that a logarithmic scale cannot show."""
    count = sum(bar.value <= 0 for bar in drawn.bars) if drawn.log else 0
    return (f"{count} of {len(drawn.bars)} figures are 0 or less and not drawn on this log scale.",) if count else ()


def _all(drawn: DrawnChart) -> list[float]:
    """All values, published ones too."""
    return [*(bar.value for bar in drawn.bars), *(mark.value for mark in drawn.published)]


def domain_of(drawn: DrawnChart) -> list[float]:
    """Ends of the axis of values."""
    return _decades(drawn) if drawn.log else _domain(drawn)


def _decades(drawn: DrawnChart) -> list[float]:
    """From below the lowest point to above the highest, with their intervals as far as a decade beyond."""
    values = [value for value in _all(drawn) if value > 0]
    low, high = min(values, default=1.0), max(values, default=1.0)
    lows, highs = ([getattr(bar, end) for bar in drawn.bars if (getattr(bar, end) or 0) > 0] for end in ("low", "high"))
    bottom = min(low / BEYOND, max(min(lows, default=low), low / DECADE) / HEIGHT)
    top = max(high * BEYOND, min(max(highs, default=high), high * DECADE) * HEIGHT)
    return [bottom, top]


def _domain(drawn: DrawnChart) -> list[float]:
    """From 0 to beyond the bars, with their intervals unless these are so wide that the bars could not be read."""
    values = _all(drawn)
    low, high = min(values, default=0.0), max(values, default=0.0)
    ends = [end for bar in drawn.bars for end in (bar.low, bar.high) if end is not None]
    bottom = 0.0 if low >= 0 else max(min([low, *ends]), WIDEST * low)
    top = 0.0 if high <= 0 else min(max([high, *ends]), WIDEST * high)
    # A bar, an interval or a mark along the edge would look cut.
    return [HEIGHT * bottom, HEIGHT * top] if top > bottom else [bottom, 1.0]
