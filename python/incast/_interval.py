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


def half_width(error: float, freedom: int, confidence: float = CONFIDENCE) -> float:
    """Half of the interval of an estimate with a standard error of so many degrees of freedom."""
    special = needed("scipy.special", "confidence intervals (extra incast[study])")
    return error * float(special.stdtrit(freedom, (1 + confidence) / 2))
