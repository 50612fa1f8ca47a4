"""Replay of threads that compute, fetch from remote memory and wait, with drawn latencies.

Thread w has segments k, each with compute time c_k and b_k fetches that are issued together; it continues when all
fetches are done:

    T_w = sum over k of (c_k + max over j <= b_k of (o + L_kj))

A job runs its stages one after the other; each stage ends with its slowest thread. T0 is the same without the maxima:
the job time on an infinitely fast network. slowdown = T / T0 - 1. Closed forms (`incast.application.models`) give the
mean for one thread; the tail of latencies matters if threads wait for each other.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from incast._library import needed
from incast.application import wrong
from incast.application.latencies import NUMPY_FOR, Latencies

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

MOST_FETCHES = 10**9
"""Most fetches issued together (our choice; more is probably a mistake of units)."""
MOST_REPETITIONS = 1_000_000
"""Most replays (our choice; the error of the mean is then a hundredth of that of 100 replays)."""
UPDATES = 1_000
"""Most calls of `progress`."""
SEED = 1
"""Default seed."""
REPETITIONS = 100
"""Default number of replays (our choice)."""
ROUNDING = 1e-12
"""Largest standard deviation / mean of job times that is attributed to rounding (our choice)."""


class Segments:
    """The segments of a job's threads, in any order (extra `incast[application]`)."""

    def __init__(
        self,
        compute_s: ArrayLike,
        fetches: ArrayLike,
        thread: ArrayLike | None = None,
        stage: ArrayLike | None = None,
        name: str = "segments",
    ) -> None:
        """Take segments, as columns of equal length.

        Args:
            compute_s: Compute time before the fetches, in seconds, each 0 or more, not all 0.
            fetches: Number of fetches issued together after it, whole numbers, 0 to 10^9.
            thread: Thread of each segment, numbers or names. Default: one thread.
            stage: Stage of each segment, numbers or names; all threads wait at the end of a stage. Default: one stage.
            name: Name of the job.

        Raises:
            ApplicationError: A value is out of range, or the columns do not fit together.

        """
        numpy = needed("numpy", NUMPY_FOR)
        self.name = name
        """Name of the job."""
        try:
            self.compute_s: NDArray[np.float64] = numpy.asarray(compute_s, dtype=float)
            counts = numpy.asarray(fetches, dtype=float)
        except (TypeError, ValueError) as error:
            raise wrong.refused("segments", error, "columns of numbers") from None
        if self.compute_s.ndim != 1 or not len(self.compute_s):
            raise wrong.refused(
                "compute_s", f"shape {self.compute_s.shape}", "one value for each segment, at least one segment"
            )
        self._refuse(
            "compute_s", self.compute_s, numpy.isfinite(self.compute_s) & (self.compute_s >= 0), "finite, 0 or more"
        )
        if not self.compute_s.any():
            raise wrong.refused("compute_s", 0, "some compute time")
        self._same_length("fetches", counts)
        whole = (counts == numpy.floor(counts)) & (counts >= 0) & (counts <= MOST_FETCHES)
        self._refuse("fetches", counts, whole, "whole numbers, 0 to 1000000000")
        self.fetches: NDArray[np.int64] = counts.astype(numpy.int64)
        """Fetches of each segment."""
        threads, stages = self._numbered("thread", thread), self._numbered("stage", stage)
        # A group has the segments of one thread in one stage; groups are in order of their stage.
        found, self._group = numpy.unique(stages * (threads.max() + 1) + threads, return_inverse=True)
        of_stage = found // (threads.max() + 1)
        self._stage_starts: NDArray[np.int64] = numpy.flatnonzero(numpy.diff(of_stage, prepend=-1))
        self.threads = int(threads.max()) + 1
        """Number of threads."""
        self.stages = int(stages.max()) + 1
        """Number of stages."""

    def __len__(self) -> int:
        return len(self.compute_s)

    @property
    def faults_per_s(self) -> float:
        """Fetches per second of compute, over all threads."""
        return float(self.fetches.sum() / self.compute_s.sum())

    def job_s(self, times_s: NDArray[np.float64]) -> float:
        """Job time in seconds for these times of its segments."""
        numpy = needed("numpy", NUMPY_FOR)
        of_groups = numpy.bincount(self._group, weights=times_s)
        return float(numpy.maximum.reduceat(of_groups, self._stage_starts).sum())

    def _same_length(self, name: str, column: NDArray[np.generic]) -> None:
        if column.shape != self.compute_s.shape:
            raise wrong.refused(name, f"shape {column.shape}", f"{len(self):,} values, as compute_s has")

    def _refuse(self, name: str, column: NDArray[np.float64], fits: NDArray[np.bool_], allowed: str) -> None:
        if not fits.all():
            place = int(fits.argmin())
            raise wrong.refused(f"{name}[{place}]", column[place], allowed)

    def _numbered(self, name: str, column: ArrayLike | None) -> NDArray[np.int64]:
        """Threads or stages by number from 0, in order of their values."""
        numpy = needed("numpy", NUMPY_FOR)
        if column is None:
            none: NDArray[np.int64] = numpy.zeros(len(self), dtype=numpy.int64)
            return none
        given = numpy.asarray(column)
        self._same_length(name, given)
        numbers: NDArray[np.int64] = numpy.unique(given, return_inverse=True)[1].astype(numpy.int64)
        return numbers


@dataclass(frozen=True)
class Replay:
    """Result of the replays of a job."""

    slowdown: float
    """Mean job time / job time on an infinitely fast network - 1."""
    standard_error: float
    """Standard error of `slowdown` over the replays, from the random draws only."""
    time_s: float
    """Mean job time (T), in seconds."""
    ideal_s: float
    """Job time on an infinitely fast network (T0), in seconds."""
    repetitions: int
    """Number of replays."""
    seed: int
    """Seed of the draws."""
    segments: Segments = field(repr=False)
    """The replayed segments."""


def replay(
    segments: Segments,
    latencies: Latencies,
    *,
    overhead_s: float = 0.0,
    seed: int = SEED,
    repetitions: int = REPETITIONS,
    progress: Callable[[int, int], object] | None = None,
) -> Replay:
    """Replay a job, with the latency of each fetch drawn from the sample (extra `incast[application]`).

    Args:
        segments: Segments of the threads.
        latencies: Latencies of fetches.
        overhead_s: Software overhead of each access, in seconds, 0 or more.
        seed: Seed of the draws, 0 or more. The same seed and version of numpy give the same figures.
        repetitions: Number of replays, 2 to 1,000,000.
        progress: Called with the number of finished replays and that of all, up to 1,000 times.

    Raises:
        ApplicationError: A parameter is out of range.

    """
    numpy = needed("numpy", NUMPY_FOR)
    overhead_s = wrong.overhead(overhead_s)
    seed = wrong.whole("seed", seed, "a whole number, 0 or more", 0)
    repetitions = wrong.whole(
        "repetitions", repetitions, f"a whole number, 2 to {MOST_REPETITIONS:,}", 2, MOST_REPETITIONS
    )
    rng = numpy.random.default_rng(seed)
    waiting = numpy.flatnonzero(segments.fetches)
    counts = segments.fetches[waiting]
    times = numpy.empty(repetitions)
    step = -(-repetitions // UPDATES)
    for repetition in range(repetitions):
        if progress is not None and repetition % step == 0:
            progress(repetition, repetitions)
        of_segments = segments.compute_s.copy()
        of_segments[waiting] += overhead_s + latencies.draw_max(rng, counts)
        times[repetition] = segments.job_s(of_segments)
    ideal, mean = segments.job_s(segments.compute_s), float(times.mean())
    spread = float(times.std(ddof=1))
    error = spread / math.sqrt(repetitions) / ideal if spread > ROUNDING * mean else 0.0
    return Replay(mean / ideal - 1, error, mean, ideal, repetitions, seed, segments)
