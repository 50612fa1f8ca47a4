"""Cost of rules in the kernel of this machine."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path

from incast import testbed
from incast.analysis.kind import Kind, Row
from incast.testbed.cost import PINGS, RULES, SECONDS, Sample
from incast.testbed.rules import Form


@dataclass(frozen=True, kw_only=True)
class OfCost:
    """A round of `incast deadlock cost`."""

    rules: list[int] = field(default_factory=lambda: list(RULES))
    """Numbers of rules, in random order. Default 0, 10, 20, 40, 80, 160 (Tagger's evaluation)."""
    seconds: float = SECONDS
    """Length of each TCP connection in seconds. Default 5 (our choice; 100 in Tagger's evaluation)."""
    pings: int = PINGS
    """Pings per number of rules. Default 5000 (Tagger's evaluation)."""
    form: Form = "map"
    """Form of the rules: map, as exported, or chain, one after the other. Default map."""
    seed: int = 1
    """Seed of the order. Default 1 (our choice)."""


def plan(cell: OfCost) -> testbed.Plan:
    """A round as the testbed takes it."""
    return testbed.Plan(tuple(cell.rules), cell.seconds, cell.pings, 1, cell.form, cell.seed)


def _stamp(cell: OfCost, _: Path) -> str:
    plan(cell)
    return os.uname().release


def _compute(cell: OfCost, _: Path) -> Iterator[Row]:
    for sample in testbed.measure(plan(cell)).samples:
        yield {name: value for name, value in asdict(sample).items() if name != "round"}


COST = Kind(
    name="cost",
    about="round-trip times and throughput through nftables rules in the kernel of this machine",
    parameters=OfCost,
    figures={
        name: "bigint" if name in ("rules", "lost") else "double"
        for name in Sample.__dataclass_fields__
        if name != "round"
    },
    compute=_compute,
    stamp=_stamp,
    impossible=testbed.available,
)
"""The kind."""
