"""Fields of a sweep file."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

Value = str | bool | int | float
"""A varied value, which becomes a column of the dataset."""


@dataclass(frozen=True, kw_only=True)
class Point:
    """A named variation: any number of fields that change together."""

    name: str
    """Its name in the column of the axis, of at most 200 characters."""
    set: dict[str, Any] = field(default_factory=dict)
    """Values by path, as for `--set`; empty to leave the scenario unchanged."""
    scale: dict[str, dict[str, Any]] = field(default_factory=dict)
    """Values at a named scale; they override those of `set`."""


@dataclass(frozen=True, kw_only=True)
class Axis:
    """A `[[vary]]`: one axis, either a `path` with `values`, or named `points`."""

    path: str | None = None
    """Field of the scenario, such as `workload[0].poisson.load`, as for `--set`."""
    name: str | None = None
    """Column of the dataset. Default: the last part of `path`, such as `load`; of `headroom.bytes`, `headroom`. At most
    200 characters."""
    values: list[Value] | None = None
    """Values of the field: text of at most 4,096 characters, numbers, true or false."""
    points: list[Point] | None = None
    """Named variations, each with any number of fields."""


@dataclass(frozen=True, kw_only=True)
class Scale:
    """A `[scale.NAME]`: changes for `--scale NAME`, such as `smoke`."""

    about: str | None = None
    """Its purpose."""
    set: dict[str, Any] = field(default_factory=dict)
    """Values for all runs; they override those of the file."""
    values: dict[str, list[Value]] = field(default_factory=dict)
    """Values of an axis, or names of its points, by column; they replace those of the axis."""
    schemes: list[str] | None = None
    """Schemes to run. Default: as in the file."""
    skip: list[dict[str, Any]] = field(default_factory=list)
    """Runs to skip, in addition to those of the file."""


@dataclass(frozen=True, kw_only=True)
class SweepFile:
    """A sweep: a scenario and the axes to vary."""

    scenario: str
    """Scenario file; a relative path starts at the folder of the sweep file."""
    title: str | None = None
    """Title of the sweep, of at most 1,000 characters."""
    set: dict[str, Any] = field(default_factory=dict)
    """Values for all runs; they override those of the scenario."""
    schemes: list[str] | None = None
    """Schemes to run. Default: all of the scenario."""
    vary: list[Axis] = field(default_factory=list)
    """Axes, of at most 100,000 combinations. Runs are the product of axes and schemes, the last axis fastest."""
    skip: list[dict[str, Any]] = field(default_factory=list)
    """Runs to skip: those that match all values of an entry (of a list: any value); `scheme` is a column too."""
    scale: dict[str, Scale] = field(default_factory=dict)
    """Changes for named scales."""
