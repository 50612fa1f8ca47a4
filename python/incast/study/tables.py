"""The tables of a sweep without a row: what the SQL of metrics is checked against before anything has run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import duckdb

from incast.scenario import Scenario
from incast.study.description import Value

SMALLEST = {
    "fabric": {"star": {"hosts": 2}},
    "workload": [{"list": [{"src": 0, "dst": 1, "size": "1kB"}]}],
    "scheme": {"A": {"control": "unlimited"}},
}
"""A scenario that runs in a few milliseconds: what tables and columns there are, its results say."""
SLOWDOWN = {"Utf8": "varchar", "UInt32": "uinteger", "Int64": "bigint", "Float64": "double"}
"""DuckDB's types for those of the slowdown table."""
RUNS = {
    "run": "varchar",
    "scheme": "varchar",
    "state": "varchar",
    "error": "varchar",
    "wall_s": "double",
    "cpu_s": "double",
    "flows": "bigint",
    "completed": "bigint",
    "packet_hops": "bigint",
    "end_ps": "bigint",
    "stop": "varchar",
}
"""The columns of a sweep's table of runs beside those that it varies."""


class EmptyTables:
    """Makes databases of a sweep's tables without rows."""

    def __init__(self) -> None:
        """Ask the simulator what its tables are."""
        results = Scenario.from_tree(SMALLEST).run()
        self._results = results
        self._slowdown = {column.name: SLOWDOWN[column.type] for column in results.slowdown().columns}

    def database(self, known: Mapping[str, Sequence[Value]]) -> duckdb.DuckDBPyConnection:
        """The tables with columns for what a sweep varies; these and `scheme` are known by their values."""
        connection = duckdb.connect()
        extra = {name: _type(values) for name, values in known.items() if name not in RUNS}
        for name in self._results.tables:
            file = self._results.path / f"{name}.parquet"
            connection.execute(f"create table {name} as select * from read_parquet(?) limit 0", [str(file)])
            for column, kind in extra.items():
                connection.execute(f'alter table {name} add column "{column}" {kind}')
        for name, columns in (("slowdown", self._slowdown), ("runs", RUNS)):
            told = ", ".join(f'"{column}" {kind}' for column, kind in {**columns, **extra}.items())
            connection.execute(f"create table {name} ({told})")
        return connection


def _type(values: Sequence[Any]) -> str:
    """DuckDB's type for these values of a column."""
    kinds = {type(value) for value in values}
    if kinds == {bool}:
        return "boolean"
    if kinds == {int}:
        return "bigint"
    return "double" if kinds <= {int, float} else "varchar"
