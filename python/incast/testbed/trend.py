"""Tests if a figure changes with the number of rules, by straight lines through the measurements of rounds."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from incast._interval import half_width


@dataclass(frozen=True)
class Trend:
    """How much a figure changes with each rule."""

    slope: float
    """The figure's change for each rule."""
    error: float
    """Standard error of the slope."""
    low: float
    """Lower end of the slope's confidence interval."""
    high: float
    """Its upper end."""

    @property
    def there(self) -> bool:
        """True if the interval excludes 0."""
        return not self.low <= 0 <= self.high


def trend(rounds: Sequence[Sequence[tuple[float, float]]]) -> Trend | None:
    """The least-squares line through (rules, figure), with a level of its own for each round.

    A machine that was busier in one round than in another moves that round's level, not the slope. The interval
    supposes independent errors of about normal distribution, all of one size. None if there are too few points: three
    at least with two numbers of rules, and one more for each round but the first.
    """
    points = [
        (rules - statistics.fmean(each for each, _ in one), figure - statistics.fmean(each for _, each in one))
        for one in rounds
        for rules, figure in one
    ]
    freedom = len(points) - len(rounds) - 1
    width = math.fsum(rules**2 for rules, _ in points)
    if freedom < 1 or width == 0:
        return None
    slope = math.fsum(rules * figure for rules, figure in points) / width
    left = math.fsum((figure - slope * rules) ** 2 for rules, figure in points)
    error = math.sqrt(left / freedom / width)
    half = half_width(error, freedom)
    return Trend(slope, error, slope - half, slope + half)


def percentile(ordered: Sequence[float], fraction: float) -> float:
    """Element floor(n p) of n values in order, as all percentiles of incast are."""
    return ordered[min(len(ordered) - 1, math.floor(len(ordered) * fraction))]
