"""Values of varied parameters as text and as SQL."""

from __future__ import annotations

from collections.abc import Mapping

from incast import _database
from incast.sweep.file import Value


def shown(value: Value) -> str:
    """A value as in a sweep file, text without quotes."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def label(columns: Mapping[str, Value], scheme: str) -> str:
    """Label of a run, on one line."""
    return ", ".join([*(f"{name}={shown(value)}" for name, value in columns.items()), scheme])


def literal(value: Value) -> str:
    """A value in SQL."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return f"{value!r}::double"
    return f"{value}::bigint" if isinstance(value, int) else _database.literal(value)
