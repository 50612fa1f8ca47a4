"""SQL that the metrics and tables of a study share: `{run}`, and views."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from incast._database import quoted
from incast.study import queries

if TYPE_CHECKING:
    import duckdb

RUN = "{run}"
"""Placeholder for the columns that identify a run."""


class ViewError(Exception):
    """A view that cannot be created; the text says why."""

    def __init__(self, name: str, why: str) -> None:
        super().__init__(why)
        self.name = name


@dataclass(frozen=True)
class Shared:
    """Shared SQL for one sweep or analysis."""

    views: Mapping[str, str]
    """Views that its metrics and tables use, in the order of the file."""
    columns: tuple[str, ...]
    """Columns that identify a run."""

    def text(self, sql: str) -> str:
        """SQL with the columns of a run in place of `{run}`."""
        return sql.replace(RUN, ", ".join(map(quoted, self.columns)))

    def create(self, connection: duckdb.DuckDBPyConnection) -> None:
        """Create the views; raise `ViewError` for one that is no query over the tables and earlier views."""
        for name, sql in self.views.items():
            try:
                queries.create_view(connection, name, self.text(sql))
            except queries.QueryError as error:
                raise ViewError(name, str(error)) from None


def used(
    views: Mapping[str, str], asked: Iterable[str], columns: tuple[str, ...], connection: duckdb.DuckDBPyConnection
) -> Shared:
    """Shared SQL for queries: the views that they use, directly or through later views."""
    every = Shared(views, columns)
    names = set().union(*(queries.tables(connection, every.text(sql)) for sql in asked))
    for name, sql in reversed(list(views.items())):
        if name in names:
            names |= queries.tables(connection, every.text(sql))
    return Shared({name: sql for name, sql in views.items() if name in names}, columns)
