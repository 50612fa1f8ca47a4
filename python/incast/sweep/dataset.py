"""The dataset of a sweep."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, cast

from incast import _companions, _database, _input, _tables, declared
from incast._database import PARQUET_FILE, quoted, reason, utf8
from incast._nearest import hint
from incast.errors import DamagedError, EnvironmentFailure, ResultsError
from incast.integrity import check, damaged
from incast.results import Results, open_results
from incast.sweep import runs
from incast.sweep.file import Value
from incast.sweep.folder import INDEX, RUNS, RUNS_TABLE, read_index
from incast.sweep.text import label, literal
from incast.sweep.warned import counted
from incast.table import PARQUET, Given, Table, unit_of

if TYPE_CHECKING:
    import duckdb

SLOWDOWN = "slowdown"
SQL_TYPES: dict[type, str] = {bool: "boolean", int: "bigint", float: "double", str: "varchar"}


@dataclass(frozen=True)
class Run:
    """One run of a sweep."""

    key: str
    """Its key: the name of its folder."""
    columns: dict[str, Value]
    """The varied parameters."""
    scheme: str
    """Its scheme."""
    state: str
    """`done`, `failed` or `waiting`."""
    error: str | None
    """Error of a failed run."""

    @property
    def label(self) -> str:
        """Label of the run, on one line."""
        return label(self.columns, self.scheme)

    @property
    def choice(self) -> dict[str, Value]:
        """The varied parameters and `scheme`."""
        return {**self.columns, "scheme": self.scheme}


class Sweep:
    """The dataset of a sweep: runs of a scenario, with the varied parameters as columns of every table.

    `read_parquet("FOLDER/runs/*/flows.parquet")` reads a table in polars and DuckDB without this class.
    """

    def __init__(self, path: Path, index: dict[str, Any]) -> None:
        """Wrap a folder and its index."""
        self.path = path
        """The folder."""
        self.index = index
        """All of `sweep.json`."""
        self._manifests: dict[str, dict[str, Any]] = {}
        try:
            self.title: str | None = index["title"]
            """Title of the sweep."""
            self.scale: str | None = index["scale"]
            """Scale of the sweep, if any."""
            self.columns: tuple[str, ...] = tuple(column["name"] for column in index["columns"])
            """The varied parameters."""
            self.runs: tuple[Run, ...] = tuple(self._found(Run(**run)) for run in index["runs"])
            """All runs, in the order of the sweep file."""
        except (KeyError, TypeError) as error:
            raise ResultsError(f"{path / INDEX} is damaged: {type(error).__name__}: {error}") from None

    def __repr__(self) -> str:
        return f"<Sweep in {self.path}: {len(self.done)} of {len(self.runs)} runs over {', '.join(self.columns)}>"

    def _found(self, run: Run) -> Run:
        """A run with its current state: the index of a killed sweep can be out of date."""
        if (self.path / RUNS / run.key).is_dir():
            return replace(run, state="done", error=None)
        return run if run.state == "failed" else replace(run, state="waiting")

    def _repr_html_(self) -> str:
        """HTML for notebooks."""
        from incast import notebook

        return notebook.of_sweep(self)

    def only(self, keys: Collection[str]) -> Sweep:
        """The dataset of some of its runs, by their keys."""
        return Sweep(self.path, {**self.index, "runs": [run for run in self.index["runs"] if run["key"] in keys]})

    @property
    def done(self) -> tuple[Run, ...]:
        """The finished runs."""
        return tuple(run for run in self.runs if run.state == "done")

    @property
    def failed(self) -> tuple[Run, ...]:
        """The failed runs, with their errors."""
        return tuple(run for run in self.runs if run.state == "failed")

    def figures(self, label: str | None = None) -> Table:
        """Figures of the finished runs, such as `slowdown_p99`: one row per run, as `incast plot FOLDER over` draws.

        Args:
            label: Only figures of flows with this label: slowdowns, share of completed flows, iterations.

        Raises:
            ResultsError: No run is finished, or a file is damaged.

        """
        return self.figures_and_notes(label)[0]

    def figures_and_notes(self, label: str | None = None) -> tuple[Table, tuple[str, ...]]:
        """The table of `figures`, and sentences about percentiles of few flows and about unfinished flows."""
        if not self.done:
            raise self.nothing()
        from incast.charts.groups import variations_of
        from incast.charts.over import over

        scenarios = [(one.values, one.source) for one in variations_of(self)]
        chart = over(self.columns, scenarios, label=label)
        for _, source in scenarios:
            source.close()
        columns = list(zip(*chart.rows, strict=True))
        there = [place for place, values in enumerate(columns) if any(value is not None for value in values)]
        fields = [
            Given(field.name, _kind(columns[place]), unit_of(field.name), field.about)
            for place, field in enumerate(chart.fields)
            if place in there
        ]
        rows = [[_plain(row[place]) for place in there] for row in chart.rows]
        return Table.of_rows("figures", fields, rows), chart.left_out

    def incomplete(self) -> str | None:
        """A warning about runs that are not finished, if there are any."""
        missing, failed = len(self.runs) - len(self.done), len(self.failed)
        if not missing:
            return None
        why = f" ({failed:,} failed)" if failed else ""
        runs = f"{missing:,} of {len(self.runs):,} {'run' if len(self.runs) == 1 else 'runs'}"
        verb = "is" if missing == 1 else "are"
        return f"{runs} {verb} not finished{why}; repeat the command of the sweep to resume"

    def nothing(self) -> ResultsError:
        """The error about a sweep without a finished run."""
        return ResultsError(f"{self.path}: none of the {len(self.runs):,} runs of this sweep is finished")

    def results(self, run: Run | str) -> Results:
        """The results folder of a finished run, or of its key."""
        if isinstance(run, Run):
            return open_results(self.path / RUNS / run.key)
        keys = [each.key for each in self.done]
        if run not in keys:
            raise ResultsError(f"{self.path} has no finished run `{run}`{hint(run, keys)}")
        return open_results(self.path / RUNS / run)

    def files(self, table: str) -> list[Path]:
        """The Parquet files of a table, one for each finished run."""
        if table not in tables():
            raise _no_table(table)
        every = tables()[table] is None
        having = self.done if every else [run for run in self.done if table in self._manifest(run)["tables"]]
        return [self.path / RUNS / run.key / f"{table}.parquet" for run in having]

    def table(self, name: str) -> duckdb.DuckDBPyRelation:
        """A table of all runs, as a DuckDB relation: `.pl()`, `.df()`, `.arrow()`, `.fetchall()`."""
        if name != "runs" and not self.files(name):
            raise _no_table(name)
        return self.connect().sql(f"from {name}")

    def connect(self) -> duckdb.DuckDBPyConnection:
        """A DuckDB connection with a view for every table of the dataset, and the table `runs`.

        It also has the table `calibrations`: rates of remote accesses of applications (`incast.application.table`). The
        connection opens no other file and no address, because the SQL of a study uses it.

        Raises:
            ResultsError: No run is finished, or a file is damaged.

        """
        import duckdb

        if not self.done:
            raise self.nothing()
        for run in self.done:
            self._manifest(run)
        found = {table: self.files(table) for table in tables()}
        # No manifest has the size of this table.
        for file in found[SLOWDOWN]:
            _check(file)
        connection = _database.connect(file for files in found.values() for file in files)
        for table, files in found.items():
            if not files:
                continue
            names = ", ".join(literal(utf8(file)) for file in files)
            try:
                connection.execute(f"create view {table} as select * from read_parquet([{names}])")
            except (duckdb.Error, UnicodeDecodeError) as error:  # the second where an error quotes a damaged file
                raise self._blamed(table, error) from None
        self.add_runs(connection)
        _companions.add_tables(connection)
        return connection

    def cost(self) -> tuple[float, int]:
        """CPU time of all finished simulations, in seconds, and their packet-hops."""
        of_runs = [dict(zip(self._types, self._row(run), strict=True)) for run in self.done]
        return sum(run["cpu_s"] for run in of_runs), sum(run["packet_hops"] for run in of_runs)

    def machines(self) -> Counter[str]:
        """Number of finished simulations by machine, such as `Xeon Gold 6338, 64 cores, linux x86_64`."""
        each = (self._manifest(run)["machine"] for run in self.done)
        return Counter(f"{machine['cpu']}, {machine['cores']} cores, {machine['os']}" for machine in each)

    def cores(self) -> int:
        """Largest number of cores of a machine of finished simulations; 0 if no run is finished."""
        return max((int(self._manifest(run)["machine"]["cores"]) for run in self.done), default=0)

    def versions(self) -> Counter[str]:
        """Number of finished simulations by version of incast and build."""
        return Counter("incast {incast}, build {build}".format_map(self._manifest(run)) for run in self.done)

    def ended_badly(self) -> list[tuple[str, str]]:
        """Labels and reasons of finished runs that deadlocked, stalled or dropped lossless packets."""
        found = []
        for run in self.done:
            scheme = self._scheme(run)
            failures = (*declared.bad_stop(scheme), *declared.above_0(scheme, "failure"))
            found += [(run.label, why) for why in failures]
        return found

    def unfinished(self) -> dict[str, list[int]]:
        """Number of unfinished flows of each run that has some, by text of the stop; failures to stop are excluded."""
        found: dict[str, list[int]] = {}
        for run in self.done:
            scheme = self._scheme(run)
            stop = scheme["stop"]
            count = stop["unfinished"] + stop["not_started"]
            if count and not declared.bad_stop(scheme):
                found.setdefault(stop["text"].partition(";")[0], []).append(count)
        return found

    def warnings(self) -> dict[str, int]:
        """Number of finished runs by warning; the warnings of most runs first.

        Warnings that differ only in numbers count as one, with the numbers of one run.
        """
        return counted(self.warnings_of_runs())

    def warnings_of_runs(self) -> Iterator[list[str]]:
        """The warnings of each finished run."""
        return (self._warnings(run) for run in self.done)

    def _warnings(self, run: Run) -> list[str]:
        """The warnings of a finished run, without the name of its scheme."""
        from incast import unreached

        of_manifest = [_summary(each) for each in self._manifest(run).get("warnings", ())]
        late = unreached.warnings(self.results(run)) if unreached.possible(self.path / RUNS / run.key) else ()
        return [*of_manifest, *late]

    def bad_ends_of_runs(self) -> Iterator[list[str]]:
        """Kinds of bad ends of each finished run: its stop, and its counters of failures."""
        return (declared.bad_ends(self._scheme(run)) for run in self.done)

    def lacking(self) -> ResultsError | None:
        """The error about the first table that lacks columns, if any: another version of incast wrote it."""
        return next(filter(None, (_tables.incomplete(self.results(run)) for run in self.done)), None)

    def _blamed(self, table: str, error: Exception) -> ResultsError:
        """The error, naming a damaged file where there is one."""
        for run in self.done:
            folder = self.path / RUNS / run.key
            for damage in check(folder).damage:
                return damaged(str(damage), folder)
        return ResultsError(f"{self.path}: cannot read table {table}: {reason(error)}")

    def _manifest(self, run: Run) -> dict[str, Any]:
        """The manifest of a finished run, whose tables must be there in their sizes."""
        if run.key not in self._manifests:
            folder = self.path / RUNS / run.key
            try:
                manifest = self.results(run).manifest
            except DamagedError:
                raise
            except ResultsError as error:
                raise damaged(str(error), folder) from None
            if len(manifest["schemes"]) != 1:
                file = folder / "manifest.json"
                raise damaged(f"{file} is damaged: it has {len(manifest['schemes'])} schemes, not one", folder)
            self._manifests[run.key] = manifest
        return self._manifests[run.key]

    def _scheme(self, run: Run) -> dict[str, Any]:
        """The manifest of a finished run's only scheme."""
        (scheme,) = self._manifest(run)["schemes"].values()
        return cast("dict[str, Any]", scheme)

    @property
    def _types(self) -> dict[str, str]:
        """The types of the columns of `runs`."""
        return runs.types({
            name: SQL_TYPES[type(self.runs[0].columns[name])] if self.runs else "varchar" for name in self.columns
        })  # fmt: skip

    def add_runs(self, connection: duckdb.DuckDBPyConnection) -> None:
        """Create the table `runs`, with a row for each run."""
        text = ", ".join(f"{quoted(name)} {kind}" for name, kind in self._types.items())
        connection.execute(f"create table runs ({text})")
        rows = [self._row(run) for run in self.runs]
        connection.executemany(f"insert into runs values ({', '.join('?' * len(self._types))})", rows)

    def _row(self, run: Run) -> list[Any]:
        head = [run.key, *(run.columns[name] for name in self.columns), run.scheme, run.state, run.error]
        if run.state != "done":
            return [*head, *(None for _ in runs.columns())]
        manifest, scheme = self._manifest(run), self._scheme(run)
        return [*head, *(column.get(manifest, scheme) for column in runs.columns())]


def tables() -> dict[str, str | None]:
    """The tables of a sweep besides `runs`; their last columns are the varied parameters.

    Each has the condition of the runs that have it, such as `with tenants`, or `None` if all have it.
    """
    return {name: table.condition for name, table in declared.tables().items()} | {SLOWDOWN: None}


def open_sweep(path: str | PathLike[str]) -> Sweep:
    """Open the folder of a sweep."""
    return Sweep(Path(path), read_index(Path(path)))


def write_runs(path: Path) -> None:
    """Write `runs.parquet`: one row for each run."""
    import duckdb

    sweep = open_sweep(path)
    partial = path / ".runs.parquet.partial"
    try:
        with _database.connect([partial]) as connection:
            sweep.add_runs(connection)
            connection.execute(f"copy runs to {literal(utf8(partial))} ({PARQUET_FILE})")
        partial.replace(path / RUNS_TABLE)
    except (duckdb.Error, OSError) as error:
        partial.unlink(missing_ok=True)
        raise EnvironmentFailure(f"cannot write {path / RUNS_TABLE}: {reason(error)}") from None


def _check(file: Path) -> None:
    """Raise for a missing or truncated file, with its name; a query would fail later and without the name."""
    why = "it is not a complete Parquet file"
    try:
        with _input.opened(file, ResultsError) as opened:
            whole = opened.read(len(PARQUET)) == PARQUET and opened.seek(-len(PARQUET), os.SEEK_END) >= len(PARQUET)
            if whole and opened.read() == PARQUET:
                return
    except OSError as error:
        why = "the file is missing" if isinstance(error, FileNotFoundError) else f"{error.strerror}"
    raise damaged(f"{file} is damaged: {why}", file.parent)


def _summary(warning: dict[str, Any]) -> str:
    """A warning in one line, without the scheme of its run."""
    line = f" ({warning['line']})" if warning["line"] else ""
    return f"{warning['field']}{line}: {warning['text']}"


def _no_table(name: str) -> ResultsError:
    names: dict[str | None, list[str]] = {}
    for table, condition in tables().items():
        names.setdefault(condition, []).append(table)
    always = ", ".join(names.pop(None))
    of_some = "; ".join(f"{condition} {', '.join(some)}" for condition, some in names.items())
    return ResultsError(f"a sweep has no table `{name}`, only {always}, runs; {of_some}")


def _kind(values: Collection[Any]) -> Literal["i64", "f64", "name"]:
    """Type of a column: names, whole numbers, or numbers."""
    found = {type(value) for value in values if value is not None}
    if found <= {int}:
        return "i64"
    return "f64" if found <= {int, float} else "name"


def _plain(value: Any) -> Any:
    """A value of a column; true and false as in a scenario."""
    return str(value).lower() if isinstance(value, bool) else value
