"""Delays of fetches: none, a constant, a distribution, or latencies of a simulation."""

from __future__ import annotations

import math
import re
from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from statistics import NormalDist

from incast import _input
from incast.application import Latencies, wrong
from incast.application.memory import opened, schemes
from incast.errors import ApplicationError
from incast.memory.amounts import nanoseconds
from incast.memory.protocol import LONGEST_NS

RANGE = "delays from 0 to 4.29 s, in ascending order"
SAMPLE = 1 << 16
"""Most delays that the library draws from; of larger samples, as many quantiles (our choice)."""
WIDEST = 3.0
"""Largest sigma of a lognormal distribution (our choice). A larger one has much of its mean in delays that are rarer
than one in `SAMPLE`: for 3, drawn delays have a mean 5 % too low."""
ALLOWED = (
    "a time such as 3us; a results folder; a file with one latency per line; or a distribution: uniform(1us,5us), "
    "exponential(3us), lognormal(3us,1.5) with mean and sigma of the logarithm"
)


@dataclass(frozen=True, eq=False)
class Delays:
    """Possible delays of fetches, with equal probability."""

    name: str
    """Their description."""
    sample_ns: Sequence[int]
    """Delays in ascending order; empty for no delay."""
    note: str | None = None
    """A warning about them."""

    def __post_init__(self) -> None:
        """Check the ranges."""
        if len(self.sample_ns) and not 0 <= self.sample_ns[0] <= self.sample_ns[-1] <= LONGEST_NS:
            raise wrong.refused("--latency", self.name, RANGE)

    @property
    def mean_ns(self) -> float:
        """The mean, in nanoseconds."""
        return math.fsum(self.sample_ns) / len(self.sample_ns) if self.sample_ns else 0.0

    def quantile_ns(self, p: float) -> int:
        """Quantile `p`, 0 to 1, in nanoseconds: element floor(n p) in order."""
        count = len(self.sample_ns)
        return self.sample_ns[min(count - 1, math.floor(count * p))] if count else 0

    @classmethod
    def constant(cls, delay_ns: float, name: str) -> Delays:
        """The same delay for all fetches; 0 for none."""
        return cls(name, [round(delay_ns)] if round(delay_ns) else [])

    @classmethod
    def of(cls, latencies: Latencies, name: str) -> Delays:
        """The latencies of simulated fetches."""
        found = latencies.values_s
        count = len(found)
        chosen = found if count <= SAMPLE else [found[(2 * i + 1) * count // (2 * SAMPLE)] for i in range(SAMPLE)]
        return cls(name, array("Q", (round(value * 1e9) for value in chosen)), latencies.warning)


def parsed(text: str, scheme: str | None = None, labels: Sequence[str] | None = None) -> list[Delays]:
    """The delays of `--latency`; for a results folder those of each scheme, or of the named one."""
    if (constant := nanoseconds(text)) is not None:
        return [Delays.constant(constant, text)]
    if formula := re.fullmatch(r"(\w+)\((.*)\)", text):
        return [_distribution(text, formula[1], [each.strip() for each in formula[2].split(",")])]
    path = Path(text)
    if path.is_dir():
        results = opened(path)
        names = schemes(results, scheme)
        return [Delays.of(Latencies.of(results, name, labels), f"{path.name}, {name}") for name in names]
    if path.is_file():
        return [Delays.of(_measured(path), path.name)]
    raise wrong.refused("--latency", text, ALLOWED)


def _distribution(text: str, kind: str, arguments: list[str]) -> Delays:
    """A distribution by its formula: the midpoints of equally likely parts."""
    middles = [(i + 0.5) / SAMPLE for i in range(SAMPLE)]
    values: list[float]
    times = [nanoseconds(argument) for argument in arguments]
    if any(time > LONGEST_NS for time in times if time is not None):
        raise wrong.refused("--latency", text, RANGE)
    if kind == "uniform" and len(arguments) == 2 and (low := times[0]) is not None and (high := times[1]) is not None:
        if low > high:
            raise wrong.refused("--latency", text, "a lower end that is at most the upper end")
        values = [low + (high - low) * p for p in middles]
    elif kind == "exponential" and len(arguments) == 1 and (mean := times[0]) is not None:
        values = [-mean * math.log1p(-p) for p in middles]
    elif kind == "lognormal" and len(arguments) == 2 and (mean := times[0]) and (sigma := _number(arguments[1])):
        if sigma > WIDEST:
            raise wrong.refused("--latency", text, f"a sigma above 0, at most {WIDEST:g}")
        mu, normal = math.log(mean) - sigma * sigma / 2, NormalDist()
        values = [math.exp(mu + sigma * normal.inv_cdf(p)) for p in middles]
    else:
        raise wrong.refused("--latency", text, ALLOWED)
    return Delays(text, array("Q", map(round, values)))


def _number(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if 0 < value < math.inf else None


def _measured(path: str | PathLike[str]) -> Latencies:
    """Latencies from a file, one per line, with their unit."""
    values: list[float] = []
    lines = _input.read_text(path, ApplicationError).splitlines()
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        value = nanoseconds(line.strip())
        if value is None:
            allowed = "one latency with its unit, such as 2.5us"
            raise wrong.at_cell(str(path), number, line, None, f"`{line.strip()}` is not allowed here", allowed)
        values.append(value)
    if not values:
        raise ApplicationError(f"{path}: empty file; must have one latency per line, such as 2.5us")
    return Latencies(values, "ns", of=str(path))
