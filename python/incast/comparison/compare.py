"""Compares results with the output of the HPCC authors' ns-3, with other results, or two schemes of a run."""

from __future__ import annotations

from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

from incast import _database
from incast.comparison import match, pair, reference, statistics
from incast.comparison import results as of_results
from incast.comparison.comparison import Comparison
from incast.errors import ComparisonError
from incast.results import Results, open_results

if TYPE_CHECKING:
    import duckdb

WITHIN_NS = 1
"""Largest difference between starts of one flow. ns-3 reads starts as binary fractions of a second and rounds down, so
that about half of them are 1 ns early."""


def compare(
    results: Results | str | PathLike[str],
    other: Results | str | PathLike[str] | None = None,
    *,
    scheme: str | None = None,
    with_scheme: str | None = None,
    dport: int | None = None,
    label: str | None = None,
    within_ns: int = WITHIN_NS,
) -> Comparison:
    """Compare completion times of results with a reference, by flow size and flow by flow.

    The reference is an `fct.txt` of the HPCC authors' ns-3 or its descendants, other results, or another scheme of the
    same results. Slowdowns use the ideal times of their own side; with an `fct.txt`, both sides use those of the
    `fct.txt`. Bins of two results are those of `Results.slowdown`, with an `fct.txt` those of ns-3's `fct_analysis.py`:
    see `incast.comparison.statistics`.

    An `fct.txt` has a line for each completed flow: `sip dip sport dport size start_ns fct_ns standalone_ns`. Its flows
    match by hosts, ports, size and start. Flows of two results match by number if both have the same flows, otherwise
    by hosts, size and start; backlogged flows, which end at a fixed time, are not compared.

    Args:
        results: A results folder.
        other: The reference: an `fct.txt` or a results folder. Default: the same results, under `with_scheme`.
        scheme: The scheme to compare; required if the results have several.
        with_scheme: The scheme of the reference, if that is a results folder. Default for another folder: the same as
            in the results, or the only one; required within one folder.
        dport: Only flows to this port. In ns-3's workloads, 100 is background traffic and 200 is incasts.
        label: Only flows with this label; `"all"` for all. An `fct.txt` has no labels.
        within_ns: Largest difference between starts of one flow, in nanoseconds, for an `fct.txt`.

    """
    if not isinstance(results, Results):
        results = open_results(results)
    if other is None:
        other = results
    if isinstance(other, Results) or Path(other).is_dir():
        other = other if isinstance(other, Results) else open_results(other)
        with match.computing(results.path, other.path):
            return _with_results(results, other, (scheme, with_scheme), dport, label)
    if label is not None:
        raise ComparisonError(f"{other} is a file and has no label {label}; choose flows by their port (dport)")
    if with_scheme is not None:
        raise ComparisonError(
            f"{other} is a file and has no scheme {with_scheme}; choose only the scheme of the results"
        )
    with match.computing(results.path, Path(other)):
        return _with_file(results, Path(other), match.chosen(results, scheme), dport, within_ns)


def _with_file(results: Results, file: Path, scheme: str, dport: int | None, within_ns: int) -> Comparison:
    """Compare with an `fct.txt`."""
    connection = _database.connect([file, results.path / match.FLOWS])
    reference.read(connection, file)
    match.read_results(connection, results, scheme)
    _keep(connection, dport, file)
    match.match(connection, within_ns)
    pair.pair(connection, match.KEY, same_starts=False)
    statistics.slowdowns(connection, script=True)
    if _empty(connection):
        why = match.why_none(connection)
        raise ComparisonError(f"no common flow in {file} and {results.path} under {scheme}: {why}")
    return Comparison(connection, results.path, file, scheme)


def _with_results(
    results: Results, other: Results, schemes: tuple[str | None, str | None], dport: int | None, label: str | None
) -> Comparison:
    """Compare with results."""
    scheme, with_scheme = of_results.schemes(results, other, *schemes)
    connection = _database.connect([folder.path / match.FLOWS for folder in (results, other)])
    of_results.read(connection, other, with_scheme, label)
    of_results.read_results(connection, results, scheme, label)
    _keep(connection, dport, other.path)
    of_results.pair(connection)
    pair.pair(connection, of_results.KEY, same_starts=True)
    statistics.slowdowns(connection, script=False)
    if _empty(connection):
        why = of_results.why_none(connection, results.path, other.path)
        raise ComparisonError(
            f"no common flow in {results.path} under {scheme} and {other.path} under {with_scheme}: {why}"
        )
    return Comparison(connection, results.path, other.path, scheme, with_scheme)


def _keep(connection: duckdb.DuckDBPyConnection, dport: int | None, path: Path) -> None:
    if dport is not None:
        match.keep(connection, dport, path)


def _empty(connection: duckdb.DuckDBPyConnection) -> bool:
    return not connection.execute("FROM flows LIMIT 1").fetchone()
