"""The folder of a sweep on disk: finished runs and other files, with a lock for one sweep at a time."""

from __future__ import annotations

import fcntl
import os
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, TextIO

import incast
from incast import _database, _input
from incast._whole import remove_partial, write_text, writing
from incast.errors import EnvironmentFailure, ResultsError, ResultsExistError
from incast.integrity import check_finished, write_sums

FORMAT = 1
"""Version of the layout."""
INDEX = "sweep.json"
"""Index of the sweep: columns, runs and their states."""
RUNS = "runs"
"""Folder of the finished runs."""
RUNS_TABLE = "runs.parquet"
"""Table with a row for each run."""
ASIDE = "aside"
"""Folder of finished runs that the current sweep file does not contain."""
WORK = ".work"
"""Folder of unfinished runs."""
LOCK = ".sweep.lock"
"""Lock of the active sweep. It is the first file of the folder, and identifies the folder as a sweep's."""


class SweepFolder:
    """The folder of a sweep.

    A finished run is a folder in `runs`, moved there by one rename. A killed sweep needs nothing else to resume.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.runs = path / RUNS
        self.aside = path / ASIDE
        # A process of a killed sweep may still be writing: use other names.
        self.own = f"{os.getpid()}-{time.monotonic_ns()}"
        self.damaged: dict[str, str] = {}
        """Damage of finished runs that `prepare` has removed, by key."""

    def finished(self) -> set[str]:
        """Keys of the finished runs."""
        return {entry.name for entry in self.runs.iterdir()} if self.runs.is_dir() else set()

    def prepare(self, keys: frozenset[str]) -> set[str]:
        """Move finished runs with these keys into `runs` and all others out of it; returns the keys in `runs`.

        Compares their files with the checksums, and removes damaged runs.
        """
        shutil.rmtree(self.path / WORK, ignore_errors=True)
        with writing(self.path):
            remove_partial(self.path)
            self.runs.mkdir(parents=True, exist_ok=True)
            (self.path / WORK).mkdir(mode=0o700, exist_ok=True)
            for key in self.finished() - keys:
                self.aside.mkdir(exist_ok=True)
                (self.runs / key).rename(self.aside / key)
            for key in keys - self.finished():
                if (self.aside / key).is_dir():
                    (self.aside / key).rename(self.runs / key)
            there = sorted(self.finished())
            found = zip(there, check_finished([self.runs / key for key in there]), strict=True)
            self.damaged = {key: damage for key, damage in found if damage is not None}
            for key in self.damaged:
                _remove(self.runs / key)
        return self.finished()

    def work(self, key: str) -> Path:
        """Folder of an unfinished run: as deep as that of the finished one, for relative paths."""
        return self.path / WORK / f"{self.own}-{key}"

    def commit(self, key: str) -> None:
        """Move a finished run to its place."""
        folder = self.work(key)
        write_sums(folder)
        for path in (*folder.iterdir(), folder):
            _sync(path)
        folder.rename(self.runs / key)
        _sync(self.runs)

    def write(self, name: str, text: str) -> None:
        """Write a file into the folder atomically."""
        write_text(self.path / name, text)

    @contextmanager
    def held(self) -> Iterator[None]:
        """Lock the folder for this sweep; creates it if needed."""
        ours = (self.path / LOCK).is_file() or _input.exists(self.path / INDEX)
        if self.path.exists() and not ours and (not self.path.is_dir() or any(self.path.iterdir())):
            raise ResultsExistError(f"{self.path} exists and is not a sweep; it is never overwritten")
        # DuckDB reads and writes the tables of the folder: better refused now than after the first run.
        _database.utf8(self.path)
        if _input.exists(self.path / INDEX):
            read_index(self.path)
        taken = f"another sweep is running in {self.path}; it is never overwritten; choose another folder"
        with locked(self.lock(), taken):
            try:
                yield
            finally:
                shutil.rmtree(self.path / WORK, ignore_errors=True)

    def lock(self) -> TextIO:
        """The opened lock file; if it cannot be opened, folders created for it are removed."""
        made = [folder for folder in (self.path, *self.path.parents) if not folder.exists()]
        try:
            with writing(self.path):
                self.path.mkdir(parents=True, exist_ok=True)
                return (self.path / LOCK).open("w")
        except EnvironmentFailure:
            for folder in made:
                with suppress(OSError):
                    folder.rmdir()
            raise


@contextmanager
def locked(file: TextIO, taken: str) -> Iterator[None]:
    """Lock an opened file, and close it at the end. If another process has locked it, `taken` is the error."""
    try:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise ResultsExistError(taken) from None
        except OSError as error:
            raise EnvironmentFailure(f"cannot lock {file.name}: {error.strerror}; choose another file system") from None
        yield
    finally:
        # Nothing is written to it. Closing fails if its file system is gone, which is not the error to report.
        with suppress(OSError):
            file.close()


def _remove(path: Path) -> None:
    """Remove a file or a folder."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink()


def _sync(path: Path) -> None:
    """Flush a file or a folder to disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


SCALAR = (str, int, float)
"""Types of values of columns."""


def read_index(path: Path) -> dict[str, Any]:
    """The index of a sweep's folder."""
    file = path / INDEX
    if not path.is_dir():
        raise ResultsError(f"{path}: no such folder")
    if not _input.exists(file):
        raise ResultsError(f"{path} is not the folder of a sweep: it has no {INDEX}")
    try:
        index: dict[str, Any] = _input.read_json(file, ResultsError)
    except ValueError as error:
        raise ResultsError(f"{file} is damaged: {error}") from None
    found = index.get("format") if isinstance(index, dict) else None
    if found is None:
        raise ResultsError(f"{file} is damaged: it has no `format`")
    if found != FORMAT:
        wrote = index.get("incast", "another version")
        raise ResultsError(
            f"{path} has layout {found}, written by incast {wrote}; incast {incast.__version__} reads layout {FORMAT}"
        )
    if why := _wrong(index):
        raise ResultsError(f"{file} is damaged: {why}")
    return index


def _wrong(index: dict[str, Any]) -> str | None:
    """The first entry of an index that has another type than the one that sweeps write, if any."""
    if not isinstance(index.get("title"), str | None):
        return "title must be a text"
    columns, runs = index.get("columns"), index.get("runs")
    if not isinstance(columns, list) or not all(isinstance(column, dict) for column in columns):
        return "columns must be a list of objects"
    for place, column in enumerate(columns):
        if not isinstance(column.get("name"), str):
            return f"columns[{place}].name must be a text"
        values = column.get("values")
        if not isinstance(values, list) or not all(isinstance(value, SCALAR) for value in values):
            return f"columns[{place}].values must be a list of texts and numbers"
    if not isinstance(runs, list) or not all(isinstance(run, dict) for run in runs):
        return "runs must be a list of objects"
    names = {column["name"] for column in columns}
    for place, run in enumerate(runs):
        if not all(isinstance(run.get(name), str) for name in ("key", "scheme")):
            return f"runs[{place}].key and .scheme must be texts"
        its = run.get("columns")
        if not isinstance(its, dict) or its.keys() != names or not all(isinstance(one, SCALAR) for one in its.values()):
            return f"runs[{place}].columns must have a text or a number for each of columns"
    return None
