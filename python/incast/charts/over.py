"""Overview of a sweep: one figure of each run, over the values of a varied column."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from incast import few
from incast._interval import interval as interval_of
from incast._library import importable
from incast._quantity import Kind, parsed
from incast.charts import look
from incast.charts.chart import Chart, Field, Spec
from incast.charts.source import Source
from incast.charts.uneven import uneven_seeds
from incast.results import ALL
from incast.sweep.text import label, of_unfinished

FIGURES = {
    "slowdown_p50": "median slowdown of all flows",
    "slowdown_p95": "95th percentile of the slowdown of all flows",
    "slowdown_p99": "99th percentile of the slowdown of all flows",
    "slowdown_mean": "mean slowdown of all flows",
    "completed_share": "share of started flows that completed, without backlogged flows",
    "paused_share": "mean share of the longest run of the same scenario for which ports with traffic were paused",
    "marks": "ECN marks at switches",
    "drops": "packets dropped or lost",
    "peak_queue_bytes": "longest egress queue",
    "iteration_ps": "mean communication time of an iteration of a collective",
    "bus_bps": "bus bandwidth of a collective at the mean time of its iterations",
    "end_ps": "simulated time",
}
"""Figures of each run; their names end with their unit, if they have one."""
OF_LABEL = (*(name for name in FIGURES if name.startswith("slowdown_")), "completed_share", "iteration_ps", "bus_bps")
"""Figures that can be of one label."""
Written = tuple[str, Callable[[float], str]]
"""How pages and pictures write values: an expression of Vega, and a function."""
WRITTEN: Mapping[Kind, Written] = {
    "size": (look.BYTES, look.size),
    "time": (look.TIME, look.time),
    "rate": (look.RATE, look.rate),
}
"""By the kind of a quantity."""
UNITS: Mapping[str, Written] = {"_ps": WRITTEN["time"], "_bytes": WRITTEN["size"], "_bps": WRITTEN["rate"]}
"""By the end of a figure's name."""
DIGITS = "format(datum.value, '.12~g')"
"""Labels of numbers without a unit, as Vega's expression."""
RUNS = 3
"""Fewest runs of a point with a confidence interval (our choice): that of two is 18 times their distance."""
NAMED = 4
"""Most runs named in a note."""


def over(
    columns: Sequence[str],
    scenarios: Iterable[tuple[Sequence[Any], Source]],
    palette: Sequence[str] = (),
    label: str | None = None,
    of: str | None = None,
) -> Chart:
    """One row per scenario and scheme: values of the varied columns, then the figures.

    With a label, figures of flows and iterations are of this label, and figures of ports are missing. Notes on
    percentiles are about the figure `of`; default: about all figures.
    """
    overview = Overview(columns, label, of)
    for values, source in scenarios:
        overview.add(values, source)
    return overview.chart(palette)


class Overview:
    """Rows of scenarios, until all are there."""

    def __init__(
        self, columns: Sequence[str], label: str | None = None, of: str | None = None, seed: str | None = None
    ) -> None:
        """Take the varied columns, the label of the flows, the figure that is drawn, and the column of seeds."""
        self._columns = columns
        self._seed = seed
        self._label = None if label == ALL else label
        self._rows: list[tuple[Any, ...]] = []
        self._unfinished: list[int] = []
        self._of = of
        self._flows: list[int] = []

    def add(self, values: Sequence[Any], source: Source) -> None:
        """Add the rows of one scenario."""
        self._rows += rows_of(values, source, self._label)
        self._unfinished += source.unfinished.values()
        slowdowns = source.overall if self._label is None else source.slowdowns(self._label)
        self._flows += (row["flows"] for row in slowdowns.values())

    def chart(self, palette: Sequence[str]) -> Chart:
        """The chart of all scenarios."""
        chart = of_rows(self._columns, self._rows, palette, self._unfinished, label=self._label)
        percentiles = [name for name in few.MOST if self._of in (None, f"slowdown_{name}")]
        text = few.note(self._flows, percentiles) if percentiles else ""
        uneven = uneven_seeds(self._columns, self._seed, self._rows)
        return replace(chart, left_out=(*uneven, *chart.left_out, *([f"{text}."] if text else [])))


def _ratio(part: float | None, whole: int) -> float | None:
    return None if part is None or not whole else part / whole


def of_rows(
    columns: Sequence[str],
    rows: list[tuple[Any, ...]],
    palette: Sequence[str],
    unfinished: Sequence[int],
    *,
    label: str | None = None,
) -> Chart:
    """The chart of given rows, each with its number of unfinished flows."""
    about = FIGURES | ({name: _of_label(FIGURES[name], label) for name in OF_LABEL} if label else {})
    return Chart(
        name="over",
        title="Overview of the sweep",
        about=f"One figure of each run. Slowdown = completion time / {look.IDEAL}, at least 1. "
        "Time paused is that of the priority of a port that was paused longest.",
        fields=(
            *(Field(column, "varied column") for column in columns),
            Field("scheme", "scheme"),
            *(Field(name, text) for name, text in about.items()),
        ),
        rows=rows,
        palette=tuple(palette),
        left_out=tuple(_left_out(columns, rows, unfinished)),
        why_empty=None if rows else "No finished runs.",
    )


def _of_label(about: str, label: str) -> str:
    """The description of a figure of the flows with a label."""
    flows = about.replace("of all flows", f"of flows of label {label}")
    return flows if flows != about else f"{about}, label {label}"


def _left_out(columns: Sequence[str], rows: Sequence[tuple[Any, ...]], unfinished: Sequence[int]) -> Iterator[str]:
    """Notes on unfinished flows, and on runs without slowdowns."""
    if left := [count for count in unfinished if count]:
        yield f"{of_unfinished(left, len(rows))}; slowdowns omit them."
    place = len(columns) + 1
    without = [label(dict(zip(columns, row, strict=False)), row[place - 1]) for row in rows if row[place] is None]
    if without:
        more = f"; {len(without) - NAMED:,} more" if len(without) > NAMED else ""
        yield f"No slowdown, because no flow completed: {'; '.join(without[:NAMED])}{more}."


def rows_of(values: Sequence[Any], source: Source, label: str | None = None) -> Iterator[tuple[Any, ...]]:
    """The rows of one scenario, or of its flows with a label.

    Shares of time are of the longest run of the scenario's schemes: equal pauses then have equal shares, whatever other
    scenarios there are. Only runs that ended in a deadlock have their own interval.
    """
    slowdowns = source.overall if label is None else source.slowdowns(label)
    flows = dict(
        source.rows(
            "select scheme, count(finish_ps) / nullif(count(start_ps), 0) from flows where not backlogged "
            "and ($label is null or label = $label) group by scheme",
            {"label": label},
        )
    )
    ports = (
        {}
        if label
        else {
            scheme: figures
            for scheme, *figures in source.rows(
                "select scheme, sum(marks)::bigint, sum(dropped)::bigint, max(peak_queue_bytes), avg(paused_ps) from ("
                "select scheme, sum(marks) as marks, sum(drops + lost) as dropped, "
                "max(peak_queue_bytes) as peak_queue_bytes, max(paused_ps) as paused_ps from ports "
                "group by scheme, port) "
                "group by scheme"
            )
        }
    )
    jobs: dict[str, list[float]] = {}
    if source.count("iterations"):
        query = (
            "select scheme, avg(communication_ps), "
            "sum(bus_bps::double * communication_ps) / nullif(sum(communication_ps), 0) "
            "from iterations where $label is null or label = $label group by scheme"
        )
        jobs = {scheme: figures for scheme, *figures in source.rows(query, {"label": label})}
    cut, span = source.cut_ps, source.span_ps
    for scheme, manifest in source.manifests.items():
        slow = slowdowns.get(scheme, {})
        marks, drops, queue, paused = ports.get(scheme, (None, None, None, None))
        yield (*values, scheme, *(slow.get(name) for name in ("p50", "p95", "p99", "mean")), flows.get(scheme),
               _ratio(paused, cut.get(scheme, span)), marks, drops, queue, *jobs.get(scheme, (None, None)),
               None if label else int(manifest["end_ps"]))  # fmt: skip


def error_bars(rows: Iterable[Mapping[str, Any]], x: str, of: str) -> Literal["", "range", "interval"]:
    """Kind of error bars: none for one run per point; 95 % intervals if each point has three runs or more."""
    counts = Counter((row["scheme"], row[x]) for row in rows if row[of] is not None)
    if max(counts.values(), default=1) == 1:
        return ""
    return "interval" if min(counts.values()) >= RUNS and importable("scipy") else "range"


def ends(values: Sequence[float], of: str, kind: Literal["", "range", "interval"]) -> tuple[float, float]:
    """Ends of the error bar of a figure. No figure is below 0, no share above 1."""
    if kind != "interval":
        return min(values), max(values)
    low, high = interval_of(values)
    return max(low, 0), min(high, 1) if of.endswith("_share") else high


def titles(chart: Chart) -> dict[str, str]:
    """The descriptions of the figures of a chart."""
    return {each.name: each.about for each in chart.fields if each.name in FIGURES}


@dataclass(frozen=True)
class Along:
    """Places of the values of a varied column along an axis."""

    places: Mapping[Any, float]
    """Numbers of the values; empty if the values are names."""
    label: str
    """Text of a number on a page, as Vega's expression."""
    write: Callable[[float], str]
    """Text of a number in a picture."""


def along(values: Iterable[Any]) -> Along:
    """The axis of a varied column: of numbers, of quantities of one kind such as `64kB`, or of names."""
    values = list(values)
    if all(isinstance(value, (int, float)) and type(value) is not bool for value in values):
        return Along({value: value for value in values}, DIGITS, "{:g}".format)
    found = {value: parsed(str(value)) for value in values}
    numbers = {value: quantity[1] for value, quantity in found.items() if quantity}
    kinds = {quantity[0] for quantity in found.values() if quantity}
    if len(numbers) < len(values) or len(kinds) > 1:
        return Along({}, "datum.label", str)
    return Along(numbers, *WRITTEN[kinds.pop()])


def written(figure: str) -> Written:
    """How pages and pictures write values of a figure."""
    plain = (look.NUMBER, "{:g}".format)
    return next((found for end, found in UNITS.items() if figure.endswith(end)), plain)


def spec() -> Spec:
    """Means with their range. The page replaces X_FIELD, X_PLACE, X_TYPE, X_LABEL, Y_FIELD, Y_TITLE and Y_LABEL."""
    x = {"field": "X_PLACE", "type": "X_TYPE", "title": "X_FIELD", "scale": {"zero": False, "padding": 20}}
    x["axis"] = {"labelAngle": 0, "grid": False, "labelExpr": "X_LABEL"}
    color = {"field": "scheme", "type": "nominal", "legend": {"title": None, "orient": "top"}}
    y = {"field": "Y_FIELD", "type": "quantitative", "title": "Y_TITLE", "scale": {"zero": False}}
    y["axis"] = {"labelExpr": "Y_LABEL"}
    mean = {**y, "aggregate": "mean"}
    return {
        "width": 600,
        "height": 280,
        "layer": [
            {"mark": {"type": "rule", "strokeWidth": 1.5, "opacity": 0.6},
             "encoding": {"x": x, "y": {**y, "aggregate": "min"}, "y2": {"field": "Y_FIELD", "aggregate": "max"},
                          "color": color}},
            {"mark": {"type": "line", "point": {"size": 40}, "strokeWidth": 1.8},
             "encoding": {"x": x, "y": mean, "color": color,
                          "tooltip": [{"field": "scheme"}, {"field": "X_FIELD"},
                                      {**mean, "title": "mean", "format": ".5~g"},
                                      {"aggregate": "count", "title": "runs"}]}},
        ],
    }  # fmt: skip
