"""Matches flows of the results with flows of the reference: same hosts, ports, size and start."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from incast._nearest import hint
from incast.errors import ComparisonError, EnvironmentFailure, ResultsError
from incast.results import Results

if TYPE_CHECKING:
    import duckdb

FLOWS = "flows.parquet"
"""Table of flows of a results folder."""
KEY = "src, dst, sport, dport, size_bytes"
"""Key of a flow, together with its start."""


def chosen(results: Results, scheme: str | None) -> str:
    """The scheme to compare: the named one, or the only one."""
    names = list(results.manifest["schemes"])
    if scheme is None:
        if len(names) == 1:
            return str(names[0])
        raise ComparisonError(f"{results.path} has {len(names)} schemes; choose with --scheme: {', '.join(names)}")
    if scheme not in names:
        raise ComparisonError(f"{results.path} has no scheme `{scheme}`, only {', '.join(names)}{hint(scheme, names)}")
    return scheme


def read_results(connection: duckdb.DuckDBPyConnection, results: Results, scheme: str) -> None:
    """Read the flows of a scheme into the table `results`, hosts by the numbers that the reference knows them by.

    Hosts of an ns-3 topology are named `h` and the number of the node; hosts of other fabrics have their own number.
    """
    import duckdb

    file = results.path / FLOWS
    try:
        named = connection.execute(
            "SELECT bool_and(regexp_full_match(name, 'h[0-9]+')) FROM "
            "(SELECT src_name AS name FROM read_parquet($file) UNION SELECT dst_name FROM read_parquet($file))",
            {"file": str(file)},
        ).fetchone()
        number = "{}_name[2:]::BIGINT" if named and named[0] else "{}::BIGINT"
        connection.execute(
            f"""
            CREATE TABLE results AS
            SELECT flow, {number.format("src")} AS src, {number.format("dst")} AS dst, sport, dport, size_bytes,
                   start_ps, fct_ps, ideal_hpcc_ps
            FROM read_parquet($file) WHERE scheme = $scheme
            """,
            {"file": str(file), "scheme": scheme},
        )
    except duckdb.OutOfMemoryException as error:
        raise EnvironmentFailure(f"{file}: {error}") from None
    except duckdb.Error as error:
        raise ResultsError(f"{file}: {str(error).splitlines()[0]}; if it is damaged, run the scenario again") from None


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
    """Pair the flows: table `paired` of those that completed on both sides, table `unmatched` of all others.

    Starts may differ by `within_ns`. Of several candidates the one closest in start is taken, each at most once.
    """
    connection.execute(
        f"""
        CREATE TABLE known AS
        SELECT line, flow
        FROM reference JOIN results USING ({KEY})
        WHERE abs(start_ps - 1000 * start_ns) <= 1000 * $within
        QUALIFY row_number() OVER (PARTITION BY line ORDER BY abs(start_ps - 1000 * start_ns), flow) = 1
            AND row_number() OVER (PARTITION BY flow ORDER BY abs(start_ps - 1000 * start_ns), line) = 1
        """,
        {"within": within_ns},
    )
    connection.execute(
        """
        CREATE TABLE paired AS
        SELECT line, flow, reference.src, reference.dst, reference.sport, reference.dport, reference.size_bytes,
               start_ns, 1000 * fct_ns AS reference_ps, fct_ps AS results_ps, 1000 * standalone_ns AS ideal_ps,
               ideal_hpcc_ps AS results_ideal_ps
        FROM known JOIN reference USING (line) JOIN results USING (flow)
        WHERE fct_ps IS NOT NULL
        """
    )
    connection.execute(
        f"""
        CREATE TABLE unmatched AS
        SELECT 'reference' AS side,
               CASE WHEN known.line IS NOT NULL THEN 'did not complete in the results'
                    WHEN ({KEY}) IN (SELECT ({KEY}) FROM results) THEN 'starts at another time in the results'
                    ELSE 'not in the results' END AS why,
               line, NULL AS flow, {KEY}, start_ns::DOUBLE AS start_ns, fct_ns::DOUBLE AS fct_ns
        FROM reference LEFT JOIN known USING (line)
        WHERE line NOT IN (SELECT line FROM paired)
        UNION ALL
        SELECT 'results',
               CASE WHEN fct_ps IS NULL THEN 'did not complete, and is not in the reference'
                    WHEN ({KEY}) IN (SELECT ({KEY}) FROM reference) THEN 'starts at another time in the reference'
                    ELSE 'not in the reference' END,
               NULL, flow, {KEY}, start_ps / 1000, fct_ps / 1000
        FROM results
        WHERE flow NOT IN (SELECT flow FROM known)
        ORDER BY side, line, flow
        """
    )


def why_none(connection: duckdb.DuckDBPyConnection) -> str:
    """Why no flow of the one side is on the other, in words."""

    def one(query: str) -> Any:
        row = connection.execute(query).fetchone()
        assert row is not None
        return row[0]

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
    shift = one(f"SELECT median(start_ps / 1000 - start_ns) FROM reference JOIN results USING ({KEY})")
    if shift is None:
        return "the reference's flows never start in the results"
    when = "later" if shift > 0 else "earlier"
    return f"flows start at other times: {abs(shift):.0f} ns {when} in the results (median)"
