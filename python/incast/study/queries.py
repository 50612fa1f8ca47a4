"""The SQL of metrics: checked before anything runs, asked when everything has run."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from decimal import Decimal
from typing import Any

import duckdb

from incast.study.figures import VALUE, Choice

NUMBERS = {
    *("float", "double", "decimal", "tinyint", "smallint", "integer", "bigint", "hugeint"),
    *("utinyint", "usmallint", "uinteger", "ubigint", "uhugeint"),
}
"""DuckDB's types of numbers."""


class QueryError(Exception):
    """A query that cannot be a metric's; the text says why."""


def columns(connection: duckdb.DuckDBPyConnection, sql: str) -> tuple[str, ...]:
    """The columns that a metric's query gives, if it is one; nothing is computed."""
    with _told():
        statements = connection.extract_statements(sql)
        if len(statements) != 1 or statements[0].type != duckdb.StatementType.SELECT:
            raise QueryError("the SQL of a metric is one query, `select ...`")
        relation = connection.sql(sql)
    names = relation.columns
    if VALUE not in names:
        raise QueryError(f"the SQL gives no column `{VALUE}`, only {', '.join(names)}")
    twice = [name for name in names if names.count(name) > 1]
    if twice:
        raise QueryError(f"the SQL gives several columns `{twice[0]}`")
    kind = relation.types[names.index(VALUE)]
    if kind.id not in NUMBERS:
        raise QueryError(f"the column `{VALUE}` is no number but {kind}")
    return tuple(names)


def rows(connection: duckdb.DuckDBPyConnection, sql: str) -> list[Choice]:
    """The rows of a metric."""
    with _told():
        answer = connection.execute(sql)
        names = [column[0] for column in answer.description or []]
        return [dict(zip(names, map(_plain, row), strict=True)) for row in answer.fetchall()]


def _plain(value: Any) -> Any:
    """A value of a row; literals such as 0.3 are decimals in SQL."""
    return float(value) if isinstance(value, Decimal) else value


@contextmanager
def _told() -> Iterator[None]:
    """Raise what DuckDB says as `QueryError`, on one line."""
    try:
        yield
    except duckdb.Error as error:
        said, _, place = str(error).partition("\n\nLINE ")
        where = f" (line {place.partition(':')[0]} of it)" if place else ""
        raise QueryError(f"the SQL does not run{where}: {' '.join(said.split())}") from None
