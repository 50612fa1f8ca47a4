"""Axes of a sweep that do not change the runs of a scheme."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from incast.sweep.plan import Plan, Planned


def without_effect(plan: Plan) -> Iterator[str]:
    """A message for each axis without effect on a scheme, such as an axis over a field that the scheme overrides."""
    for axis in plan.columns:
        for scheme in dict.fromkeys(run.scheme for run in plan.runs):
            pairs = list(_pairs(plan, axis, scheme))
            if pairs and all(_simulated(first) == _simulated(other) for first, other in pairs):
                overridden = any(first.tree != other.tree for first, other in pairs)
                why = f", which overrides `{plan.paths[axis] or 'its fields'}`" if overridden else ""
                yield f"axis `{axis}` has no effect on scheme {scheme}{why}; leave out its repeated runs with `skip`"


def _pairs(plan: Plan, axis: str, scheme: str) -> Iterator[tuple[Planned, Planned]]:
    """Runs of a scheme that differ only in the column of an axis: the first one with each other one."""
    first: dict[tuple[object, ...], Planned] = {}
    for run in plan.runs:
        if run.scheme == scheme:
            others = tuple(value for name, value in run.columns.items() if name != axis)
            if first.setdefault(others, run) is not run:
                yield first[others], run


def _simulated(run: Planned) -> dict[str, Any]:
    """The scenario without the sections that its only scheme overrides: the scheme has every field of them."""
    tree: dict[str, Any] = json.loads(run.tree)
    return {name: value for name, value in tree.items() if name not in tree["scheme"][run.scheme]}
