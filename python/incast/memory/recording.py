"""Records the page fetches of a program: a folder with a trace and a summary."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from os import PathLike
from pathlib import Path
from typing import Any, BinaryIO

from incast import _core, _database, _input
from incast._whole import as_usual, writing
from incast.errors import ApplicationError, EnvironmentFailure, ResultsExistError
from incast.integrity import sha256
from incast.memory import program
from incast.memory.possible import require
from incast.memory.run import Instrument, Run, Session, run_plainly
from incast.memory.summary import Summary, summarised
from incast.memory.supervised import STOPPED, Ended

PLAIN_RUNS = 3
"""Number of runs without the instrument, to measure the program's own time (our choice)."""
TRACE, SUMMARY = "trace.parquet", "summary.json"
COLUMNS = ("time_ns", "process", "thread", "page", "kind", "achieved_ns", "software_ns")
"""Columns of a trace."""


@dataclass(frozen=True)
class Recording:
    """A folder that `record` has written."""

    path: Path
    """The folder."""
    summary: Summary
    """Its summary.json."""

    @property
    def trace(self) -> Path:
        """The fetches and write-backs, as a Parquet file."""
        return self.path / TRACE

    @property
    def code(self) -> int:
        """The exit code of the program; 128 and its number for a signal."""
        return self.summary.code


def record(
    command: Sequence[str],
    output: str | PathLike[str],
    instrument: Instrument | None = None,
    *,
    overwrite: bool = False,
    quiet: BinaryIO | None = None,
    plain: bool = False,
    progress: Callable[[str], object] | None = None,
) -> Recording:
    """Run a program with part of its memory remote, and record its fetches.

    Args:
        command: The program and its arguments. Its input and output are incast's own.
        output: The folder to write.
        instrument: Settings of the memory server. Default: a quarter of the memory is local.
        overwrite: Replace an existing recording.
        quiet: File for the program's output; its input is then empty.
        plain: First run it three times without the instrument and keep the median time, which the clock `own` of
            `write_traffic` needs. The input is empty in all runs; only the recorded run prints.
        progress: Called with each step after the end of the program.

    Raises:
        ApplicationError: The program does not exist or cannot be instrumented, or `instrument` is not valid. Nothing
            was run.
        EnvironmentFailure: The machine or the user lacks a requirement, which the message names.
        ResultsExistError: The folder exists.

    """
    instrument = instrument or Instrument()
    tell = progress or (lambda _: None)
    with staged(Path(output), overwrite=overwrite) as folder:
        own = _run_plainly(command, instrument) if plain else []
        run = Session(instrument, folder).run(command, quiet, no_input=plain)
        tell("writing the trace")
        write_trace(run, folder / TRACE)
        tell("writing the summary")
        found = summarised(command, instrument, run, folder / TRACE, own)
        text = json.dumps(asdict(found), indent=2) + "\n"
        with writing(Path(output) / SUMMARY):
            (folder / SUMMARY).write_text(text, encoding="utf-8")
    return Recording(Path(output), found)


def _run_plainly(command: Sequence[str], instrument: Instrument) -> list[Ended]:
    """Runs without the instrument, after checking that the program can be instrumented."""
    program.check(command)
    require()
    found: list[Ended] = []
    for _ in range(PLAIN_RUNS):
        with tempfile.TemporaryFile() as unseen:
            found.append(run_plainly(command, unseen, one_core=instrument.one_core))
        if found[-1].code in STOPPED:
            raise KeyboardInterrupt(*STOPPED[found[-1].code])
    return found


def open_recording(path: str | PathLike[str]) -> Recording:
    """Open a folder that `record` has written."""
    folder = Path(path)
    if not all((folder / name).is_file() for name in (TRACE, SUMMARY)):
        allowed = f"a folder written by `incast memory record`, with {TRACE} and {SUMMARY}"
        raise ApplicationError(f"error: {folder} is not a recording\n = allowed: {allowed}")
    try:
        found: dict[str, Any] = _input.read_json(folder / SUMMARY, ApplicationError)
        summary = Summary.of(found)
        _input.check(folder / TRACE, ApplicationError)
        if summary.trace_sha256 not in ("", sha256(folder / TRACE)):
            raise _damaged(folder / TRACE, f"its SHA-256 is not that of {SUMMARY}: it was changed or truncated")
    except (OSError, ValueError, TypeError) as error:
        raise _damaged(folder / SUMMARY, str(error)) from None
    return Recording(folder, summary)


@contextmanager
def reading(recordings: Sequence[Recording]) -> Iterator[None]:
    """Raise errors of the database that reads traces as errors about a damaged trace or about the machine.

    An error that quotes a damaged file is a `UnicodeDecodeError`.
    """
    import duckdb

    try:
        yield
    except duckdb.OutOfMemoryException as error:
        raise EnvironmentFailure(_first_line(error)) from None
    except (duckdb.Error, UnicodeDecodeError) as error:
        for recording in recordings:
            if why := _unreadable(recording.trace):
                raise _damaged(recording.trace, why) from None
        if isinstance(error, duckdb.IOException):
            raise EnvironmentFailure(_first_line(error)) from None
        traces = " or ".join(str(recording.trace) for recording in recordings)
        raise ApplicationError(f"{traces} is damaged: {_first_line(error)}") from None


def _unreadable(trace: Path) -> str | None:
    """The error of reading all rows and columns of a trace."""
    import duckdb

    try:
        with _database.connect([trace]) as connection:
            connection.execute(f"select sum(hash({', '.join(COLUMNS)})) from read_parquet(?)", [str(trace)]).fetchall()
    except (duckdb.Error, UnicodeDecodeError) as error:
        return _first_line(error)
    return None


def _damaged(file: Path, why: str) -> ApplicationError:
    return ApplicationError(f"{file} is damaged: {why}; record the program again")


def _first_line(error: Exception) -> str:
    return str(error).strip().partition("\n")[0]


def write_trace(run: Run, out: Path) -> None:
    """Write a run's records as a Parquet file, and delete the raw records."""
    raw = [(process.ordinal, process.raw) for process in run.processes]
    try:
        _core.memory_trace(out, run.ended.start_ns, raw)
    except OSError as error:
        raise EnvironmentFailure(f"{out}: {error.strerror or error}") from None
    for _, file in raw:
        file.unlink()


@contextmanager
def staged(output: Path, *, overwrite: bool, marks: Sequence[str] = (TRACE, SUMMARY)) -> Iterator[Path]:
    """A temporary folder that is renamed to `output` on success.

    With `overwrite` it replaces an existing folder that has all files of `marks`, never another one.
    """
    _refuse(output, marks, overwrite=overwrite)
    parent = output.parent
    made = [each for each in (parent, *parent.parents) if not each.exists()]
    try:
        parent.mkdir(parents=True, exist_ok=True)
        folder = Path(tempfile.mkdtemp(prefix=f".{output.name}.", dir=parent))
    except OSError as error:
        raise EnvironmentFailure(f"{parent}: {error.strerror}") from None
    try:
        yield folder
        as_usual(folder, 0o777)
        _refuse(output, marks, overwrite=overwrite)
        if output.exists():
            shutil.rmtree(output)
        folder.rename(output)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        for each in made:
            with suppress(OSError):
                each.rmdir()
        raise


def _refuse(output: Path, marks: Sequence[str], *, overwrite: bool) -> None:
    """Raise if the folder exists and must not be replaced."""
    if not output.exists():
        return
    if not all((output / mark).is_file() for mark in marks):
        raise ResultsExistError(
            f"{output} exists and has no {' and '.join(marks)}: it is never overwritten; choose another place with "
            "--output"
        )
    if not overwrite:
        raise ResultsExistError(f"{output} exists already; it was not changed")
