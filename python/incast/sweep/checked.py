"""Check of the files that a sweep writes besides its runs: the index and `runs.parquet`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from incast import _core, _database, _input
from incast._database import literal, quoted, reason, utf8
from incast.errors import ResultsError
from incast.integrity import Damage
from incast.sweep.dataset import Sweep, open_sweep
from incast.sweep.folder import RUNS, RUNS_TABLE

if TYPE_CHECKING:
    import duckdb

ABSENT = "the file is missing"


def damage(path: Path, *, runs: bool) -> Iterator[Damage]:
    """Damage of the index and of `runs.parquet`; if `runs` is true, the latter is compared with the undamaged runs.

    Raises:
        ResultsError: The index cannot be read.

    """
    sweep = open_sweep(path)
    listed = {run.key for run in sweep.runs}
    there = (folder.name for folder in sorted((path / RUNS).iterdir())) if (path / RUNS).is_dir() else ()
    for key in there:
        if key not in listed:
            yield Damage(path / RUNS / key, "the index does not list this run")
    # A killed sweep has not written its table, or leaves that of an earlier one.
    whole = all(run["state"] != "waiting" for run in sweep.index["runs"])
    for run in sweep.index["runs"]:
        if run["state"] == "done" and not (path / RUNS / run["key"]).is_dir():
            yield Damage(path / RUNS / run["key"], "the run is missing")
            whole = False
    file = path / RUNS_TABLE
    if why := _wrong(sweep, file, compare=whole and runs) if _input.exists(file) else ABSENT if whole else None:
        yield Damage(file, why)


def _wrong(sweep: Sweep, file: Path, *, compare: bool) -> str | None:
    """Difference between the table of runs and the folders of the runs, if any."""
    import duckdb

    try:
        _input.check(file, ResultsError)
        with _database.connect([file]) as connection:
            connection.execute(f"create table found as from read_parquet({literal(utf8(file))})")
            return _different(sweep, connection) if compare else None
    except (ResultsError, OSError, duckdb.Error, UnicodeDecodeError) as error:
        return f"it cannot be read: {reason(error)}"


def _different(sweep: Sweep, connection: duckdb.DuckDBPyConnection) -> str | None:
    sweep.add_runs(connection)
    expected, found = connection.table("runs").columns, connection.table("found").columns
    if sweep.index.get("build") == _core.__build__ and expected != found:
        return f"its columns are not those of a sweep: {', '.join(sorted({*expected} ^ {*found})) or 'their order'}"
    # Other versions of incast have other columns.
    names = ", ".join(quoted(name) for name in expected if name in found)
    if not names:
        return "it has no column of a sweep"
    ((rows, kept),) = connection.execute("select (select count(*) from found), (select count(*) from runs)").fetchall()
    if rows != kept:
        return f"it has {rows} rows, the index has {kept} runs"
    ((other,),) = connection.execute(
        f"select count(*) from (select {names} from found except all select {names} from runs)"
    ).fetchall()
    return f"{other} of its {rows} rows are not those of the runs" if other else None
