"""Checks a study's open parameters before anything runs."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from incast._document import Document, join
from incast.errors import IncastError, ScenarioError
from incast.study import space
from incast.study.description import MAP, OpenParameter, Value
from incast.study.folder import Description
from incast.study.space import Scalar
from incast.sweep.overrides import covers, toml
from incast.sweep.plan import variations, varied

SCHEME = re.compile(r'scheme\.(?:"([^"]*)"|([^.]+))\.')
"""Beginning of the path of a scheme's field, with its name."""
SHARES = (0.0, 0.5, 1.0)
"""Places in a range at which values are checked."""


@dataclass(frozen=True)
class Opened:
    """An open parameter, and where it has an effect."""

    parameter: OpenParameter
    fields: Mapping[str, tuple[str, ...]]
    """Fields that it sets, by sweep."""

    def overrides(self, sweep: str, value: Value) -> Iterator[str]:
        """Values of the parameter's fields in a sweep, as for `--set`; none if it has no effect there."""
        for path, chosen in space.sets(self.parameter, value).items():
            if path in self.fields.get(sweep, ()):
                yield f"{path}={toml(chosen)}"


def check(description: Description, schemes: Mapping[str, set[str]], maps: Collection[str]) -> tuple[Opened, ...]:
    """Check all open parameters; raises `ScenarioError`.

    `schemes` has those that each sweep runs, at any scale; `maps` names the sweeps that are part of a map.
    """
    of_sweeps = {name: _Sweep(description, name, schemes[name], name in maps) for name in schemes}
    parameters = description.study.open_
    for number, parameter in enumerate(parameters):
        if parameter.name in [other.name for other in parameters[:number]]:
            message = f"there are two open parameters `{parameter.name}`"
            raise description.study_document.wrong(f"open[{number}].name", message)
    return tuple(
        _Parameter(description.study_document, f"open[{number}]", parameter, of_sweeps).opened()
        for number, parameter in enumerate(parameters)
    )


class _Sweep:
    """A sweep at the scales that must have the judged setting: the largest one, and that of maps."""

    def __init__(self, description: Description, name: str, schemes: set[str], of_map: bool) -> None:
        self.path = description.part_file(name)
        self.schemes = schemes
        self.scales: list[str] = [list(description.study.scale.given())[-1]]
        self.scales += [MAP] if of_map else []
        self.varied = varied(self.path, self.scales[-1])
        """Fields that its axes set, in a map if it is part of one."""
        self._first: dict[str, dict[str, Any]] = {}

    def first(self, sets: Mapping[str, Any], scale: str | None = None) -> dict[str, Any]:
        """First scenario of the sweep with values of fields."""
        key = repr((sets, scale or self.scales[-1]))
        if key not in self._first:
            self._first[key] = next(self.scenarios(sets, scale))
        return self._first[key]

    def scenarios(self, sets: Mapping[str, Any], scale: str | None = None) -> Iterator[dict[str, Any]]:
        """Scenarios of the sweep with values of fields, each with the schemes that the sweep runs."""
        overrides = [f"{path}={toml(value)}" for path, value in sets.items()]
        for tree in variations(self.path, scale=scale or self.scales[-1], overrides=overrides):
            yield {**tree, "scheme": {name: one for name, one in tree["scheme"].items() if name in self.schemes}}

    def runs(self, path: str) -> bool:
        """True unless a path is of a scheme that the sweep does not run."""
        match = SCHEME.match(path)
        return match is None or (match[1] or match[2]) in self.schemes

    def varies(self, path: str, sets: Mapping[str, Any]) -> bool:
        """True if an axis sets the field or a part of it, or a table in which it does not have these values."""
        if any(covers(path, other) for other in self.varied):
            return True
        if not any(covers(other, path) for other in self.varied):
            return False
        pairs = zip(self.scenarios({}), self.scenarios(sets), strict=True)
        equal = [tree == other for tree, other in pairs]
        return any(equal) and not all(equal)


class _Parameter:
    def __init__(self, document: Document, field: str, parameter: OpenParameter, sweeps: Mapping[str, _Sweep]) -> None:
        self.document, self.field, self.parameter, self.sweeps = document, field, parameter, sweeps

    def wrong(self, at: str, message: str, allowed: str | None = None) -> IncastError:
        return self.document.wrong(f"{self.field}.{at}" if at else self.field, message, allowed=allowed)

    def opened(self) -> Opened:
        """The parameter with its fields in each sweep, if nothing is wrong."""
        self._kind()
        self._judged()
        fields = self._fields()
        used = {path for of_sweep in fields.values() for path in of_sweep}
        for path in space.paths(self.parameter):
            if path not in used:
                message = f"`{path}` has no effect in any sweep: each varies it or does not run its scheme"
                raise self.wrong(self._place(path), message)
        for name, paths in fields.items():
            self._agrees(name, paths)
        self._accepted(fields)
        return Opened(self.parameter, fields)

    def _kind(self) -> None:
        """Raise unless the parameter has a path with values, or points."""
        one = self.parameter
        given = [kind for kind in ("range", "values", "points") if getattr(one, kind) is not None]
        if len(given) != 1:
            message = f"an open parameter has one of these, not {' and '.join(given) or 'none'}"
            raise self.wrong(given[1] if given else "", message, "range, values or points")
        if (one.path is None) != (one.points is not None):
            message = "points have their own paths" if one.path else "no `path` names the field of the scenario"
            raise self.wrong("path" if one.path else "", message, "`path` with `range` or `values`, or `points` alone")
        if one.path == []:
            raise self.wrong("path", "the list is empty", "one or more fields of the scenario")
        for flag in ("log", "integer"):
            if getattr(one, flag) and one.range is None:
                raise self.wrong(flag, f"`{flag}` belongs to `range`")
        if one.range is not None:
            self._range(one.range)
            return
        listed = space.choices(one)
        for number, value in enumerate(listed):
            if value in listed[:number]:
                raise self.wrong(f"{given[0]}[{number}]", f"`{value}` is given twice")
        if len(listed) < 2:
            raise self.wrong(given[0], "an open parameter needs several values", "two or more")
        if not space.paths(one):
            raise self.wrong("points", "no point sets a field", "`set` with values by path")

    def _range(self, ends: list[Value]) -> None:
        allowed = "two numbers, or two quantities of one kind, the lower first"
        scalars = [Scalar.of(end) for end in ends]
        if len(scalars) != 2 or scalars[0] is None or scalars[1] is None or scalars[0].kind != scalars[1].kind:
            raise self.wrong("range", "this is no range", allowed)
        if scalars[0].number >= scalars[1].number:
            raise self.wrong("range", "the range is empty", allowed)
        if self.parameter.log and scalars[0].number <= 0:
            raise self.wrong("range[0]", f"`{ends[0]}` has no logarithm", "above 0")
        if self.parameter.integer and not all(type(end) is int for end in ends):
            raise self.wrong("range", "these are no whole numbers", "two whole numbers, as `integer` is true")

    def _judged(self) -> None:
        """Raise unless the judged setting is in the space."""
        value = self.parameter.judged
        if self.parameter.range is None:
            listed = space.choices(self.parameter)
            if not any(type(value) is type(each) and value == each for each in listed):
                raise self.document.wrong(
                    f"{self.field}.judged",
                    f"the judged setting `{value}` is not among the plausible ones",
                    wrong=str(value),
                    names=list(map(str, listed)),
                )
            return
        low, high, mine = (Scalar.of(each) for each in (*self.parameter.range, value))
        inside = low and high and mine and mine.kind == low.kind and low.number <= mine.number <= high.number
        if not inside:
            allowed = f"{self.parameter.range[0]} to {self.parameter.range[1]}"
            raise self.wrong("judged", f"the judged setting `{value}` is not in the plausible range", allowed)

    def _fields(self) -> dict[str, tuple[str, ...]]:
        """The fields that the parameter sets in each sweep."""
        named = self.parameter.sweeps
        for number, name in enumerate(named or ()):
            if name not in self.sweeps:
                raise self.document.unknown(f"{self.field}.sweeps[{number}]", "sweep", name, self.sweeps)
        found: dict[str, tuple[str, ...]] = {}
        refused: IncastError | None = None
        for name in self.sweeps if named is None else named:
            of_sweep = self.sweeps[name]
            paths = tuple(path for path in space.paths(self.parameter) if of_sweep.runs(path))
            sets = self._sets(paths, self.parameter.judged)
            overlap = next((path for path in paths if self._varies(of_sweep, path, sets)), None)
            if named is not None and (overlap or not paths):
                why = f"varies `{overlap}` already" if overlap else "runs none of its schemes"
                raise self.wrong(f"sweeps[{named.index(name)}]", f"sweep `{name}` {why}")
            if overlap or not paths:
                continue
            try:
                self._try(name, paths, self.parameter.judged, self._value_place(self.parameter.judged))
            except ScenarioError as error:
                if named is not None:
                    raise
                refused = refused or error
                continue
            found[name] = paths
        if refused is not None and not found:
            raise refused
        return found

    def _sets(self, paths: tuple[str, ...], value: Value) -> dict[str, Any]:
        """Values of some of its fields, by path."""
        return {path: chosen for path, chosen in space.sets(self.parameter, value).items() if path in paths}

    def _varies(self, sweep: _Sweep, path: str, sets: Mapping[str, Any]) -> bool:
        """True if a sweep varies a field; a scenario that does not accept the value is reported later."""
        try:
            return sweep.varies(path, sets)
        except ScenarioError:
            return False

    def _try(
        self, name: str, paths: tuple[str, ...], value: Value, place: str, scale: str | None = None
    ) -> dict[str, Any]:
        """The first scenario of a sweep with a value; raise an error at its place in study.toml if it is not valid."""
        try:
            return self.sweeps[name].first(self._sets(paths, value), scale)
        except ScenarioError as error:
            found = error.diagnostics[0] if error.diagnostics else None
            message = f"sweep `{name}` does not accept `{value}`: {found.message if found else error}"
            if found and found.nearest:
                message += f"; did you mean `{found.nearest}`?"
            unknown = found is not None and found.message.startswith("unknown field")
            at = self._place(paths[0]) if unknown else place
            raise self.wrong(at, message, found.allowed if found else None) from None

    def _agrees(self, name: str, paths: tuple[str, ...]) -> None:
        """Raise unless the runs of a sweep have the judged setting."""
        of_sweep, value = self.sweeps[name], self.parameter.judged
        for scale in of_sweep.scales:
            other = self._try(name, paths, value, "judged", scale)
            if (found := difference(of_sweep.first({}, scale), other)) is not None:
                path, there = found
                message = f"the judged setting is `{value}`, but sweep `{name}` at scale {scale} has {path} = {there}"
                raise self.wrong("judged", message, "the value that the sweep runs with")

    def _accepted(self, fields: Mapping[str, tuple[str, ...]]) -> None:
        """Raise unless the first sweep accepts all values, or those of both ends and the middle of a range."""
        name, paths = next(iter(fields.items()))
        values = space.choices(self.parameter) or [space.at(self.parameter, share) for share in SHARES]
        for value in values:
            self._try(name, paths, value, self._value_place(value))

    def _value_place(self, value: Value) -> str:
        """Place of a value in study.toml."""
        if self.parameter.range is not None:
            return "range"
        kind = "values" if self.parameter.points is None else "points"
        return f"{kind}[{space.choices(self.parameter).index(value)}]"

    def _place(self, path: str) -> str:
        """Place of a path in study.toml."""
        if self.parameter.points is not None:
            number = next(place for place, point in enumerate(self.parameter.points) if path in point.set)
            return f"points[{number}].{join('set', path)}"
        return "path" if isinstance(self.parameter.path, str) else f"path[{(self.parameter.path or []).index(path)}]"


def difference(tree: Any, other: Any, path: str = "") -> tuple[str, Any] | None:
    """Path and value in `tree` of the first field in which two scenarios differ; `None` if they are equal."""
    if isinstance(tree, dict) and isinstance(other, dict):
        for name in [*tree, *(name for name in other if name not in tree)]:
            if tree.get(name) != other.get(name):
                return difference(tree.get(name), other.get(name), join(path, name))
        return None
    if isinstance(tree, list) and isinstance(other, list) and len(tree) == len(other):
        for number, (mine, its) in enumerate(zip(tree, other, strict=True)):
            if mine != its:
                return difference(mine, its, f"{path}[{number}]")
        return None
    return None if tree == other else (path, "nothing" if tree is None else toml(tree))
