"""Jain's index of fairness."""

from __future__ import annotations

import math
from collections.abc import Iterable


def jain(values: Iterable[float]) -> float:
    """Jain's fairness index of throughputs: (sum x)^2 / (n sum x^2) (Jain, Chiu and Hawe, DEC-TR-301, 1984).

    1 if all are equal, 1/n if one has everything. Zeros count. NaN for no values, and if all are 0.

    Raises:
        ValueError: A value is negative or not finite.

    """
    all_ = [float(value) for value in values]
    if any(value < 0 or not math.isfinite(value) for value in all_):
        raise ValueError("values for Jain's index must be finite and 0 or more")
    largest = max(all_, default=0.0)
    if not largest:
        return math.nan
    # Relative to the largest: squares of very large or small numbers have no float.
    parts = [value / largest for value in all_]
    return math.fsum(parts) ** 2 / (len(parts) * math.fsum(part * part for part in parts))
