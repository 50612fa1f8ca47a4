"""`incast results`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter
from cyclopts.validators import Number
from rich.console import Console
from rich.table import Table as Grid

import incast
from incast.cli import report


EXAMPLES = """
Examples:
  incast results results/quickstart
  incast results results/quickstart --table flows --limit 10
  incast results results/quickstart --table ports --format csv > ports.csv
"""


def results(
    folder: Path,
    /,
    *,
    table: str | None = None,
    format: Literal["table", "csv", "json"] = "table",  # noqa: A002 - the name of the option
    limit: Annotated[int | None, Parameter(validator=Number(gte=0))] = None,
) -> None:
    """Show the results in a folder: the summary, or one of its tables.

    Parameters
    ----------
    folder
        Results folder, as written by `incast run`.
    table
        Table to print, such as flows, ports or slowdown.
    format
        table to read, csv or json for programs.
    limit
        Rows to print; 20 for --format table, all for the others if not given.

    """
    found = incast.open(folder)
    if table is None and format == "table":
        report.show(found, Console())
        return
    chosen = found.slowdown() if table in (None, "slowdown") else found.table(table)
    if format == "csv":
        sys.stdout.write(chosen.to_csv(limit=limit) or "")
    elif format == "json":
        print(chosen.to_json(limit=limit))
    else:
        _print(chosen, 20 if limit is None else limit)


def _print(table: incast.Table, limit: int) -> None:
    grid = Grid(box=None, pad_edge=False)
    for column in table.columns:
        grid.add_column(
            f"{column.name} ({column.unit})" if column.unit else column.name, justify=_side(column), no_wrap=True
        )
    for row in table.rows(limit):
        grid.add_row(*(_cell(value) for value in row))
    console = Console()
    width = console.measure(grid).maximum
    # A table is not folded to the terminal: what is printed can be read and cut by column.
    Console(width=max(width, console.width), soft_wrap=True).print(grid)
    if limit < len(table):
        print(
            f"... {len(table) - limit:,} more of {len(table):,} rows; --limit N or --format csv prints them",
            file=sys.stderr,
        )


def _side(column: incast.Column) -> Literal["left", "right"]:
    return "right" if column.type.startswith(("Int", "UInt", "Float")) else "left"


def _cell(value: object) -> str:
    if value is None:
        return ""
    return f"{value:.6g}" if isinstance(value, float) else str(value)
