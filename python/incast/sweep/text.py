"""Values of varied parameters as text and as SQL."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from incast import _database
from incast.sweep.file import Value


def shown(value: Value) -> str:
    """A value as in a sweep file, text without quotes."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def label(columns: Mapping[str, Value], scheme: str) -> str:
    """Label of a run, on one line."""
    return ", ".join([*(f"{name}={shown(value)}" for name, value in columns.items()), scheme])


def of_unfinished(counts: Sequence[int], runs: int, why: str = "ended") -> str:
    """Number of runs with unfinished flows, of so many, with the fewest and the most unfinished flows of such a run."""
    few, most = min(counts), max(counts)
    flows = f"{most:,} unfinished {'flow' if most == 1 else 'flows'}"
    return f"{len(counts):,} of {runs:,} {'run' if runs == 1 else 'runs'} {why} with " + (
        flows if few == most else f"{few:,} to {flows}"
    )


def literal(value: Value) -> str:
    """A value in SQL."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return f"{value!r}::double"
    return f"{value}::bigint" if isinstance(value, int) else _database.literal(value)
