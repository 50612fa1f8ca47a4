"""Cost of rules as text."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from incast._interval import CONFIDENCE
from incast.testbed.cost import Cost, Figure
from incast.testbed.trend import Trend

WHAT = {
    "map": "as exported: a hash table",
    "chain": "one after the other; the matching rule is the last, the others differ only in the egress port",
}
WIDTH = 120
"""Columns of the text."""


@dataclass(frozen=True)
class Shown:
    """How a figure is shown."""

    title: str
    unit: str
    scale: float
    """The unit, in that of the table."""
    fine: str
    """The unit of what a single rule changes."""
    finer: float
    """How many of it are a unit of the table."""


SHOWN = {
    "rtt_mean_us": Shown("RTT mean", "us", 1, "ns", 1e3),
    "rtt_p50_us": Shown("RTT p50", "us", 1, "ns", 1e3),
    "rtt_p99_us": Shown("RTT p99", "us", 1, "ns", 1e3),
    "packets_bps": Shown("TCP, packets", "Mb/s", 1e6, "kb/s", 1e-3),
    "aggregates_bps": Shown("TCP, aggregates", "Mb/s", 1e6, "kb/s", 1e-3),
}


def text(cost: Cost) -> str:
    """One line for each number of rules, and one for the trend of each figure."""
    plan = cost.plan
    spread = " +- standard deviation of the rounds" if plan.rounds > 1 else ""
    head = (
        f"nftables rules in Linux {cost.kernel}, {WHAT[plan.form]}.",
        f"H1 - T1 - H2 on one machine, rules in T1: {_many(plan.rounds, 'round')} of {_many(plan.pings, 'ping')} and "
        f"two TCP connections of {plan.seconds:g} s; mean{spread}.",
    )
    return "\n".join((*_folded(head), "", *_columns(_measured(cost)), *_columns(_trends(cost)), *_folded(_about(cost))))


def _measured(cost: Cost) -> Iterator[Sequence[str]]:
    yield ("rules", *(f"{shown.title}, {shown.unit}" for shown in SHOWN.values()))
    columns = [[_mean(figure, SHOWN[name]) for figure in cost.figures(name)] for name in SHOWN]
    for rules, *cells in zip(sorted(cost.plan.rules), *columns, strict=True):
        yield (f"{rules:,}", *cells)


def _trends(cost: Cost) -> Iterator[Sequence[str]]:
    counts = [rules for rules in sorted(cost.plan.rules) if rules > 0]
    if len(counts) < 2:
        return
    first, last = counts[0], counts[-1]
    yield ("", "", "", "")
    yield (f"from {first:,} to {last:,} rules", f"per rule ({CONFIDENCE:.0%} confidence)", "total", "")
    for name, shown in SHOWN.items():
        found = cost.trend(name)
        if found is None:
            yield (f"{shown.title}, {shown.fine}", "-", "-", "too few measurements")
            continue
        least = next(figure.mean for figure in cost.figures(name) if figure.rules == first)
        yield (
            f"{shown.title}, {shown.fine}",
            _span(found, shown.finer),
            f"{_span(found, 100 * (last - first) / least)} %",
            "trend" if found.there else "no trend",
        )


def _about(cost: Cost) -> Iterator[str]:
    yield ""
    sizes = [
        sum(getattr(sample, name) for sample in cost.samples) / len(cost.samples)
        for name in ("packet_bytes", "aggregate_bytes")
    ]
    yield (
        f"packets: rules apply to each packet of {sizes[0]:,.0f} B; aggregates: the kernel forwards "
        f"{sizes[1] / 1000:,.0f} kB at a time, and rules apply once"
    )
    if 0 in cost.plan.rules:
        yield "0 rules: no table of rules; trends exclude it, as the first rule adds the table"
    lost = sum(sample.lost for sample in cost.samples)
    if lost:
        yield f"{_many(lost, 'ping')} without an answer, not included"


def _mean(figure: Figure, shown: Shown) -> str:
    mean = figure.mean / shown.scale
    digits = 0 if mean >= 1000 else 1
    spread = "" if figure.deviation is None else f" +- {figure.deviation / shown.scale:,.{digits}f}"
    return f"{mean:,.{digits}f}{spread}"


def _span(found: Trend, scale: float) -> str:
    return f"{scale * found.slope:+,.1f} ({scale * found.low:+,.1f} to {scale * found.high:+,.1f})"


def _columns(rows: Iterator[Sequence[str]]) -> Iterator[str]:
    cells = list(rows)
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    for row in cells:
        first, *others = zip(row, widths, strict=True)
        yield "  ".join((first[0].ljust(first[1]), *(cell.rjust(width) for cell, width in others))).rstrip()


def _folded(lines: Iterable[str]) -> Iterator[str]:
    for line in lines:
        yield from textwrap.wrap(line, WIDTH) or [""]


def _many(count: int, what: str) -> str:
    return f"{count:,} {what}{'' if count == 1 else 's'}"
