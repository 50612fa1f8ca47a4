"""Iterations of collectives: time and bandwidth."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any, Literal, get_args

from incast import _tables
from incast.errors import ResultsError
from incast.results import Results
from incast.table import Given, Table

By = Literal["iteration", "label"]
FIELDS = (
    Given("scheme", "name", None, "scheme"),
    Given("label", "name", None, "label of the collective"),
    Given("iterations", "i64", None, "completed iterations"),
    Given("mean_ps", "f64", "ps", "mean communication time"),
    Given("min_ps", "i64", "ps", "shortest communication time"),
    Given("max_ps", "i64", "ps", "longest communication time"),
    Given("bus_bps", "f64", "bit/s", "bus bandwidth at the mean communication time, as in nccl-tests"),
)
HEAD = ("label", "scheme", "iterations", "mean", "min", "max", "bus bandwidth")
LEGEND = (
    "iterations of collectives: first message to last byte, without compute time;\n"
    "bus bandwidth: nccl-tests' definition, at the mean time"
)


def iterations(results: Results, by: By = "iteration") -> Table:
    """Completed iterations of collectives.

    Args:
        results: Results of a scenario with a collective.
        by: `iteration` for the table `iterations`, one row for each iteration; `label` for mean, minimum and maximum
            by scheme and label.

    Raises:
        ResultsError: The scenario has no collective.
        ValueError: `by` is not valid.

    """
    if by not in get_args(By):
        raise ValueError(f"by must be one of {', '.join(map(repr, get_args(By)))}, got {by!r}")
    if "iterations" not in results.tables:
        raise ResultsError(f"{results.path}: no table `iterations`: the scenario has no collective")
    if by == "iteration":
        return results.table("iterations")
    order = {scheme: place for place, scheme in enumerate(results.manifest["schemes"])}
    rows = sorted(_tables.checked(results, "iterations").dicts(), key=lambda row: (order[row["scheme"]], row["label"]))
    groups = groupby(rows, key=lambda row: (row["scheme"], row["label"]))
    return Table.of_rows("iterations", FIELDS, [_summary(*key, list(group)) for key, group in groups])


def _summary(scheme: str, label: str, rows: list[dict[str, Any]]) -> tuple[Any, ...]:
    times = [row["communication_ps"] for row in rows]
    # Damaged results can have iterations without communication.
    bandwidth = sum(row["bus_bps"] * row["communication_ps"] for row in rows) / max(1, sum(times))
    return scheme, label, len(rows), sum(times) / len(times), min(times), max(times), bandwidth


def text(results: Results) -> str:
    """One line for each label and scheme, with a legend; empty without a completed iteration."""
    found = sorted(iterations(results, "label").dicts(), key=lambda row: row["label"])
    if not found:
        return ""
    return "\n".join((*aligned([HEAD, *(_cells(row) for row in found)]), LEGEND))


def _cells(row: dict[str, Any]) -> tuple[str, ...]:
    times = (f"{row[name] / 1e6:,.1f} us" for name in ("mean_ps", "min_ps", "max_ps"))
    return row["label"], row["scheme"], str(row["iterations"]), *times, f"{row['bus_bps'] / 1e9:,.1f} Gb/s"


def aligned(rows: Sequence[tuple[str, ...]]) -> Iterator[str]:
    """Lines of aligned columns: the first two to the left, the others to the right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = enumerate(zip(row, widths, strict=True))
        yield "  ".join(cell.ljust(width) if at < 2 else cell.rjust(width) for at, (cell, width) in cells)
