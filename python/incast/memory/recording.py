"""Records what a program fetches from remote memory: a folder with a trace and a summary."""

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

from incast import _core
from incast._whole import as_usual
from incast.errors import ApplicationError, EnvironmentFailure, ResultsExistError
from incast.memory import program
from incast.memory.possible import require
from incast.memory.run import Instrument, Run, Session, run_plainly
from incast.memory.summary import Summary, summarised
from incast.memory.supervised import STOPPED, Ended

PLAIN_RUNS = 3
"""Runs without the instrument, for a program's own time (our choice)."""
TRACE, SUMMARY = "trace.parquet", "summary.json"


@dataclass(frozen=True)
class Recording:
    """A folder that `record` has written."""

    path: Path
    """The folder."""
    summary: Summary
    """What its summary.json says."""

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
        output: The folder to be written, whole or not at all.
        instrument: How its memory is served; a quarter of it local if not given.
        overwrite: Replace such a folder if it is there.
        quiet: A file for all that the program writes; its input is empty then.
        plain: Run it three times without the instrument first, and keep what that takes in the median: its own time,
            which the clock `own` of `write_traffic` needs. Its input is empty in all runs, and what those write is not
            shown.
        progress: Called with what is being done, once the program has ended.

    Raises:
        ApplicationError: There is no such program, or it cannot be instrumented, or `instrument` is not possible;
            nothing was run.
        EnvironmentFailure: This machine or this user cannot; what is missing is said.
        ResultsExistError: The folder is there.

    """
    instrument = instrument or Instrument()
    tell = progress or (lambda _: None)
    with staged(Path(output), overwrite=overwrite) as folder:
        own = _run_plainly(command, instrument) if plain else []
        run = Session(instrument, folder).run(command, quiet, no_input=plain)
        tell("writing the trace")
        write_trace(run, folder / TRACE)
        tell("making the summary")
        found = summarised(command, instrument, run, folder / TRACE, own)
        text = json.dumps(asdict(found), indent=2) + "\n"
        (folder / SUMMARY).write_text(text, encoding="utf-8")
    return Recording(Path(output), found)


def _run_plainly(command: Sequence[str], instrument: Instrument) -> list[Ended]:
    """Runs without the instrument, if it can be run with it."""
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
    """A folder that `record` has written."""
    folder = Path(path)
    try:
        found: dict[str, Any] = json.loads((folder / SUMMARY).read_text(encoding="utf-8"))
        summary = Summary.of(found)
        (folder / TRACE).stat()
    except (OSError, ValueError, TypeError, KeyError):
        allowed = f"a folder that `incast memory record` has written, with {TRACE} and {SUMMARY}"
        raise ApplicationError(f"error: {folder} is no recording\n = allowed: {allowed}") from None
    return Recording(folder, summary)


def write_trace(run: Run, out: Path) -> None:
    """Write a run's records as a Parquet file, and delete what they were in."""
    raw = [(process.ordinal, process.raw) for process in run.processes]
    try:
        _core.memory_trace(out, run.ended.start_ns, raw)
    except OSError as error:
        raise EnvironmentFailure(f"{out}: {error.strerror or error}") from None
    for _, file in raw:
        file.unlink()


@contextmanager
def staged(output: Path, *, overwrite: bool, marks: Sequence[str] = (TRACE, SUMMARY)) -> Iterator[Path]:
    """A folder beside the place of another, which it takes if all goes well.

    Folders that have all files of `marks` may be replaced, if that is wanted; others never.
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
    """Raise if the folder is there and must stay."""
    if not output.exists():
        return
    if not all((output / mark).is_file() for mark in marks):
        raise ResultsExistError(
            f"{output} is there and has no {' and '.join(marks)}: it is never overwritten; name another place with "
            "--output"
        )
    if not overwrite:
        raise ResultsExistError(f"{output} exists already; it was left as it is")
