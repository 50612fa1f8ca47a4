"""Cyclic buffer dependencies of a fabric, also with sets of failed links or wrong routes."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from incast.analysis.kind import Kind, Row
from incast.analysis.kinds import fabric, misroutes
from incast.errors import ScenarioError, translated


@dataclass(frozen=True, kw_only=True)
class OfDependencies(fabric.OfFabric):
    """Parameters of `incast deadlock check`."""

    fail: list[str] = field(default_factory=list)
    """Links that are down, by their ends, such as `leaf0-spine1`. Default none."""
    failures: int | None = None
    """Links between switches that are down at a time: each for 1, each pair for 2, random sets for more. Default none.
    """
    samples: int = 1000
    """Random sets of links, for 3 failures or more, or of wrong routes. Default 1000 (our choice)."""
    detours: int | None = None
    """Detours of a packet, at most: switches next to a failure send to any neighbour. Default: routes have converged.
    """
    misroutes: int | None = None
    """Wrong routes at a time, in random sets: a switch sends packets for a host to a random neighbour switch, right or
    wrong; other routes are shortest paths. A loop counts as a cyclic dependency. Not with `fail`, `failures` or
    `detours`. Default none.
    """


def _stamp(cell: OfDependencies, base: Path) -> str:
    if cell.misroutes is not None:
        for name, given in (
            ("fail", bool(cell.fail)),
            ("failures", cell.failures is not None),
            ("detours", cell.detours is not None),
            ("paths", cell.paths != "routes"),
        ):
            if given:
                hint = '; allowed: paths = "routes"' if name == "paths" else ""
                raise ScenarioError(f"`{name}` = `{getattr(cell, name)}` cannot be used with `misroutes`{hint}")
        if cell.misroutes < 1:
            raise ScenarioError(f"misroutes = {cell.misroutes} is out of range; allowed: 1 or more")
        if cell.samples < 1:
            raise ScenarioError(f"samples = {cell.samples} is out of range; allowed: 1 or more")
    return fabric.stamp(cell, base)


def _compute(cell: OfDependencies, base: Path) -> Iterator[Row]:
    if cell.misroutes is not None:
        cyclic, shortest = misroutes.cyclic(fabric.opened(cell, base), cell.misroutes, cell.samples, cell.seed)
        yield {"sets": cell.samples, "cyclic": cyclic, "shortest": shortest}
        return
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
    cyclic = max((_cyclic(graph) for graph in graphs), default=0)
    lengths = [len(cycle["turns"]) for graph in graphs for cycle in cycles_of(graph)]
    yield {"sets": sets, "cyclic": cyclic, "shortest": min(lengths, default=None)}


def _cyclic(graph: dict[str, Any]) -> int:
    return int(graph["cyclic"]) if "sets" in graph else int(bool(graph["components"]))


def cycles_of(graph: dict[str, Any]) -> list[dict[str, Any]]:
    """The cycles that are named, of the fabric as it is or of sets of failed links."""
    if "sets" in graph:
        return [one["cycle"] for one in graph["named"]]
    return [cycle for component in graph["components"] for cycle in component["cycles"]]


DEPENDENCIES = Kind(
    name="dependencies",
    about="cyclic buffer dependencies of a fabric: number of sets of failed links or wrong routes with cycles",
    parameters=OfDependencies,
    figures={"sets": "bigint", "cyclic": "bigint", "shortest": "bigint"},
    compute=_compute,
    stamp=_stamp,
)
"""The kind."""
