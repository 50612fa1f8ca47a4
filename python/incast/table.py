"""Tables of results."""

from __future__ import annotations

import importlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from os import PathLike
from typing import TYPE_CHECKING, Any, Literal

from incast import _core
from incast._library import needed
from incast._nearest import renamed

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow

PARQUET = b"PAR1"
"""First and last bytes of a Parquet file."""


@dataclass(frozen=True)
class Column:
    """One column of a table."""

    name: str
    """Its name."""
    type: str
    """Its Arrow type, such as `UInt64`."""
    nullable: bool
    """True if values can be missing."""
    unit: str | None
    """Its unit, such as `ps` or `B`; `None` for names and plain numbers."""
    description: str | None
    """Its description."""


@dataclass(frozen=True)
class Given:
    """A computed column."""

    name: str
    """Its name."""
    kind: Literal["i64", "f64", "name"]
    """Type of its values: whole numbers, numbers, or names."""
    unit: str | None
    """Its unit, such as `ps`."""
    description: str
    """Its description."""


UNITS = {"_ps": "ps", "_bytes": "B", "_bps": "bit/s"}
"""Units by the end of a column's name."""


def unit_of(column: str) -> str | None:
    """The unit of a column, which its name ends with."""
    return next((unit for end, unit in UNITS.items() if column.endswith(end)), None)


class Table:
    """A table in memory, which other libraries read through Arrow's C stream interface.

    `polars.DataFrame(table)`, `pyarrow.table(table)` and DuckDB queries on the variable's name work without a copy.
    """

    def __init__(self, core: _core.Table, name: str) -> None:
        """Wrap a table of the core."""
        self._core = core
        self.name = name
        """Its name, such as `flows`."""
        self.columns: tuple[Column, ...] = tuple(Column(**column) for column in json.loads(core.columns()))
        """Its columns with their units and descriptions."""

    @classmethod
    def of_rows(cls, name: str, fields: Sequence[Given], rows: Sequence[Sequence[Any]]) -> Table:
        """A table of computed rows; `None` is a missing value."""
        columns = zip(*rows, strict=True) if rows else ((),) * len(fields)
        given = [
            (field.name, field.kind, field.unit, field.description, list(values))
            for field, values in zip(fields, columns, strict=True)
        ]
        return cls(_core.Table.of_columns(given), name)

    def __len__(self) -> int:
        return len(self._core)

    def __repr__(self) -> str:
        return f"<Table {self.name}: {len(self)} rows of {', '.join(column.name for column in self.columns)}>"

    def _repr_html_(self) -> str:
        """HTML for notebooks."""
        from incast import notebook

        return notebook.of_table(self)

    def __getitem__(self, column: str) -> list[Any]:
        """The values of a column."""
        if not isinstance(column, str):
            raise TypeError(
                f"a table is indexed by the name of a column, such as {self.columns[0].name!r}, not by {column!r}; "
                "rows() and dicts() yield its rows"
            )
        try:
            return self._core.column(column)
        except KeyError:
            names = ", ".join(each.name for each in self.columns)
            now = renamed(column, [each.name for each in self.columns])
            hint = f"; `{column}` is now `{now}`" if now else ""
            raise KeyError(f"table {self.name} has no column {column!r}, only {names}{hint}") from None

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """The table as an Arrow C stream capsule."""
        return self._core.__arrow_c_stream__(requested_schema)

    def rows(self, limit: int | None = None) -> Iterator[tuple[Any, ...]]:
        """The rows, at most `limit` of them, as tuples in order of the columns."""
        most = _checked(limit)
        return zip(*(self._core.column(column.name, most) for column in self.columns), strict=True)

    def dicts(self, limit: int | None = None) -> Iterator[dict[str, Any]]:
        """The rows, at most `limit` of them, as dictionaries."""
        names = [column.name for column in self.columns]
        return (dict(zip(names, row, strict=True)) for row in self.rows(limit))

    def to_polars(self) -> polars.DataFrame:
        """The table as a Polars frame (extra `incast[polars]`)."""
        frame: polars.DataFrame = needed("polars").DataFrame(self)
        return frame

    def to_pandas(self) -> pandas.DataFrame:
        """The table as a pandas frame (extra `incast[pandas]`)."""
        library = needed("pandas")
        try:
            frame: pandas.DataFrame = importlib.import_module("pyarrow").table(self).to_pandas()
        except ImportError:
            frame = library.DataFrame({column.name: self[column.name] for column in self.columns})
        return frame

    def to_pyarrow(self) -> pyarrow.Table:
        """The table as a pyarrow table (extra `incast[pyarrow]`)."""
        return needed("pyarrow").table(self)

    def to_csv(self, path: str | PathLike[str] | None = None, limit: int | None = None) -> str | None:
        """The table as CSV text, or `None` if written to the file `path`."""
        return self._core.to_csv(path, _checked(limit))

    def to_json(self, path: str | PathLike[str] | None = None, limit: int | None = None) -> str | None:
        """The table as JSON text (an array of objects), or `None` if written to the file `path`."""
        return self._core.to_json(path, _checked(limit))


def _checked(limit: int | None) -> int | None:
    """A number of rows, or `None` for all; raises `ValueError` below 0."""
    if limit is not None and limit < 0:
        raise ValueError(f"limit must be 0 or more, got {limit}")
    return limit
