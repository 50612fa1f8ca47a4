"""Pairs flows of two results, or of two schemes of one run."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from incast._database import utf8
from incast.comparison import match
from incast.errors import ComparisonError
from incast.results import ALL, Results, check_label

if TYPE_CHECKING:
    import duckdb

KEY = "src_name, dst_name, size_bytes"
"""Key of a flow, together with its start, if the two sides ran other flows."""


def schemes(results: Results, reference: Results, scheme: str | None, other: str | None) -> tuple[str, str]:
    """The two schemes to compare.

    Default of the second in another folder: the scheme with the same name, or the only one.
    """
    names = list(results.manifest["schemes"])
    same = reference.path.resolve() == results.path.resolve()
    if same and len(names) == 1:
        raise ComparisonError(f"{results.path} has only the scheme {names[0]}; name other results or an fct.txt")
    ours = match.chosen(results, scheme)
    if other is None and ours in reference.manifest["schemes"] and not same:
        other = ours
    others = ", ".join(name for name in names if name != ours)
    if same and other is None:
        raise ComparisonError(f"name the scheme of {results.path} to compare {ours} with, by --with: {others}")
    theirs = match.chosen(reference, other, "--with")
    if same and ours == theirs:
        raise ComparisonError(f"both sides are {ours} in {results.path}; choose another scheme with --with: {others}")
    return ours, theirs


def read(connection: duckdb.DuckDBPyConnection, reference: Results, scheme: str, label: str | None) -> None:
    """Read the flows of a scheme, or those with a label, into the table `reference`; their numbers stand for lines."""
    match.check(connection, reference, "flows")
    with match.reading(reference, "flows") as file:
        _check_label(connection, reference, file, label)
        connection.execute(
            """
            CREATE TABLE reference AS
            SELECT flow AS line, src, dst, src_name, dst_name, sport, dport, size_bytes, start_ps, fct_ps,
                   ideal_hpcc_ps AS ideal_ps
            FROM read_parquet($file)
            WHERE scheme = $scheme AND NOT backlogged AND ($label IS NULL OR label = $label)
            """,
            {"file": utf8(file), "scheme": scheme, "label": None if label == ALL else label},
        )
    match.unique(connection, "reference", "line", reference)


def read_results(connection: duckdb.DuckDBPyConnection, results: Results, scheme: str, label: str | None) -> None:
    """Read the flows of a scheme, or those with a label, into the table `results`."""
    match.check(connection, results, "flows")
    with match.reading(results, "flows") as file:
        _check_label(connection, results, file, label)
        connection.execute(
            """
            CREATE TABLE results AS
            SELECT flow, src, dst, src_name, dst_name, sport, dport, size_bytes, start_ps, fct_ps, ideal_hpcc_ps
            FROM read_parquet($file)
            WHERE scheme = $scheme AND NOT backlogged AND ($label IS NULL OR label = $label)
            """,
            {"file": utf8(file), "scheme": scheme, "label": None if label == ALL else label},
        )
    match.unique(connection, "results", "flow", results)


def _check_label(connection: duckdb.DuckDBPyConnection, results: Results, file: Path, label: str | None) -> None:
    """Raise `ResultsError` if no flow of the results has the label."""
    if label is not None:
        query = "SELECT label FROM read_parquet($file) GROUP BY label ORDER BY min(flow)"
        found = connection.execute(query, {"file": utf8(file)}).fetchall()
        check_label(results.path, label, [name for (name,) in found])


def pair(connection: duckdb.DuckDBPyConnection) -> None:
    """Make the table `known` of flows that both sides have.

    Pairs flows by number if every number has the same hosts, ports and size on both sides: the scenario's flows are the
    same. Otherwise pairs by hosts, size and start; equal ones in order of their numbers.
    """
    columns = "flow, src_name, dst_name, sport, dport, size_bytes"
    reference = columns.replace("flow", "line AS flow", 1)
    (others,) = match.row(
        connection,
        f"SELECT count(*) FROM ((SELECT {reference} FROM reference EXCEPT SELECT {columns} FROM results) UNION ALL "
        f"(SELECT {columns} FROM results EXCEPT SELECT {reference} FROM reference))",
    )
    if others:
        alike = f"row_number() OVER (PARTITION BY {KEY}, start_ps ORDER BY {{}}) AS alike"
        query = (
            f"SELECT line, flow FROM (SELECT *, {alike.format('line')} FROM reference) "
            f"JOIN (SELECT *, {alike.format('flow')} FROM results) USING ({KEY}, start_ps, alike)"
        )
    else:
        query = "SELECT line, flow FROM reference JOIN results ON line = flow"
    connection.execute(f"CREATE TABLE known AS {query}")


def why_none(connection: duckdb.DuckDBPyConnection, results: Path, reference: Path) -> str:
    """Reason why the two sides have no flow in common."""
    for side, path in (("results", results), ("reference", reference)):
        if not match.row(connection, f"SELECT count(*) FROM {side}")[0]:
            return f"{path} has no flows that can complete"
    if match.row(connection, "SELECT count(*) FROM known")[0]:
        return "the flows that both have complete on one side only, or on neither"
    for columns, why in (
        ("src_name, dst_name", "no flow has the same hosts: another fabric or workload?"),
        (KEY, "flows have the same hosts, but not the same sizes: another workload or seed?"),
    ):
        query = f"SELECT count(*) FROM (SELECT {columns} FROM results INTERSECT SELECT {columns} FROM reference)"
        if not match.row(connection, query)[0]:
            return why
    return "flows have the same hosts and sizes, but start at other times: another workload or seed?"
