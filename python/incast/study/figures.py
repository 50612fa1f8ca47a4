"""The figures that a check looks at: rows of a metric chosen, put side by side, and paired by seed."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from incast.study.description import Check, Selection, Value

VALUE = "value"
"""The column of a metric that is its figure."""
SEED = "seed"
"""The column that distinguishes runs that differ by chance only."""

Choice = dict[str, Any]
"""One value for each of some columns."""


class NotUniqueError(Exception):
    """A metric has several rows where one is meant."""


@dataclass(frozen=True)
class PlannedRun:
    """A run that a sweep plans, and what became of it."""

    columns: Choice
    """The varied columns, and `scheme`."""
    done: bool
    """True if it has results."""
    why: str | None = None
    """Why there are none, if that is known."""


@dataclass(frozen=True)
class Measured:
    """Rows of a metric, and the runs behind them."""

    columns: tuple[str, ...]
    """Names of its columns."""
    rows: Sequence[Choice]
    """Its rows."""
    runs: Sequence[PlannedRun]
    """All runs of its sweep."""

    @property
    def keys(self) -> tuple[str, ...]:
        """The columns that distinguish figures."""
        return tuple(name for name in self.columns if name not in (VALUE, SEED))

    def narrowed(self, chosen: Choice) -> Measured:
        """The rows and the runs with these values of columns."""
        rows = [row for row in self.rows if _has(row, chosen)]
        return Measured(self.columns, rows, [run for run in self.runs if covers(run, chosen)])


@dataclass(frozen=True)
class Figure:
    """Figure of a check: a value for each seed, or the reason why there is none."""

    of: Choice
    """Columns of the check's `of`."""
    against: Choice | None
    """Columns of the divisor."""
    where: Choice
    """Every other column."""
    values: tuple[float, ...] = ()
    """Its values, by rising seed."""
    seeds: tuple[Any, ...] = ()
    """The seeds; empty if the metric does not distinguish them."""
    missing: str | None = None
    """Why there are no values."""
    pooled: bool = False
    """True if the metric does not distinguish seeds although runs differ in them."""


def figures(check: Check, measured: Measured) -> Iterator[Figure]:
    """Every figure of a check: each that it names, measured or not, and each of other columns that there is."""
    for place in _combinations(check.at):
        here = measured.narrowed(place)
        others = [(against, here.narrowed(against)) for against in _combinations(check.against)]
        for of in _combinations(check.of):
            mine = here.narrowed(of)
            for where in _places(mine, {**place, **of}):
                rest = {**place, **where}
                own = _side(mine, where, {**rest, **of})
                if not check.against:
                    yield _figure(of, None, rest, own)
                    continue
                for against, theirs in others:
                    if own.missing:
                        yield Figure(of, against, rest, missing=own.missing)
                    else:
                        yield _ratio(of, against, rest, own, _side(theirs, where, {**rest, **against}))


def _combinations(selection: Selection) -> list[Choice]:
    lists = map(listed, selection.values())
    return [dict(zip(selection, choice, strict=True)) for choice in itertools.product(*lists)]


def _places(measured: Measured, chosen: Choice) -> list[Choice]:
    """The values of the columns not chosen that rows have, and those of runs without results, which might have rows."""
    free = [name for name in measured.keys if name not in chosen]
    rows = _distinct({name: row[name] for name in free} for row in measured.rows)
    undone = [run.columns for run in measured.runs if not run.done]
    runs = _distinct({name: run[name] for name in free if name in run} for run in undone)
    return [*rows, *(run for run in runs if not any(_has(row, run) for row in rows))] or [{}]


def _distinct(choices: Iterable[Choice]) -> list[Choice]:
    found = {tuple(choice.items()): choice for choice in choices}
    return sorted(found.values(), key=lambda choice: [order(value) for value in choice.values()])


def order(value: Any) -> tuple[int, float, str]:
    """Numbers by size, then text."""
    return (0, value, "") if isinstance(value, (int, float)) else (1, 0.0, str(value))


@dataclass(frozen=True)
class _Side:
    """The values of one choice of all columns."""

    values: Mapping[Any, float]
    """By seed; of the seed `None` alone where the metric has none."""
    missing: str | None = None
    pooled: bool = False


def _side(measured: Measured, where: Choice, chosen: Choice) -> _Side:
    """The values where `where` is; `measured` is narrowed to the other columns of `chosen`."""
    runs = [run for run in measured.runs if covers(run, where)]
    if not runs:
        return _Side({}, f"no run has {said(chosen)}" if chosen else "nothing is run")
    if undone := [run for run in runs if not run.done]:
        why = next((f": {run.why}" for run in undone if run.why), "")
        return _Side({}, f"{len(undone)} of {len(runs)} runs{_with(chosen)} have no results{why}")
    values = _by_seed(measured, where, chosen)
    planned = {run.columns[SEED] for run in runs if SEED in run.columns}
    if SEED not in measured.columns:
        wanted, pooled = [None], len(planned) > 1
    else:
        wanted, pooled = sorted(planned), False
    for seed in [*wanted, *values]:
        value = values.get(seed)
        if value is None or not math.isfinite(value):
            lack = "no finite value" if seed in values else "no row"
            return _Side({}, f"the metric has {lack}{_with(_seeded(chosen, seed))}")
    if not values:
        return _Side({}, f"the metric has no row{_with(chosen)}")
    return _Side(values, pooled=pooled)


def _by_seed(measured: Measured, where: Choice, chosen: Choice) -> dict[Any, float]:
    """The values of rows where `where` is, by seed; of the seed `None` if the metric has no seeds."""
    values = {}
    for row in measured.rows:
        if _has(row, where):
            seed = row.get(SEED)
            if seed in values:
                raise NotUniqueError(_with(_seeded(chosen, seed)))
            values[seed] = row[VALUE]
    return values


def _seeded(chosen: Choice, seed: Any) -> Choice:
    return chosen if seed is None else {**chosen, SEED: seed}


def _has(row: Choice, chosen: Choice) -> bool:
    """True if a row has these values of columns."""
    return all(same(row[name], value) for name, value in chosen.items())


def covers(run: PlannedRun, chosen: Choice) -> bool:
    """True if a run may be part of a row with these values of columns. A row of NULL is of all runs."""
    return all(
        value is None or name not in run.columns or same(run.columns[name], value) for name, value in chosen.items()
    )


def listed(chosen: Any) -> list[Any]:
    """One value, or several, as a list."""
    return chosen if isinstance(chosen, list) else [chosen]


def same(one: Value | None, other: Value | None) -> bool:
    """True if two values of a column are equal; numbers may differ by rounding."""
    if type(one) is str:
        return one == other
    if isinstance(one, (int, float)) and isinstance(other, (int, float)) and bool not in (type(one), type(other)):
        return math.isclose(one, other, rel_tol=1e-9)
    return type(one) is type(other) and one == other


def _figure(of: Choice, against: Choice | None, where: Choice, side: _Side) -> Figure:
    seeds = tuple(sorted(seed for seed in side.values if seed is not None))
    values = tuple(float(side.values[seed]) for seed in seeds or side.values)
    return Figure(of, against, where, values, seeds, side.missing, side.pooled)


def _ratio(of: Choice, against: Choice, where: Choice, own: _Side, other: _Side) -> Figure:
    missing = own.missing or other.missing
    # Undecided figures of one of the two may have more seeds than the other.
    common = [seed for seed in own.values if seed in other.values]
    if not missing and not common:
        missing = "the two have no seed in common"
    if not missing:
        for seed in common:
            value = other.values[seed]
            if value <= 0 or own.values[seed] < 0:
                of_seed = "" if seed is None else f" (seed {seed})"
                missing = f"no ratio of {own.values[seed]:.4g} to {value:.4g}{of_seed}: both must be above 0"
                break
    if missing:
        return Figure(of, against, where, missing=missing)
    ratios = {seed: own.values[seed] / other.values[seed] for seed in common}
    return _figure(of, against, where, _Side(ratios, pooled=own.pooled or other.pooled))


def said(choice: Choice) -> str:
    """Values of columns for people: `load 0.3, scheme DCTCP`."""
    return ", ".join(f"{name} {value}" for name, value in choice.items() if value is not None)


def _with(choice: Choice) -> str:
    return f" with {said(choice)}" if said(choice) else ""


def named(selection: Mapping[str, Value | list[Value]]) -> str:
    """The selected rows, for people: names of schemes, other values with their column."""
    texts = {
        name: ", ".join(map(str, chosen)) if isinstance(chosen, list) else str(chosen)
        for name, chosen in selection.items()
    }
    return ", ".join(text if name == "scheme" else f"{name} {text}" for name, text in texts.items())
