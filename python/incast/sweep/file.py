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
    """Value in the column of its axis."""
    set: dict[str, Any] = field(default_factory=dict)
    """Values by path, as for `--set`; none leaves the scenario unchanged."""
    scale: dict[str, dict[str, Any]] = field(default_factory=dict)
    """Values at a named scale, over those of `set`."""


@dataclass(frozen=True, kw_only=True)
class Axis:
    """A `[[vary]]`: one thing that is varied, either a `path` with `values`, or named `points`."""

    path: str | None = None
    """Field of the scenario, as for `--set`, such as `workload[0].poisson.load`."""
    name: str | None = None
    """Column of the dataset. Default: the last part of `path`, such as `load`."""
    values: list[Value] | None = None
    """Values of the field: text, numbers, true or false."""
    points: list[Point] | None = None
    """Named variations of several fields."""


@dataclass(frozen=True, kw_only=True)
class Scale:
    """A `[scale.NAME]`: changes for `--scale NAME`, such as `smoke`."""

    about: str | None = None
    """Purpose."""
    set: dict[str, Any] = field(default_factory=dict)
    """Values for all runs, over those of the file."""
    values: dict[str, list[Value]] = field(default_factory=dict)
    """Values, or names of points, by column of an axis, in place of the axis's own."""
    schemes: list[str] | None = None
    """Schemes to run, in place of all."""
    skip: list[dict[str, Any]] = field(default_factory=list)
    """Further runs to skip."""


@dataclass(frozen=True, kw_only=True)
class SweepFile:
    """A sweep: a scenario and what is varied in it."""

    scenario: str
    """Scenario file, relative to the sweep file's folder."""
    title: str | None = None
    """Title."""
    set: dict[str, Any] = field(default_factory=dict)
    """Values for all runs, over those of the scenario."""
    schemes: list[str] | None = None
    """Schemes to run. Default: all of the scenario."""
    vary: list[Axis] = field(default_factory=list)
    """Axes; runs are the product of all, the last one fastest, times the schemes."""
    skip: list[dict[str, Any]] = field(default_factory=list)
    """Runs to skip: those with all values of an entry (a list: any of them); `scheme` is a column too."""
    scale: dict[str, Scale] = field(default_factory=dict)
    """Changes for named scales."""
