"""Percentiles of few flows, which are their maximum: percentile p is element floor(p n), counted from 0, of n flows."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import replace

from incast.charts.chart import Chart

MOST = {"p99": 100, "p95": 20}
"""Number of flows up to which the percentile is the maximum."""


def note(flows: Iterable[int], percentiles: Collection[str] = ()) -> str:
    """A clause about the percentiles (default: all) that are a maximum in some group; empty if there are none."""
    fewest = min(flows, default=None)
    parts = [
        f"{name} of up to {most} flows"
        for name, most in MOST.items()
        if name in (percentiles or MOST) and fewest is not None and fewest <= most
    ]
    return f"{parts[0]} is their maximum{''.join(f', as is {each}' for each in parts[1:])}" if parts else ""


def noted(chart: Chart, percentiles: Collection[str] = ()) -> Chart:
    """A chart of slowdowns by size, with a note about its bins of few flows."""
    if chart.name != "slowdown":
        return chart
    text = note((row["flows"] for row in chart.dicts()), percentiles)
    return replace(chart, left_out=(*chart.left_out, f"{text}.")) if text else chart
