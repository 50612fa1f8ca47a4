"""Tables of flows that both sides have, and of flows that complete on one side only."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import duckdb


def pair(connection: duckdb.DuckDBPyConnection, key: str, *, same_starts: bool) -> None:
    """Make the tables `paired`, `unmatched` and `differing` from `reference`, `results` and `known`.

    `paired` has the flows that complete on both sides, `unmatched` those that complete on one side only, or that one
    side does not have. `differing` has every known flow with other times on the two sides, and the first such time.

    Args:
        connection: A connection with the three tables.
        key: Columns of a flow's key, without its start.
        same_starts: If true, a flow that starts at another time differs. An `fct.txt` has rounded starts.

    """
    other_start = "reference.start_ps IS DISTINCT FROM results.start_ps" if same_starts else "false"
    connection.execute(
        f"""
        CREATE TABLE paired AS
        SELECT line, flow, reference.src, reference.dst,
               coalesce(reference.src_name, results.src_name) AS src_name,
               coalesce(reference.dst_name, results.dst_name) AS dst_name,
               reference.sport, reference.dport, reference.size_bytes, reference.start_ps,
               reference.fct_ps AS reference_ps, results.fct_ps AS results_ps, ideal_ps,
               ideal_hpcc_ps AS results_ideal_ps,
               reference.fct_ps = results.fct_ps AND NOT {other_start} AS identical
        FROM known JOIN reference USING (line) JOIN results USING (flow)
        WHERE reference.fct_ps IS NOT NULL AND results.fct_ps IS NOT NULL
        """
    )
    connection.execute(
        f"""
        CREATE TABLE differing AS
        SELECT line, flow,
               CASE WHEN {other_start} THEN least(reference.start_ps, results.start_ps)
                    ELSE least(reference.start_ps + reference.fct_ps, results.start_ps + results.fct_ps) END AS at_ps
        FROM known JOIN reference USING (line) JOIN results USING (flow)
        WHERE {other_start} OR reference.fct_ps IS DISTINCT FROM results.fct_ps
        """
    )
    connection.execute(
        f"""
        CREATE TABLE unmatched AS
        {_alone("reference", "line", "results", key)}
        UNION ALL
        {_alone("results", "flow", "reference", key)}
        ORDER BY side, line, flow
        """
    )


def _alone(side: str, number: str, other: str, key: str) -> str:
    """SQL for the flows of one side that do not complete on the other."""
    numbers = ", ".join(number if name == number else f"NULL AS {name}" for name in ("line", "flow"))
    return f"""
        SELECT '{side}' AS side,
               CASE WHEN known.{number} IS NOT NULL THEN 'did not complete in the {other}'
                    WHEN fct_ps IS NULL THEN 'did not complete, and is not in the {other}'
                    WHEN ({key}) IN (SELECT ({key}) FROM {other}) THEN 'starts at another time in the {other}'
                    ELSE 'not in the {other}' END AS why,
               {numbers}, src, dst, src_name, dst_name, sport, dport, size_bytes, start_ps / 1000 AS start_ns,
               fct_ps / 1000 AS fct_ns
        FROM {side} LEFT JOIN known USING ({number})
        WHERE {number} NOT IN (SELECT {number} FROM paired) AND NOT (known.{number} IS NOT NULL AND fct_ps IS NULL)
        """
