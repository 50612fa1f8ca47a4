"""Circular buffer dependencies of a fabric: whether there are any, or under how many sets of failed links."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from incast.analysis.kind import Kind, Row
from incast.analysis.kinds import fabric
from incast.errors import translated


@dataclass(frozen=True, kw_only=True)
class OfDependencies(fabric.OfFabric):
    """What `incast deadlock check` looks at."""

    fail: list[str] = field(default_factory=list)
    """Links that are down, each by its ends, such as `leaf0-spine1`. Default none."""
    failures: int | None = None
    """So many links between switches are down at a time: each for 1, each pair for 2, sets drawn at random for more.
    Default none.
    """
    samples: int = 1000
    """Sets of links that are drawn, for 3 failures or more. Default 1000 (our choice)."""
    detours: int | None = None
    """Switches next to a failure send packets to any neighbour, so often at most for each packet. Default: routes have
    converged.
    """


def _compute(cell: OfDependencies, base: Path) -> Iterator[Row]:
    options = {
        "paths": fabric.paths(cell),
        "fail": cell.fail,
        "failures": cell.failures,
        # One link or two are all looked at.
        "samples": cell.samples if (cell.failures or 0) > 2 else None,
        "detours": cell.detours,
        "most": 1,
        "seed": cell.seed,
    }
    with translated():
        _, _, text = fabric.opened(cell, base).deadlock_check(json.dumps(options), str(base))
    # Of several graphs the worst one.
    graphs = json.loads(text)["graphs"]
    sets = max((graph.get("sets", 1) for graph in graphs), default=1)
    circular = max((_circular(graph) for graph in graphs), default=0)
    shortest = [len(cycle["turns"]) for graph in graphs for cycle in cycles_of(graph)]
    yield {"sets": sets, "circular": circular, "shortest": min(shortest, default=None)}


def _circular(graph: dict[str, Any]) -> int:
    return int(graph["circular"]) if "sets" in graph else int(bool(graph["components"]))


def cycles_of(graph: dict[str, Any]) -> list[dict[str, Any]]:
    """The cycles that are named, of the fabric as it is or of sets of failed links."""
    if "sets" in graph:
        return [one["cycle"] for one in graph["named"]]
    return [cycle for component in graph["components"] for cycle in component["cycles"]]


DEPENDENCIES = Kind(
    name="dependencies",
    about="circular buffer dependencies of a fabric: in how many of how many sets of failed links",
    parameters=OfDependencies,
    figures={"sets": "bigint", "circular": "bigint", "shortest": "bigint"},
    compute=_compute,
    stamp=fabric.stamp,
)
"""The kind."""
