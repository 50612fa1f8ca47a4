"""The folder of a sweep on disk: which runs are there, what is written beside them; only one sweep works in it."""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, TextIO

import incast
from incast.errors import EnvironmentFailure, ResultsError, ResultsExistError

FORMAT = 1
"""Version of the layout."""
INDEX = "sweep.json"
"""What was asked for, and what became of it."""
RUNS = "runs"
"""Where the finished runs are."""
ASIDE = "aside"
"""Where finished runs wait that the sweep as it is now does not ask for."""
WORK = ".work"
"""Where runs are written until they are whole."""
LOCK = ".sweep.lock"
"""Held by the sweep at work; the first file of the folder, and what tells it from a folder of something else."""


class SweepFolder:
    """The folder of a sweep.

    A finished run is a folder in `runs`, put there by one rename; nothing else has to be remembered for a sweep to go
    on after it was killed.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.runs = path / RUNS
        self.aside = path / ASIDE
        # A process of a sweep that was killed may write for a moment yet: not where this one does.
        self.work = path / WORK / f"{os.getpid()}-{time.monotonic_ns()}"

    def finished(self) -> set[str]:
        """Keys of the runs that are there."""
        return {entry.name for entry in self.runs.iterdir()} if self.runs.is_dir() else set()

    def prepare(self, keys: frozenset[str]) -> set[str]:
        """Make the folder hold, of these runs, those that were ever finished, and no other; returns their keys."""
        shutil.rmtree(self.work.parent, ignore_errors=True)
        with _writing(self.path):
            for folder in (self.runs, self.work):
                folder.mkdir(parents=True, exist_ok=True)
            for key in self.finished() - keys:
                self.aside.mkdir(exist_ok=True)
                (self.runs / key).rename(self.aside / key)
            for key in keys - self.finished():
                if (self.aside / key).is_dir():
                    (self.aside / key).rename(self.runs / key)
        return self.finished()

    def commit(self, key: str) -> None:
        """Put a run that is whole in its place."""
        folder = self.work / key
        for path in (*folder.iterdir(), folder):
            _sync(path)
        folder.rename(self.runs / key)
        _sync(self.runs)

    def write(self, name: str, text: str) -> None:
        """Write a file beside the runs, whole or not at all."""
        partial = self.path / f".{name}.partial"
        with _writing(self.path / name):
            partial.write_text(text, encoding="utf-8")
            partial.replace(self.path / name)

    @contextmanager
    def held(self) -> Iterator[None]:
        """Keep other sweeps out of the folder, which is made if need be."""
        ours = (self.path / LOCK).is_file() or (self.path / INDEX).is_file()
        if self.path.exists() and not ours and (not self.path.is_dir() or any(self.path.iterdir())):
            raise ResultsExistError(f"{self.path} exists and holds no sweep; it is never overwritten")
        if (self.path / INDEX).is_file():
            read_index(self.path)
        with self.lock() as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise ResultsExistError(
                    f"another sweep is at work in {self.path}, and it is never overwritten; name another folder"
                ) from None
            try:
                yield
            finally:
                shutil.rmtree(self.work.parent, ignore_errors=True)

    def lock(self) -> TextIO:
        """The lock's file, opened; a folder that had to be made for it does not stay without it."""
        made = [folder for folder in (self.path, *self.path.parents) if not folder.exists()]
        try:
            with _writing(self.path):
                self.path.mkdir(parents=True, exist_ok=True)
                return (self.path / LOCK).open("w")
        except EnvironmentFailure:
            for folder in made:
                with suppress(OSError):
                    folder.rmdir()
            raise


def _sync(path: Path) -> None:
    """Have a file or a folder on the disk, whatever happens to the machine."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


@contextmanager
def _writing(path: Path) -> Iterator[None]:
    """What the machine refuses is said of `path`."""
    try:
        yield
    except OSError as error:
        raise EnvironmentFailure(f"cannot write {path}: {error.strerror}") from None


def read_index(path: Path) -> dict[str, Any]:
    """What a sweep's folder says of itself."""
    file = path / INDEX
    if not path.is_dir():
        raise ResultsError(f"{path}: there is no such folder")
    if not file.is_file():
        raise ResultsError(f"{path} is not the folder of a sweep: it has no {INDEX}")
    try:
        index: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
        found = index["format"]
    except (ValueError, KeyError, TypeError) as error:
        raise ResultsError(f"{file} is damaged: {error}") from None
    if found != FORMAT:
        wrote = index.get("incast", "another version")
        raise ResultsError(
            f"{path} has layout {found}, written by incast {wrote}; incast {incast.__version__} reads layout {FORMAT}"
        )
    return index
