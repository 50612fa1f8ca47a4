"""`incast results`."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

import incast
from incast import _echo, _tables, integrity
from incast._nearest import hint
from incast.cli import codes, summary
from incast.cli.command import command, whole
from incast.errors import ResultsError
from incast.sweep.folder import INDEX

EXAMPLES = """
Examples:
  incast results results/quickstart
  incast results results/quickstart --table flows --limit 10
  incast results results/quickstart --table ports --format csv > ports.csv
  incast results results/load --label background --format csv > figures.csv
  incast results results/quickstart --verify
"""
FIGURES = "figures"
"""The table of a sweep."""
ROWS = 20
"""Rows shown where no limit is given."""


def results(
    folder: Path,
    /,
    *,
    table: str | None = None,
    label: str | None = None,
    format: Literal["table", "csv", "json"] = "table",  # noqa: A002 - the name of the option
    limit: Annotated[int | None, whole(0)] = None,
    verify: Annotated[bool, Parameter(negative=(), show_default=False)] = False,
) -> None:
    """Show the summary of a results folder with the warnings of its run, one of its tables, or figures of a sweep.

    Parameters
    ----------
    folder
        Results folder, as written by `incast run`; or folder of a sweep, for a row of figures of each run.
    table
        Table to print: slowdown, or a table of the folder such as flows or ports. With tenants also sharing and
        guarantees; after `incast run --alone` also alone.
    label
        For the table slowdown and for sweeps: only flows with this label; all for the flows of all labels together.
    format
        Output format.
    limit
        Rows to print. Default: 20 for --format table, all for csv and json.
    verify
        Compare all tables with their checksums, also those of a sweep or a study, and the index and the table of runs
        of a sweep with its runs. Exit code 2: files are damaged.

    """
    if verify:
        tables = integrity.verify([folder])
        shown = table is not None or format != "table"
        print(f"all {tables:,} tables are as written", file=sys.stderr if shown else sys.stdout)
        if not shown:
            return
    notes: Sequence[str] = ()
    if (folder / INDEX).is_file():
        if table not in (None, FIGURES):
            raise ResultsError(f"{folder} is a sweep: its table here is {FIGURES}, not `{table}`; its runs have others")
        sweep = incast.open_sweep(folder)
        chosen, notes = sweep.figures_and_notes(label)
        codes.warn(filter(None, [sweep.incomplete()]))
    else:
        found = incast.open(folder)
        if (version := found.manifest["incast"]) != incast.__version__:
            codes.complain(f"note: incast {version} wrote these results; this is {incast.__version__}")
        if table is None and format == "table" and label is None:
            codes.warn(found.warnings())
            summary.show(found)
            return
        chosen = _chosen(found, "slowdown" if table is None else table, label)
    if format == "csv":
        codes.write_data(chosen.to_csv(limit=limit) or "")
    elif format == "json":
        sys.stdout.write(_echo.data(chosen.to_json(limit=limit) or ""))
    else:
        _print(chosen, ROWS if limit is None else limit)
        for note in notes:
            codes.say(note)


def _chosen(found: incast.Results, table: str, label: str | None) -> incast.Table:
    """A table that is computed, or one of the folder."""
    if label is not None and table != "slowdown":
        raise ResultsError(f"--label has no effect on the table {table}, only on slowdown")
    computed: dict[str, Callable[[], incast.Table]] = {
        "slowdown": lambda: found.slowdown(label=label),
        "sharing": found.sharing,
        "guarantees": found.guarantees,
        "alone": found.alone,
    }
    if table not in computed and table not in found.tables:
        allowed = ["slowdown", *found.tables]
        raise ResultsError(f"{found.path} has no table `{table}`, only {', '.join(allowed)}{hint(table, allowed)}")
    return computed[table]() if table in computed else _tables.with_its_columns(found, table)


def _print(table: incast.Table, limit: int) -> None:
    """Print rows in aligned columns of any width."""
    names = [f"{column.name} ({column.unit})" if column.unit else column.name for column in table.columns]
    rows = [names, *([_cell(value) for value in row] for row in table.rows(limit))]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    left = [not column.type.startswith(("Int", "UInt", "Float")) for column in table.columns]
    for row in rows:
        cells = zip(row, widths, left, strict=True)
        codes.say("  ".join(cell.ljust(width) if name else cell.rjust(width) for cell, width, name in cells).rstrip())
    if limit < len(table):
        rest = f"{len(table) - limit:,} more of {len(table):,} rows"
        print(f"... {rest}; use --limit N or --format csv", file=sys.stderr)


def _cell(value: object) -> str:
    if value is None:
        return ""
    return f"{value:.6g}" if isinstance(value, float) else _echo.word(str(value))


app = command("results", results, EXAMPLES)
