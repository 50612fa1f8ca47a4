"""The folder of an analysis, with its table."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from incast import _database, _input
from incast._database import PARQUET_FILE, quoted, utf8
from incast.errors import EnvironmentFailure, ResultsError
from incast.integrity import damaged
from incast.sweep.file import Value
from incast.sweep.folder import FORMAT, RUNS
from incast.sweep.text import literal, shown

if TYPE_CHECKING:
    import duckdb

INDEX = "analysis.json"
"""Index of the folder: the requested cells and their states."""
TABLE = "figures.parquet"
"""All rows of all cells."""
NAME = "figures"
"""The table in SQL."""


@dataclass(frozen=True)
class CellState:
    """State of a cell."""

    key: str
    """The name of its folder."""
    columns: dict[str, Value]
    """The varied parameters."""
    done: bool
    """True if its rows are there."""
    error: str | None
    """Why not."""

    @property
    def label(self) -> str:
        """Varied parameters, on one line."""
        return ", ".join(f"{name}={shown(value)}" for name, value in self.columns.items()) or "the only cell"

    @property
    def choice(self) -> dict[str, Value]:
        """Varied parameters, which identify it."""
        return self.columns


class Analysis:
    """The folder of an analysis."""

    def __init__(self, path: Path, index: dict[str, Any]) -> None:
        """Wrap a folder and what it says of itself."""
        self.path = path
        """The folder."""
        try:
            self.title: str | None = index["title"]
            """Title."""
            self.impossible: str | None = index["impossible"]
            """Why this machine could not do it."""
            self.types: dict[str, str] = index["types"]
            """The columns of its table."""
            if wrong := [kind for kind in self.types.values() if not re.fullmatch("[a-z]+", kind)]:
                raise TypeError(f"`{wrong[0]}` is not a type of DuckDB")
            self.runs: tuple[CellState, ...] = tuple(CellState(**cell) for cell in index["cells"])
            """Its cells."""
        except (KeyError, TypeError) as error:
            raise ResultsError(f"{path / INDEX} is damaged: {type(error).__name__}: {error}") from None

    @property
    def done(self) -> tuple[CellState, ...]:
        """The cells whose rows are there."""
        return tuple(cell for cell in self.runs if cell.done)

    @property
    def failed(self) -> tuple[CellState, ...]:
        """The cells that failed; what the machine cannot do has not."""
        return tuple(cell for cell in self.runs if cell.error is not None and cell.error != self.impossible)

    @cached_property
    def rows(self) -> list[dict[str, Any]]:
        """All rows: the varied parameters, then the figures."""
        return [{**cell.columns, **row} for cell in self.done for row in self._rows(cell)]

    def _rows(self, cell: CellState) -> list[dict[str, Any]]:
        file = self.path / RUNS / cell.key / "rows.json"
        try:
            rows = _input.read_json(file, ResultsError, _input.LARGE)
            if not all(row.keys() >= self.types.keys() - cell.columns.keys() for row in rows):
                raise ValueError("a row lacks a column")
        except (OSError, ValueError, TypeError, AttributeError) as error:
            raise damaged(f"{file} is damaged: {error}", file.parent) from None
        return rows  # type: ignore[no-any-return]

    def connect(self) -> duckdb.DuckDBPyConnection:
        """A DuckDB connection with the rows as table `figures`."""
        return self._into(_database.connect())

    def _into(self, connection: duckdb.DuckDBPyConnection) -> duckdb.DuckDBPyConnection:
        """Make the table `figures` in a database."""
        columns = ", ".join(f"{quoted(name)} {kind}" for name, kind in self.types.items())
        connection.execute(f"create table {NAME} ({columns})")
        if self.rows:
            values = [[row[name] for name in self.types] for row in self.rows]
            connection.executemany(f"insert into {NAME} values ({', '.join('?' * len(self.types))})", values)
        return connection


def open_analysis(path: Path) -> Analysis:
    """Open the folder of an analysis."""
    file = path / INDEX
    try:
        index = _input.read_json(file, ResultsError)
    except (OSError, ValueError) as error:
        raise ResultsError(f"{file}: no index of an analysis: {error}") from None
    if not isinstance(index, dict) or index.get("format") != FORMAT:
        raise ResultsError(f"{file}: another layout than format {FORMAT}, which this version reads")
    return Analysis(path, index)


def write_table(path: Path) -> None:
    """Write all rows as one file."""
    import duckdb

    partial = path / f".{TABLE}.partial"
    try:
        with open_analysis(path)._into(_database.connect([partial])) as connection:
            connection.execute(f"copy {NAME} to {literal(utf8(partial))} ({PARQUET_FILE})")
        partial.replace(path / TABLE)
    except (duckdb.Error, OSError) as error:
        partial.unlink(missing_ok=True)
        raise EnvironmentFailure(f"cannot write {path / TABLE}: {str(error).partition(chr(10))[0]}") from None
