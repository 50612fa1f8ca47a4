"""The reference page of sweeps, made from the classes that a sweep file is read into and the columns of its dataset."""

from __future__ import annotations

from collections.abc import Iterator

from fields import table
from incast.sweep.columns import OF_SLOWDOWN
from incast.sweep.dataset import HEAD, OF_RUNS
from incast.sweep.file import Axis, Point, Scale, SweepFile

RUNS = {
    "run": "key of the run and name of its folder: a digest of its scenario, files, varied parameters and the "
    "build of incast",
    "scheme": "scheme",
    "state": "`done`, `failed`, or `waiting` if the sweep ended before it",
    "error": "error of a failed run",
    "wall_s": "wall-clock time of the run in seconds",
    "cpu_s": "CPU seconds of the simulation",
    "flows": "flows of the workload",
    "completed": "completed flows",
    "packet_hops": "packets per link crossed: data, acknowledgements, PFC frames",
    "end_ps": "simulated time at the end, in ps",
    "stop": "stop reason: `finished`, `horizon`, `deadlock`, …",
    "lossless_drops": "lossless packets dropped because the PFC headroom was exceeded, without drops by the PFC "
    "watchdog",
    "watchdog_drops": "packets dropped by the PFC watchdog",
    "watchdog_lossless_drops": "lossless packets dropped by the PFC watchdog",
    "watchdog_bytes": "wire bytes dropped by the PFC watchdog, in B",
    "deadlocks": "PFC deadlocks, including those that a watchdog ended",
    "isolation_messages": "congestion isolation messages sent by switches",
    "isolation_messages_to_hosts": "congestion isolation messages received by hosts",
    "isolations_refused": "flows not isolated because the port's table was full",
    "hypervisor_messages": "messages between hypervisors; missing without them",
    "hypervisor_message_bytes": "wire bytes of messages between hypervisors",
    "hypervisor_events": "updates of rate limits and divisions of guarantees, of pairs and VMs",
}
SLOWDOWN = {
    "scheme": "scheme",
    "bin": "bin of flow sizes, 0 to 19, with about equally many flows; a size is in one bin, so bins can be missing",
    "flows": "completed flows",
    "size_min_bytes": "smallest flow, in B",
    "size_max_bytes": "largest flow, in B",
    "p50": "median slowdown over the HPCC evaluation's ideal time; at least 1",
    "p95": "95th percentile",
    "p99": "99th percentile",
    "mean": "mean",
    "max": "maximum",
}
FILES = {
    "sweep.json": "sweep, version, outcome of each run",
    "sweep.toml, scenario.toml": "sweep file and scenario file",
    "runs.parquet": "one row per run, [below](#runs)",
    "runs/KEY/": "[results folder](results.md) of one scheme of a finished run; tables end with the varied parameters",
    "runs/KEY/slowdown.parquet": "slowdowns by flow size, [below](#slowdown)",
    "runs/KEY/SHA256SUMS": "checksums; a resumed sweep repeats a run whose files differ",
    "aside/KEY/": "finished runs that the sweep no longer includes; reused if it does again",
}


def page() -> Iterator[str]:
    """The lines of the page."""
    yield from [
        "# Sweep file",
        "",
        "`incast sweep` reads it. [How to use one](../howto/sweeps.md); [design](../design/sweeps.md).",
        "",
    ]
    for heading, cls in (
        ("The file", SweepFile),
        ("vary", Axis),
        ("vary.points", Point),
        ("scale.NAME", Scale),
    ):
        yield from [f"## {heading}", "", (cls.__doc__ or "").strip(), "", *table(cls)]
    yield from ["## The folder", "", "| file | content |", "|---|---|"]
    yield from (f"| {', '.join(f'`{one}`' for one in name.split(', '))} | {text} |" for name, text in FILES.items())
    yield from ["", "## runs", "", "The varied parameters follow `run`.", ""]
    assert list(RUNS) == [*HEAD, *OF_RUNS]
    yield from (f"- `{name}`: {text}" for name, text in RUNS.items())
    yield from ["", "## slowdown", "", "The varied parameters follow.", ""]
    assert list(SLOWDOWN) == list(OF_SLOWDOWN)
    yield from (f"- `{name}`: {text}" for name, text in SLOWDOWN.items())
