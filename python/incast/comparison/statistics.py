"""Statistics of an `fct.txt` as in the script `fct_analysis.py` of the HPCC authors' ns-3.

Slowdown is completion time / standalone time, at least 1. Flows are sorted by size and the last one is dropped. Bin i
of 20 begins at element floor(i n / 20). In a bin of m flows in order of slowdown, percentile p is element floor(m p).
Both sides use the standalone times of the `fct.txt`.

Comparisons of two results take all flows, in bins that never split a size, and each side's own ideal
times, as `incast results` does: one scheme can be faster than the other's ideal time.

Two differences from the script: flows of one size are sorted by hosts and ports, so that both sides have the same flows
in each bin (the script sorts them by the text of their slowdown), and slowdowns are not rounded to six digits.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import duckdb

BINS = 20
"""Bins of the script (its steps are of 5 %)."""
PERCENTILES = {"p50": 0.5, "p95": 0.95, "p99": 0.99}
"""Percentiles of the script."""
DROPPED = 1
"""Flows dropped by the script: the last one in order of size."""


def slowdowns(connection: duckdb.DuckDBPyConnection, *, script: bool) -> None:
    """Make the table `flows`: slowdown and bin of each matched flow.

    As in the script, bins have equal counts and the dropped flow has no bin; otherwise a size has one bin.
    """
    if script:
        bin_ = "CASE WHEN place < counted THEN ($bins * (place + 1) - 1) // counted END"
    else:
        _cut(connection)
        bin_ = "(SELECT count(*) FROM cuts WHERE cuts.size_bytes <= ordered.size_bytes) - 1"
    connection.execute(
        f"""
        CREATE TABLE flows AS
        WITH ordered AS (
            SELECT *, row_number() OVER (ORDER BY size_bytes, src, dst, sport, dport, start_ps, line) - 1 AS place,
                   count(*) OVER () - $dropped AS counted
            FROM paired
        )
        SELECT line, flow, src, dst, src_name, dst_name, sport, dport, size_bytes, start_ps / 1000 AS start_ns,
               reference_ps / 1000 AS reference_ns, results_ps / 1000 AS results_ns,
               100 * (results_ps / reference_ps - 1) AS difference,
               identical,
               greatest(1, reference_ps / ideal_ps) AS reference_slowdown,
               greatest(1, results_ps / {"ideal_ps" if script else "results_ideal_ps"}) AS results_slowdown,
               ideal_ps / 1000 AS ideal_ns, results_ideal_ps / 1000 AS results_ideal_ns,
               {bin_} AS bin
        FROM ordered ORDER BY place
        """,
        {"dropped": DROPPED, **({"bins": BINS} if script else {})},
    )


def _cut(connection: duckdb.DuckDBPyConnection) -> None:
    """Make the table `cuts`: the smallest size of each bin.

    A bin of equal count that begins within the flows of one size begins at the nearer end of these flows instead, at
    the lower if both are as near.
    """
    connection.execute(
        """
        CREATE TEMP TABLE cuts AS
        WITH counted AS (SELECT size_bytes, count(*) AS flows FROM paired GROUP BY size_bytes),
             sizes AS (SELECT size_bytes, sum(flows) OVER (ORDER BY size_bytes) - flows AS first,
                              sum(flows) OVER (ORDER BY size_bytes) AS last, sum(flows) OVER () AS total FROM counted),
             begins AS (SELECT DISTINCT bin * total // $bins AS place FROM sizes, range($bins) AS bins (bin)),
             moved AS (SELECT if(place - first <= last - place, first, last) AS place
                       FROM begins JOIN sizes ON first <= place AND place < last)
        SELECT DISTINCT size_bytes FROM moved JOIN sizes ON place = first
        """,
        {"bins": BINS},
    )


def binned(connection: duckdb.DuckDBPyConnection) -> list[dict[str, Any]]:
    """The bins in order of size, then all flows as one row with `bin` `None`."""
    columns = ", ".join(
        f"{ranked(f'{side}_slowdown', fraction)} AS {side}_{name}"
        for side in ("reference", "results")
        for name, fraction in PERCENTILES.items()
    )
    found = connection.execute(
        f"""
        SELECT bin, count(*) AS flows, min(size_bytes) AS size_min_bytes, max(size_bytes) AS size_max_bytes, {columns}
        FROM flows WHERE bin IS NOT NULL GROUP BY GROUPING SETS ((bin), ()) ORDER BY bin NULLS LAST
        """
    )
    names = [each[0] for each in found.description]
    return [dict(zip(names, row, strict=True)) for row in found.fetchall()]


def summed(connection: duckdb.DuckDBPyConnection) -> dict[str, Any]:
    """Statistics of flow-by-flow differences, and the number of flows of each side."""
    changes = "abs(difference)"
    differing = ranked(changes, 0.5, "NOT identical")
    found = connection.execute(
        f"""
        SELECT count(*) AS matched,
               count(*) FILTER (identical) AS identical,
               count(*) FILTER (abs(results_ideal_ns - ideal_ns) >= 1) AS other_ideals,
               {ranked("difference", 0.5)} AS median_signed,
               {ranked(changes, 0.5)} AS median, {differing} AS median_differing,
               {ranked(changes, 0.95)} AS p95, max({changes}) AS largest,
               (SELECT count(*) FROM reference) AS reference_flows,
               (SELECT count(*) FROM results) AS results_flows,
               (SELECT count(*) FROM differing) AS differing,
               (SELECT count(*) FROM known JOIN reference USING (line) JOIN results USING (flow)
                WHERE reference.fct_ps IS NULL AND results.fct_ps IS NULL) AS unfinished,
               (SELECT count(*) FROM unmatched WHERE side = 'reference') AS reference_only,
               (SELECT count(*) FROM unmatched WHERE side = 'results') AS results_only
        FROM flows
        """
    )
    names = [each[0] for each in found.description]
    row = found.fetchone()
    assert row is not None
    return dict(zip(names, row, strict=True))


def ranked(column: str, fraction: float, of: str = "true") -> str:
    """SQL of element floor(n p) of n values in order."""
    values, count = (f"{function}({column}) FILTER ({of})" for function in ("list", "count"))
    return f"list_sort({values})[1 + floor({count} * {fraction}::DOUBLE)::BIGINT]"
