"""Compares results with the output of the HPCC authors' ns-3."""

from __future__ import annotations

from os import PathLike
from pathlib import Path

from incast import _database
from incast.comparison import match, reference, statistics
from incast.comparison.comparison import Comparison
from incast.errors import ComparisonError
from incast.results import Results, open_results

WITHIN_NS = 1
"""Largest difference between starts of one flow. ns-3 reads starts as binary fractions of a second and rounds down, so
that about half of them are 1 ns early."""


def compare(
    results: Results | str | PathLike[str],
    fct: str | PathLike[str],
    *,
    scheme: str | None = None,
    dport: int | None = None,
    within_ns: int = WITHIN_NS,
) -> Comparison:
    """Compare the completion times of results with those in an `fct.txt` of the HPCC authors' ns-3 or its descendants.

    Matches flows by hosts, ports, size and start. Slowdowns of both sides are computed as in ns-3's `fct_analysis.py`:
    see `incast.comparison.statistics`.

    Args:
        results: A results folder.
        fct: The file of ns-3, a line for each completed flow:
            `sip dip sport dport size start_ns fct_ns standalone_ns`.
        scheme: The scheme to compare; required if the results have several.
        dport: Only flows to this port. In ns-3's workloads, 100 is background traffic and 200 is incasts.
        within_ns: Largest difference between starts of one flow, in nanoseconds.

    """
    if not isinstance(results, Results):
        results = open_results(results)
    scheme = match.chosen(results, scheme)
    file = Path(fct)
    connection = _database.connect([file, results.path / match.FLOWS])
    reference.read(connection, file)
    match.read_results(connection, results, scheme)
    if dport is not None:
        match.keep(connection, dport, file)
    match.match(connection, within_ns)
    statistics.slowdowns(connection)
    if not connection.execute("FROM flows LIMIT 1").fetchone():
        why = match.why_none(connection)
        raise ComparisonError(f"no common flow in {file} and {results.path} under {scheme}: {why}")
    return Comparison(connection, results.path, file, scheme)
