"""Values that SONiC's fields can hold: exact ones, or the nearest with `--round`."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from incast._quantity import picoseconds, size_bytes
from incast.errors import IncastError, ScenarioError
from incast.sonic import model


@dataclass(frozen=True)
class Inexact:
    """A value that a field of SONiC cannot hold."""

    field: str
    """Field of the scenario, such as `ecn.pmax`."""
    value: str
    allowed: str

    @property
    def message(self) -> str:
        """What is wrong."""
        return f"{self.value} has no exact form in SONiC"


class Exact:
    """Converts values and collects those that do not fit."""

    def __init__(self, *, rounding: bool) -> None:
        self.rounding = rounding
        """If true, takes the nearest value."""
        self.found: dict[tuple[str, str], Inexact] = {}

    @property
    def rounded(self) -> list[str]:
        """Messages about rounded values."""
        return [f"{one.field}: {one.message}; {one.allowed}" for one in self.found.values()]

    def check(self, fault: Callable[[Inexact], IncastError]) -> None:
        """Raise `ScenarioError` if values do not fit and may not be rounded; `fault` adds their places."""
        if self.found and not self.rounding:
            faults = [fault(one) for one in self.found.values()]
            text = "\n".join([*map(str, faults), "note: --round writes the nearest values"])
            raise ScenarioError(text, tuple(each for one in faults for each in one.diagnostics))

    def whole(self, field: str, value: float, shown: str, unit: str, allowed: range) -> int:
        """A whole number in a range; `shown` is the value of the scenario."""
        nearest = min(max(round(value), allowed.start), allowed.stop - 1)
        if nearest != value:
            self._unfit(field, shown, f"{unit}, {allowed.start} to {allowed.stop - 1}; nearest: {nearest}")
        return nearest

    def power_of_two(self, field: str, value: float, allowed: range) -> int:
        """Logarithm of a power of two."""
        nearest = min(max(round(math.log2(value)), allowed.start), allowed.stop - 1)
        if model.log2(value) != nearest:
            limits = f"2^{allowed.start} to 2^{allowed.stop - 1}, as dynamic_th is its logarithm"
            self._unfit(field, f"{value:g}", f"a power of two, {limits}; nearest: {2.0**nearest:g}")
        return nearest

    def ms(self, field: str, time: str, allowed: range) -> int:
        """A time of a scenario in ms."""
        return self.whole(field, (picoseconds(time) or 0) / model.MS, time, "whole ms", allowed)

    @staticmethod
    def size(text: str) -> int:
        """A size of a scenario in bytes."""
        return round(size_bytes(text))

    def _unfit(self, field: str, value: str, allowed: str) -> None:
        self.found[field, value] = Inexact(field, value, allowed)
