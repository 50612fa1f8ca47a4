"""Slowdown of applications on a simulated network."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from os import PathLike
from typing import Any

from incast.application import wrong
from incast.application.calibration import USUAL, Calibration, Evidence, find
from incast.application.latencies import Latencies
from incast.application.memory import MEMORY, memory_labels, opened, schemes
from incast.application.replay import REPETITIONS, SEED, Segments, replay
from incast.application.trace import read_trace
from incast.results import Results


@dataclass(frozen=True, kw_only=True)
class ApplicationSlowdown:
    """Slowdown of an application under a scheme."""

    calibration: str
    """Calibration of the fault rate, or `trace NAME`. Always quote it with the figure."""
    application: str
    """The application, or the trace."""
    scheme: str | None
    """The scheme; `None` for latencies without a simulation."""
    kind: str
    """`paging`, `closed_loop` or `trace`."""
    exposed_faults_per_s: float
    """Remote accesses that a thread waits for, per second of compute."""
    overhead_s: float
    """Software overhead of each access, in seconds."""
    labels: tuple[str, ...]
    """Labels of the memory flows."""
    flows: int
    """Number of completed memory flows."""
    unfinished: int
    """Number of memory flows that did not complete. If not 0, every figure is too low."""
    warning: str | None
    """Warning about unfinished flows."""
    latency_mean_s: float
    """Mean completion time of these flows, in seconds, without the overhead."""
    slowdown: float
    """Run time / run time on an infinitely fast network - 1: 0.05 is 5 % longer."""
    standard_error: float | None = None
    """For a replayed trace: standard error of `slowdown` over the replays."""
    throughput_loss: float | None = None
    """For a key-value store: 1 - 1 / (1 + slowdown)."""
    evidence: Evidence
    """Evidence: `fitted`, `assumed` or `prediction`, see `incast.application.calibration.EVIDENCE`."""
    basis: str | None = None
    """The published figure of a fit, or the reason for an assumption."""


def application_slowdown(
    results: Results | Latencies | str | PathLike[str],
    calibration: str | Calibration = USUAL,
    applications: Iterable[str] | None = None,
    overhead_s: float = 0.0,
    scheme: str | None = None,
) -> list[ApplicationSlowdown]:
    """Slowdown of the applications of a calibration under each scheme, in closed form.

    Application NAME uses the flows labelled `NAME-memory` if there are any, else all memory flows. Other flows are
    never used.

    Args:
        results: A results folder with memory flows, or a sample of latencies.
        calibration: Name of a calibration (`seed_draft`, `osdi16_requirement`), or your own.
        applications: Names of applications. Default: all.
        overhead_s: Software overhead of each access, in seconds, 0 or more (0 in the paper).
        scheme: A scheme. Default: all.

    Returns:
        One row for each application and scheme, sorted by application.

    Raises:
        ApplicationError: A name is unknown, a parameter is out of range, or no memory flow completed.
        ResultsError: The folder is not a results folder, or is damaged.

    """
    calibration = find(calibration)
    overhead_s = wrong.overhead(overhead_s)
    rows = []
    samples = _Samples(results, scheme)
    for application in calibration.chosen(applications):
        model = application.model
        for name, latencies in samples.of(application.name):
            slowdown = model.slowdown(latencies, overhead_s)
            rows.append(
                _row(
                    name,
                    latencies,
                    calibration=calibration.name,
                    application=application.name,
                    kind=model.kind,
                    exposed_faults_per_s=model.exposed_faults_per_s,
                    overhead_s=overhead_s,
                    slowdown=slowdown,
                    throughput_loss=model.throughput_loss(slowdown),
                    evidence=application.evidence,
                    basis=application.fitted_to or application.assumed,
                )
            )
    return rows


def trace_slowdown(
    results: Results | Latencies | str | PathLike[str],
    trace: Segments | str | PathLike[str],
    overhead_s: float = 0.0,
    seed: int = SEED,
    repetitions: int = REPETITIONS,
    scheme: str | None = None,
    progress: Callable[[str, int, int], object] | None = None,
) -> list[ApplicationSlowdown]:
    """Slowdown of the job of a page-fault trace under each scheme, by replay (extra `incast[application]`).

    Args:
        results: A results folder with memory flows, or a sample of latencies.
        trace: A file, see `incast.application.trace`, or segments.
        overhead_s: Software overhead of each access, in seconds, 0 or more.
        seed: Seed of the draws, 0 or more; every scheme gets the same random numbers.
        repetitions: Number of replays, 2 to 1,000,000.
        scheme: A scheme. Default: all.
        progress: Called with a description, the number of finished replays and that of all.

    Raises:
        ApplicationError: The trace is not valid, a name is unknown, a parameter is out of range, or no memory flow
            completed.
        ResultsError: The folder is not a results folder, or is damaged.

    """
    segments = trace if isinstance(trace, Segments) else read_trace(trace)
    rows = []
    for name, latencies in _Samples(results, scheme).of(None):
        of_scheme = partial(progress, f"replays under {name}" if name else "replays") if progress else None
        found = replay(
            segments, latencies, overhead_s=overhead_s, seed=seed, repetitions=repetitions, progress=of_scheme
        )
        rows.append(
            _row(
                name,
                latencies,
                calibration=f"trace {segments.name}",
                application=segments.name,
                kind="trace",
                exposed_faults_per_s=segments.faults_per_s,
                overhead_s=overhead_s,
                slowdown=found.slowdown,
                standard_error=found.standard_error,
                evidence="prediction",
            )
        )
    return rows


def _row(scheme: str | None, latencies: Latencies, **fields: Any) -> ApplicationSlowdown:
    """A row with the figures of its latencies."""
    return ApplicationSlowdown(
        scheme=scheme,
        labels=latencies.labels,
        flows=len(latencies),
        unfinished=latencies.unfinished,
        warning=latencies.warning,
        latency_mean_s=latencies.mean(),
        **fields,
    )


class _Samples:
    """The latencies of every scheme, each sample read once."""

    def __init__(self, results: Results | Latencies | str | PathLike[str], scheme: str | None) -> None:
        if isinstance(results, Latencies):
            if scheme is not None:
                raise wrong.refused("scheme", scheme, "no scheme: given latencies have none")
            self._given: Latencies | None = results
            return
        self._given = None
        self._results = opened(results)
        self._schemes = schemes(self._results, scheme)
        self._labels = memory_labels(self._results)
        self._read: dict[tuple[str, tuple[str, ...]], Latencies] = {}

    def of(self, application: str | None) -> Iterator[tuple[str | None, Latencies]]:
        """The latencies of an application, scheme by scheme."""
        if self._given is not None:
            yield None, self._given
            return
        own = f"{application}-{MEMORY}"
        labels = (own,) if own in self._labels else tuple(self._labels)
        for scheme in self._schemes:
            if (scheme, labels) not in self._read:
                self._read[scheme, labels] = Latencies.of(self._results, scheme, labels)
            yield scheme, self._read[scheme, labels]
