"""The tables of a study: rows of a query with their mean and range over seeds."""

from __future__ import annotations

import csv
import io
import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from statistics import fmean
from typing import Any

from incast.study.description import StudyFigure, StudyTable, TableColumn
from incast.study.figures import SEED, Choice, Measured, NotUniqueError, said

WHOLE = 1000
"""From here on figures are shown without decimals (our choice)."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Span:
    """A figure: its mean over seeds, and how far these differ."""

    mean: float
    least: float
    most: float


@dataclass(frozen=True, kw_only=True, slots=True)
class Heading:
    """A column of a table."""

    name: str
    """As the query has it."""
    title: str
    """For people."""
    unit: str
    """Unit of its figures; empty for a plain number."""
    figure: bool
    """True if it has figures; otherwise it distinguishes rows."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Row:
    """A row of a table."""

    cells: tuple[Any, ...]
    """By column: a value, or a `Span`; `None` where there is nothing."""
    seeds: int
    """Seeds that it comes from; 0 if the query does not distinguish them."""


@dataclass(frozen=True, kw_only=True, slots=True)
class DrawnTable:
    """A table of a study as it is kept in claims.json."""

    name: str
    title: str
    about: str
    columns: tuple[Heading, ...]
    rows: tuple[Row, ...]
    """In the order in which the query gives them."""
    missing: str | None
    """Figures that could not be measured, and the reason."""

    def to_tree(self) -> dict[str, Any]:
        """As in claims.json."""
        return asdict(self)

    @classmethod
    def from_tree(cls, tree: dict[str, Any]) -> DrawnTable:
        """From claims.json."""
        columns = tuple(Heading(**column) for column in tree["columns"])
        rows = tuple(
            Row(
                cells=tuple(Span(**cell) if isinstance(cell, dict) else cell for cell in row["cells"]),
                seeds=row["seeds"],
            )
            for row in tree["rows"]
        )
        return cls(**{**tree, "columns": columns, "rows": rows})

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes below it."""
        seeds = sorted({row.seeds for row in self.rows if row.seeds > 1})
        notes = [] if self.missing is None else [self.missing]
        if seeds:
            over = str(seeds[0]) if len(seeds) == 1 else f"{seeds[0]} to {seeds[-1]}"
            notes.insert(0, f"Means over {over} seeds, with minimum and maximum in brackets where seeds differ.")
        return tuple(notes)

    @property
    def numeric(self) -> tuple[bool, ...]:
        """True for each column that holds numbers, which are aligned right."""
        return tuple(
            head.figure or all(isinstance(row.cells[place], (int, float)) for row in self.rows)
            for place, head in enumerate(self.columns)
        )

    @property
    def headings(self) -> tuple[str, ...]:
        """The titles of its columns, with their units."""
        return tuple(f"{each.title} ({each.unit})" if each.unit else each.title for each in self.columns)

    def texts(self) -> Iterator[tuple[str, ...]]:
        """Its rows as they are shown."""
        for row in self.rows:
            yield tuple(text(cell) for cell in row.cells)

    def csv(self) -> str:
        """All of it, unrounded: of each figure its mean, then its least and greatest."""
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        heads = [
            [each.name, f"{each.name}_least", f"{each.name}_greatest"] if each.figure else [each.name]
            for each in self.columns
        ]
        writer.writerow([*itertools.chain(*heads), "seeds"])
        for row in self.rows:
            cells: list[Any] = []
            for head, cell in zip(self.columns, row.cells, strict=True):
                if not head.figure:
                    cells.append(cell)
                else:
                    cells += [cell.mean, cell.least, cell.most] if isinstance(cell, Span) else [None] * 3
            writer.writerow([*cells, row.seeds])
        return out.getvalue()


def tabulate(table: StudyTable, figure: StudyFigure, measured: Measured) -> DrawnTable:
    """The rows of a table of a figure; `NotUniqueError` if the query has several for one row and seed."""
    presented = {column: table.column.get(column, TableColumn()) for column in measured.columns}
    columns = tuple(
        Heading(
            name=column,
            title=presented[column].title or column,
            unit=presented[column].unit,
            figure=column not in table.rows,
        )
        for column in measured.columns
        if column != SEED
    )
    by_key: dict[tuple[Any, ...], list[Choice]] = {}
    for row in measured.rows:
        by_key.setdefault(tuple(row[key] for key in table.rows), []).append(row)
    rows = []
    for found in by_key.values():
        seeds = [row.get(SEED) for row in found]
        if len(set(seeds)) < len(seeds):
            key = {each: found[0][each] for each in table.rows}
            raise NotUniqueError(f" with {said(key)}" if key else "")
        cells = tuple(span(found, head.name) if head.figure else found[0][head.name] for head in columns)
        rows.append(Row(cells=cells, seeds=sum(seed is not None for seed in seeds)))
    return DrawnTable(
        name=table.name,
        title=figure.title if table.title is None else table.title,
        about=figure.about if table.about is None else table.about,
        columns=columns,
        rows=tuple(rows),
        missing=lacking(measured),
    )


def span(rows: Sequence[Mapping[str, Any]], name: str) -> Span | None:
    """A figure over the seeds that have it; infinite ones have no place in a mean."""
    values = [float(row[name]) for row in rows if row[name] is not None and math.isfinite(row[name])]
    return Span(mean=fmean(values), least=min(values), most=max(values)) if values else None


def lacking(measured: Measured) -> str | None:
    """How many runs have no results, and why, if that is known; how many figures are not finite."""
    undone = [run for run in measured.runs if not run.done]
    if not undone:
        cells = (cell for row in measured.rows for cell in row.values() if isinstance(cell, float))
        count = sum(not math.isfinite(cell) for cell in cells)
        return f"{count} figures are not finite and not included in means." if count else None
    why = next((f": {run.why}" for run in undone if run.why), "")
    return f"{len(undone)} of {len(measured.runs)} runs have no results{why}."


def text(cell: Any) -> str:
    """A cell as it is shown."""
    if not isinstance(cell, Span):
        return "" if cell is None else number(cell) if isinstance(cell, (int, float)) else str(cell)
    mean, least, most = map(number, (cell.mean, cell.least, cell.most))
    return mean if least == most else f"{mean} ({least} to {most})"


def number(value: float) -> str:
    """A number to four digits, or whole."""
    if isinstance(value, bool):
        return str(value).lower()
    return f"{value:,.0f}" if abs(value) >= WHOLE or float(value).is_integer() else f"{value:.4g}"
