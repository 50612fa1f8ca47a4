"""Closed-form models of the slowdown of applications with remote memory.

Both are special cases of the thread in `incast.application.replay`, which computes, issues fetches and waits for all of
them, in the limit of a long run. They hold for threads that do not wait for each other.
"""

from __future__ import annotations

from dataclasses import dataclass

from incast.application import wrong
from incast.application.latencies import Latencies


@dataclass(frozen=True)
class Paging:
    """A paging application: slowdown = (phi / b) (o + E[longest of b fetches]).

    phi is the number of exposed faults, which a thread waits for, per second of compute.
    """

    faults_per_s: float
    """Page faults on remote memory per second of compute, above 0. Equal to phi with default `hidden` and `depth`."""
    hidden: float = 0.0
    """Fraction of faults that are hidden, for example by another hardware thread: 0 or more, below 1."""
    depth: float = 1.0
    """Pages per fault with prefetching, 1 or more; the thread waits for one of them."""
    batch: int = 1
    """Number of fetches (b) that are issued together and waited for together, 1 or more."""

    kind = "paging"

    def __post_init__(self) -> None:
        """Check the ranges."""
        wrong.real("faults_per_s", self.faults_per_s, "a finite number of faults per second, above 0", lambda f: f > 0)
        wrong.real("hidden", self.hidden, "0 or more, below 1: a fraction of faults", lambda part: 0 <= part < 1)
        wrong.real("depth", self.depth, "a finite number of pages, 1 or more", lambda pages: pages >= 1)
        wrong.whole("batch", self.batch, "a whole number of fetches, 1 or more", 1)

    @property
    def exposed_faults_per_s(self) -> float:
        """phi: exposed faults per second of compute."""
        return self.faults_per_s * (1 - self.hidden) / self.depth

    def slowdown(self, latencies: Latencies, overhead_s: float = 0.0) -> float:
        """Job time / job time on an infinitely fast network - 1: 0.05 is 5 % longer.

        Args:
            latencies: Latencies of fetches.
            overhead_s: Software overhead of each access, in seconds, 0 or more; counted once per batch.

        """
        waits = wrong.overhead(overhead_s) + latencies.mean_of_max(self.batch)
        return self.exposed_faults_per_s / self.batch * waits

    def throughput_loss(self, _: float) -> float | None:
        """`None`: a job has a run time, not a throughput."""
        return None


@dataclass(frozen=True)
class ClosedLoop:
    """A key-value store with closed-loop clients: slowdown of an operation = f (o + E[latency]) / s."""

    faults_per_operation: float
    """f: accesses to remote memory that an operation waits for, one after the other; above 0."""
    service_s: float
    """s: duration of an operation with infinitely fast memory, in seconds, above 0."""

    kind = "closed_loop"
    batch = 1

    def __post_init__(self) -> None:
        """Check the ranges."""
        allowed = "a finite number of faults, above 0"
        wrong.real("faults_per_operation", self.faults_per_operation, allowed, lambda faults: faults > 0)
        wrong.real("service_s", self.service_s, "a finite number of seconds, above 0", lambda seconds: seconds > 0)

    @property
    def exposed_faults_per_s(self) -> float:
        """Exposed faults (phi = f / s) per second of service."""
        return self.faults_per_operation / self.service_s

    def slowdown(self, latencies: Latencies, overhead_s: float = 0.0) -> float:
        """Duration of an operation / duration on an infinitely fast network - 1; parameters as for `Paging`."""
        return self.faults_per_operation * (wrong.overhead(overhead_s) + latencies.mean()) / self.service_s

    def throughput_loss(self, slowdown: float) -> float | None:
        """Fraction of throughput lost: 1 - 1 / (1 + slowdown)."""
        return 1 - 1 / (1 + slowdown)


Model = Paging | ClosedLoop
