"""Findings about flows that always had data to send."""

from __future__ import annotations

from collections.abc import Iterator

from incast.charts.look import rate
from incast.charts.source import Source
from incast.fairness import jain
from incast.findings.finding import COMPARISON, Finding
from incast.findings.words import count, number, spread


def backlogged(source: Source) -> Iterator[Finding]:
    """Goodput of the backlogged flows of a label: their mean, the lowest, and Jain's index of several.

    Tenants have a table of their throughput instead.
    """
    if source.count("throughput"):
        return
    by_label: dict[str, dict[str, list[float]]] = {}
    rows = source.rows("select scheme, label, goodput_bps from flows where goodput_bps is not null order by flow")
    for scheme, label, goodput_bps in source.by_scheme(rows):
        by_label.setdefault(label, {}).setdefault(scheme, []).append(goodput_bps)
    for label, found in by_label.items():
        flows = max(map(len, found.values()))
        what = "backlogged flow" if flows == 1 else count(flows, "backlogged flow")
        what += f" of label {label}" if len(source.labels) > 1 else ""
        means = {scheme: sum(mine) / len(mine) for scheme, mine in found.items()}
        if flows == 1:
            text = f"The {what} had a goodput of {spread(means, rate)}."
        else:
            lowest = {scheme: min(mine) for scheme, mine in found.items()}
            fair = {scheme: jain(mine) for scheme, mine in found.items() if any(mine)}
            text = f"The {what} had a mean goodput of {spread(means, rate)}, the slowest {spread(lowest, rate)}"
            text += f"; Jain's index of fairness is {spread(fair, number)}." if fair else "."
        yield Finding("backlogged", COMPARISON, text, tuple(found))
