"""Turns recordings into traffic: the blades of a small system, and a scenario that fills a datacenter with such."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Literal

from incast.application import wrong
from incast.errors import ApplicationError
from incast.memory.amounts import nanoseconds
from incast.memory.protocol import PAGE
from incast.memory.recording import Recording, open_recording, staged

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
"""How long flows start if nothing is said (our choice)."""

Scale = Literal["datacenter", "rack"]
Clock = Literal["compute", "wall"]


@dataclass(frozen=True)
class Traffic:
    """A folder with a scenario, and what it was made from."""

    path: Path
    flows: int
    """Flows of the small system."""
    seconds: float
    """How long the program of the longest recording computed, or ran."""
    fetches_per_s: float
    """Of a CPU blade, in the mean."""

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
    clock: Clock = "compute",
    overwrite: bool = False,
) -> Traffic:
    """Write a scenario with the traffic of recorded programs, each on a CPU blade with its pages on five memory blades.

    CPU blade i of a system runs recording i modulo their number. A page lies on the memory blade that a hash of its
    number says; to fetch it is a flow from there of 4096 B, to send it away one back.

    Args:
        recordings: Folders that `record` has written, one at least.
        output: The folder to be written, whole or not at all.
        nodes: Hosts of the fabric, in racks of 16.
        scale: Whether the blades of a system are anywhere or in one rack.
        samples: How often each pair of blades is drawn.
        duration: How long flows start.
        clock: `compute`: the time of a thread stands still while it waits for a page, as on an infinitely fast
            network; `wall`: it does not, and what the instrument took is in the traffic.
        overwrite: Replace such a folder if it is there.

    Raises:
        ApplicationError: A recording is none or has too few fetches, or a value is not possible.
        ResultsExistError: The folder is there.

    """
    if not recordings:
        raise ApplicationError(
            "error: there is no recording\n = allowed: folders that `incast memory record` has written"
        )
    found = [open_recording(path) for path in recordings]
    nodes = wrong.whole("--nodes", nodes, "a whole number of hosts, a multiple of 16", PER_RACK)
    if nodes % PER_RACK:
        below = nodes - nodes % PER_RACK
        raise wrong.refused("--nodes", nodes, f"a multiple of {PER_RACK}: {below} or {below + PER_RACK}")
    samples = wrong.whole("--samples", samples, "a whole number, 1 or more", 1)
    if not nanoseconds(duration):
        raise wrong.refused("--duration", duration, "a time such as 5ms")
    for recording in found:
        if recording.summary.fetches < 2 * MEMORIES:
            raise ApplicationError(f"{recording.path}: {recording.summary.fetches} fetches are too few to draw from")
    with staged(Path(output), overwrite=overwrite, marks=(FLOWS, SCENARIO)) as folder:
        flows, seconds = _write_flows(found, folder / FLOWS, clock)
        text = _scenario(found, nodes, scale, samples, duration)
        (folder / SCENARIO).write_text(text, encoding="utf-8")
    fetches = sum(recording.summary.fetches for recording in found) / len(found)
    return Traffic(Path(output), flows, seconds, fetches / seconds)


def _write_flows(recordings: Sequence[Recording], out: Path, clock: Clock) -> tuple[int, float]:
    """Write the flows of a system; gives how many, and over how many seconds."""
    import duckdb

    # Pages that are sent away have no thread that waits: their time is that of the fetch that made room for itself.
    stopped = "software_ns + achieved_ns" if clock == "compute" else "0"
    with duckdb.connect() as connection:
        connection.execute("SET enable_progress_bar = false")
        for number, recording in enumerate(recordings):
            connection.execute(
                f"""
                create table shifted_{number} as
                with rows as (select *, row_number() over (order by time_ns, kind) as number from read_parquet(?)),
                  fetches as (
                    select *, coalesce(sum({stopped}) over (partition by process, thread order by number
                      rows between unbounded preceding and 1 preceding), 0) as stood from rows where kind = 'read')
                select (rows.time_ns - coalesce(fetches.stood, 0))::bigint as time_ns, rows.kind, rows.page
                from rows asof left join fetches on rows.process = fetches.process and rows.number >= fetches.number
                """,
                [str(recording.trace)],
            )
        each = " union all ".join(f"select {cpu} as cpu, * from shifted_{cpu % len(recordings)}" for cpu in range(CPUS))
        # Knuth's multiplicative hash, which spreads neighbours.
        connection.execute(
            f"""
            create table flows as
            with placed as (select *, (page::ubigint * 2654435761 // 65536) % {MEMORIES} as memory from ({each}))
            select greatest(time_ns, 0) as time_ns,
              if(kind = 'read', 'memory' || memory, 'cpu' || cpu) as src,
              if(kind = 'read', 'cpu' || cpu, 'memory' || memory) as dst,
              {PAGE} as size_bytes from placed order by time_ns
            """
        )
        connection.execute("copy flows to ? (format parquet, compression zstd)", [str(out)])
        count, last = connection.execute("select count(*), max(time_ns) from flows").fetchall()[0]
    return count, last / 1e9


def _one_line(text: str) -> str:
    """A text as TOML takes it in one line: names and commands may hold anything."""
    return "".join(each if each.isprintable() else "?" for each in " ".join(text.split()))


def _scenario(recordings: Sequence[Recording], nodes: int, scale: Scale, samples: int, duration: str) -> str:
    """The scenario, with the network of the resource disaggregation study."""
    title = _one_line("Remote memory of " + ", ".join(recording.path.name for recording in recordings))
    commands = (_one_line(" ".join([f"{each.path.name}:", *each.summary.command])) for each in recordings)
    told = "\n".join(f"#   {command}"[:118] for command in commands)
    return f"""\
# Traffic between CPU and memory blades, drawn from what real programs fetched from remote memory:
{told}
# Measured: their gaps. Modelled: where pages lie, and that {samples} such programs share a host, of which the
# datacenter is full.
title = {json.dumps(title, ensure_ascii=False)}

# The network of the resource disaggregation study (Gao et al., OSDI 2016; NetSys/simulator): racks of 16, full
# bisection, 0.2 us a link.
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
balance.spray = {{ order = "round-robin", acks = true }}

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
