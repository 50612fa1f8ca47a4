"""The tables of a sweep without a row: what the SQL of metrics is checked against before anything has run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from incast import _companions, _database
from incast._database import quoted, utf8
from incast.analysis import AnalysisPlan
from incast.analysis.dataset import NAME as FIGURES
from incast.results import ALL
from incast.scenario import Scenario
from incast.study.description import Value
from incast.sweep import runs
from incast.sweep.dataset import SQL_TYPES

if TYPE_CHECKING:
    import duckdb

SMALLEST = {
    "fabric": {"star": {"hosts": 2}},
    "vms": {"slots": 1},
    "tenant": [{"name": "t", "vms": 2}],
    "workload": [{"list": [{"src": 0, "dst": 1, "size": "1kB"}]}],
    "scheme": {"A": {"control": "unlimited"}},
    "switch": {"lossless": [2, 3], "isolation": {"enabled": True}},
    "measure": {"blocking": True},
}
"""A scenario that runs in a few milliseconds: what tables and columns there are, its results say."""


def of_analysis(plan: AnalysisPlan) -> duckdb.DuckDBPyConnection:
    """The table of an analysis without rows."""
    connection = _database.connect()
    columns = ", ".join(f"{quoted(column)} {kind}" for column, kind in plan.types.items())
    connection.execute(f"create table {FIGURES} ({columns})")
    return connection


class EmptyTables:
    """Makes databases of a sweep's tables without rows."""

    def __init__(self) -> None:
        """Ask the simulator what its tables are."""
        self._results = Scenario.from_tree(SMALLEST).run(progress=False)

    def database(self, known: Mapping[str, Sequence[Value]]) -> duckdb.DuckDBPyConnection:
        """The tables with columns for what a sweep varies; these and `scheme` are known by their values."""
        files = {name: self._results.path / f"{name}.parquet" for name in self._results.tables}
        connection = _database.connect(files.values())
        for name, file in files.items():
            connection.execute(f"create table {name} as select * from read_parquet(?) limit 0", [utf8(file)])
        connection.register("slowdowns", self._results.slowdown(label=ALL))
        connection.execute("create table slowdown as select * exclude (label) from slowdowns limit 0")
        of_runs = runs.types({})
        listed = ", ".join(f"{quoted(column)} {kind}" for column, kind in of_runs.items())
        connection.execute(f"create table runs ({listed})")
        extra = {quoted(name): SQL_TYPES[type(values[0])] for name, values in known.items() if name not in of_runs}
        for name in (*self._results.tables, "slowdown", "runs"):
            for column, kind in extra.items():
                connection.execute(f"alter table {name} add column {column} {kind}")
        _companions.add_tables(connection)
        return connection
