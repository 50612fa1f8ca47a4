"""A kind of analysis."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

Row = dict[str, Any]
"""Figures by name."""


@dataclass(frozen=True)
class Kind:
    """Something that can be computed, or measured, without a simulation."""

    name: str
    """Name in files."""
    about: str
    """Computed figures, in a line."""
    parameters: type
    """Its parameters: a frozen dataclass."""
    figures: dict[str, str]
    """The columns of its table, with DuckDB's types."""
    compute: Callable[[Any, Path], Iterable[Row]]
    """The rows of a cell, from its parameters; relative files start at the folder."""
    stamp: Callable[[Any, Path], str]
    """Input of its result other than the parameters, such as the contents of files. Raises `ScenarioError` if the
    parameters cannot be."""
    weight: Callable[[Any], float] = lambda _: 1.0
    """How long a cell takes, in any unit."""
    impossible: Callable[[], str | None] = lambda: None
    """Why this machine cannot do it; `None` if it can."""
    missing: Callable[[Any], str | None] = lambda _: None
    """Program or right that a cell needs and this machine lacks; `None` if it has all."""
