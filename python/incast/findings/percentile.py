"""Slowdowns of groups of flows: p99 of many flows, as in the table after a run, and the mean of few."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from incast.few import MOST

SLOWDOWN = "greatest(slowdown_hpcc, 1)"
"""Slowdown of a flow, at least 1, in SQL."""
FEWEST = 20
"""Fewest flows of a group (our choice)."""
MANY = MOST["p99"] + 1
"""Fewest flows of a group that are compared by p99: of fewer, p99 is the maximum."""
Statistics = tuple[int, float, float]
"""Number of flows, p99 and mean of their slowdowns."""


def p99(values: str) -> str:
    """The 99th percentile of an expression in a group, in SQL: element floor(0.99 n) of the sorted values."""
    return f"list_sort(list({values}))[least(count(*), floor(0.99::double * count(*))::bigint + 1)]"


def statistics(values: str) -> str:
    """Number, p99 and mean of an expression in a group, in SQL."""
    return f"count(*), {p99(values)}, avg({values})"


def figure(found: Mapping[Any, Statistics]) -> tuple[str, dict[Any, float]] | None:
    """`p99` or `mean`, and this figure of each group: p99 if all have more than 100 flows; `None` below 20 flows."""
    fewest = min((flows for flows, _, _ in found.values()), default=0)
    if fewest < FEWEST:
        return None
    place = 1 if fewest >= MANY else 2
    return ("p99", "mean")[place - 1], {group: values[place] for group, values in found.items()}
