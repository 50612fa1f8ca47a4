"""One run of a sweep: simulates it and writes its folder of the dataset."""

from __future__ import annotations

import json
import os
import sys
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TextIO

from incast import _core, _database
from incast._database import PARQUET_FILE, quoted, utf8
from incast.errors import IncastError, ScenarioError, translated
from incast.progress import Progress
from incast.results import ALL, Results
from incast.sweep.file import Value
from incast.sweep.text import literal

SLOWDOWN = "slowdown.parquet"
"""Table of slowdowns by flow size, in addition to the tables of a results folder: 20 bins, HPCC's ideal, at least 1."""


@dataclass(frozen=True)
class Task:
    """A run as plain values, for worker processes."""

    key: str
    """The run's key."""
    digest: str
    """The key of its scenario and files when the sweep was planned."""
    tree: str
    """The whole scenario, as JSON text."""
    base: str
    """Folder of the files that it names."""
    columns: dict[str, Value]
    """The varied parameters."""
    threads: int = 1
    """Threads of the simulation, if its scenario asks for no more."""


@dataclass(frozen=True)
class Pulse:
    """Progress of a run."""

    fraction: float
    """Fraction of the payload that is acknowledged, 0 to 1."""
    packet_hops: int
    """Packets simulated, counted once per link crossed."""


def execute(task: Task, folder: Path, tell: Callable[[Pulse], object]) -> None:
    """Simulate `task` and write `folder`, which must not exist.

    Raises:
        IncastError: The run failed.

    """
    simulate(checked(task), task.columns, folder, tell, threads=task.threads)


def simulate(
    scenario: _core.Scenario,
    columns: dict[str, Value],
    folder: Path,
    tell: Callable[[Pulse], object],
    *,
    threads: int = 1,
) -> None:
    """Simulate a scenario of one scheme and write its folder of the dataset."""

    def progress(text: str) -> None:
        (scheme,) = Progress.from_json(text).schemes
        tell(Pulse(scheme.fraction, scheme.packet_hops))

    with translated():
        threads = max(threads, scenario.threads or 1)
        results = Results(scenario.run(folder, False, threads, progress, json.dumps(columns)))
    _write_slowdown(results, columns, folder / SLOWDOWN)


def checked(task: Task) -> _core.Scenario:
    """The scenario of a task; raises if its files have changed since the plan, as its key would be wrong."""
    with translated():
        scenario = _core.Scenario.from_json(task.tree, task.base)
        if scenario.key() != task.digest:
            files = ", ".join(map(str, scenario.files()))
            raise ScenarioError(f"a file of the scenario has changed since the sweep began: {files}")
    return scenario


def attempt(work: Callable[[], object]) -> str | None:
    """Call `work`; returns the error of a failed run. Signals that stop the process are passed on."""
    try:
        work()
    except (BrokenPipeError, KeyboardInterrupt, SystemExit):
        raise
    except IncastError as error:
        return str(error).removeprefix("error: ")
    except BaseException as error:  # a panic of the core is none of Exception
        return "".join(traceback.format_exception_only(error)).strip()
    return None


def messages() -> TextIO:
    """Reserve standard output for messages, and redirect output of libraries to standard error."""
    out = os.fdopen(os.dup(sys.stdout.fileno()), "w", encoding="utf-8")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    return out


def send(out: TextIO, message: dict[str, Any]) -> None:
    """One message: a line of JSON."""
    print(json.dumps(message), file=out, flush=True)


def _write_slowdown(results: Results, columns: dict[str, Value], file: Path) -> None:
    """The slowdowns of all flows by size, with the varied parameters."""
    select = ", ".join(
        ["* exclude (label)", *(f"{literal(value)} as {quoted(name)}" for name, value in columns.items())]
    )
    with _database.connect([file]) as connection:
        connection.register("slowdowns", results.slowdown(label=ALL))
        connection.execute(f"copy (select {select} from slowdowns) to {literal(utf8(file))} ({PARQUET_FILE})")
