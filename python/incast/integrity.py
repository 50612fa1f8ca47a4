"""Integrity of results: comparison of files with the checksums that incast wrote."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from incast import _core, _input
from incast._echo import shell, word
from incast.errors import DamagedError, ResultsError, translated

SUMS = "SHA256SUMS"
"""Checksums of the files of a finished run of a sweep, or cell of an analysis, in the format of `sha256sum`."""
LINE = re.compile(r"(?P<sum>[0-9a-f]{64})  (?P<name>[^/\0]+)")
"""A line of that file."""
FEW = 3
"""Damaged files that a line names."""
TABLE = ".parquet"
WRITTEN = (TABLE, ".toml", ".json")
"""Endings of files that must be in that file."""


@dataclass(frozen=True)
class Damage:
    """A damaged file."""

    file: Path
    """The file."""
    why: str
    """Kind of the damage."""

    def __str__(self) -> str:
        return f"{self.file} is damaged: {self.why}"


@dataclass(frozen=True)
class Checked:
    """Outcome of a check."""

    tables: int
    """Number of compared tables."""
    damage: tuple[Damage, ...] = ()
    """The damaged files."""


def write_sums(folder: Path) -> None:
    """Write the checksums of all files of a folder into it."""
    files = sorted(path for path in folder.iterdir() if path.is_file() and not path.name.startswith("."))
    (folder / SUMS).write_text("".join(f"{sha256(file)}  {file.name}\n" for file in files), encoding="utf-8")


def check(folder: Path) -> Checked:
    """Compare the files of a run or a cell with their checksums; those of `incast run` are in the manifest."""
    if _input.exists(folder / SUMS):
        return _check_sums(folder)
    if not _input.exists(folder / "manifest.json"):
        # Cells of earlier versions have no checksums.
        return Checked(0, () if (folder / "rows.json").is_file() else (Damage(folder, "manifest.json is missing"),))
    try:
        with translated():
            tables, found = _core.Folder.verify(folder)
    except DamagedError as error:
        file, _, why = str(error).partition(" is damaged: ")
        return Checked(0, (Damage(_input.of_core(file), why),))
    return Checked(tables, tuple(Damage(_input.of_core(file), why) for file, why in found))


def check_finished(folders: Sequence[Path]) -> list[str | None]:
    """The damage of each finished run or cell on one line, or `None`; they must have checksums."""

    def damage(folder: Path) -> str | None:
        if not folder.is_dir():
            return "it is not a folder"
        found = [f"{each.file.name}: {each.why}" for each in _check_sums(folder).damage]
        more = f"; {len(found) - FEW} more" if len(found) > FEW else ""
        return "; ".join(found[:FEW]) + more or None

    with _pool() as pool:
        return list(pool.map(damage, folders))


def verify(folders: Iterable[Path]) -> int:
    """Compare the results of runs, sweeps and studies with their checksums; returns the number of tables.

    Raises:
        DamagedError: Files differ; the text lists them.
        ResultsError: A folder has no results.

    """
    from incast.sweep.folder import RUNS

    tables = 0
    damaged: list[str] = []
    remedies: list[str] = []
    with _pool() as pool:
        for folder in dict.fromkeys(folders):
            parts = parts_of(folder)
            checked = dict(zip(parts, pool.map(check, parts), strict=True))
            for part, found in checked.items():
                tables += found.tables
                damaged += map(str, found.damage)
                remedies += [remedy(part)] if found.damage else []
            for sweep in sweeps_of(folder):
                runs = [found.damage for part, found in checked.items() if part.parent.parent == sweep]
                of_sweep = _check_sweep(sweep, whole=not any(runs))
                damaged += map(str, of_sweep)
                remedies += [remedy(sweep / RUNS / "run")] if of_sweep else []
    if damaged:
        raise DamagedError("\n".join([*damaged, *dict.fromkeys(remedies)]))
    return tables


def parts_of(folder: Path) -> list[Path]:
    """The folders of runs and cells in the results of a run, a sweep or a study."""
    from incast.charts.groups import kind_of
    from incast.study.results import of_study
    from incast.sweep.folder import RUNS

    kind = kind_of(folder)
    if kind == "manifest.json":
        return [folder]
    sweeps = sweeps_of(folder)
    if kind == "study.json":
        sweeps += [folder / name for name in of_study(folder, None).get("analyses", ())]
    return [part for each in sweeps if (each / RUNS).is_dir() for part in sorted((each / RUNS).iterdir())]


def sweeps_of(folder: Path) -> list[Path]:
    """The folders of sweeps in the results of a sweep or a study."""
    from incast.charts.groups import kind_of
    from incast.study.results import of_study
    from incast.sweep.folder import INDEX, RUNS

    kind = kind_of(folder)
    if kind == "study.json":
        # An interrupted study has not begun all its sweeps.
        sweeps = [folder / name for name in of_study(folder, None)["sweeps"]]
        return [each for each in sweeps if _input.exists(each / INDEX) or (each / RUNS).is_dir()]
    return [folder] if kind == "sweep.json" else []


def _check_sweep(folder: Path, *, whole: bool) -> tuple[Damage, ...]:
    """Damage of the files of a sweep besides its runs; `whole` is true if the runs are undamaged.

    Raises:
        DamagedError: The index cannot be read.

    """
    from incast.sweep import checked
    from incast.sweep.folder import INDEX

    try:
        return tuple(checked.damage(folder, runs=whole))
    except ResultsError as error:
        remove = f"remove {shell(folder / INDEX)} and " if _input.exists(folder / INDEX) else ""
        raise DamagedError(f"{error}\n{remove}repeat the command that wrote it: finished runs are kept") from None


def remedy(folder: Path, runs: str = "damaged runs") -> str:
    """Advice about a results folder that cannot be read; `runs` are those that its command repeats."""
    from incast.analysis.dataset import INDEX as ANALYSIS
    from incast.study.results import MANIFEST as STUDY
    from incast.sweep.folder import INDEX as SWEEP
    from incast.sweep.folder import RUNS

    there = folder.absolute()
    sweep = there.parent.parent
    if there.parent.name != RUNS or not any((sweep / index).is_file() for index in (SWEEP, ANALYSIS)):
        return "run the scenario again"
    of_study = (sweep.parent / STUDY).is_file()
    command, whole = ("study run", sweep.parent) if of_study else ("sweep", sweep)
    shown = whole.relative_to(Path.cwd()) if whole.is_relative_to(Path.cwd()) else whole
    return f"repeat the command `incast {command} ... -o {shell(shown)}`: it runs {runs} again"


def damaged(text: str, folder: Path) -> DamagedError:
    """The error about damage of a results folder, with the remedy."""
    join = "\n" if "\n" in text else "; "
    return DamagedError(join.join(filter(None, [text, other_version(folder), remedy(folder)])))


def without(what: str, file: Path) -> ResultsError:
    """The error about a file of results that lacks something: another version wrote it, or it is damaged."""
    folder = file.parent
    if other := other_version(folder):
        return ResultsError(f"{file} has no {what}: {other}; {remedy(folder, 'every simulation')}")
    return damaged(str(Damage(file, f"it has no {what}")), folder)


def other_version(folder: Path) -> str | None:
    """Sentence that names the version that wrote results, if it is another one than this and known."""
    try:
        manifest = _input.read_json(folder / "manifest.json", ResultsError)
        wrote, build = str(manifest["incast"]), str(manifest["build"])
    except (OSError, ResultsError, ValueError, KeyError, TypeError):
        return None
    if (wrote, build) == (_core.__version__, _core.__build__):
        return None
    return (
        f"incast {word(wrote)} (build {word(build)}) wrote these results, "
        f"but this is incast {_core.__version__} (build {_core.__build__})"
    )


@contextmanager
def reading(folder: Path) -> Iterator[None]:
    """Raise failures of the core to read a results folder as the exceptions of `incast.errors`, with the remedy."""
    try:
        with translated():
            yield
    except DamagedError as error:
        raise damaged(str(error), folder) from None


def _check_sums(folder: Path) -> Checked:
    listed: dict[str, str] = {}
    damage = []
    try:
        text = _input.read_text(folder / SUMS, ResultsError)
    except (OSError, ResultsError) as error:
        return Checked(0, (Damage(folder / SUMS, _why(error)),))
    for number, line in enumerate(text.splitlines(), 1):
        if found := LINE.fullmatch(line):
            listed[found["name"]] = found["sum"]
        else:
            damage.append(Damage(folder / SUMS, f"line {number} is not a checksum and a name"))
    if not damage:
        there = (path for path in sorted(folder.iterdir()) if path.suffix in WRITTEN)
        damage += [Damage(path, f"not in {SUMS}") for path in there if path.name not in listed]
    for name, expected in listed.items():
        try:
            why = None if sha256(folder / name) == expected else f"its SHA-256 is not that of {SUMS}"
        except (OSError, ResultsError) as error:
            why = _why(error)
        if why is not None:
            damage.append(Damage(folder / name, why))
    if not listed:
        damage.append(Damage(folder / SUMS, "it is empty"))
    return Checked(sum(name.endswith(TABLE) for name in listed), tuple(damage))


def sha256(file: Path) -> str:
    """SHA-256 of a file, in hexadecimal."""
    with _input.opened(file, ResultsError) as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()


def _why(error: Exception) -> str:
    if isinstance(error, FileNotFoundError):
        return "the file is missing"
    return f"it cannot be read: {error.strerror if isinstance(error, OSError) else error}"


def _pool() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(len(os.sched_getaffinity(0)))
