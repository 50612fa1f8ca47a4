"""From the file of an analysis to the cells that it asks for."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import typing
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

from incast import _core
from incast._document import Document, join
from incast.analysis.file import AnalysisFile
from incast.analysis.kind import Kind
from incast.analysis.kinds import kinds
from incast.errors import ScenarioError
from incast.sweep.file import Axis, Value
from incast.sweep.skips import Skips
from incast.sweep.text import shown

KEY_DIGITS = 16
"""Hexadecimal digits of a cell's key."""


@dataclass(frozen=True)
class Cell:
    """One value of each axis."""

    key: str
    """Names the cell: a digest of its parameters, of files they name, of its columns and of the build of incast."""
    columns: dict[str, Value]
    """The varied parameters by column."""
    parameters: Any
    """All parameters, as the kind has them."""

    @property
    def label(self) -> str:
        """Varied parameters, on one line."""
        return ", ".join(f"{name}={shown(value)}" for name, value in self.columns.items()) or "the only cell"

    @property
    def choice(self) -> dict[str, Value]:
        """Varied parameters, which identify it."""
        return self.columns


@dataclass(frozen=True)
class AnalysisPlan:
    """An analysis as it will be done."""

    path: Path
    """Its file."""
    title: str | None
    """Title."""
    kind: Kind
    """The kind of analysis."""
    columns: tuple[str, ...]
    """The varied parameters."""
    runs: tuple[Cell, ...]
    """All cells, in order."""

    @property
    def types(self) -> dict[str, str]:
        """The columns of its table with DuckDB's types."""
        of = {str: "varchar", bool: "boolean", int: "bigint", float: "double"}
        return {name: of[type(self.runs[0].columns[name])] for name in self.columns} | self.kind.figures


def read(path: Path, scale: str | None = None) -> AnalysisPlan:
    """Read the file of an analysis; nothing is computed. Raises `ScenarioError` at what is wrong with it."""
    return _Reader(path, scale).plan()


@dataclass(frozen=True)
class _Choice:
    """A value of an axis: what its column shows, and the parameters it sets, with their places in the file."""

    shown: Value
    sets: dict[str, tuple[Any, str]]


class _Reader:
    def __init__(self, path: Path, scale: str | None) -> None:
        self.document = Document(path)
        self.file = self.document.typed(AnalysisFile)
        self.path = path
        if self.file.analysis not in kinds():
            raise self.document.unknown("analysis", "kind", self.file.analysis, kinds())
        self.kind = kinds()[self.file.analysis]
        if scale is not None and scale not in self.file.scale:
            raise self.document.unknown("scale", "scale", scale, self.file.scale)
        self.scale = scale
        self.hints = typing.get_type_hints(self.kind.parameters)

    def plan(self) -> AnalysisPlan:
        names = [self.name(axis, f"vary[{number}]") for number, axis in enumerate(self.file.vary)]
        for number, name in enumerate(names):
            if name in names[:number]:
                raise self.document.wrong(f"vary[{number}]", f"two axes are called `{name}`")
        if self.scale is not None:
            for name in self.file.scale[self.scale].values:
                if name not in names:
                    raise self.document.unknown(f"scale.{self.scale}.values", "axis", name, names)
        axes = [
            self.choices(axis, number, name)
            for number, (axis, name) in enumerate(zip(self.file.vary, names, strict=True))
        ]
        cells = tuple(self.cells(names, axes))
        if not cells:
            raise ScenarioError(f"{self.path}: nothing to do: every cell is skipped")
        return AnalysisPlan(self.path, self.file.title, self.kind, tuple(names), cells)

    def name(self, axis: Axis, at: str) -> str:
        """The column of an axis."""
        if (axis.path is None) == (axis.points is None) or (axis.path is None) == (axis.values is not None):
            raise self.document.wrong(at, "an axis has either a `path` with `values`, or `points`")
        if not (axis.values or axis.points):
            raise self.document.wrong(at, "an axis has a value at least")
        if axis.path is not None:
            self.known(axis.path, f"{at}.path")
        name = axis.name or axis.path
        if not name:
            raise self.document.wrong(at, "the axis needs a `name` for its column")
        if name in self.kind.figures:
            message = f"`{name}` is a figure of the analysis"
            raise self.document.wrong(at, message, allowed="another `name` for the axis")
        return name

    def choices(self, axis: Axis, number: int, name: str) -> list[_Choice]:
        """The values of an axis, those of the scale in their place."""
        at = f"vary[{number}]"
        if axis.path is not None:
            values = self.file.scale[self.scale].values.get(name) if self.scale else None
            where = f"{at}.values" if values is None else join(f"scale.{self.scale}.values", name)
            chosen = axis.values or [] if values is None else values
            return [_Choice(value, {axis.path: (value, f"{where}[{place}]")}) for place, value in enumerate(chosen)]
        points = {}
        for place, point in enumerate(axis.points or []):
            where = f"{at}.points[{place}].set"
            sets = {path: (value, join(where, path)) for path, value in point.set.items()}
            if self.scale is not None:
                over = f"{at}.points[{place}].scale.{self.scale}"
                sets |= {path: (value, join(over, path)) for path, value in point.scale.get(self.scale, {}).items()}
            for path, (_, place_of) in sets.items():
                self.known(path, place_of)
            points[point.name] = _Choice(point.name, sets)
        wanted = self.file.scale[self.scale].values.get(name) if self.scale else None
        for value in wanted or []:
            if value not in points:
                raise self.document.unknown(f"scale.{self.scale}.values", "point", str(value), points)
        return list(points.values()) if wanted is None else [points[str(value)] for value in wanted]

    def known(self, parameter: str, where: str) -> None:
        if parameter not in self.hints:
            raise self.document.unknown(where, "parameter", parameter, self.hints)

    def cells(self, names: list[str], axes: list[list[_Choice]]) -> Iterator[Cell]:
        values_of = {name: [one.shown for one in choices] for name, choices in zip(names, axes, strict=True)}
        skips = Skips(self.document, self.file, self.scale, values_of, names)
        for chosen in product(*axes):
            columns = {name: choice.shown for name, choice in zip(names, chosen, strict=True)}
            if not skips.match(columns):
                yield self.cell(columns, chosen)

    def cell(self, columns: dict[str, Value], chosen: tuple[_Choice, ...]) -> Cell:
        sets = {path: (value, join("set", path)) for path, value in self.file.set.items()}
        if self.scale is not None:
            over = f"scale.{self.scale}.set"
            sets |= {path: (value, join(over, path)) for path, value in self.file.scale[self.scale].set.items()}
        for choice in chosen:
            sets |= choice.sets
        values = {}
        for path, (value, where) in sets.items():
            self.known(path, where)
            values[path] = self.document.value(value, self.hints[path], where)
        for field in dataclasses.fields(self.kind.parameters):
            needed = field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING
            if needed and field.name not in values:
                raise self.document.wrong("set", f"parameter `{field.name}` of `{self.kind.name}` is not given")
        parameters = self.kind.parameters(**values)
        try:
            stamp = self.kind.stamp(parameters, self.path.parent)
        except ScenarioError as error:
            text = str(error).removeprefix("error: ")
            point = ", ".join(f"{name}={shown(value)}" for name, value in columns.items())
            raise ScenarioError(f"{self.path}{f' ({point})' if point else ''}: {text}", error.diagnostics) from None
        of = json.dumps([self.kind.name, values, columns, stamp, _core.__build__], sort_keys=True)
        return Cell(hashlib.sha256(of.encode()).hexdigest()[:KEY_DIGITS], columns, parameters)
