"""A comparison by port as text, CSV, JSON and Markdown."""

from __future__ import annotations

import csv
import io
import json
from typing import Any

from incast import _markdown
from incast.comparison.ports import PortComparison, Rows

LISTED = 20
"""Most ports listed in text; CSV and JSON have all."""


def text(comparison: PortComparison, most: int) -> str:
    """The comparison as text; `most` rows of tables other than `ports`."""
    lines = [comparison.verdict, sides(comparison)]
    for name, table in comparison.tables.items():
        if table.rows:
            shown = [table.columns, *(tuple(map(cell, row)) for row in table.rows[: limit(name, most)])]
            widths = [max(len(row[place]) for row in shown) for place in range(len(table.columns))]
            lines += ["", f"{name}:", ""]
            lines += ["  ".join(word.rjust(width) for word, width in zip(row, widths, strict=True)) for row in shown]
            lines += rest(name, table, most)
    return "\n".join(lines)


def markdown(comparison: PortComparison, most: int) -> str:
    """The comparison as a section of a page."""
    lines = [comparison.verdict, "", sides(comparison)]
    for name, table in comparison.tables.items():
        if table.rows:
            shown = (map(cell, row) for row in table.rows[: limit(name, most)])
            lines += ["", *_markdown.table(table.columns, shown)]
            lines += rest(name, table, most)
    return "\n".join(lines)


def as_json(comparison: PortComparison, most: int) -> str:
    """The comparison as JSON, with all ports."""
    tree: dict[str, Any] = {
        "results": str(comparison.results),
        "reference": str(comparison.reference),
        "scheme": comparison.scheme,
        "identical": comparison.identical,
        "verdict": comparison.verdict,
    }
    for name, table in comparison.tables.items():
        rows = table.rows if name == "ports" else table.rows[:most]
        tree[name] = [dict(zip(table.columns, row, strict=True)) for row in rows]
    return json.dumps(tree, indent=2)


def as_csv(table: Rows) -> str:
    """A table as CSV."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerows([table.columns, *table.rows])
    return out.getvalue()


def sides(comparison: PortComparison) -> str:
    """The two sides."""
    return f"results: {comparison.scheme} in {comparison.results}; reference: {comparison.reference}"


def limit(name: str, most: int) -> int:
    """Rows of a table in text."""
    return LISTED if name == "ports" else most


def rest(name: str, table: Rows, most: int) -> list[str]:
    """A line about rows that are not listed."""
    more = len(table.rows) - limit(name, most)
    return ["", f"{more:,} more {name}; --format csv --table {name} lists all"] if more > 0 else []


def cell(value: object) -> str:
    """A value as text."""
    if isinstance(value, float):
        return f"{value:.3f}"
    return "" if value is None else f"{value:,}" if isinstance(value, int) else str(value)
