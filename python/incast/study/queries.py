"""The SQL of metrics and tables: checked before anything runs, asked when everything has run."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from decimal import Decimal
from typing import Any

import duckdb

from incast._database import TooLongError, limited, quoted
from incast.errors import EnvironmentFailure
from incast.study import allowed_sql
from incast.study.figures import SEED, VALUE, Choice

WHOLE = {
    *("tinyint", "smallint", "integer", "bigint", "hugeint"),
    *("utinyint", "usmallint", "uinteger", "ubigint", "uhugeint"),
}
"""DuckDB's types of whole numbers."""
NUMBERS = {*WHOLE, "float", "double", "decimal"}
"""DuckDB's types of numbers."""
ONLY_TABLES = "the SQL of a study reads only its tables, no file and no address, and nothing of the machine"
"""Beginning of the message about a query that reads something else."""
MOST_ROWS = 1_000_000
"""Most rows of a metric or a table (our choice: those of our studies have thousands)."""


class QueryError(Exception):
    """A query that cannot be a metric's; the text says why."""


def columns(connection: duckdb.DuckDBPyConnection, sql: str) -> tuple[str, ...]:
    """The columns that a metric's query gives, if it is one; nothing is computed."""
    found = described(connection, sql, "metric")
    if VALUE not in found:
        raise QueryError(f"the SQL gives no column `{VALUE}`, only {', '.join(found)}")
    if not is_number(found[VALUE]):
        raise QueryError(f"the column `{VALUE}` is no number but {found[VALUE]}")
    if SEED in found and found[SEED].id not in WHOLE:
        raise QueryError(f"the column `{SEED}` is no whole number but {found[SEED]}")
    return tuple(found)


def described(connection: duckdb.DuckDBPyConnection, sql: str, what: str) -> dict[str, duckdb.sqltypes.DuckDBPyType]:
    """The columns that a query of a metric or table gives, with their types; nothing is computed."""
    with _sql_errors():
        statements = connection.extract_statements(sql)
        if len(statements) != 1 or statements[0].type != duckdb.StatementType.SELECT:
            got = f"{len(statements)} statements" if len(statements) != 1 else statements[0].type.name
            raise QueryError(f"the SQL of a {what} must be one query, `select ...`, not {got}")
        if why := allowed_sql.refused(connection, sql):
            raise QueryError(f"{ONLY_TABLES}: {why}")
        relation = limited(connection, lambda: connection.sql(sql))
    names = relation.columns
    twice = [name for name in names if names.count(name) > 1]
    if twice:
        raise QueryError(f"the SQL gives several columns `{twice[0]}`")
    return dict(zip(names, relation.types, strict=True))


def tables(connection: duckdb.DuckDBPyConnection, sql: str) -> set[str]:
    """Names that a query reads tables by: tables, views and its own subqueries. Empty if the query cannot be parsed."""
    found = allowed_sql.nodes(allowed_sql.parsed(connection, sql))
    return {node["table_name"] for node in found if node.get("type") == "BASE_TABLE"}


def create_view(connection: duckdb.DuckDBPyConnection, name: str, sql: str) -> None:
    """Create a view if its query is valid."""
    described(connection, sql, "view")
    with _sql_errors():
        limited(connection, lambda: connection.execute(f"create view {quoted(name)} as {sql}"))


def is_number(kind: duckdb.sqltypes.DuckDBPyType) -> bool:
    """True if a column holds numbers."""
    return kind.id in NUMBERS


def rows(connection: duckdb.DuckDBPyConnection, sql: str) -> list[Choice]:
    """The rows of a metric or a table."""
    with _sql_errors():
        names, found = limited(connection, lambda: _answer(connection, sql))
    if len(found) > MOST_ROWS:
        raise QueryError(f"the SQL gives more than {MOST_ROWS:,} rows")
    return [dict(zip(names, map(_plain, row), strict=True)) for row in found]


def _answer(connection: duckdb.DuckDBPyConnection, sql: str) -> tuple[list[str], list[tuple[Any, ...]]]:
    """Names of columns and rows of a query, one more than allowed at most."""
    answer = connection.execute(sql)
    return [column[0] for column in answer.description or []], answer.fetchmany(MOST_ROWS + 1)


def _plain(value: Any) -> Any:
    """A value of a row; literals such as 0.3 are decimals in SQL."""
    return float(value) if isinstance(value, Decimal) else value


@contextmanager
def _sql_errors() -> Iterator[None]:
    """Raise what DuckDB says as `QueryError`, on one line."""
    try:
        yield
    except TooLongError as error:
        raise QueryError(f"the SQL {error}") from None
    except duckdb.PermissionException as error:
        said = " ".join(str(error).partition("\n\nLINE ")[0].split()).removeprefix("Permission Error: ")
        raise QueryError(f"{ONLY_TABLES}: {said}") from None
    except duckdb.OutOfMemoryException as error:
        raise EnvironmentFailure(f"out of memory in the SQL of a study: {str(error).partition(chr(10))[0]}") from None
    except duckdb.Error as error:
        said, _, place = str(error).partition("\n\nLINE ")
        where = f" (line {place.partition(':')[0]} of it)" if place else ""
        raise QueryError(f"the SQL does not run{where}: {' '.join(said.split())}") from None
