"""Real programs on a simulated fabric: recorded, simulated, and run with the simulated latencies; and model results."""

from __future__ import annotations

import math
import os
import re
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import incast
from incast import memory
from incast.analysis.kind import Kind, Row
from incast.application import Latencies, replay
from incast.errors import ApplicationError, Diagnostic, ScenarioError
from incast.memory import amounts
from incast.memory.programs import PROGRAMS, Ready

Scale = Literal["datacenter", "rack"]
SCALES: tuple[Scale, ...] = ("datacenter", "rack")
REPLAYS = 5
"""How often the replay model draws latencies: with tens of thousands of fetches its mean is exact to a thousandth."""
ALONE_S: dict[Scale, float] = {"datacenter": 2.91e-6, "rack": 1.96e-6}
"""Completion time of a lone page in the study's network, with its acknowledgement."""
TRIES = 5
"""How often traffic is simulated at most, to find how long its fetches take."""
NEAR = 0.1
"""Largest difference of the logarithms of two equal fetch times: a tenth (our choice)."""
STEP = 4.0
"""By what a guess of that time differs from the one before at most (our choice)."""
SHARED = 0.1
"""Share of the cores used by other programs above which run times are not checked (our choice)."""
WINDOW = "from ([0-9.]+) to ([0-9.]+)"
"""Where in a server's output is when it was asked, on the clock CLOCK_MONOTONIC."""


@dataclass(frozen=True)
class _Served:
    """When a server was asked, in seconds since the program's start, and how often."""

    window_s: tuple[float, float]
    operations: float


@dataclass(frozen=True, kw_only=True)
class OfMemory:
    """A program, recorded and injected."""

    program: str
    """Program of `incast.memory.programs`: sort, wordcount, pagerank, memcached."""
    size: float = 1.0
    """Input size, relative to the program's description. Default 1."""
    local: str = "25%"
    """Local share of its memory. Default 25 % of the footprint (OSDI 2016)."""
    policy: Literal["fifo", "lru"] = "lru"
    """Page replacement. Default lru, as Linux for the study's swap device (our choice)."""
    duration: str = "2ms"
    """Interval in which simulated flows start. Default 2 ms (our choice)."""
    repetitions: int = 1
    """Runs per case. Default 1: a study has seeds."""
    seed: int = 1
    """Seed of the input, the traffic and the latencies. Default 1."""


def _stamp(cell: OfMemory, _: Path) -> str:
    if cell.program not in PROGRAMS:
        message = f"there is no program `{cell.program}`"
        allowed = ", ".join(PROGRAMS)
        raise ScenarioError(f"error: {message}\n = allowed: {allowed}", (Diagnostic(message, allowed=allowed),))
    return ""


def _compute(cell: OfMemory, _: Path) -> Iterator[Row]:
    with tempfile.TemporaryDirectory(prefix="incast-memory-") as name:
        folder = Path(name)
        ready = PROGRAMS[cell.program].ready(folder, cell.size, cell.seed)
        yield from _Pipeline(cell, ready, folder).rows()


class _Pipeline:
    """record, traffic, simulate, inject."""

    def __init__(self, cell: OfMemory, ready: Ready, folder: Path) -> None:
        self.cell, self.ready, self.folder = cell, ready, folder
        self.instrument = memory.Instrument(
            amounts.local(cell.local), cell.policy, seed=cell.seed, one_core=ready.one_core, only=tuple(ready.only)
        )

    def rows(self) -> Iterator[Row]:
        """A row for each scale and scheme."""
        recording, served = self.recorded()
        segments = memory.recorded_segments(recording.path, None if served is None else served.window_s)
        free = self.traffic(recording, SCALES[0], "free", 0.0)
        paced = {
            (scale, scheme): self.paced(recording, scale, scheme) for scale in SCALES for scheme in self.schemes(free)
        }
        cases = {key: memory.Delays.of(each.latencies, " ".join(key)) for key, each in paced.items()}
        injection = memory.inject(
            self.ready.command,
            list(cases.values()),
            self.instrument,
            repetitions=self.cell.repetitions,
            figure=self.ready.throughput,
        )
        plain, zero, *delayed = injection.rows()
        # What the part of the program that was recorded takes without the instrument.
        own_s = plain.seconds[0] if served is None else served.operations / (plain.figures or (1.0,))[0]
        exposed = float(segments.fetches.sum()) / own_s
        cores = len(os.sched_getaffinity(0))
        for ((place, scheme), found), row in zip(paced.items(), delayed, strict=True):
            predicted = replay(segments, found.latencies, seed=self.cell.seed, repetitions=REPLAYS)
            fetch_s = found.latencies.mean()
            others = memory.Injection(injection.command, injection.instrument, row.timings + row.zero + row.plain)
            yield {
                "scale": place,
                "scheme": scheme,
                "footprint_mb": recording.summary.footprint_bytes / 1e6,
                "fetches": recording.summary.fetches,
                "exposed_per_s": exposed,
                "free_load": free.load,
                "load": found.traffic.load,
                "supposed_us": found.supposed_s * 1e6,
                "fetch_us": fetch_s * 1e6,
                "unfinished": found.latencies.unfinished,
                "achieved_us": row.mean("achieved_s") / row.mean("fetches") * 1e6,
                "plain_s": plain.seconds[0],
                "no_delay_s": zero.seconds[0],
                "delayed_s": row.seconds[0],
                "overhead": 100 * (injection.overhead or 0.0),
                "measured": 100 * row.slowdown,
                "predicted": 100 * predicted.slowdown,
                "error": 100 * (predicted.slowdown - row.slowdown),
                "own": 100 * (row.own or 0.0),
                "modelled": 100 * exposed * fetch_s,
                "others_cores": others.others_cores,
                "disturbed": others.others_cores > SHARED * cores,
            }

    def recorded(self) -> tuple[memory.Recording, _Served | None]:
        """The program's recording; of a server, the part of it in which it was asked."""
        with tempfile.TemporaryFile() as output:
            recording = memory.record(
                self.ready.command, self.folder / "recording", self.instrument, quiet=output, plain=True
            )
            output.seek(0)
            text = output.read().decode("utf-8", "replace")
        if recording.code:
            raise ApplicationError(f"{self.cell.program} ended with {recording.code}:\n{text.strip()}")
        if self.ready.throughput is None:
            return recording, None
        throughput = float(re.findall(self.ready.throughput, text)[-1])
        begin, end = (float(each) - recording.summary.start_ns / 1e9 for each in re.findall(WINDOW, text)[-1])
        return recording, _Served((begin, end), throughput * (end - begin))

    def traffic(self, recording: memory.Recording, scale: Scale, name: str, fetch_s: float) -> memory.Traffic:
        """The traffic of programs whose fetches take so long."""
        duration, fetch = self.cell.duration, f"{fetch_s * 1e9:.0f}ns"
        folder = self.folder / name
        return memory.write_traffic(
            [recording.path], folder, scale=scale, duration=duration, clock="own", fetch=fetch, overwrite=True
        )

    def schemes(self, made: memory.Traffic) -> list[str]:
        """The schemes that the traffic's scenario compares."""
        return list(incast.load(made.scenario).scheme or {})

    def paced(self, recording: memory.Recording, scale: Scale, scheme: str) -> _Paced:
        """Traffic whose fetches take as long as the network makes of it.

        A program that waits for its pages fetches the less the longer they take, and they take the less time the less
        it fetches. So the time of a fetch that traffic is made with is sought that the simulation of it gives back.

        """
        supposed_s = ALONE_S[scale]
        tried: list[_Paced] = []
        for number in range(TRIES):
            made = self.traffic(recording, scale, f"{scale} {scheme}", supposed_s)
            scenario = incast.load(made.scenario, [f"seed={self.cell.seed}"])
            scenario.scheme = {name: each for name, each in (scenario.scheme or {}).items() if name == scheme}
            results = scenario.run(self.folder / f"{scale} {scheme} {number}", progress=False)
            tried.append(_Paced(supposed_s, made, Latencies.of(results, scheme)))
            if abs(tried[-1].off) < NEAR:
                break
            supposed_s = next_guess([(each.supposed_s, each.latencies.mean()) for each in tried])
        return min(tried, key=lambda each: abs(each.off))


@dataclass(frozen=True)
class _Paced:
    """Traffic made with fetches that take a time, and what they took when it was simulated."""

    supposed_s: float
    traffic: memory.Traffic
    latencies: Latencies

    @property
    def off(self) -> float:
        """The logarithm of what they took over what was supposed."""
        return math.log(self.latencies.mean() / self.supposed_s)


def next_guess(tried: Sequence[tuple[float, float]]) -> float:
    """The time of a fetch to try next, from those that were supposed and what the simulation made of each, in seconds.

    What was found last; between two that lie on either side of the one sought, where the secant of their logarithms
    says, or in the middle if it was wrong in the same direction twice.
    """
    off = [(math.log(supposed), math.log(found / supposed)) for supposed, found in tried]
    below = max((each for each in off if each[1] > 0), default=None)
    above = min((each for each in off if each[1] <= 0), default=None)
    if below is None or above is None:
        last, by = off[-1]
        return math.exp(last + min(max(by, -math.log(STEP)), math.log(STEP)))
    (low, more), (high, less) = below, above
    if (off[-1][1] > 0) == (off[-2][1] > 0):
        return math.exp((low + high) / 2)
    return math.exp(low + (high - low) * more / (more - less))


MEMORY = Kind(
    name="memory",
    about="real programs with part of their memory remote, measured with simulated latencies",
    parameters=OfMemory,
    figures={
        "scale": "varchar",
        "scheme": "varchar",
        "footprint_mb": "double",
        "fetches": "bigint",
        "exposed_per_s": "double",
        "free_load": "double",
        "load": "double",
        "supposed_us": "double",
        "fetch_us": "double",
        "unfinished": "bigint",
        "achieved_us": "double",
        "plain_s": "double",
        "no_delay_s": "double",
        "delayed_s": "double",
        "overhead": "double",
        "measured": "double",
        "predicted": "double",
        "error": "double",
        "own": "double",
        "modelled": "double",
        "others_cores": "double",
        "disturbed": "boolean",
    },
    compute=_compute,
    stamp=_stamp,
    impossible=memory.impossible,
    missing=lambda cell: PROGRAMS[cell.program].missing(),
    weight=lambda cell: cell.size,
)
"""The kind."""
