"""Functions and tables that the SQL of a study may not name: they depend on the machine, the time or chance.

A study can come from others, and its figures are published. So its values may depend on the results alone.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import duckdb

from incast import _database

TABLE_FUNCTIONS = ("generate_series", "json_each", "json_tree", "range", "repeat", "repeat_row", "unnest")
"""Table functions that only compute. Others read files, settings of the machine, or SQL in a text."""
OF_MACHINE = (
    *("current_connection_id", "current_query_id", "current_setting", "current_transaction_id", "getvariable", "stats"),
    *("txid_current", "vector_type", "version", "write_log"),
)
"""Functions that depend on the machine, the process or the version of DuckDB."""
OF_CLOCK = ("current_date", "current_time", "current_timestamp", "localtime", "localtimestamp")
"""Functions that SQL writes without brackets, like columns."""
OF_CLOCK_WITH_ZONE = ("current_localtime", "current_localtimestamp")
"""Functions that DuckDB lists as consistent although they depend on the time."""
HARMLESS = ("current_database", "current_query", "current_schema", "current_schemas", "error", "in_search_path")
"""Functions that DuckDB does not list as consistent, but whose value is the same on every machine."""


@dataclass(frozen=True)
class _Builtin:
    """DuckDB's own functions and views that matter here."""

    inconsistent: frozenset[str]
    """Functions whose value is not determined by their arguments."""
    macros: dict[str, tuple[str, ...]]
    """Definitions of macros, by name."""
    views: frozenset[str]
    """Views of the catalog that a query reads without the name of a schema."""


@functools.cache
def _builtin() -> _Builtin:
    with _database.connect() as connection:
        inconsistent = connection.execute(
            "select function_name from duckdb_functions() where stability <> 'CONSISTENT'"
        ).fetchall()
        macros = connection.execute(
            "select function_name, list(distinct macro_definition) from duckdb_functions() "
            "where function_type = 'macro' group by 1"
        ).fetchall()
        views = connection.execute(
            "select view_name from duckdb_views() where internal and schema_name in ('main', 'pg_catalog')"
        ).fetchall()
    return _Builtin(
        frozenset(name for (name,) in inconsistent).union(OF_MACHINE, OF_CLOCK_WITH_ZONE).difference(HARMLESS),
        {name: tuple(definitions) for name, definitions in macros},
        frozenset(name for (name,) in views),
    )


def parsed(connection: duckdb.DuckDBPyConnection, sql: str) -> Any:
    """A query as DuckDB parses it."""
    ((text,),) = connection.execute("select json_serialize_sql(?)", [sql]).fetchall()
    try:
        return json.loads(text)
    except RecursionError:
        return {"error": True, "error_message": "it is nested too deeply"}


def nodes(tree: Any) -> Iterator[dict[str, Any]]:
    """All objects of a parsed query."""
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, dict):
            yield node
            waiting += reversed(node.values())
        elif isinstance(node, list):
            waiting += reversed(node)


def refused(connection: duckdb.DuckDBPyConnection, sql: str) -> str | None:
    """Reason for which a study may not have this query, if any."""
    tree = parsed(connection, sql)
    if tree.get("error"):
        return f"it cannot be checked: {tree.get('error_message')}"
    return next(_reasons(connection, tree, frozenset()), None)


def _reasons(connection: duckdb.DuckDBPyConnection, tree: Any, seen: frozenset[str]) -> Iterator[str]:
    """Reasons against a parsed query; `seen` are the macros whose definitions contain it."""
    for node in nodes(tree):
        if node.get("sample"):
            yield "a sample of rows depends on chance"
        match node.get("type"):
            case "BASE_TABLE":
                yield from _table(node)
            case "SHOW_REF":
                yield "DESCRIBE, SHOW and SUMMARIZE are not allowed"
            case "TABLE_FUNCTION":
                name = str(node["function"].get("function_name")).lower()
                if name not in TABLE_FUNCTIONS:
                    yield f"table function `{name}` is not allowed, only {', '.join(TABLE_FUNCTIONS)}"
            case "COLUMN_REF" if len(node["column_names"]) == 1 and node["column_names"][0].lower() in OF_CLOCK:
                yield f"`{node['column_names'][0]}` depends on the time"
            case "FUNCTION":
                yield from _function(connection, str(node["function_name"]).lower(), seen)


def _table(node: dict[str, Any]) -> Iterator[str]:
    name = str(node["table_name"]).lower()
    schema = [str(node[part]).lower() for part in ("catalog_name", "schema_name") if node.get(part)]
    if schema not in ([], ["main"], ["memory"], ["memory", "main"]) or name in _builtin().views:
        yield f"`{'.'.join([*schema, name])}` is a table of DuckDB's catalog"


def _function(connection: duckdb.DuckDBPyConnection, name: str, seen: frozenset[str]) -> Iterator[str]:
    if name in _builtin().inconsistent:
        yield f"function `{name}` depends on the machine, the time or chance"
    for definition in () if name in seen | set(HARMLESS) else _builtin().macros.get(name, ()):
        inner = _reasons(connection, parsed(connection, f"select {definition}"), seen | {name})
        yield from (f"in `{name}`: {reason}" for reason in inner)
