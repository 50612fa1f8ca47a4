"""Confidence intervals over seeds, with scipy (extra `incast[study]`)."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence

from incast._library import needed

CONFIDENCE = 0.95
"""Confidence of every interval, two-sided. Our choice: the usual one."""


def require() -> None:
    """Raise `EnvironmentFailure` if scipy is missing, before a run of hours."""
    needed("scipy", "a study (extra incast[study])")


def interval(values: Sequence[float], confidence: float = CONFIDENCE) -> tuple[float, float]:
    """Confidence interval of the mean of independent, about normal values (Student's t); at least two of them."""
    mean = statistics.fmean(values)
    half = half_width(statistics.stdev(values) / math.sqrt(len(values)), len(values) - 1, confidence)
    return mean - half, mean + half


def share_interval(values: Sequence[float], confidence: float = CONFIDENCE) -> tuple[float, float]:
    """Confidence interval of a share, from one 0 or 1 per independent draw (Clopper and Pearson 1934).

    It has at least the confidence for each number of draws. Wilson's is narrower, but has it only on average.
    """
    special = needed("scipy.special", "confidence intervals (extra incast[study])")
    count, error = len(values), (1 - confidence) / 2
    ones = sum(values)
    low = 0.0 if ones == 0 else float(special.betaincinv(ones, count - ones + 1, error))
    high = 1.0 if ones == count else float(special.betaincinv(ones + 1, count - ones, 1 - error))
    return low, high


def half_width(error: float, freedom: int, confidence: float = CONFIDENCE) -> float:
    """Half of the interval of an estimate with a standard error of so many degrees of freedom."""
    special = needed("scipy.special", "confidence intervals (extra incast[study])")
    return error * float(special.stdtrit(freedom, (1 + confidence) / 2))
