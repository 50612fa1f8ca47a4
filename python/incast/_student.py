"""Student's t distribution, as far as a confidence interval of a mean needs it."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence

CONFIDENCE = 0.95
"""Confidence of every interval, two-sided. Our choice: the usual one."""


def interval(values: Sequence[float], confidence: float = CONFIDENCE) -> tuple[float, float]:
    """Confidence interval of the mean of independent, about normal values; at least two of them."""
    mean = statistics.fmean(values)
    half = quantile((1 + confidence) / 2, len(values) - 1) * statistics.stdev(values) / math.sqrt(len(values))
    return mean - half, mean + half


def quantile(probability: float, freedom: int) -> float:
    """The value that is not exceeded with this probability, at least 0.5 and below 1."""
    if not 0.5 <= probability < 1 or freedom < 1:
        raise ValueError(f"no quantile {probability} of {freedom} degrees of freedom here")
    within, low, high = 2 * probability - 1, 0.0, 1.0
    while _within(high, freedom) < within:
        low, high = high, 2 * high
    while low < (middle := (low + high) / 2) < high:
        low, high = (middle, high) if _within(middle, freedom) < within else (low, middle)
    return high


def _within(t: float, freedom: int) -> float:
    """Probability of a value between -t and t: Abramowitz and Stegun, 26.7.3 and 26.7.4."""
    angle = math.atan(t / math.sqrt(freedom))
    cosine, total = math.cos(angle), 0.0
    term = 1.0 if freedom % 2 == 0 else cosine
    for step in range(2 + freedom % 2, freedom + 1, 2):
        total += term
        term *= cosine**2 * (step - 1) / step
    if freedom % 2 == 0:
        return math.sin(angle) * total
    return 2 / math.pi * (angle + math.sin(angle) * total)
