"""Fields of the file of an analysis."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from incast.sweep.file import Axis, Value


@dataclass(frozen=True, kw_only=True)
class AnalysisScale:
    """A `[scale.NAME]`: changes for a scale of the study."""

    about: str | None = None
    """Purpose."""
    set: dict[str, Any] = field(default_factory=dict)
    """Values for all cells; they override those of the file."""
    values: dict[str, list[Value]] = field(default_factory=dict)
    """Values, or names of points, by column of an axis, in place of the axis's own."""
    skip: list[dict[str, Any]] = field(default_factory=list)
    """Further cells to skip."""


@dataclass(frozen=True, kw_only=True)
class AnalysisFile:
    """An analysis: a computation or measurement without a simulation, and the axes to vary."""

    analysis: str
    """Kind of the analysis, one of those below."""
    title: str | None = None
    """Title."""
    set: dict[str, Any] = field(default_factory=dict)
    """Values of the kind's parameters for all cells."""
    vary: list[Axis] = field(default_factory=list)
    """Axes, as in a sweep; `path` is a parameter of the kind. Cells are the product of all, the last one fastest."""
    skip: list[dict[str, Any]] = field(default_factory=list)
    """Cells to skip: those with all values of an entry (a list: any of them)."""
    scale: dict[str, AnalysisScale] = field(default_factory=dict)
    """Changes for named scales."""
