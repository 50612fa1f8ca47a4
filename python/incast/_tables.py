"""Tables of results folders: columns and values compared with what the simulator writes, before SQL reads them.

Checksums find damage by accident. A folder of a stranger can have right checksums and other contents.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from incast import _database, declared
from incast._database import quoted, utf8
from incast._echo import word
from incast.errors import DamagedError, ResultsError
from incast.integrity import damaged, other_version, without

if TYPE_CHECKING:
    import duckdb

    from incast.results import Results
    from incast.table import Table

TYPES = {
    "name": "VARCHAR",
    "flag": "BOOLEAN",
    "u8": "UTINYINT",
    "u16": "USMALLINT",
    "u32": "UINTEGER",
    "i64": "BIGINT",
    "f64": "DOUBLE",
}
"""DuckDB's type of each type of the catalogue."""
ARROW_TYPES = {
    "name": "Dictionary(Int32, Utf8)",
    "flag": "Boolean",
    "u8": "UInt8",
    "u16": "UInt16",
    "u32": "UInt32",
    "i64": "Int64",
    "f64": "Float64",
}
"""Arrow's type of each, which the core reads."""
MOST_NAME = 2_000
"""Bytes of the longest name in a table (our choice: names in scenarios have at most 200 characters, a port has two)."""
MOST_RATIO = 1e19
"""Largest slowdown: that of a time of 64 bits over 1 ps."""
OF_COMPLETED = {
    "finish_ps": "status = 'completed'",
    "fct_ps": "status = 'completed'",
    "slowdown_hpcc": "status = 'completed' and not backlogged",
    "slowdown_exact": "status = 'completed' and not backlogged",
}
"""Columns of flows with values exactly in the rows of a condition."""


def check(connection: duckdb.DuckDBPyConnection, results: Results, tables: Iterable[str]) -> None:
    """Check tables of a results folder; names that the folder or the catalogue does not have are skipped.

    Raises:
        DamagedError: A column is not the simulator's, has another type, or a value that the simulator never writes.
        duckdb.Error: A file cannot be read.

    """
    schemes = list(results.manifest["schemes"])
    for name in (each for each in tables if each in results.tables and each in declared.tables()):
        if why := _other_size(results, name):
            raise _damaged(results, name, why)
        table = _Checked(connection, utf8(_file(results, name)), name)
        why = _foreign(results, name, list(table.types)) or table.wrong_type()
        if why is None and results.manifest["tables"][name]["rows"]:
            why = table.wrong_value(schemes)
        if why:
            raise _damaged(results, name, why)


def checked(results: Results, name: str) -> Table:
    """A table that has every column, after `check`."""
    table = results.table(name)
    if lacking := _lacking(results, name, [column.name for column in table.columns]):
        raise lacking
    _check_alone(results, name)
    return table


def with_its_columns(results: Results, name: str) -> Table:
    """A table to be shown; it lacks no column and has no foreign one, unless another version of incast wrote it."""
    table = results.table(name)
    if name in declared.tables() and other_version(results.path) is None:
        names = [column.name for column in table.columns]
        if lacking := _lacking(results, name, names):
            raise lacking
        if why := _foreign(results, name, names):
            raise _damaged(results, name, why)
    return table


def incomplete(results: Results) -> ResultsError | None:
    """The error for the first table that lacks columns, if any: a query with them fails."""
    files = {name: _file(results, name) for name in results.tables if name in declared.tables()}
    import duckdb

    with _database.connect(files.values()) as connection, suppress(duckdb.Error):
        for name, file in files.items():
            there = connection.execute("describe from read_parquet(?)", [utf8(file)]).fetchall()
            if lacking := _lacking(results, name, [row[0] for row in there]):
                return lacking
    return None


def explained(error: DamagedError, results: Results) -> ResultsError:
    """The core's error about the columns of `flows`, which does not name the column, with its name and type."""
    found = {column.name: column.type for column in results.table("flows").columns}
    if lacking := _lacking(results, "flows", list(found)):
        return lacking
    for name, column in declared.tables()["flows"].columns.items():
        if found[name] != ARROW_TYPES[column.kind]:
            return _damaged(results, "flows", f"column {name} is {found[name]}, must be {ARROW_TYPES[column.kind]}")
    try:
        _check_alone(results, "flows")
    except DamagedError as found_by_value:
        return found_by_value
    return error


def _check_alone(results: Results, table: str) -> None:
    import duckdb

    with _database.connect([_file(results, table)]) as connection:
        try:
            check(connection, results, [table])
        except duckdb.OutOfMemoryException:
            raise
        except duckdb.Error as error:
            raise _damaged(results, table, _database.reason(error)) from None


def _file(results: Results, table: str) -> Path:
    return results.path / f"{table}.parquet"


def _other_size(results: Results, name: str) -> str | None:
    """The fault if a file has another size than the manifest says: another program replaced the open folder."""
    with suppress(OSError):
        size, expected = _file(results, name).stat().st_size, results.manifest["tables"][name]["bytes"]
        if size != expected:
            return f"it has {size} bytes, the manifest says {expected}"
    return None


def _lacking(results: Results, table: str, names: Sequence[str]) -> ResultsError | None:
    """The error for a table that lacks columns, if it does; `names` are those that it has."""
    missing = [column for column in declared.tables()[table].columns if column not in names]
    if not missing:
        return None
    return without(f"column {', '.join(missing)}", _file(results, table))


def _foreign(results: Results, table: str, names: Sequence[str]) -> str | None:
    """The first column that is neither the simulator's nor one that the run added to all tables, if any."""
    allowed = {*declared.tables()[table].columns, *(results.manifest.get("columns") or ())}
    twice = (name for place, name in enumerate(names) if name in names[:place])
    other = next(chain(twice, (name for name in names if name not in allowed)), None)
    # Another version can have more columns.
    if other is None or other_version(results.path):
        return None
    return f"column {word(other)} is not one that incast writes"


def _damaged(results: Results, table: str, why: str) -> DamagedError:
    return damaged(f"{_file(results, table)} is damaged: {why}", results.path)


class _Checked:
    """A file of a table."""

    def __init__(self, connection: duckdb.DuckDBPyConnection, file: str, table: str) -> None:
        self.connection, self.file, self.table = connection, file, table
        described = connection.execute("describe from read_parquet(?)", [file]).fetchall()
        self.types: dict[str, str] = {name: type_ for name, type_, *_ in described}
        self.known = [column for column in declared.tables()[table].columns.values() if column.name in self.types]
        """Columns that the file has. Those of later versions can be missing."""

    def wrong_type(self) -> str | None:
        """The first column of another type, if any."""
        for column in self.known:
            if self.types[column.name] != TYPES[column.kind]:
                return f"column {column.name} is {self.types[column.name]}, must be {TYPES[column.kind]}"
        return None

    def wrong_value(self, schemes: Sequence[str]) -> str | None:
        """The first wrong value, if any."""
        rules = dict(self._rules())
        named = "list(distinct scheme order by scheme)" if "scheme" in self.types else "[]"
        query = f"select {', '.join([named, *rules])} from read_parquet(?)"
        there, *found = self.connection.execute(query, [self.file]).fetchall()[0]
        if why := next((why for why, holds in zip(rules.values(), found, strict=True) if holds), None):
            return why
        other = next((name for name in there or () if name not in schemes), None)
        return f"column scheme has `{word(other)}`, which is no scheme of manifest.json" if other is not None else None

    def _optional(self) -> set[str]:
        """Columns in which the format of the file permits missing values."""
        query = "select name from parquet_schema(?) where repetition_type <> 'REQUIRED'"
        return {name for (name,) in self.connection.execute(query, [self.file]).fetchall()}

    def _rules(self) -> Iterator[tuple[str, str]]:
        """Conditions in SQL that hold for damaged tables alone, each with its text."""
        optional = self._optional()
        for column in self.known:
            name = quoted(column.name)
            if not column.nullable and column.name in optional:
                yield f"bool_or({name} is null)", f"column {column.name} has missing values"
            if column.kind == "name":
                yield f"max(strlen({name})) > {MOST_NAME}", f"column {column.name} has a name of over {MOST_NAME:,} B"
            if column.kind == "f64":
                yield f"bool_or(not isfinite({name}))", f"column {column.name} has a value that is not a finite number"
                yield f"max({name}) > {MOST_RATIO}", f"column {column.name} has a value above {MOST_RATIO:g}"
            if column.kind in ("i64", "f64"):
                yield f"min({name}) < 0", f"column {column.name} has a value below 0"
        if self.table == "flows" and {"start_ps", "fct_ps"} <= self.types.keys():
            yield (
                "bool_or(fct_ps is not null and start_ps is null)",
                "column start_ps must have a value in completed flows",
            )
        if self.table == "flows" and {"status", "backlogged"} <= self.types.keys():
            for name, condition in OF_COMPLETED.items():
                if name in self.types:
                    yield (
                        f"bool_or(({condition}) <> ({name} is not null))",
                        f"column {name} must have a value in completed flows, and in no others",
                    )
