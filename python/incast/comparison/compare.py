"""Compare results with the reference."""

from __future__ import annotations

from os import PathLike
from pathlib import Path

from incast.comparison import match, reference, statistics
from incast.comparison.comparison import Comparison
from incast.errors import ComparisonError
from incast.results import Results, open_results

WITHIN_NS = 1
"""Starts may differ by this: the reference reads them as binary fractions of a second and rounds down, so that about
half of them come out 1 ns early."""


def compare(
    results: Results | str | PathLike[str],
    fct: str | PathLike[str],
    *,
    scheme: str | None = None,
    dport: int | None = None,
    within_ns: int = WITHIN_NS,
) -> Comparison:
    """Compare the completion times of results with those in an `fct.txt` of the HPCC authors' ns-3 or its descendants.

    Flows are the same if their hosts, ports and sizes are, and their starts within a nanosecond. Slowdowns are those of
    the reference's `fct_analysis.py`, on both sides: see `incast.comparison.statistics`.

    Args:
        results: A results folder.
        fct: The reference's file, a line for each flow that completed:
            `sip dip sport dport size start_ns fct_ns standalone_ns`.
        scheme: The scheme to compare; not needed if the results hold one.
        dport: Flows to this port only, as the script's option for background (100) and incasts (200).
        within_ns: How far starts may differ, in nanoseconds.

    """
    import duckdb

    if not isinstance(results, Results):
        results = open_results(results)
    scheme = match.chosen(results, scheme)
    file = Path(fct)
    connection = duckdb.connect()
    connection.execute("SET enable_progress_bar = false")
    reference.read(connection, file)
    match.read_results(connection, results, scheme)
    if dport is not None:
        match.keep(connection, dport, file)
    match.match(connection, within_ns)
    statistics.slowdowns(connection)
    if not connection.execute("FROM flows LIMIT 1").fetchone():
        why = match.why_none(connection)
        raise ComparisonError(f"no flow of {file} completed in {results.path} under {scheme}: {why}")
    return Comparison(connection, results.path, file, scheme)
