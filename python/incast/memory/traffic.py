"""Turns recordings into traffic: flows of the blades of a small system, and a scenario that fills a datacenter."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Literal

from incast import _database
from incast._database import PARQUET_FILE
from incast._whole import writing
from incast.application import wrong
from incast.errors import ApplicationError
from incast.memory.amounts import nanoseconds
from incast.memory.protocol import PAGE
from incast.memory.recording import Recording, open_recording, reading, staged
from incast.memory.summary import MEMORY_LIMIT

FLOWS, SCENARIO = "flows.parquet", "scenario.toml"
CPUS = MEMORIES = 5
"""Blades of a system; with 3 disk blades, which are silent here, they are 13, so that each has 12 others that it may
send to (Gao et al., OSDI 2016)."""
SAMPLES = 3
"""Units of its resource that a host stands for (Gao et al., OSDI 2016)."""
PER_RACK = 16
"""Hosts of a rack (NetSys/simulator, run/experiment.cpp: 144 on 9 switches)."""
SPINES = 4
"""Switches above the racks (the same), with links as fast as full bisection needs."""
HOST_RATE_GBPS = 40
"""Rate of a host's link in Gb/s (Gao et al., OSDI 2016)."""
NODES = 144
"""Hosts of the study's datacenter."""
DURATION = "5ms"
"""Default time during which flows start (our choice)."""

Scale = Literal["datacenter", "rack"]
Clock = Literal["own", "less-waits", "wall"]
CLOCKS: tuple[Clock, ...] = ("own", "less-waits", "wall")


@dataclass(frozen=True)
class Traffic:
    """A folder with a scenario and the figures of its traffic."""

    path: Path
    clock: Clock
    """The clock of its times."""
    flows: int
    """Flows of the small system."""
    seconds: float
    """From the program's start to the last flow of the longest recording, on that clock."""
    fetches_per_s: float
    """Fetches per second of a CPU blade, from its first to its last fetch, mean over the blades."""
    load: float
    """Offered load of the link of the busiest CPU blade: fetches per second * bits of a page * samples / rate of the
    link. A network can carry less than 1."""

    @property
    def scenario(self) -> Path:
        """The scenario."""
        return self.path / SCENARIO


def write_traffic(
    recordings: Sequence[str | PathLike[str]],
    output: str | PathLike[str],
    *,
    nodes: int = NODES,
    scale: Scale = "datacenter",
    samples: int = SAMPLES,
    duration: str = DURATION,
    clock: Clock | None = None,
    fetch: str = "0",
    overwrite: bool = False,
    progress: Callable[[str], object] | None = None,
) -> Traffic:
    """Write a scenario with the traffic of recorded programs, each on a CPU blade with its pages on five memory blades.

    CPU blade i of a system runs recording i modulo their number. A hash of its number places each page on a memory
    blade. A fetch is a flow of 4096 B from there, a write-back a flow of 4096 B to it.

    Args:
        recordings: One or more folders written by `record`.
        output: The folder to write.
        nodes: Hosts of the fabric, in racks of 16.
        scale: `datacenter` to place the blades of a system anywhere, `rack` to place them in one rack.
        samples: Draws for each pair of blades.
        duration: Time during which flows start.
        clock: Clock of the flows. Default: `own` if all recordings have a plain run, else `less-waits`. `own`: the
            program's own time, without fetches and instrument. A thread's time stops while it waits for a page, and the
            rest is scaled so that its compute time sums to the run time of a plain run. `less-waits`: a thread's time
            stops while it waits, but includes the other overhead of the instrument (faults in the kernel, first writes,
            write-backs). `wall`: recorded time.
        fetch: Duration of each fetch on this clock, such as `2.9us`. Default: 0, as on an infinitely fast network. Not
            allowed with clock `wall`.
        overwrite: Replace an existing folder.
        progress: Called with each step.

    Raises:
        ApplicationError: A recording is not valid or has too few fetches, or a value is out of range.
        ResultsExistError: The folder exists.

    """
    if not recordings:
        raise ApplicationError("error: missing recording\n = allowed: folders written by `incast memory record`")
    found = [open_recording(path) for path in recordings]
    nodes = wrong.whole("--nodes", nodes, "a whole number of hosts, a multiple of 16", PER_RACK)
    if nodes % PER_RACK:
        below = nodes - nodes % PER_RACK
        raise wrong.refused("--nodes", nodes, f"a multiple of {PER_RACK}: {below} or {below + PER_RACK}")
    samples = wrong.whole("--samples", samples, "a whole number, 1 or more", 1)
    if not nanoseconds(duration):
        raise wrong.refused("--duration", duration, "a time such as 5ms")
    if clock is None:
        clock = "own" if all(recording.summary.plain_s for recording in found) else "less-waits"
    elif clock not in CLOCKS:
        raise wrong.refused("--clock", clock, " or ".join(CLOCKS))
    fetch_ns = nanoseconds(fetch)
    if fetch_ns is None:
        raise wrong.refused("--fetch", fetch, "a time such as 3us, or 0")
    if fetch_ns and clock == "wall":
        raise wrong.refused("--fetch", fetch, "0 with --clock wall, as its times include the recorded fetches")
    for recording in found:
        if clock == "own" and not recording.summary.plain_s:
            raise ApplicationError(
                f"error: {recording.path} has no run time without the instrument, which --clock own needs\n"
                " = allowed: recordings of `incast memory record --plain`, or --clock less-waits"
            )
        if recording.summary.fetches < 2 * MEMORIES:
            raise ApplicationError(
                f"{recording.path}: {recording.summary.fetches} fetches are too few, at least {2 * MEMORIES} needed"
            )
    with staged(Path(output), overwrite=overwrite, marks=(FLOWS, SCENARIO)) as folder:
        with reading(found):
            made = _write_flows(found, folder, clock, fetch_ns, progress or (lambda _: None))
        text = _scenario(found, nodes, scale, samples, duration)
        with writing(Path(output) / SCENARIO):
            (folder / SCENARIO).write_text(text, encoding="utf-8")
    most = max(made.rates) * samples * PAGE * 8 / (HOST_RATE_GBPS * 1e9)
    return Traffic(Path(output), clock, made.flows, made.seconds, sum(made.rates) / len(made.rates), most)


@dataclass(frozen=True)
class _Flows:
    """Flows that were written."""

    flows: int
    seconds: float
    rates: Sequence[float]
    """Fetches a second of each CPU blade."""


def _write_flows(
    recordings: Sequence[Recording], folder: Path, clock: Clock, fetch_ns: float, tell: Callable[[str], object]
) -> _Flows:
    """Write the flows of a system."""
    scratch = folder / "scratch.duckdb"
    files = [folder / FLOWS, *(recording.trace for recording in recordings)]
    with _database.connect(files, database=scratch, memory_limit=MEMORY_LIMIT) as connection:
        for number, recording in enumerate(recordings):
            tell(f"times of {recording.path.name}")
            connection.execute(f"create table shifted_{number} as {_shifted(recording, clock, fetch_ns)}")
        tell("writing the flows")
        each = " union all ".join(f"select {cpu} as cpu, * from shifted_{cpu % len(recordings)}" for cpu in range(CPUS))
        # Knuth's multiplicative hash, which spreads neighbours.
        connection.execute(
            f"""
            copy (
              with placed as (select *, (page::ubigint * 2654435761 // 65536) % {MEMORIES} as memory from ({each}))
              select time_ns, if(kind = 'read', 'memory' || memory, 'cpu' || cpu) as src,
                if(kind = 'read', 'cpu' || cpu, 'memory' || memory) as dst, {PAGE} as size_bytes
              from placed order by time_ns
            ) to ? ({PARQUET_FILE})
            """,
            [str(folder / FLOWS)],
        )
        facts = [
            connection.execute(
                "select count(*), max(time_ns), count(*) filter (kind = 'read'), "
                f"max(time_ns) filter (kind = 'read') - min(time_ns) filter (kind = 'read') from shifted_{number}"
            ).fetchall()[0]
            for number in range(len(recordings))
        ]
    scratch.unlink()
    of_cpus = [facts[cpu % len(recordings)] for cpu in range(CPUS)]
    for recording, (_, _, _, lasted) in zip(recordings, facts, strict=True):
        if not lasted:
            raise ApplicationError(f"{recording.path}: all fetches are at the same time, so there are no gaps to draw")
    rates = [(fetches - 1) / (lasted / 1e9) for _, _, fetches, lasted in of_cpus]
    return _Flows(sum(rows for rows, *_ in of_cpus), max(last for _, last, _, _ in facts) / 1e9, rates)


def _shifted(recording: Recording, clock: Clock, fetch_ns: float) -> str:
    """A query for a recording's rows with their times by a clock.

    Pages that are sent away have no thread that waits: theirs is the clock of the thread whose fetch evicted them.
    """
    trace = _database.literal(str(recording.trace))
    waits = "0" if clock == "wall" else "software_ns + achieved_ns"
    whole_ns, plain_ns = recording.summary.seconds * 1e9, (recording.summary.plain_s or 0.0) * 1e9
    # What a thread computed is all the time for which it did not wait for a page.
    factor = f"{plain_ns!r} / greatest({whole_ns!r} - sum({waits}) over (partition by process, thread), 1)"
    until = "over (partition by process, thread order by number rows between unbounded preceding and 1 preceding)"
    last = "over (partition by process order by number)"
    return f"""
        with rows as (select *, row_number() over (order by time_ns, kind) as number from read_parquet({trace})),
          fetches as (
            select number, coalesce(sum({waits}) {until}, 0) as stood,
              {fetch_ns!r} * (count(*) {until}) as longer,
              {factor if clock == "own" else "1"} as factor from rows where kind = 'read'),
          known as (
            select process, number, time_ns, kind, page, last_value(stood ignore nulls) {last} as stood,
              last_value(longer ignore nulls) {last} as longer, last_value(factor ignore nulls) {last} as factor
            from rows left join fetches using (number))
        select greatest(0, (time_ns - coalesce(stood, 0)) * coalesce(factor, {_first_factor(clock, plain_ns, whole_ns)})
          + coalesce(longer, 0))::bigint as time_ns, kind, page from known
        """


def _first_factor(clock: Clock, plain_ns: float, whole_ns: float) -> str:
    """By what the time of a process is scaled before its first fetch."""
    return repr(plain_ns / whole_ns) if clock == "own" else "1"


def _one_line(text: str) -> str:
    """A text as TOML takes it in one line: names and commands may hold anything."""
    return "".join(each if each.isprintable() else "?" for each in " ".join(text.split()))


def _scenario(recordings: Sequence[Recording], nodes: int, scale: Scale, samples: int, duration: str) -> str:
    """The scenario, with the network of the resource disaggregation study."""
    title = _one_line("Remote memory of " + ", ".join(recording.path.name for recording in recordings))
    commands = (_one_line(" ".join([f"{each.path.name}:", *each.summary.command])) for each in recordings)
    comment = "\n".join(f"#   {command}"[:118] for command in commands)
    return f"""\
# Traffic between CPU and memory blades, drawn from recorded page fetches of real programs:
{comment}
# Measured: gaps between fetches. Modelled: places of pages, and {samples} such programs on each host of the datacenter.
title = {json.dumps(title, ensure_ascii=False)}

# Network of the resource disaggregation study (Gao et al., OSDI 2016; NetSys/simulator): racks of 16, full bisection,
# 0.2 us per link.
[fabric.leaf_spine]
leaves = {nodes // PER_RACK}
spines = {SPINES}
hosts_per_leaf = {PER_RACK}
host_rate = "{HOST_RATE_GBPS}Gbps"
uplink_rate = "{PER_RACK * HOST_RATE_GBPS // SPINES}Gbps"
delay = "200ns"

[[service]]
name = "arbiter"
at = "leaf0"

[[workload]]
[workload.disaggregated]
trace = "{FLOWS}"
scale = "{scale}"
samples = {samples}
duration = "{duration}"

[network]
load_balancing.spray = {{ order = "round-robin", acks = true }}

[host]
nic_queue = "port"

[switch]
forwarding = "cut-through"

[scheme.pFabric]
transport.pfabric.profile = "disaggregation"

[scheme.pHost]
transport.phost.profile = "disaggregation"

[scheme.Fastpass]
transport.fastpass = {{ profile = "optimistic", arbiter = "arbiter" }}

[scheme.TCP]
transport.tcp.profile = "disaggregation"
"""
