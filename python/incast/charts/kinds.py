"""Charts by name, for `incast plot` and `Results.plot`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, get_args

from incast._nearest import hint
from incast.charts.cdf import cdf
from incast.charts.chart import Chart
from incast.charts.closing import closing
from incast.charts.iterations import iterations
from incast.charts.pauses import pauses
from incast.charts.rates import rates
from incast.charts.series import queues
from incast.charts.slowdown import PERCENTILES, of_one_size, slowdown
from incast.charts.source import Source
from incast.charts.vms import guarantees, vms
from incast.errors import ResultsError

Kind = Literal[
    "slowdown",
    "cdf-fct",
    "cdf-slowdown",
    "iterations",
    "queues",
    "rates",
    "pauses",
    "closing",
    "vms",
    "guarantees",
]
KINDS: tuple[str, ...] = get_args(Kind)
"""Names of the charts of one scenario."""

OPTIONS: dict[str, tuple[str, ...]] = {
    "label": ("slowdown", "cdf-fct", "cdf-slowdown"),
    "bins": ("slowdown",),
    "percentiles": ("slowdown",),
    "ports": ("queues", "pauses", "closing"),
    "flows": ("rates",),
    "vms": ("vms",),
}
"""Options, and the charts on which each has an effect."""


def check(kind: str, given: dict[str, Any]) -> None:
    """Raise `ResultsError` for an unknown chart or an option without effect on it; `None` and empty are not given."""
    if kind not in KINDS:
        raise ResultsError(f"no chart is named `{kind}`, only {', '.join(KINDS)}{hint(kind, KINDS)}")
    for option, value in given.items():
        if isinstance(value, int) and value < 1:
            raise ResultsError(f"{option} must be at least 1, got {value}")
        if value and kind not in OPTIONS[option]:
            raise ResultsError(f"{option} has no effect on {kind}, only on {', '.join(OPTIONS[option])}")
    for name in given.get("percentiles", ()):
        if name not in PERCENTILES:
            raise ResultsError(f"no percentile is named `{name}`, only {', '.join(PERCENTILES)}")


def make(source: Source, kind: str, **given: Any) -> tuple[Chart, dict[str, Any]]:
    """A chart by name, and the options to draw it with. An option that is `None` takes its default."""
    check(kind, given)
    given = {name: value for name, value in given.items() if value is not None and value != ()}
    percentiles = given.pop("percentiles", ())
    if kind == "slowdown":
        chart = slowdown(source, **given)
        if chart.name != "slowdown":
            return chart, {}
        below = None if "label" in given else of_one_size(source, chart)
        return chart, {"percentiles": percentiles, "below": below}
    if kind in ("cdf-fct", "cdf-slowdown"):
        return cdf(source, "fct" if kind == "cdf-fct" else "slowdown", **given), {}
    makers: dict[str, Callable[..., Chart]] = {
        "iterations": iterations,
        "queues": queues,
        "rates": rates,
        "pauses": pauses,
        "closing": closing,
        "vms": vms,
    }
    return makers.get(kind, guarantees)(source, **given), {}
