"""The folder of a study's results: new, resumed or refused; one run at a time."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

from incast import _core
from incast._whole import PARTIAL, remove_partial, write_text, writing
from incast.errors import EnvironmentFailure, ResultsExistError
from incast.study import mapped, results
from incast.study.description import Scale
from incast.study.folder import Description
from incast.study.tabulating import DrawnTable
from incast.sweep.folder import locked

LOCK = ".lock"
"""Lock of the active run."""


@contextmanager
def held(
    description: Description, out: Path, scale: Scale | Literal["map"], overwrite: bool
) -> Iterator[dict[str, Any]]:
    """Lock the folder for a new or resumed run or map of a study; yields its manifest."""
    there = _there(out, overwrite)
    if there is not None and not overwrite and (there["study"], there["scale"]) != (description.name, scale):
        holds = f"study {there['study']} at scale {there['scale']}"
        raise ResultsExistError(f"{out} has {holds}, not {description.name} at scale {scale}; it was not changed")
    try:
        out.mkdir(parents=True, exist_ok=True)
        lock = (out / LOCK).open("w")
    except OSError as error:
        raise EnvironmentFailure(f"cannot write {out}: {error.strerror}") from None
    with locked(lock, f"{out}: another run is active in this folder; it is never overwritten; choose another folder"):
        with writing(out):
            for folder in (out, out / results.TABLES):
                remove_partial(folder)
        if overwrite:
            _empty(out)
            there = None
        for name in (results.CLAIMS, results.TABLE, results.PAGE, *mapped.FILES):
            (out / name).unlink(missing_ok=True)  # of an earlier run
        keep_tables(out, ())
        manifest = {
            "format": results.FORMAT,
            "study": description.name,
            "title": description.study.title,
            "source": description.study.source,
            "scale": scale,
            "incast": _core.__version__,
            "build": _core.__build__,
            "date": today(),
            "sweeps": description.study.sweeps,
            "analyses": description.study.analyses,
            "wall_s": there["wall_s"] if there else 0.0,
            "cpu_s": there["cpu_s"] if there else 0.0,
        }
        keep(out, manifest)
        yield manifest


def today() -> str:
    """The date in UTC, such as 2026-11-27."""
    return datetime.now(UTC).date().isoformat()


def written(out: Path) -> str:
    """The date of the last run, for results without it: that of their manifest."""
    return datetime.fromtimestamp((out / results.MANIFEST).stat().st_mtime, UTC).date().isoformat()


def keep(out: Path, manifest: Mapping[str, Any]) -> None:
    """Write the manifest."""
    write_text(out / results.MANIFEST, json.dumps(manifest, indent=2) + "\n")


def keep_tables(out: Path, tables: Sequence[DrawnTable]) -> None:
    """Write the tables, and remove those of earlier claims."""
    folder = out / results.TABLES
    if tables or folder.is_dir():
        try:
            folder.mkdir(exist_ok=True)
            for file in folder.glob("*.csv"):
                file.unlink()
        except OSError as error:
            raise EnvironmentFailure(f"cannot write {folder}: {error.strerror}") from None
    for table in tables:
        write_text(folder / f"{table.name}.csv", table.csv())


def _there(out: Path, overwrite: bool) -> dict[str, Any] | None:
    """The manifest of existing results, if any; only a study's results are ever overwritten."""
    try:
        there = results.read_manifest(out)
    except results.OtherFormatError as other:
        if overwrite:
            return other.manifest
        raise
    stranger = there is None and out.exists()
    if stranger and (not out.is_dir() or any(map(_foreign, out.iterdir()))):
        raise ResultsExistError(f"{out} exists already; it has no results of a study, so it is never overwritten")
    return there


def _foreign(entry: Path) -> bool:
    """False for what a run has that was killed before its first manifest."""
    return entry.name != LOCK and not entry.match(f".{results.MANIFEST}.*{PARTIAL}")


def _empty(out: Path) -> None:
    """Empty a study's folder, its manifest last, so that a partly removed folder is still recognised."""
    for entry in sorted(out.iterdir(), key=lambda entry: entry.name == results.MANIFEST):
        if entry.is_dir() and not entry.is_symlink():
            shutil.rmtree(entry)
        elif entry.name != LOCK:
            entry.unlink()
