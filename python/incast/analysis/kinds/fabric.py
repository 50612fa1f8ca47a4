"""Common parts of analyses of a fabric: the scenario and the paths."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from incast import _core
from incast.errors import ScenarioError, translated

PATHS = ("routes", "shortest", "trees", "up-down", "random")
"""Names of kinds of paths."""


@dataclass(frozen=True, kw_only=True)
class OfFabric:
    """Paths on the fabric of a scenario."""

    scenario: str
    """Scenario file with the fabric and the routes, relative to the analysis's folder."""
    overrides: list[str] = field(default_factory=list)
    """Values over those of the scenario, as for `--set`; `{seed}` is the seed. Default none."""
    paths: str
    """Paths, as `--paths` of `incast deadlock`: `routes`, `shortest`, `trees`, `up-down`, `random`."""
    bounces: int = 0
    """Bounces of up-down paths. Default 0 (our choice)."""
    per_pair: int = 1
    """Random paths per pair of switches. Default 1 (our choice)."""
    seed: int = 1
    """Seed of the scenario and of random draws. Default 1 (our choice)."""


def opened(cell: OfFabric, base: Path) -> _core.Scenario:
    """The scenario of a cell."""
    overrides = [f"seed={cell.seed}", *(each.replace("{seed}", str(cell.seed)) for each in cell.overrides)]
    with translated():
        return _core.Scenario.load(base / cell.scenario, overrides)


def paths(cell: OfFabric) -> object:
    """The paths as the core takes them."""
    if cell.paths == "up-down":
        return {"up_down": {"bounces": cell.bounces}}
    if cell.paths == "random":
        return {"random": {"per_pair": cell.per_pair}}
    if cell.paths not in PATHS:
        raise ScenarioError(f"unknown paths `{cell.paths}`; allowed: {', '.join(PATHS)}")
    return cell.paths


def stamp(cell: OfFabric, base: Path) -> str:
    """The scenario's key, files and all; the fabric is built once to see that it can be."""
    paths(cell)
    scenario = opened(cell, base)
    with translated():
        scenario.fabric()
        return scenario.key()
