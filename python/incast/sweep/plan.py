"""Reads a sweep file and plans its runs."""

from __future__ import annotations

import hashlib
import itertools
import json
import math
import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import Any

from incast import _core, _input
from incast._document import Document, join
from incast._echo import word
from incast._file_kind import expected
from incast.errors import IncastError, ScenarioError, translated
from incast.sweep import lengths
from incast.sweep.columns import taken
from incast.sweep.file import Axis, Point, SweepFile, Value
from incast.sweep.overrides import covers, last_part, toml
from incast.sweep.skips import SCHEME, Skips
from incast.sweep.text import label, shown

KEY_DIGITS = 16
"""Hexadecimal digits of a run's key: two of a million runs have the same one with probability 3e-8."""
CARRIERS = ("control", "transport")
"""Fields of schemes with RDMA, and with other transports; each also `_by_label`."""
MOST_COMBINATIONS = 100_000
"""Most combinations of the axes' values (our choice: planning them takes minutes, and about 5 kB for each run)."""
TEMPLATE = re.compile(r"[A-Za-z_][A-Za-z0-9_ -]*")
"""Allowed names of columns."""

MARGIN = re.compile(r"^( +)(?=[|=])", re.MULTILINE)
"""Space before the lines of an error's place."""


@dataclass(frozen=True)
class Planned:
    """One run of a sweep: one variation of the scenario under one scheme."""

    columns: dict[str, Value]
    """The varied parameters by column."""
    scheme: str
    """The scheme."""
    tree: str = field(repr=False)
    """The whole scenario with this one scheme, as JSON text."""
    base: Path = field(repr=False)
    """Folder of the files that the scenario names."""
    file: Path = field(repr=False)
    """The sweep file."""

    @cached_property
    def digest(self) -> str:
        """Digest of the scenario alone. Raises `ScenarioError` if it is not valid with this one scheme."""
        try:
            with translated():
                return _core.Scenario.from_json(self.tree, self.base).key()
        except ScenarioError as error:
            text = str(error).removeprefix("error: ")
            raise ScenarioError(f"{self.file}: {self.label}: {text}", error.diagnostics) from None

    @cached_property
    def key(self) -> str:
        """Key of the run: a digest of the scenario, its files, the columns and the build of incast."""
        return hashlib.sha256((self.digest + json.dumps(self.columns)).encode()).hexdigest()[:KEY_DIGITS]

    @property
    def label(self) -> str:
        """Label of the run, on one line."""
        return label(self.columns, self.scheme)

    @property
    def choice(self) -> dict[str, Value]:
        """The varied parameters and `scheme`."""
        return {**self.columns, SCHEME: self.scheme}

    @cached_property
    def variation(self) -> str:
        """Key of the varied parameters, equal for runs that differ only in the scheme."""
        return json.dumps(self.columns)


@dataclass(frozen=True)
class Plan:
    """A planned sweep."""

    path: Path
    """The sweep file."""
    title: str | None
    """Its title."""
    scale: str | None
    """The chosen scale."""
    scenario: Path
    """The scenario file."""
    columns: tuple[str, ...]
    """The varied parameters."""
    paths: dict[str, str | None]
    """The field of the scenario that each column varies; `None` for several fields."""
    runs: tuple[Planned, ...]
    """All runs, in order."""
    texts: dict[str, str] = field(repr=False)
    """Text of the sweep file and of its scenario, by their names in the sweep's folder."""

    @cached_property
    def keys(self) -> frozenset[str]:
        """Keys of all runs."""
        return frozenset(run.key for run in self.runs)


def read(
    path: str | PathLike[str],
    *,
    scale: str | None = None,
    overrides: Iterable[str] = (),
    seeds: Sequence[int] | None = None,
    check: bool = False,
    keys: bool = True,
) -> Plan:
    """Read a sweep file and every variation of its scenario, without running them.

    Args:
        path: A TOML file; see `docs/reference/sweeps.md`.
        scale: Name of one of its scales.
        overrides: Values for all runs that override the file, as on the command line: `["seed=7"]`.
        seeds: Values of the axis of `seed`, in place of those of the file.
        check: Also build the fabric and the flows of every value, as the command does. It takes longer and finds
            errors, such as numbers out of range, before the sweep starts.
        keys: Also compute the keys of the runs now, so that a run fails if one of its files changes after this call.
            Otherwise the keys are computed when they are first needed.

    Raises:
        ScenarioError: The file, its scenario or a variation is not valid.

    """
    plan = _Reader(Path(path), scale, list(overrides), seeds, check=check).plan()
    if keys:
        _ = plan.keys
    return plan


def variations(
    path: str | PathLike[str], *, scale: str | None = None, overrides: Iterable[str] = ()
) -> Iterator[dict[str, Any]]:
    """The scenarios of a sweep file, for the first seed alone; arguments as those of `read`.

    Each scheme has all sections that it can override, with every default. The scenario itself has the others.
    """
    reader = _Reader(Path(path), scale, list(overrides), None, check=False)
    axes = [reader.choices(axis, index) for index, axis in enumerate(reader.file.vary)]
    axes = [
        choices[:1] if axis.path == "seed" else choices for axis, choices in zip(reader.file.vary, axes, strict=True)
    ]
    reader.check_count(axes)
    scenario = reader.scenario()
    for cell in itertools.product(*axes):
        loaded = reader.loaded(scenario, cell, check=False)
        tree = tomllib.loads(loaded.whole("toml"))
        of_schemes = set[str]().union(*tree["scheme"].values())
        yield {name: value for name, value in tree.items() if name not in of_schemes}


def varied(path: str | PathLike[str], scale: str | None = None) -> set[str]:
    """The fields of the scenario that the axes of a sweep file set at a scale."""
    reader = _Reader(Path(path), scale, [], None, check=False)
    axes = [reader.choices(axis, index) for index, axis in enumerate(reader.file.vary)]
    return {field for choices in axes for choice in choices for field, _, _ in choice.sets}


@dataclass(frozen=True)
class _Choice:
    """A value of an axis: value of its column, and the fields to set with their places in the file."""

    shown: Value
    sets: tuple[tuple[str, Any, str], ...]


class _Reader:
    def __init__(
        self, path: Path, scale: str | None, overrides: list[str], seeds: Sequence[int] | None, *, check: bool
    ) -> None:
        self.document = Document(path)
        with expected("sweep", path):
            self.file = self.document.typed(SweepFile)
        lengths.check(self.document, self.file)
        self.path, self.scale, self.overrides, self.seeds, self.check = path, scale, overrides, seeds, check
        self.of_seeds: dict[tuple[Value, ...], dict[str, Any]] = {}
        """Scenarios by the values of all axes but that of seeds."""
        self.names = [self.name(axis, f"vary[{index}]") for index, axis in enumerate(self.file.vary)]
        for index, name in enumerate(self.names):
            if name.lower() in map(str.lower, self.names[:index]):
                raise self.document.wrong(
                    f"vary[{index}]", f"two axes have the name `{name}`", allowed="another `name`"
                )
        if scale is not None and scale not in self.file.scale:
            if not self.file.scale:
                raise ScenarioError(f"{path}: unknown scale `{scale}`: the file has no scales")
            raise self.document.unknown("scale", "scale", scale, self.file.scale)

    def wrong(self, field: str, message: str, allowed: str | None = None) -> IncastError:
        return self.document.wrong(field, message, allowed=allowed)

    def name(self, axis: Axis, at: str) -> str:
        """The column of an axis."""
        if (axis.path is None) == (axis.points is None):
            raise self.wrong(at, "an axis must have either `path` and `values`, or `points`")
        if axis.path is not None and not axis.values:
            raise self.wrong(at, f"no values for `{axis.path}`", "`values`, a non-empty list")
        if axis.points is not None and (axis.values is not None or not axis.points):
            raise self.wrong(at, "`points` must be a non-empty list, without `values`")
        if axis.name == "":
            raise self.wrong(f"{at}.name", "the name is empty", "letters, digits, `_`, `-` and spaces")
        name = axis.name or (last_part(axis.path) if axis.path else None)
        if not name:
            raise self.wrong(at, "the axis needs a `name` for its column")
        if table := taken().get(name.lower()):
            raise self.wrong(at, f"`{name}` is already a column of table {table}", "another `name` for the axis")
        if not TEMPLATE.fullmatch(name):
            raise self.wrong(at, f"`{name}` cannot be the name of a column", "letters, digits, `_`, `-` and spaces")
        return name

    def plan(self) -> Plan:
        axes = [self.choices(axis, index) for index, axis in enumerate(self.file.vary)]
        self.check_count(axes)
        self.check_axes(axes)
        self.check_sets()
        self.check_overrides(axes)
        scenario = self.scenario()
        runs = _comparable(list(self.runs(scenario, axes)))
        if not runs:
            raise ScenarioError(f"{self.path}: no runs: all are skipped")
        paths = {name: axis.path for name, axis in zip(self.names, self.file.vary, strict=True)}
        texts = {
            name: _input.read_text(file, ScenarioError)
            for name, file in (("sweep.toml", self.path), ("scenario.toml", scenario))
        }
        return Plan(self.path, self.file.title, self.scale, scenario, tuple(self.names), paths, runs, texts)

    def scenario(self) -> Path:
        """The scenario file, which can be read."""
        file = self.path.parent / self.file.scenario
        try:
            _input.check(file, ScenarioError, _input.DOCUMENT)
        except OSError as error:
            raise self.wrong("scenario", f"cannot read {file}: {error.strerror}") from None
        except ScenarioError as error:
            raise self.wrong("scenario", f"cannot read {error}") from None
        return file

    def check_count(self, axes: list[list[_Choice]]) -> None:
        """Raise if the axes have too many combinations, at the first axis that is too much."""
        count = 1
        for index, choices in enumerate(axes):
            count *= len(choices)
            if count > MOST_COMBINATIONS:
                total = math.prod(map(len, axes))
                raise self.wrong(
                    f"vary[{index}]",
                    f"the axes have {total:,} combinations of values",
                    f"at most {MOST_COMBINATIONS:,}",
                )

    def check_axes(self, axes: list[list[_Choice]]) -> None:
        """Raise if an axis sets a field that another one varies: the other's column would be wrong."""
        for index, axis in enumerate(axes):
            for path, _, where in (one for choice in axis for one in choice.sets):
                for earlier, name in zip(axes[:index], self.names, strict=False):
                    if any(covers(path, other) for choice in earlier for other, _, _ in choice.sets):
                        raise self.wrong(where, f"`{path}` is already varied by the axis `{name}`")

    def check_sets(self) -> None:
        """Raise if every value of an axis sets a field that `set` sets too: `set` would have no effect."""
        for path in self.file.set:
            self.check_set(path, join("set", path), None)
        if self.scale is not None:
            for path in self.file.scale[self.scale].set:
                self.check_set(path, join(f"scale.{self.scale}.set", path), self.scale)

    def check_set(self, path: str, where: str, scale: str | None) -> None:
        for axis, name in zip(self.file.vary, self.names, strict=True):
            choices = [[axis.path]] if axis.path is not None else [
                [*point.set, *(point.scale.get(scale, ()) if scale is not None else ())] for point in axis.points or []
            ]  # fmt: skip
            if all(any(covers(varied, path) for varied in choice) for choice in choices):
                raise self.wrong(where, f"`{path}` is varied by the axis `{name}`: `set` has no effect on it")

    def check_overrides(self, axes: list[list[_Choice]]) -> None:
        for text in self.overrides:
            path = text.partition("=")[0].strip()
            for axis, name in zip(axes, self.names, strict=True):
                if any(covers(path, other) for choice in axis for other, _, _ in choice.sets):
                    raise ScenarioError(f"--set {text}: `{path}` is varied by the axis `{name}` of {self.path}")

    def choices(self, axis: Axis, index: int) -> list[_Choice]:
        """The values of an axis at the chosen scale."""
        at, name = f"vary[{index}]", self.names[index]
        if self.seeds is not None and axis.path == "seed":
            return [_Choice(seed, ((axis.path, seed, f"{at}.path"),)) for seed in self.seeds]
        if axis.path is not None:
            values = axis.values or []
            all_values = {value: _Choice(value, ((axis.path, value, f"{at}.path"),)) for value in values}
        else:
            points = [(point, f"{at}.points[{number}]") for number, point in enumerate(axis.points or [])]
            all_values = {point.name: self.point(point, where) for point, where in points}
            values = [point.name for point, _ in points]
        self.check_once(values, at)
        chosen = self.file.scale[self.scale].values.get(name) if self.scale else None
        if chosen is None:
            return list(all_values.values())
        where = join(f"scale.{self.scale}.values", name)
        if not chosen:
            raise self.wrong(where, "the list is empty: no runs")
        self.check_once(chosen, where)
        if axis.path is not None:
            return [_Choice(value, ((axis.path, value, f"{at}.path"),)) for value in chosen]
        for value in chosen:
            if value not in all_values:
                raise self.document.unknown(where, "point", str(value), map(str, all_values))
        return [all_values[value] for value in chosen]

    def point(self, point: Point, where: str) -> _Choice:
        """A named point at the chosen scale."""
        for name in point.scale:
            if name not in self.file.scale:
                raise self.document.unknown(f"{where}.scale", "scale", name, self.file.scale)
        sets = {path: (value, join(f"{where}.set", path)) for path, value in point.set.items()}
        if self.scale is not None:
            at = f"{where}.scale.{self.scale}"
            sets |= {path: (value, join(at, path)) for path, value in point.scale.get(self.scale, {}).items()}
        return _Choice(point.name, tuple((path, value, place) for path, (value, place) in sets.items()))

    def check_once(self, values: Sequence[Value], where: str) -> None:
        seen: set[Value] = set()
        for value in values:
            if value in seen:
                raise self.wrong(where, f"`{shown(value)}` is given twice")
            seen.add(value)

    def runs(self, scenario: Path, axes: list[list[_Choice]]) -> Iterator[Planned]:
        self.check_scale()
        types = [_common([choice.shown for choice in axis]) for axis in axes]
        values_of = {name: [one.shown for one in choices] for name, choices in zip(self.names, axes, strict=True)}
        skips = Skips(self.document, self.file, self.scale, values_of, (*self.names, SCHEME))
        there: dict[str, None] = {}
        seen: set[tuple[int, Value]] = set()
        for cell in itertools.product(*axes):
            columns = {name: kind(choice.shown) for name, kind, choice in zip(self.names, types, cell, strict=True)}
            # Building the fabric and the flows takes time: each value is checked once.
            values = {(index, choice.shown) for index, choice in enumerate(cell)}
            variation = self.variation(scenario, cell, check=self.check and (not seen or not values <= seen))
            seen |= values
            there |= dict.fromkeys(variation["scheme"])
            for scheme in self.schemes(variation):
                if not skips.match({**columns, SCHEME: scheme}):
                    yield self.planned(variation, scenario.parent, columns, scheme)
        skips.check_schemes(there)

    def check_scale(self) -> None:
        if self.scale is None:
            return
        for name in self.file.scale[self.scale].values:
            if name not in self.names:
                raise self.document.unknown(f"scale.{self.scale}.values", "axis", name, self.names)

    def variation(self, scenario: Path, cell: tuple[_Choice, ...], *, check: bool) -> dict[str, Any]:
        """The scenario of a cell with all schemes; without `check`, read once for all seeds."""
        seed, others = self.split(cell)
        tree: dict[str, Any] | None = self.of_seeds.get(others)
        if tree is None or seed is None or check:
            tree = self.of_seeds[others] = json.loads(self.loaded(scenario, cell, check=check).whole("json"))
            return tree
        return {**tree, "seed": seed}

    def split(self, cell: tuple[_Choice, ...]) -> tuple[int | None, tuple[Value, ...]]:
        """The seed of a cell, `None` if it sets none or one that needs a check, and its other values."""
        for index, (axis, choice) in enumerate(zip(self.file.vary, cell, strict=True)):
            if axis.path == "seed" and type(choice.shown) is int and 0 <= choice.shown < 2**63:
                return choice.shown, tuple(one.shown for one in cell[:index] + cell[index + 1 :])
        return None, tuple(choice.shown for choice in cell)

    def loaded(self, scenario: Path, cell: tuple[_Choice, ...], *, check: bool) -> _core.Scenario:
        """The scenario of a cell; errors show the place in the sweep file."""
        sets = [(path, value, join("set", path)) for path, value in self.file.set.items()]
        if self.scale is not None:
            at = f"scale.{self.scale}.set"
            sets += [(path, value, join(at, path)) for path, value in self.file.scale[self.scale].set.items()]
        common = len(sets)
        sets += [one for choice in cell for one in choice.sets]
        texts = [f"{path}={toml(value)}" for path, value, _ in sets]
        try:
            return self.load(scenario, texts, check=check)
        except ScenarioError as error:
            home = self.at_home(error, scenario, texts, sets)
            if home is not error or not cell:
                raise home from None
            failure = error
        try:
            # The scenario may have the error without the axes, too.
            self.load(scenario, texts[:common], check=check)
        except ScenarioError:
            raise failure from None
        values = ", ".join(
            f"{word(name)} = {word(toml(choice.shown))}" for name, choice in zip(self.names, cell, strict=True)
        )
        margin = (MARGIN.findall(str(failure)) or [" "])[-1]
        raise ScenarioError(f"{failure}\n{margin}= in the run with {values}", failure.diagnostics)

    def load(self, scenario: Path, texts: list[str], *, check: bool) -> _core.Scenario:
        """The scenario with these values, and those of the command line."""
        # Not `incast.load`: classes of Python for every variation take longer than all else.
        with translated():
            found = _core.Scenario.load(scenario, [*texts, *self.overrides])
            if check:
                found.warnings()
        return found

    def at_home(
        self, error: ScenarioError, scenario: Path, texts: list[str], sets: list[tuple[str, Any, str]]
    ) -> IncastError:
        """The error of a variation, with the place in the sweep file if a value of that file caused it."""
        found = error.diagnostics[0] if error.diagnostics else None
        if found is None or found.file != "--set":
            return error
        for text, (path, value, where) in zip(texts, sets, strict=True):
            if str(error).find(f"| {text}\n") >= 0:
                message = f"{found.message} (`{path}` = {toml(value)}, in {scenario})"
                allowed = found.allowed
                if found.nearest:
                    message += f"; did you mean `{found.nearest}`?"
                of_value = (found.column or 0) > len(path)
                place = self.of_value(value, where) if of_value else where
                return self.document.wrong(place, message, allowed=allowed)
        return error

    def of_value(self, value: Any, where: str) -> str:
        """Place of a value: in the list of an axis, if it comes from there."""
        for index, axis in enumerate(self.file.vary):
            if where == f"vary[{index}].path" and value in (axis.values or []):
                return f"vary[{index}].values[{(axis.values or []).index(value)}]"
        return where

    def planned(self, variation: dict[str, Any], base: Path, columns: dict[str, Value], scheme: str) -> Planned:
        tree = json.dumps({**variation, "scheme": {scheme: variation["scheme"][scheme]}})
        return Planned(columns, scheme, tree, base.absolute(), self.path)

    def schemes(self, variation: dict[str, Any]) -> list[str]:
        """The schemes to run at the chosen scale."""
        there = list(variation["scheme"])
        for wanted, at in (
            (self.file.scale[self.scale].schemes if self.scale else None, f"scale.{self.scale}.schemes"),
            (self.file.schemes, "schemes"),
        ):
            if wanted is not None:
                if not wanted:
                    raise self.wrong(at, "the list is empty: no runs")
                self.check_once(wanted, at)
                for index, name in enumerate(wanted):
                    if name not in there:
                        raise self.document.unknown(f"{at}[{index}]", "scheme", name, there)
                return wanted
        return there


def _comparable(runs: list[Planned]) -> tuple[Planned, ...]:
    """The runs; with the exact ideal time if some have RDMA and some other transports, as in one scenario."""
    schemes = [json.loads(run.tree)["scheme"][run.scheme] for run in runs]
    if not all(any(f"{kind}{by}" in each for each in schemes for by in ("", "_by_label")) for kind in CARRIERS):
        return tuple(runs)
    exact = []
    for run in runs:
        tree = json.loads(run.tree)
        tree["measure"]["ideal"] = "exact"
        exact.append(replace(run, tree=json.dumps(tree)))
    return tuple(exact)


def _common(values: list[Value]) -> Callable[[Value], Value]:
    """The common type of a column's values."""
    kinds = {type(value) for value in values}
    if len(kinds) == 1:
        return kinds.pop()
    return float if kinds == {int, float} else shown
