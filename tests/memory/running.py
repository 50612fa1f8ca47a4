"""Programs under the instrument of `incast memory`: how tests start them, and what to see where none is allowed."""

from __future__ import annotations

import functools
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, ParamSpec

import duckdb

from conftest import PATIENCE, environment
from incast import memory

P = ParamSpec("P")
LISTS = "x = list(range(300_000)); sum(x)"
"""A Python program whose lists are 12 MiB, which it fetches in part with a quarter of them local."""


@functools.cache
def permitted() -> bool:
    """True if this user may serve page faults on this machine."""
    return memory.impossible() is None


def served(test: Callable[P, None]) -> Callable[P, None]:
    """Where page faults may not be served, have a test see that the command says so and how to get it."""

    @functools.wraps(test)
    def run(*arguments: P.args, **named: P.kwargs) -> None:
        if permitted():
            test(*arguments, **named)
        else:
            see_refusal()

    return run


def see_refusal() -> None:
    """The command fails as one that the machine cannot do, and leaves nothing."""
    with tempfile.TemporaryDirectory() as folder:
        run = [sys.executable, "-m", "incast", "memory", "record", "-o", f"{folder}/out", "--", "true"]
        done = subprocess.run(run, env=environment(), capture_output=True, text=True, timeout=2 * PATIENCE, check=False)
        assert done.returncode == 3, done.stderr
        assert "program was not started" in done.stderr
        if "userfaultfd)" in done.stderr:
            assert "sysctl vm.unprivileged_userfaultfd=1" in done.stderr
        assert list(Path(folder).iterdir()) == []


def record(folder: Path, command: list[object], **instrument: Any) -> tuple[memory.Recording, str]:
    """Record a program; gives what it printed, too."""
    asked = memory.Instrument(**instrument)
    with (folder / "printed").open("w+b") as printed:
        found = memory.record([str(each) for each in command], folder / "recording", asked, quiet=printed)
        printed.seek(0)
        return found, printed.read().decode()


def rows(recording: memory.Recording, query: str) -> list[tuple[Any, ...]]:
    """Rows of a query of a recording's trace, named `trace`."""
    with duckdb.connect() as connection:
        connection.execute(f"create view trace as from read_parquet('{recording.trace}')")
        return connection.execute(query).fetchall()


def running_in(folder: Path) -> list[int]:
    """Processes that have a folder as theirs."""
    found = []
    for entry in os.scandir("/proc"):
        if entry.name.isdigit():
            with suppress(OSError):
                if Path(entry.path, "cwd").readlink() == folder:
                    found.append(int(entry.name))
    return found
