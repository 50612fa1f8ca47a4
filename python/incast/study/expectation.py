"""The expectation of a check."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from incast.study.description import Check

KINDS = ("below", "above", "between", "about")
"""A check has one of these."""


@dataclass(frozen=True)
class Expectation:
    """An interval that figures are expected in."""

    low: float
    high: float
    kind: Literal["below", "above", "between", "about"]
    """`below` and `above` leave their bound out, the others have both of theirs."""
    ratio: bool
    """If true, it is of a ratio of figures."""
    wording: str
    """The same for people, without a unit."""
    percent: str = ""
    """A tolerance in percent, which stands after the unit."""

    @classmethod
    def of(cls, check: Check) -> Expectation:
        """The expectation of a check that was read without errors."""
        ratio = bool(check.against)
        if check.below is not None:
            return cls(-math.inf, check.below, "below", ratio, f"below {check.below:.6g}")
        if check.above is not None:
            return cls(check.above, math.inf, "above", ratio, f"above {check.above:.6g}")
        if check.between is not None:
            low, high = check.between
            wording = f"from {low:.6g} to {high:.6g}" if low < high else f"exactly {low:.6g}"
            return cls(low, high, "between", ratio, wording)
        if check.about is None:
            raise ValueError("a check without an expectation")
        within = tolerance(check.about, check.tolerance)
        relative = isinstance(check.tolerance, str)
        wording = f"{check.about:.6g}{f' ± {check.tolerance}' if within and not relative else ''}"
        percent = f"± {str(check.tolerance).rstrip(' %')} %" if within and relative else ""
        return cls(check.about - within, check.about + within, "about", ratio, wording, percent)

    def text(self, unit: str) -> str:
        """For people: `ratio below 1`, `from 3 to 4 us`, `60 kB ± 20 %`."""
        parts = ("ratio", self.wording) if self.ratio else (self.wording, unit)
        return " ".join(filter(None, (*parts, self.percent)))

    def holds(self, value: float) -> bool:
        """True if one value is as expected."""
        return self.wholly(value, value)

    def wholly(self, low: float, high: float) -> bool:
        """True if everything from `low` to `high` is as expected."""
        if self.kind in ("below", "above"):
            return self.low < low and high < self.high
        return self.low <= low and high <= self.high

    def nowhere(self, low: float, high: float) -> bool:
        """True if nothing from `low` to `high` is as expected."""
        if self.kind in ("below", "above"):
            return high <= self.low or low >= self.high
        return high < self.low or low > self.high


def tolerance(about: float, text: float | str | None) -> float:
    """How far from `about` a figure may be, in its unit; `ValueError` if that is not a number of 0 or more."""
    if isinstance(text, str):
        if not text.rstrip().endswith("%"):
            raise ValueError(text)
        within = abs(about) * float(text.rstrip().removesuffix("%")) / 100
    else:
        within = math.nan if text is None else text
    if not 0 <= within < math.inf:
        raise ValueError(text)
    return within
