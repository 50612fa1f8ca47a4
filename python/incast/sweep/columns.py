"""Columns of a sweep's dataset, which are not allowed as names of axes."""

from __future__ import annotations

import json
from functools import cache

from incast import _core
from incast.sweep.dataset import HEAD, OF_RUNS

OF_SLOWDOWN = ("scheme", "bin", "flows", "size_min_bytes", "size_max_bytes", "p50", "p95", "p99", "mean", "max")
"""Columns of `slowdown` before the varied parameters."""


@cache
def taken() -> dict[str, str]:
    """Existing columns in lower case, as DuckDB compares them, each with a table that has it."""
    described = json.loads(_core.catalogue())["tables"]
    tables = {table["name"]: [column["name"] for column in table["columns"]] for table in described}
    tables |= {"slowdown": list(OF_SLOWDOWN), "runs": [*HEAD, *OF_RUNS]}
    return {column.lower(): table for table, columns in reversed(tables.items()) for column in columns}
