"""Colours, shapes and number formats of all charts."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any, TypeVar

from incast.charts.chart import Spec

T = TypeVar("T")

LIGHT = ("#0072b2", "#d55e00", "#009e73", "#b5548c", "#b07a00", "#5b6770")
"""On white: distinct for colour-blind readers and in print (after Okabe and Ito), each with 3:1 contrast or more."""
DARK = ("#56b4e9", "#ff8f45", "#2cc296", "#e79bc9", "#f0c244", "#b4bfc9")
"""The same hues on a dark ground."""
GROUND, INK = "#ffffff", "#1b2126"
"""Ground and text on paper; the page replaces them by those of its theme."""
SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down")
"""A second mark of a scheme, for those who see no colours."""
MUTED = "#7d8790"
"""Colour of rings: readable on light and dark ground."""
PALE = 0.4
"""Opacity of bars whose colour another scheme has too."""
BEHIND = [7, 7]
"""The line of a scheme that is equal to an earlier one, which shows in the gaps."""
DASHES = ([1, 0], [6, 3], [2, 2])
"""More schemes than colours: the colours come again, dashed."""
LINES_OF_FLOWS = (0, 0, 0, 0, 1, 2)
"""Dashes of flows in one panel: thin lines of the fifth and sixth colour are hard to tell from the others."""

TIME = (
    "datum.value == 0 ? '0' : abs(datum.value) >= 1e12 ? format(datum.value / 1e12, '~g') + ' s' : "
    "abs(datum.value) >= 1e9 ? format(datum.value / 1e9, '~g') + ' ms' : "
    "abs(datum.value) >= 1e6 ? format(datum.value / 1e6, '~g') + ' us' : "
    "abs(datum.value) >= 1e3 ? format(datum.value / 1e3, '~g') + ' ns' : datum.value + ' ps'"
)
"""Labels of an axis in picoseconds, as Vega's expression."""
BYTES = (
    "datum.value == 0 ? '0' : abs(datum.value) >= 1e9 ? format(datum.value / 1e9, '~g') + ' GB' : "
    "abs(datum.value) >= 1e6 ? format(datum.value / 1e6, '~g') + ' MB' : "
    "abs(datum.value) >= 1e3 ? format(datum.value / 1e3, '~g') + ' kB' : datum.value + ' B'"
)
"""Labels of an axis in bytes."""
RATE = (
    "datum.value == 0 ? '0' : abs(datum.value) >= 1e12 ? format(datum.value / 1e12, '~g') + ' Tb/s' : "
    "abs(datum.value) >= 1e9 ? format(datum.value / 1e9, '~g') + ' Gb/s' : "
    "abs(datum.value) >= 1e6 ? format(datum.value / 1e6, '~g') + ' Mb/s' : format(datum.value, '~s') + ' b/s'"
)
"""Labels of an axis in bit/s."""


SHARE = "format(100 * datum.value, '~g') + ' %'"
"""Labels of an axis of shares, in percent."""
ABOVE = 1.03
"""Upper end of an axis of shares (our choice): a line along the edge would be cut in half."""
OWN_X_AXES: Spec = {"axis": {"x": "independent"}}
"""Resolution of panels: with a common axis per column, an incomplete last row would have an axis without a panel."""
POINTS = 400
"""Steps of time of a line (our choice): about one for each pixel of half a screen."""


def time_axis() -> Spec:
    """A horizontal axis of simulated time, of the field `time_ps`."""
    return {
        "field": "time_ps",
        "type": "quantitative",
        "title": "time",
        "axis": {"labelExpr": TIME, "labelOverlap": True, "labelSeparation": 6, "grid": False, "tickCount": 6},
    }


def colour(schemes: Sequence[str], field: str = "scheme", title: str | None = None) -> Spec:
    """A scheme's colour. The order of the domain gives it; `of_page` gives schemes of several domains one each."""
    legend = {"title": title, "orient": "top", "symbolStrokeWidth": 2}
    return {"field": field, "type": "nominal", "scale": {"domain": list(schemes), "range": around(LIGHT, len(schemes))},
            "legend": legend}  # fmt: skip


def shape(schemes: Sequence[str], field: str = "scheme") -> Spec:
    """A scheme's mark; in the same legend as its colour."""
    return {
        "field": field,
        "type": "nominal",
        "scale": {"domain": list(schemes), "range": around(SHAPES, len(schemes))},
        "legend": {"title": None, "orient": "top"},
    }


def dash(schemes: Sequence[str], field: str = "scheme") -> Spec:
    """A scheme's line: solid, and dashed from where colours come again."""
    dashes = [DASHES[number // len(LIGHT) % len(DASHES)] for number in range(len(schemes))]
    scale = {"domain": list(schemes), "range": dashes}
    return {"field": field, "type": "nominal", "scale": scale, "legend": {"title": None, "orient": "top"}}


def places(palette: Sequence[str], all_: Sequence[str]) -> list[int]:
    """The places among those of a page by which schemes have their colours; see `of_page`."""
    found = [all_.index(name) for name in palette if name in all_]
    alike = len({place % (2 * len(LIGHT)) for place in found}) < len(palette)
    return list(range(len(palette))) if alike else found


def of_page(spec: Spec, palette: Sequence[str], all_: Sequence[str]) -> Spec:
    """A chart's specification with its schemes in the colours, marks and lines that they have on a whole page.

    `palette` are the schemes in the order by which the chart drew them, `all_` those of the page. A chart keeps its own
    order where it has names that are no schemes of the page, or where two of its schemes would look alike.
    """
    count, of_all = len(palette), places(palette, all_)
    looks = (LIGHT, SHAPES, [*[1] * len(LIGHT), *[PALE] * len(LIGHT)], [each for each in DASHES for _ in LIGHT])
    ranges = [(around(look, count), [look[place % len(look)] for place in of_all]) for look in looks]

    def painted(value: Any) -> Any:
        if isinstance(value, list):
            return [painted(each) for each in value]
        if not isinstance(value, dict):
            return value
        if value.get("domain") == list(palette):
            new = next((after for before, after in ranges if before == value.get("range")), None)
            return {**value, "range": new} if new else value
        return {name: painted(each) for name, each in value.items()}

    return dict(painted(spec))


def equal(spec: Spec, palette: Sequence[str], earlier: Mapping[str, str]) -> Spec:
    """A chart's specification with dashed lines for schemes equal to an earlier one, and both names in the legend."""
    if not set(earlier) & set(palette):
        return spec
    names = {name: f"{name} = {earlier[name]}" for name in palette if name in earlier}
    label = f"{json.dumps(names)}[datum.label] || datum.label"

    def marked(value: Any, name: str = "") -> Any:
        if isinstance(value, list):
            return [marked(each) for each in value]
        if not isinstance(value, dict):
            return value
        made = {key: marked(each, key) for key, each in value.items()}
        if isinstance(value.get("scale"), dict) and value["scale"].get("domain") == list(palette):
            if value.get("legend"):
                made["legend"] = {**value["legend"], "labelExpr": label}
            if name == "strokeDash":
                dashes = [BEHIND if each in earlier else dash for each, dash in
                          zip(palette, value["scale"]["range"], strict=True)]  # fmt: skip
                made["scale"] = {**value["scale"], "range": dashes}
        return made

    return dict(marked(spec))


def around(values: Sequence[T], count: int) -> list[T]:
    """The first `count` of the values, beginning again where they end."""
    return [values[number % len(values)] for number in range(count)]


NUMBER = "format(datum.value, '~g')"
"""Labels of an axis of plain numbers."""


def rounded_log(labels: str) -> str:
    """Labels of a logarithmic axis: of whole multiples of powers of ten those by 1, 2 and 5, of others all."""
    return (
        "abs(datum.value / pow(10, floor(log(datum.value) / LN10 + 1e-9)) - "
        "round(datum.value / pow(10, floor(log(datum.value) / LN10 + 1e-9)))) > 1e-6 || "
        "indexof([1, 2, 5, 10], round(datum.value / pow(10, floor(log(datum.value) / LN10 + 1e-9)))) >= 0 "
        f"? ({labels}) : ''"
    )


LOG = rounded_log(NUMBER)
"""Labels of a logarithmic axis of plain numbers."""
IDEAL = (
    "ideal completion time (HPCC's: base RTT + payload and basic headers at the slowest link; with other transports "
    'than RDMA, or `measure.ideal = "exact"`, the exact time of the flow alone)'
)
"""Reference of slowdowns."""


def geometric(values: Sequence[Any]) -> bool:
    """True for positive numbers with ratios that differ less than their distances, such as 1, 2, 8."""
    if not all(isinstance(value, (int, float)) and value > 0 for value in values):
        return False
    steps = list(pairwise(sorted(set(values))))
    distances, ratios = [b - a for a, b in steps], [math.log(b / a) for a, b in steps]
    return len(steps) > 1 and max(ratios) / min(ratios) < max(distances) / min(distances)


def log_ticks(values: Sequence[float]) -> list[float]:
    """1, 2 and 5 times the powers of ten between the smallest and the largest value; even steps where these are few."""
    above = [value for value in values if value > 0]
    if not above:
        return []
    low, high = min(above), max(above)
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    ticks = [step * 10.0**power for power in powers for step in (1, 2, 5)]
    ticks = [tick for tick in ticks if low <= tick <= high]
    if len(ticks) >= 3 or low == high:
        return ticks or [low]
    power = 10.0 ** math.floor(math.log10(high - low))
    # The widest steps with three ticks.
    evens = (_multiples(power * times, low, high) for times in (2, 1, 0.5, 0.2))
    return next(even for even in evens if len(even) >= 3)


def _multiples(step: float, low: float, high: float) -> list[float]:
    return [number * step for number in range(math.ceil(low / step), math.floor(high / step) + 1)]


def size(count: float) -> str:
    """Bytes with a unit."""
    for unit, factor in (("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        if count >= factor:
            return f"{count / factor:.3g} {unit}"
    return f"{count:g} B"


def time(count: float) -> str:
    """Picoseconds with a unit."""
    if not count:
        return "0"
    for unit, factor in (("s", 10**12), ("ms", 10**9), ("us", 10**6), ("ns", 10**3)):
        if abs(count) >= factor:
            return f"{count / factor:.4g} {unit}"
    return f"{count:g} ps"


def rate(count: float) -> str:
    """Bits per second with a unit."""
    if not count:
        return "0"
    for unit, factor in (("Tb/s", 10**12), ("Gb/s", 10**9), ("Mb/s", 10**6), ("kb/s", 10**3)):
        if count >= factor:
            return f"{count / factor:.4g} {unit}"
    return f"{count:g} b/s"
