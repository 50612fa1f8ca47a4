"""Real programs on a simulated fabric: recorded, simulated, run again with the latencies; and what models say."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterator
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
from incast.memory.protocol import PAGE
from incast.memory.traffic import HOST_RATE_GBPS, SAMPLES

Scale = Literal["datacenter", "rack"]
SCALES: tuple[Scale, ...] = ("datacenter", "rack")
REPLAYS = 5
"""How often the replay model draws latencies: with tens of thousands of fetches its mean is exact to a thousandth."""
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
    """One of `incast.memory.programs`: sort, wordcount, pagerank, memcached."""
    size: float = 1.0
    """How much it works on, against what its description says. Default 1."""
    local: str = "25%"
    """How much of its memory is local. Default 25 % of the footprint (OSDI 2016)."""
    policy: Literal["fifo", "lru"] = "lru"
    """Which pages go. Default lru, as the study's swap device had Linux's (our choice)."""
    duration: str = "2ms"
    """How long flows start in the simulation. Default 2 ms (our choice)."""
    repetitions: int = 1
    """How often each case is run. Default 1: a study has seeds."""
    seed: int = 1
    """Of the input, the traffic and the draws of latencies. Default 1."""


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
        latencies: dict[tuple[str, str], Latencies] = {}
        loads: dict[str, float] = {}
        for scale in SCALES:
            loads[scale], of_schemes = self.simulated(recording, scale)
            latencies |= {(scale, scheme): each for scheme, each in of_schemes.items()}
        cases = {key: memory.Delays.of(each, " ".join(key)) for key, each in latencies.items()}
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
        for ((place, scheme), found), row in zip(latencies.items(), delayed, strict=True):
            predicted = replay(segments, found, seed=self.cell.seed, repetitions=REPLAYS)
            yield {
                "scale": place,
                "scheme": scheme,
                "footprint_mb": recording.summary.footprint_bytes / 1e6,
                "fetches": recording.summary.fetches,
                "exposed_per_s": exposed,
                "load": loads[place],
                "fetch_us": found.mean() * 1e6,
                "unfinished": found.unfinished,
                "achieved_us": row.mean("achieved_s") / row.mean("fetches") * 1e6,
                "plain_s": plain.seconds[0],
                "no_delay_s": zero.seconds[0],
                "delayed_s": row.seconds[0],
                "overhead": 100 * (injection.overhead or 0.0),
                "measured": 100 * row.slowdown,
                "predicted": 100 * predicted.slowdown,
                "error": 100 * (predicted.slowdown - row.slowdown),
                "own": 100 * (row.own or 0.0),
                "modelled": 100 * exposed * found.mean(),
                "others_cores": injection.others_cores,
            }

    def recorded(self) -> tuple[memory.Recording, _Served | None]:
        """The program's recording; of a server, the part of it in which it was asked."""
        with tempfile.TemporaryFile() as output:
            recording = memory.record(self.ready.command, self.folder / "recording", self.instrument, quiet=output)
            output.seek(0)
            text = output.read().decode("utf-8", "replace")
        if recording.code:
            raise ApplicationError(f"{self.cell.program} ended with {recording.code}:\n{text.strip()}")
        if self.ready.throughput is None:
            return recording, None
        throughput = float(re.findall(self.ready.throughput, text)[-1])
        begin, end = (float(each) - recording.summary.start_ns / 1e9 for each in re.findall(WINDOW, text)[-1])
        return recording, _Served((begin, end), throughput * (end - begin))

    def simulated(self, recording: memory.Recording, scale: Scale) -> tuple[float, dict[str, Latencies]]:
        """The load of a CPU host's link, and what fetches take under each scheme."""
        folder = self.folder / scale
        made = memory.write_traffic([recording.path], folder, scale=scale, duration=self.cell.duration)
        results = incast.load(made.scenario, [f"seed={self.cell.seed}"]).run(self.folder / f"{scale}-results")
        schemes = [str(name) for name in results.manifest["schemes"]]
        load = made.fetches_per_s * SAMPLES * PAGE * 8 / (HOST_RATE_GBPS * 1e9)
        return load, {scheme: Latencies.of(results, scheme) for scheme in schemes}


MEMORY = Kind(
    name="memory",
    about="real programs with part of their memory remote, measured with the latencies that were simulated for them",
    parameters=OfMemory,
    figures={
        "scale": "varchar",
        "scheme": "varchar",
        "footprint_mb": "double",
        "fetches": "bigint",
        "exposed_per_s": "double",
        "load": "double",
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
    },
    compute=_compute,
    stamp=_stamp,
    impossible=memory.impossible,
    missing=lambda cell: PROGRAMS[cell.program].missing(),
    weight=lambda cell: cell.size,
)
"""The kind."""
