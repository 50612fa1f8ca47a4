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
    with translated():
        return _core.Scenario.load(base / cell.scenario, _overrides(cell))


def _overrides(cell: OfFabric) -> list[str]:
    return [f"seed={cell.seed}", *(each.replace("{seed}", str(cell.seed)) for each in cell.overrides)]


def paths(cell: OfFabric) -> object:
    """The paths as the core takes them."""
    if cell.paths == "up-down":
        return {"up_down": {"bounces": cell.bounces}}
    if cell.paths == "random":
        return {"random": {"per_pair": cell.per_pair}}
    if cell.paths not in PATHS:
        raise ScenarioError(f"unknown paths `{cell.paths}`; allowed: {', '.join(PATHS)}")
    return cell.paths


_keys: dict[tuple[object, ...], str] = {}
"""Keys of scenarios that name no other files: many cells share one."""


def stamp(cell: OfFabric, base: Path) -> str:
    """The scenario's key, files and all; the fabric is built once to see that it can be."""
    paths(cell)
    path = base / cell.scenario
    status = path.stat() if path.is_file() else None
    place = (path, status and (status.st_mtime_ns, status.st_size), *_overrides(cell))
    if place in _keys:
        return _keys[place]
    scenario = opened(cell, base)
    with translated():
        scenario.fabric()
        key = scenario.key()
    if not scenario.files():
        _keys[place] = key
    return key
