"""Applications that wait for remote memory: by how much they are slowed down, in closed form.

Both are special cases of one thread that computes, issues fetches and waits until all are back, as replayed in
`incast.application.replay`, over a run so long that means are all that counts. They hold for threads that do not wait
for each other.
"""

from __future__ import annotations

from dataclasses import dataclass

from incast.application import wrong
from incast.application.latencies import Latencies


@dataclass(frozen=True)
class Paging:
    """An application that pages: slowdown = (phi / b) (o + E[longest of b fetches]).

    phi, the exposed faults, are those that a thread waits for, per second of compute.
    """

    faults_per_s: float
    """Page faults on remote memory per second of compute, above 0. With `hidden` and `depth` left alone: phi itself."""
    hidden: float = 0.0
    """Part of the faults that something else hides, such as another hardware thread: 0 or more, below 1."""
    depth: float = 1.0
    """Pages that a fault brings by prefetching, 1 or more: only one in so many is waited for."""
    batch: int = 1
    """Fetches that are issued together and waited for together (b), 1 or more."""

    kind = "paging"

    def __post_init__(self) -> None:
        """Check the ranges."""
        wrong.real("faults_per_s", self.faults_per_s, "a finite number of faults a second, above 0", lambda f: f > 0)
        wrong.real("hidden", self.hidden, "0 or more, below 1: a part of the faults", lambda part: 0 <= part < 1)
        wrong.real("depth", self.depth, "a finite number of pages, 1 or more", lambda pages: pages >= 1)
        wrong.whole("batch", self.batch, "a whole number of fetches, 1 or more", 1)

    @property
    def exposed_faults_per_s(self) -> float:
        """phi: faults that are waited for, per second of compute."""
        return self.faults_per_s * (1 - self.hidden) / self.depth

    def slowdown(self, latencies: Latencies, overhead_s: float = 0.0) -> float:
        """Job time over that on an infinitely fast network, less 1: 0.05 is 5 % longer.

        Args:
            latencies: What fetches take.
            overhead_s: Software overhead of each access, in seconds, 0 or more: it is waited for once in each batch.

        """
        waits = wrong.overhead(overhead_s) + latencies.mean_of_max(self.batch)
        return self.exposed_faults_per_s / self.batch * waits

    def throughput_loss(self, _: float) -> float | None:
        """Nothing, whatever the slowdown: a job has a time, not a throughput."""
        return None


@dataclass(frozen=True)
class ClosedLoop:
    """A key-value store whose clients wait for each answer: slowdown = f (o + E[latency]) / s, of an operation."""

    faults_per_operation: float
    """f: accesses to remote memory that an operation waits for, one after the other; above 0."""
    service_s: float
    """s: how long an operation takes if memory is infinitely close, in seconds, above 0."""

    kind = "closed_loop"
    batch = 1

    def __post_init__(self) -> None:
        """Check the ranges."""
        allowed = "a finite number of faults, above 0"
        wrong.real("faults_per_operation", self.faults_per_operation, allowed, lambda faults: faults > 0)
        wrong.real("service_s", self.service_s, "a finite number of seconds, above 0", lambda seconds: seconds > 0)

    @property
    def exposed_faults_per_s(self) -> float:
        """The same as phi, f / s: faults that are waited for, per second of service."""
        return self.faults_per_operation / self.service_s

    def slowdown(self, latencies: Latencies, overhead_s: float = 0.0) -> float:
        """Time of an operation over that on an infinitely fast network, less 1; parameters as those of `Paging`."""
        return self.faults_per_operation * (wrong.overhead(overhead_s) + latencies.mean()) / self.service_s

    def throughput_loss(self, slowdown: float) -> float | None:
        """What a slowdown costs of the throughput, as a part of it: 1 - 1 / (1 + slowdown)."""
        return 1 - 1 / (1 + slowdown)


Model = Paging | ClosedLoop
