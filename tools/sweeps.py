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
    "completed": "flows that completed",
    "packet_hops": "packets, counted once per link crossed: data, acknowledgements, PFC frames",
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
    "bin": "bin of flow sizes, from 0; 20 bins of equally many flows",
    "flows": "completed flows in it",
    "size_min_bytes": "smallest of them, in B",
    "size_max_bytes": "largest of them, in B",
    "p50": "median of their slowdowns, by the ideal time of the HPCC evaluation; below 1 counts as 1",
    "p95": "95th percentile",
    "p99": "99th percentile",
    "mean": "mean",
    "max": "largest",
}
FILES = {
    "sweep.json": "what was asked for, by which version, and what became of each run",
    "sweep.toml, scenario.toml": "the sweep file and the scenario file",
    "runs.parquet": "a row for each run, [below](#runs)",
    "runs/KEY/": "a [results folder](results.md) of one scheme for each finished run; every table has the varied "
    "parameters as columns at its end",
    "runs/KEY/slowdown.parquet": "slowdowns by flow size, [below](#slowdown)",
    "aside/KEY/": "finished runs that the sweep, as it was run last, does not ask for; they come back if it does again",
}


def page() -> Iterator[str]:
    """The lines of the page."""
    yield from [
        "# Sweeps",
        "",
        "A sweep file is what `incast sweep` reads. How one is used: [sweeps](../howto/sweeps.md); why it is as it is: "
        "[decisions](../design/sweeps.md).",
        "",
    ]
    for heading, cls in (
        ("The file", SweepFile),
        ("vary", Axis),
        ("vary.points", Point),
        ("scale.NAME", Scale),
    ):
        yield from [f"## {heading}", "", (cls.__doc__ or "").strip(), "", *table(cls)]
    yield from ["## The folder", "", "| file | holds |", "|---|---|"]
    yield from (f"| {', '.join(f'`{one}`' for one in name.split(', '))} | {text} |" for name, text in FILES.items())
    yield from ["", "## runs", "", "The varied parameters follow `run`.", "", "| column | meaning |", "|---|---|"]
    assert list(RUNS) == [*HEAD, *OF_RUNS]
    yield from (f"| `{name}` | {text} |" for name, text in RUNS.items())
    yield from ["", "## slowdown", "", "The varied parameters follow.", "", "| column | meaning |", "|---|---|"]
    assert list(SLOWDOWN) == list(OF_SLOWDOWN)
    yield from (f"| `{name}` | {text} |" for name, text in SLOWDOWN.items())
