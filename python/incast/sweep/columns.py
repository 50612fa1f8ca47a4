"""Columns of a sweep's dataset, which are not allowed as names of axes."""

from __future__ import annotations

import json
from functools import cache

from incast import _core, declared
from incast.sweep import runs


@cache
def of_slowdown() -> dict[str, str]:
    """Columns of `slowdown` before the varied parameters, with descriptions; its rows have all labels."""
    columns = json.loads(_core.slowdown_columns())
    return {column["name"]: column["description"] for column in columns if column["name"] != "label"}


@cache
def taken() -> dict[str, str]:
    """Existing columns in lower case, as DuckDB compares them, each with a table that has it."""
    tables = {table.name: list(table.columns) for table in declared.tables().values()}
    tables |= {"slowdown": list(of_slowdown()), "runs": list(runs.types({}))}
    return {column.lower(): table for table, columns in reversed(tables.items()) for column in columns}
