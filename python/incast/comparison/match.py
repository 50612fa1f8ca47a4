"""Matches flows of the results with those of an `fct.txt`: same hosts, ports, size and start."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from incast import _database, _tables
from incast._database import utf8
from incast._nearest import hint
from incast.errors import ComparisonError, EnvironmentFailure, ResultsError
from incast.integrity import damaged
from incast.results import Results

if TYPE_CHECKING:
    import duckdb

FLOWS = "flows.parquet"
"""Table of flows of a results folder."""
KEY = "src, dst, sport, dport, size_bytes"
"""Key of a flow, together with its start."""


def chosen(results: Results, scheme: str | None, option: str = "--scheme") -> str:
    """The scheme to compare: the named one, or the only one; `option` chooses it."""
    names = list(results.manifest["schemes"])
    if scheme is None:
        if len(names) == 1:
            return str(names[0])
        raise ComparisonError(f"{results.path} has {len(names)} schemes; choose with {option}: {', '.join(names)}")
    if scheme not in names:
        raise ComparisonError(f"{results.path} has no scheme `{scheme}`, only {', '.join(names)}{hint(scheme, names)}")
    return scheme


@contextmanager
def reading(results: Results, table: str) -> Iterator[Path]:
    """The file of a table of results; reports DuckDB's errors about it."""
    import duckdb

    file = results.path / f"{table}.parquet"
    try:
        yield file
    except duckdb.OutOfMemoryException as error:
        raise EnvironmentFailure(f"{file}: {error}") from None
    except duckdb.Error as error:
        if isinstance(error, duckdb.BinderException) and (lacking := _tables.incomplete(results)):
            raise lacking from None
        raise ResultsError(f"{file}: {str(error).splitlines()[0]}; if it is damaged, run the scenario again") from None


@contextmanager
def computing(*paths: Path) -> Iterator[None]:
    """Report values that DuckDB cannot compute with, such as times whose sum has more than 64 bits."""
    import duckdb

    try:
        yield
    except (duckdb.DataError, duckdb.InvalidInputException) as error:
        names = " or ".join(dict.fromkeys(map(str, paths)))
        raise ResultsError(f"{names} is damaged: {_database.reason(error)}; run the scenario again") from None


def check(connection: duckdb.DuckDBPyConnection, results: Results, table: str) -> None:
    """Raise `ResultsError` for a table with other columns or values than the simulator writes."""
    with reading(results, table):
        _tables.check(connection, results, [table])


def row(connection: duckdb.DuckDBPyConnection, query: str) -> tuple[Any, ...]:
    """The row of a query that always has one."""
    found = connection.execute(query).fetchone()
    assert found is not None
    return tuple(found)


def read_results(connection: duckdb.DuckDBPyConnection, results: Results, scheme: str) -> None:
    """Read the flows of a scheme into the table `results`, hosts by the numbers that the reference knows them by.

    Hosts of an ns-3 topology are named `h` and the number of the node; hosts of other fabrics have their own number.
    """
    check(connection, results, "flows")
    with reading(results, "flows") as file:
        named = connection.execute(
            "SELECT bool_and(regexp_full_match(name, 'h[0-9]+')) FROM "
            "(SELECT src_name AS name FROM read_parquet($file) UNION SELECT dst_name FROM read_parquet($file))",
            {"file": utf8(file)},
        ).fetchone()
        number = "{}_name[2:]::BIGINT" if named and named[0] else "{}::BIGINT"
        connection.execute(
            f"""
            CREATE TABLE results AS
            SELECT flow, {number.format("src")} AS src, {number.format("dst")} AS dst, src_name, dst_name, sport, dport,
                   size_bytes, start_ps, fct_ps, ideal_hpcc_ps
            FROM read_parquet($file) WHERE scheme = $scheme
            """,
            {"file": utf8(file), "scheme": scheme},
        )
    unique(connection, "results", "flow", results)


def unique(connection: duckdb.DuckDBPyConnection, table: str, number: str, results: Results) -> None:
    """Raise `DamagedError` if two flows have one number: pairs by number would multiply."""
    query = f"SELECT {number} FROM {table} GROUP BY {number} HAVING count(*) > 1 LIMIT 1"
    if found := connection.execute(query).fetchone():
        file = results.path / FLOWS
        raise damaged(f"{file} is damaged: flow {found[0]} occurs twice under a scheme", results.path)


def keep(connection: duckdb.DuckDBPyConnection, dport: int, reference: Path) -> None:
    """Keep flows to one destination port only, on both sides."""
    found = sorted({port for table in ("reference", "results") for port in _ports(connection, table)})
    if dport not in found:
        ports = ", ".join(map(str, found[:20]))
        raise ComparisonError(f"no flow goes to port {dport} in {reference} or the results, only to {ports}")
    for table in ("reference", "results"):
        connection.execute(f"DELETE FROM {table} WHERE dport <> $dport", {"dport": dport})


def _ports(connection: duckdb.DuckDBPyConnection, table: str) -> list[int]:
    return [row[0] for row in connection.execute(f"SELECT DISTINCT dport FROM {table}").fetchall()]


def match(connection: duckdb.DuckDBPyConnection, within_ns: int) -> None:
    """Make the table `known` of flows that both sides have: line and flow.

    Starts may differ by `within_ns`. Of several candidates the one closest in start is taken, each at most once.
    """
    connection.execute(
        f"""
        CREATE TABLE known AS
        SELECT line, flow
        FROM reference JOIN results USING ({KEY})
        WHERE abs(results.start_ps - reference.start_ps) <= 1000 * $within
        QUALIFY row_number() OVER (PARTITION BY line ORDER BY abs(results.start_ps - reference.start_ps), flow) = 1
            AND row_number() OVER (PARTITION BY flow ORDER BY abs(results.start_ps - reference.start_ps), line) = 1
        """,
        {"within": within_ns},
    )


def why_none(connection: duckdb.DuckDBPyConnection) -> str:
    """Why no flow of the one side is on the other, in words."""

    def one(query: str) -> Any:
        return row(connection, query)[0]

    def common(columns: str) -> int:
        return int(
            one(f"SELECT count(*) FROM (SELECT {columns} FROM reference INTERSECT SELECT {columns} FROM results)")
        )

    if not one("SELECT count(*) FROM results"):
        return "the results have no flows"
    if not one("SELECT count(*) FROM reference"):
        return "the reference has no flows"
    hosts = "SELECT {} FROM (SELECT src AS host FROM {} UNION SELECT dst FROM {})"
    highest = {side: one(hosts.format("max(host)", side, side)) for side in ("reference", "results")}
    if not common("src, dst"):
        return (
            "no flow has the same hosts: another topology or flow list? The highest host number is "
            f"{highest['reference']} in the reference, {highest['results']} in the results"
        )
    if not common("src, dst, sport, dport"):
        reference, results = (f"SELECT sport || ' to ' || dport FROM {side} LIMIT 1" for side in highest)
        return (
            f"flows have the same hosts, but not the same ports: {one(reference)} in the reference, {one(results)} in "
            "the results"
        )
    if not common(KEY):
        return "flows have the same hosts and ports, but not the same sizes: another flow list?"
    shift = one(
        f"SELECT median(results.start_ps - reference.start_ps) / 1000 FROM reference JOIN results USING ({KEY})"
    )
    if shift is None:
        return "the reference's flows never start in the results"
    when = "later" if shift > 0 else "earlier"
    return f"flows start at other times: {abs(shift):.0f} ns {when} in the results (median)"
