"""One run of a sweep: simulate, and put everything that the dataset holds of it into one folder."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

import duckdb

from incast import _core
from incast.errors import translated
from incast.progress import Progress
from incast.results import Results
from incast.sweep.file import Value

SLOWDOWN = "slowdown.parquet"
"""Table of slowdowns by flow size, beside those of every results folder: 20 bins, reference ideal, at least 1."""


@dataclass(frozen=True)
class Task:
    """A run as it is handed to whoever does it; plain values only."""

    key: str
    """The run's key."""
    tree: str
    """The whole scenario, as JSON text."""
    base: str
    """Where the files that it names are looked for."""
    columns: dict[str, Value]
    """The varied parameters."""

    def to_json(self) -> str:
        """As one line of text."""
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> Task:
        """From that line."""
        return cls(**json.loads(text))


@dataclass(frozen=True)
class Pulse:
    """How far a run has come."""

    fraction: float
    """Part of the payload that has been acknowledged, 0 to 1."""
    packet_hops: int
    """Packets simulated, counted once per link crossed."""


def execute(task: Task, folder: Path, tell: Callable[[Pulse], object]) -> None:
    """Simulate `task` and write `folder`, which must not be there.

    Raises:
        IncastError: What a run can fail with.

    """

    def told(text: str) -> None:
        (scheme,) = Progress.from_json(text).schemes
        tell(Pulse(scheme.fraction, scheme.packet_hops))

    with translated():
        scenario = _core.Scenario.from_json(task.tree, task.base)
        results = Results(scenario.run(folder, False, 1, told, json.dumps(task.columns)))
    _write_slowdown(results, task.columns, folder / SLOWDOWN)


def _write_slowdown(results: Results, columns: dict[str, Value], file: Path) -> None:
    """The slowdowns by flow size, with the varied parameters."""
    select = ", ".join(["*", *(f"{literal(value)} as {quoted(name)}" for name, value in columns.items())])
    with duckdb.connect() as connection:
        connection.register("slowdowns", results.slowdown())
        connection.execute(
            f"copy (select {select} from slowdowns) to {literal(str(file))} (format parquet, compression zstd)"
        )


def quoted(name: str) -> str:
    """A name as SQL writes it."""
    return '"' + name.replace('"', '""') + '"'


def literal(value: Value) -> str:
    """A value as SQL writes it."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return f"{value!r}::double"
    return f"{value}::bigint" if isinstance(value, int) else "'" + value.replace("'", "''") + "'"
