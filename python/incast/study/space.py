"""Space of a study's open parameters: their values, and quasi-random points."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from incast._library import needed
from incast._quantity import DIGITS, Kind, parsed, written
from incast.study.description import OpenParameter, Value

SEED = 1
"""Seed of the scrambled sequence: the points of a space are always the same."""
Point = dict[str, Value]
"""Value of each open parameter, by its name; of named points the name."""


@dataclass(frozen=True)
class Scalar:
    """A number, or a quantity with its kind, in the base unit."""

    number: float
    kind: Kind | None

    @classmethod
    def of(cls, value: Value) -> Scalar | None:
        """The number or quantity; `None` for another value."""
        if isinstance(value, bool):
            return None
        if isinstance(value, str):
            found = parsed(value)
            return found and cls(found[1], found[0])
        return cls(float(value), None)


def ordered(parameter: OpenParameter) -> bool:
    """True if the values of a parameter have an order: numbers, or quantities of one kind."""
    if parameter.points is not None:
        return False
    scalars = [Scalar.of(value) for value in parameter.range or parameter.values or []]
    return None not in scalars and len({scalar.kind for scalar in scalars if scalar}) == 1


def number(parameter: OpenParameter, value: Value) -> float:
    """Coordinate of a value: its number, or its place among values without an order."""
    scalar = Scalar.of(value) if ordered(parameter) else None
    return scalar.number if scalar else float(choices(parameter).index(value))


def kind(parameter: OpenParameter) -> Kind | None:
    """Kind of quantities with an order; `None` for numbers and names."""
    scalar = Scalar.of(parameter.judged) if ordered(parameter) else None
    return scalar.kind if scalar else None


def choices(parameter: OpenParameter) -> list[Value]:
    """The values, or the names of the points; none for a range."""
    if parameter.points is not None:
        return [point.name for point in parameter.points]
    return list(parameter.values or [])


def plausible(parameter: OpenParameter) -> str:
    """The range or the values, for people."""
    if parameter.range is not None:
        return " to ".join(map(str, parameter.range))
    return ", ".join(map(str, choices(parameter)))


def at(parameter: OpenParameter, share: float) -> Value:
    """The value at a share of the range or of the list, from 0 to 1."""
    if parameter.range is None:
        listed = choices(parameter)
        return listed[min(int(share * len(listed)), len(listed) - 1)]
    low, high = (Scalar.of(end) for end in parameter.range)
    if low is None or high is None:
        raise ValueError(f"{parameter.range} is no range")
    least, most = low.number, high.number
    if parameter.integer and not parameter.log:
        return min(int(least + share * (most - least + 1)), int(most))
    if parameter.log:
        value = math.exp(math.log(least) + share * (math.log(most) - math.log(least)))
    else:
        value = least + share * (most - least)
    if low.kind is not None:
        found: Value = written(low.kind, value)
    else:
        found = round(value) if parameter.integer else float(f"{value:.{DIGITS}g}")
    rounded = Scalar.of(found)
    if rounded is None or not least <= rounded.number <= most:  # An end may have more digits.
        return parameter.range[0] if value - least < most - value else parameter.range[1]
    return found


def sets(parameter: OpenParameter, value: Value) -> dict[str, Any]:
    """Values of the fields of the scenario, by path."""
    if parameter.points is not None:
        return next(point.set for point in parameter.points if point.name == value)
    return dict.fromkeys(paths(parameter), value)


def paths(parameter: OpenParameter) -> list[str]:
    """The fields of the scenario that a parameter sets."""
    if parameter.points is not None:
        return list(dict.fromkeys(path for point in parameter.points for path in point.set))
    return [parameter.path] if isinstance(parameter.path, str) else list(parameter.path or [])


def judged(space: Sequence[OpenParameter]) -> Point:
    """The setting that the study runs with: point 0 of a map."""
    return {parameter.name: parameter.judged for parameter in space}


def sampled(space: Sequence[OpenParameter], count: int) -> list[Point]:
    """The first points of a scrambled Sobol sequence; more points have these as their first."""
    qmc = needed("scipy.stats.qmc", "a map (extra incast[study])")
    numpy = needed("numpy", "a map (extra incast[study])")
    sequence = qmc.Sobol(len(space), scramble=True, seed=numpy.random.default_rng(SEED))
    rows = sequence.random_base2(max(0, math.ceil(math.log2(count))))[:count]
    return [
        {parameter.name: at(parameter, float(share)) for parameter, share in zip(space, row, strict=True)}
        for row in rows
    ]
