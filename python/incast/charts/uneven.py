"""Means of a sweep over different seeds, because runs are missing or skipped."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from incast.sweep.text import label, shown

NAMED = 4
"""Most means named in a note, and most seeds of each (our choice)."""


def uneven_seeds(columns: Sequence[str], seed: str | None, rows: Sequence[Sequence[Any]]) -> Iterator[str]:
    """A note on the means that lack seeds which other means have, if there are any.

    Args:
        columns: The varied columns.
        seed: The column of seeds, if any.
        rows: Values of the columns, the scheme, and figures of each run.

    """
    if seed is None:
        return
    place = columns.index(seed)
    others = [name for name in columns if name != seed]
    found: dict[tuple[Any, ...], set[Any]] = {}
    for row in rows:
        found.setdefault((*row[:place], *row[place + 1 : len(columns) + 1]), set()).add(row[place])
    seeds = list(dict.fromkeys(row[place] for row in rows))
    lacking = [
        f"{label(dict(zip(others, point, strict=False)), point[-1])} without {_named(seed, missing)}"
        for point, there in found.items()
        if (missing := [each for each in seeds if each not in there])
    ]
    if lacking:
        yield f"The means are over different runs: {'; '.join(_first(lacking))}."


def _named(column: str, values: Sequence[Any]) -> str:
    return f"{column}={', '.join(_first([*map(shown, values)]))}"


def _first(texts: Sequence[str]) -> list[str]:
    more = len(texts) - NAMED
    return [*texts[:NAMED], *([f"{more:,} more"] if more > 0 else [])]
