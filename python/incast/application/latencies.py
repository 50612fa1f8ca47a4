"""Samples of fetch latencies of remote memory."""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterable, Sequence
from itertools import pairwise
from os import PathLike
from typing import TYPE_CHECKING, Literal

from incast._library import needed
from incast._nearest import keywords
from incast.application import wrong
from incast.application.memory import read

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

    from incast.results import Results

Unit = Literal["s", "ms", "us", "ns", "ps"]
NUMPY_FOR = "a replay (extra incast[application])"
PER_SECOND: dict[Unit, float] = {"s": 1.0, "ms": 1e3, "us": 1e6, "ns": 1e9, "ps": 1e12}
"""Units per second. Values are divided by it, which rounds once."""


class Latencies:
    """Completion times of fetches from remote memory: an empirical distribution, in seconds.

    `Latencies.of(results)` reads them from a simulation, `Latencies([1.96, 2.91], "us")` takes given values.
    """

    @keywords
    def __init__(
        self,
        values: Iterable[float],
        unit: Unit = "s",
        *,
        unfinished: int = 0,
        labels: Sequence[str] = (),
        of: str = "",
    ) -> None:
        """Take completion times.

        Args:
            values: At least one time; each 0 or more and finite; in any order.
            unit: Unit of the times: s, ms, us, ns or ps.
            unfinished: Number of fetches that did not complete.
            labels: Labels of their flows.
            of: Their source, for messages, such as the folder and the scheme.

        Raises:
            ApplicationError: There are no values, or one is out of range.

        """
        if unit not in PER_SECOND:
            raise wrong.unknown("unit of time", str(unit), PER_SECOND)
        per_second = PER_SECOND[unit]
        found = array("d", values)
        for value in found:
            if not 0 <= value < math.inf:
                raise wrong.refused("a latency", value, f"a finite number of 0 or more, in {unit}")
        if not found:
            raise wrong.refused("values", "an empty sample", "one completion time or more")
        self._values = array("d", sorted(value / per_second for value in found))
        self._means: dict[int, float] = {}
        self.unfinished = unfinished
        """Number of fetches that did not complete; the figures do not include them."""
        self.labels = tuple(labels)
        """Labels of the flows."""
        self._of = of

    @classmethod
    @keywords
    def of(
        cls, results: Results | str | PathLike[str], scheme: str | None = None, labels: Sequence[str] | None = None
    ) -> Latencies:
        """The completion times of the memory flows of a scheme.

        A memory flow has the label `memory`, or a label that ends in `-memory`. Disk and network flows are never
        included: the paper's emulator delays accesses to memory, not to disks.

        Args:
            results: A results folder.
            scheme: The scheme; required if the results have several.
            labels: Only memory flows with these labels.

        Raises:
            ApplicationError: No memory flow completed, or the scheme or a label is unknown.
            ResultsError: The folder is not a results folder, or is damaged.

        """
        found = read(results, scheme, labels)
        return cls(found.fct_ps, "ps", unfinished=found.unfinished, labels=found.labels, of=found.of)

    def __len__(self) -> int:
        return len(self._values)

    def __repr__(self) -> str:
        return f"<Latencies: {len(self):,} with a mean of {self.mean() * 1e6:.4g} us, {self.unfinished:,} unfinished>"

    @property
    def values_s(self) -> Sequence[float]:
        """The times in seconds, in order of length."""
        return self._values

    @property
    def warning(self) -> str | None:
        """Warning about fetches that did not complete; `None` if all did."""
        if not self.unfinished:
            return None
        total = len(self) + self.unfinished
        whose = f"{self._of}: " if self._of else ""
        return (
            f"{whose}{self.unfinished:,} of {total:,} memory flows did not complete and are not included; all figures "
            "are too low"
        )

    def mean(self) -> float:
        """The mean, in seconds."""
        return self.mean_of_max(1)

    def mean_of_max(self, b: int) -> float:
        """The mean of the longest of `b` fetches, in seconds, computed exactly, without random numbers.

        The longest of `b` independent draws is at most the i-th of n sorted times with probability (i/n)^b, so the mean
        is the sum of x_i ((i/n)^b - ((i-1)/n)^b). Summation by parts avoids cancellation: x_n - sum of (i/n)^b
        (x_{i+1} - x_i).

        Args:
            b: Number of fetches that a thread waits for together, 1 or more.

        """
        b = wrong.whole("b", b, "a whole number of fetches, 1 or more", 1)
        if b not in self._means:
            n = len(self._values)
            if b == 1:
                self._means[b] = math.fsum(self._values) / n
            else:
                steps = ((i / n) ** b * (after - before) for i, (before, after) in enumerate(pairwise(self._values), 1))
                self._means[b] = self._values[-1] - math.fsum(steps)
        return self._means[b]

    def quantile(self, p: float) -> float:
        """Quantile `p`, 0 to 1, in seconds: element floor(n p) in order, as for all percentiles of incast."""
        p = wrong.real("p", p, "0 to 1", lambda p: 0 <= p <= 1)
        return self._values[min(len(self._values) - 1, math.floor(len(self._values) * p))]

    def draw(self, rng: np.random.Generator, size: int | tuple[int, ...] = 1) -> NDArray[np.float64]:
        """Independent draws with replacement, in seconds: a numpy array of this shape (extra `incast[application]`)."""
        drawn: NDArray[np.float64] = self._array()[rng.integers(len(self._values), size=size)]
        return drawn

    def draw_max(self, rng: np.random.Generator, counts: ArrayLike) -> NDArray[np.float64]:
        """For each of `counts`, 1 or more: the longest of that number of independent draws, in seconds.

        Needs one random number each: with U uniform on [0, 1), the longest of b draws has the distribution of the
        element at floor(n U^(1/b)).
        """
        numpy = needed("numpy", NUMPY_FOR)
        b = numpy.asarray(counts, dtype=float)
        n = len(self._values)
        # A U so close to 1 that the power rounds to 1 is the longest of all.
        places = numpy.minimum((n * rng.random(b.shape) ** (1.0 / b)).astype(numpy.int64), n - 1)
        drawn: NDArray[np.float64] = self._array()[places]
        return drawn

    def _array(self) -> NDArray[np.float64]:
        """The times as a numpy array, without a copy."""
        seen: NDArray[np.float64] = needed("numpy", NUMPY_FOR).frombuffer(self._values, dtype=float)
        return seen
