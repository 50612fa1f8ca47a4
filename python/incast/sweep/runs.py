"""Columns of a sweep's table of runs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from incast import declared
from incast.declared import Counter

Manifest = dict[str, Any]

HEAD = {
    "run": "key of the run and name of its folder: a digest of its scenario, files, varied parameters and the "
    "build of incast",
    "scheme": "scheme",
    "state": "`done`, `failed`, or `waiting` if the sweep ended before it",
    "error": "error of a failed run",
}
"""Columns of every run, in addition to the varied parameters: names and descriptions."""


@dataclass(frozen=True)
class Column:
    """A column from the manifest of a finished run."""

    name: str
    """Its name."""
    type: str
    """Its DuckDB type."""
    description: str
    """Its description."""
    get: Callable[[Manifest, Manifest], Any]
    """Its value, from the manifest and the part of its only scheme; `None` if it is missing."""


@cache
def columns() -> tuple[Column, ...]:
    """Columns of finished runs: size and end of a run, then all counters."""
    return (*of_end(), *of_counters(declared.counters(), declared.hypervisor_counters()))


def of_end() -> tuple[Column, ...]:
    """Columns of size and end of a run."""
    hops = "packets per link crossed: data, acknowledgements, PFC frames"
    return (
        Column("wall_s", "double", "wall-clock time of the run in seconds", lambda run, _: run["wall_s"]),
        Column("cpu_s", "double", "CPU seconds of the simulation", lambda _, scheme: scheme["cpu_s"]),
        Column("flows", "bigint", "flows of the workload", lambda run, _: run["flows"]),
        Column("completed", "bigint", "completed flows", lambda _, scheme: scheme["completed"]),
        Column("packet_hops", "bigint", hops, lambda _, scheme: _packet_hops(scheme["counts"])),
        Column("end_ps", "bigint", "simulated time at the end, in ps", lambda _, scheme: scheme["end_ps"]),
        Column("stop", "varchar", f"stop reason: {_stops()}", lambda _, scheme: scheme["stop"]["reason"]),
        Column("deadlocks", "bigint", "PFC deadlocks, including those that a watchdog ended",
               lambda _, scheme: len(scheme.get("deadlocks", ()))),
    )  # fmt: skip


def of_counters(counters: Iterable[Counter], hypervisor_counters: Iterable[Counter]) -> Iterator[Column]:
    """Columns of counters: all of a run, then those of hypervisors."""
    yield from (_counter(each, "counts") for each in counters)
    yield from (_counter(each, "hypervisors") for each in hypervisor_counters)


def types(varied: Mapping[str, str]) -> dict[str, str]:
    """The DuckDB types of all columns by name; the varied parameters follow `run`."""
    run, *head = HEAD
    of_runs = {column.name: column.type for column in columns()}
    return {run: "varchar", **varied, **dict.fromkeys(head, "varchar"), **of_runs}


def _packet_hops(counts: Mapping[str, int]) -> int:
    return counts["data_hops"] + counts["ack_hops"] + counts["pfc_hops"]


def _stops() -> str:
    return ", ".join(f"`{name}`" for name in declared.stops())


def _counter(counter: Counter, part: str) -> Column:
    """The column of a counter in a part of the manifest; earlier versions lacked some counters."""
    name = counter.name if part == "counts" else f"hypervisor_{counter.name}"
    unit = f", in {counter.unit}" if counter.unit else ""
    missing = "" if part == "counts" else "; missing without hypervisors"
    about = f"{counter.description}{unit}{missing}"
    return Column(name, "bigint", about, lambda _, scheme: scheme.get(part, {}).get(counter.name))
