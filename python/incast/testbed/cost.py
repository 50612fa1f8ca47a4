"""Cost of rules: throughput and round-trip times by number of rules, measured in rounds."""

from __future__ import annotations

import math
import os
import random
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from incast.errors import Diagnostic, EnvironmentFailure, IncastError
from incast.table import Given, Table
from incast.testbed.rules import LEAST, Form, ruleset
from incast.testbed.testbed import Testbed
from incast.testbed.trend import Trend, percentile, trend

RULES = (0, 10, 20, 40, 80, 160)
"""Numbers of rules of Tagger's evaluation."""
PINGS = 5000
"""Pings there."""
SECONDS = 5.0
"""Length of a stream: our choice; 100 s there."""
ROUNDS = 3
"""How often all is repeated: our choice."""
MOST = 4096
"""Most rules: what a switch's ACL holds at most, so our choice."""

FIELDS = (
    Given("round", "i64", None, "round of measurements, from 1"),
    Given("rules", "i64", None, "rules in T1"),
    Given("rtt_mean_us", "f64", "us", "mean round-trip time of the pings"),
    Given("rtt_p50_us", "f64", "us", "median round-trip time of the pings"),
    Given("rtt_p99_us", "f64", "us", "99th percentile of the round-trip time of the pings"),
    Given("lost", "i64", None, "pings without an answer"),
    Given("packets_bps", "f64", "bit/s", "goodput of a TCP connection with rules applied to each packet"),
    Given("packet_bytes", "f64", "B", "mean size of these packets"),
    Given("aggregates_bps", "f64", "bit/s", "goodput of a TCP connection with rules applied to aggregates of packets"),
    Given("aggregate_bytes", "f64", "B", "mean size of these aggregates"),
)
FIGURES = ("rtt_mean_us", "rtt_p50_us", "rtt_p99_us", "packets_bps", "aggregates_bps")
"""Columns that are looked at for a trend."""


@dataclass(frozen=True)
class Sample:
    """Measurement with one number of rules in one round; see `FIELDS`."""

    round: int
    rules: int
    rtt_mean_us: float
    rtt_p50_us: float
    rtt_p99_us: float
    lost: int
    packets_bps: float
    packet_bytes: float
    aggregates_bps: float
    aggregate_bytes: float


@dataclass(frozen=True)
class Figure:
    """One figure with one number of rules: mean and standard deviation of its rounds."""

    rules: int
    mean: float
    deviation: float | None
    """None for a single round."""


@dataclass(frozen=True)
class Plan:
    """Parameters of a measurement."""

    rules: tuple[int, ...] = RULES
    """Numbers of rules."""
    seconds: float = SECONDS
    """Length of each stream."""
    pings: int = PINGS
    """Pings for each number of rules in each round."""
    rounds: int = ROUNDS
    """How often all is repeated."""
    form: Form = "map"
    """How the rules are written down."""
    seed: int = 1
    """Seed of the order in each round."""

    def __post_init__(self) -> None:
        for each in self.rules:
            if each != 0 and not LEAST <= each <= MOST:
                raise refused("rules", each, f"0, or {LEAST} to {MOST:,}")
        if not self.rules or len(set(self.rules)) < len(self.rules):
            raise refused("rules", ",".join(map(str, self.rules)), "one number of rules or more, each once")
        if not 0 < self.seconds < math.inf:
            raise refused("seconds", self.seconds, "more than 0")
        if self.pings < 1:
            raise refused("pings", self.pings, "1 or more")
        if self.rounds < 1:
            raise refused("rounds", self.rounds, "1 or more")


@dataclass(frozen=True)
class CostProgress:
    """How far a measurement has come."""

    done: int
    """Numbers of rules measured, over all rounds."""
    all: int
    """Those that are to be."""
    began: float
    """When it began, by `time.monotonic`."""


@dataclass(frozen=True)
class Cost:
    """Result of a measurement."""

    plan: Plan
    """Its parameters."""
    kernel: str
    """The kernel's release."""
    samples: tuple[Sample, ...]
    """In the order in which they were measured."""

    def table(self) -> Table:
        """A row for each number of rules in each round."""
        return Table.of_rows("cost", FIELDS, [tuple(asdict(sample).values()) for sample in self.samples])

    def figures(self, name: str) -> list[Figure]:
        """A figure by number of rules."""
        found = []
        for rules in sorted(self.plan.rules):
            values = [getattr(sample, name) for sample in self.samples if sample.rules == rules]
            found.append(Figure(rules, statistics.fmean(values), statistics.stdev(values) if len(values) > 1 else None))
        return found

    def trend(self, name: str) -> Trend | None:
        """How a figure changes with the number of rules, once there are any; `None` if that is not known.

        The first rule brings the table itself, which each packet then enters: a step, and no trend.
        """
        rounds: dict[int, list[tuple[float, float]]] = {}
        for sample in self.samples:
            if sample.rules > 0:
                rounds.setdefault(sample.round, []).append((sample.rules, getattr(sample, name)))
        return trend(list(rounds.values()))

    def to_dict(self) -> dict[str, Any]:
        """All of it, for JSON."""
        trends = {name: self.trend(name) for name in FIGURES}
        return {
            "plan": asdict(self.plan),
            "kernel": self.kernel,
            "figures": {name: [asdict(figure) for figure in self.figures(name)] for name in FIGURES},
            "trends": {name: each and {**asdict(each), "there": each.there} for name, each in trends.items()},
            "samples": [asdict(sample) for sample in self.samples],
        }


def measure(plan: Plan | None = None, progress: Callable[[CostProgress], object] | None = None) -> Cost:
    """Measure what rules cost in a testbed on this machine.

    Args:
        plan: What to measure; as in Tagger's evaluation, but shorter, if not given.
        progress: Called whenever something has been measured.

    Raises:
        EnvironmentFailure: The machine cannot do it.

    """
    plan = plan or Plan()
    began = time.monotonic()
    samples: list[Sample] = []
    with Testbed() as testbed:
        for number, rules in _order(plan):
            if progress:
                progress(CostProgress(len(samples), plan.rounds * len(plan.rules), began))
            samples.append(_sample(testbed, plan, number, rules))
    return Cost(plan, os.uname().release, tuple(samples))


def _order(plan: Plan) -> Iterator[tuple[int, int]]:
    """Rounds with the numbers of rules in an order that is drawn anew for each: a slow change is no trend then."""
    drawn = random.Random(plan.seed)
    for number in range(1, plan.rounds + 1):
        yield from ((number, rules) for rules in drawn.sample(plan.rules, len(plan.rules)))


def _sample(testbed: Testbed, plan: Plan, number: int, rules: int) -> Sample:
    testbed.load(ruleset(rules, plan.form))
    times, lost = testbed.ping(plan.pings)
    if not times:
        raise EnvironmentFailure(f"no answer to {plan.pings:,} pings with {rules} rules")
    mean, p50, p99 = _summary(times)
    packets = testbed.stream(plan.seconds, aggregates=False)
    aggregates = testbed.stream(plan.seconds, aggregates=True)
    return Sample(number, rules, mean, p50, p99, lost, *packets, *aggregates)


def _summary(times_ns: Sequence[int]) -> tuple[float, float, float]:
    """Mean, median and 99th percentile in microseconds."""
    ordered = sorted(times_ns)
    return statistics.fmean(ordered) / 1e3, percentile(ordered, 0.5) / 1e3, percentile(ordered, 0.99) / 1e3


def refused(field: str, value: object, allowed: str) -> IncastError:
    """The error for a value that cannot be."""
    message = f"{field} cannot be `{value}`"
    return IncastError(f"error: {message}\n = allowed: {allowed}", (Diagnostic(message, field=field, allowed=allowed),))
