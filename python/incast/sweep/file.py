"""What stands in a sweep file."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

Value = str | bool | int | float
"""A value that is varied: what can be a column of the dataset."""


@dataclass(frozen=True, kw_only=True)
class Point:
    """A variation by name: any number of fields that change together."""

    name: str
    """What the column of its axis calls it."""
    set: dict[str, Any] = field(default_factory=dict)
    """Values by path, as `--set` takes them; none leaves the scenario as it is."""
    scale: dict[str, dict[str, Any]] = field(default_factory=dict)
    """Values at a named scale, over those of `set`."""


@dataclass(frozen=True, kw_only=True)
class Axis:
    """A `[[vary]]`: one thing that is varied, either a `path` with `values`, or named `points`."""

    path: str | None = None
    """Field of the scenario, such as `workload[0].poisson.load`, as `--set` takes it."""
    name: str | None = None
    """The column of the dataset; the last part of `path` if not given, such as `load`."""
    values: list[Value] | None = None
    """Values of the field: text, numbers, true or false."""
    points: list[Point] | None = None
    """Variations by name, each of which sets any number of fields."""


@dataclass(frozen=True, kw_only=True)
class Scale:
    """A `[scale.NAME]`: changes for `--scale NAME`, such as `smoke`."""

    about: str | None = None
    """What it is for."""
    set: dict[str, Any] = field(default_factory=dict)
    """Values for all runs, over those of the file."""
    values: dict[str, list[Value]] = field(default_factory=dict)
    """Values, or names of points, of an axis, by its column, in place of those of the axis."""
    schemes: list[str] | None = None
    """Schemes to run, in place of all."""
    skip: list[dict[str, Any]] = field(default_factory=list)
    """Runs to leave out, beside those of the file."""


@dataclass(frozen=True, kw_only=True)
class SweepFile:
    """A sweep: a scenario and what is varied in it."""

    scenario: str
    """The scenario file; a relative path starts at the sweep file's folder."""
    title: str | None = None
    """What it is, for people."""
    set: dict[str, Any] = field(default_factory=dict)
    """Values for all runs, over those of the scenario."""
    schemes: list[str] | None = None
    """Schemes to run; all of the scenario if not given."""
    vary: list[Axis] = field(default_factory=list)
    """What is varied; runs are the product of all axes, the last one fastest, times the schemes."""
    skip: list[dict[str, Any]] = field(default_factory=list)
    """Runs to leave out: those with all values of an entry (a list: any of them); `scheme` counts as a column."""
    scale: dict[str, Scale] = field(default_factory=dict)
    """Changes for named scales."""
