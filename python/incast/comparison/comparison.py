"""Result of a comparison of flows."""

from __future__ import annotations

from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from incast.comparison import statistics

if TYPE_CHECKING:
    import duckdb


@dataclass(frozen=True)
class Percentiles:
    """Percentiles of slowdowns."""

    p50: float
    """The median."""
    p95: float
    """The 95th percentile."""
    p99: float
    """The 99th percentile."""


@dataclass(frozen=True)
class Bin:
    """Flows of similar size."""

    flows: int
    """Number of flows; the same flows on both sides."""
    size_min_bytes: int
    """Payload of the smallest."""
    size_max_bytes: int
    """Payload of the largest."""
    reference: Percentiles
    """Slowdowns of the reference."""
    results: Percentiles
    """Slowdowns of the results."""

    @property
    def difference(self) -> Percentiles:
        """Percentiles of the results minus those of the reference, in per cent of the reference's."""
        names = [field.name for field in fields(Percentiles)]
        return Percentiles(*(100 * (getattr(self.results, name) / getattr(self.reference, name) - 1) for name in names))


@dataclass(frozen=True)
class Flow:
    """A flow that completed on both sides."""

    line: int
    """Line in the reference's file, from 1; number of the flow if the reference is a results folder."""
    flow: int
    """Number of the flow in the results."""
    src: int
    """The sending host, by the reference's number."""
    dst: int
    """The receiving host."""
    src_name: str
    """Name of the sending host in the results."""
    dst_name: str
    """Name of the receiving host."""
    sport: int
    """UDP source port."""
    dport: int
    """UDP destination port."""
    size_bytes: int
    """Payload."""
    start_ns: float
    """Start, as the reference has it."""
    reference_ns: float
    """Completion time in the reference."""
    results_ns: float
    """Completion time in the results."""
    difference: float
    """Completion time in the results minus that in the reference, in per cent of the reference's."""


@dataclass(frozen=True)
class Unmatched:
    """A flow that has no completion time on the other side."""

    side: Literal["reference", "results"]
    """The side that has the flow."""
    why: str
    """Reason for which the other side has no completion time."""
    line: int | None
    """Line in the reference's file, or number of the flow in the reference's results."""
    flow: int | None
    """Number of the flow in the results."""
    src: int
    """The sending host, by the reference's number."""
    dst: int
    """The receiving host."""
    src_name: str | None
    """Name of the sending host; `None` for a flow of an `fct.txt`."""
    dst_name: str | None
    """Name of the receiving host."""
    sport: int
    """UDP source port."""
    dport: int
    """UDP destination port."""
    size_bytes: int
    """Payload."""
    start_ns: float | None
    """Start; `None` if it never started."""
    fct_ns: float | None
    """Completion time; `None` if it did not complete."""


@dataclass(frozen=True)
class Difference:
    """The first difference of two runs: the flow with the earliest time that only one of them has."""

    flow: int
    """Number of the flow in the results."""
    src_name: str
    """Name of the sending host in the results."""
    dst_name: str
    """Name of the receiving host."""
    size_bytes: int
    """Payload."""
    start_ns: float | None
    """Start in the results; `None` if it never started."""
    at_ns: float
    """Earlier of the flow's two completions, or of the two starts if the starts differ."""


@dataclass(frozen=True)
class Summary:
    """Statistics of flow-by-flow differences, in per cent of the reference's completion time."""

    reference_flows: int
    """Flows of the reference; in an `fct.txt`, those that completed."""
    results_flows: int
    """Flows of the results, completed or not."""
    matched: int
    """Flows that completed on both sides."""
    identical: int
    """Flows with the same completion time on both sides, to the picosecond; in results, with the same start too."""
    differing: int
    """Flows of both sides that start or complete at another time, or complete on one side only."""
    unfinished: int
    """Flows that complete on neither side."""
    median_signed: float
    """The median difference."""
    median: float
    """The median of the absolute differences."""
    median_differing: float | None
    """Median of the absolute differences of flows that differ; `None` if all are identical."""
    p95: float
    """The 95th percentile of the absolute differences."""
    largest: float
    """The largest absolute difference."""
    other_ideals: int
    """Flows with an ideal time (`ideal_hpcc_ps`) that differs from the reference's by 1 ns or more."""
    reference_only: int
    """Flows of the reference without a completion time in the results."""
    results_only: int
    """Flows of the results without a completion time in the reference."""


class Comparison:
    """Comparison of results with a reference.

    `connection` is a DuckDB connection with the tables `flows` (one row for each common flow), `unmatched` (flows of
    one side only), `reference` and `results`: `comparison.connection.sql("from flows").pl()`.
    """

    def __init__(
        self,
        connection: duckdb.DuckDBPyConnection,
        results: Path,
        reference: Path,
        scheme: str,
        reference_scheme: str | None = None,
    ) -> None:
        """Wrap a connection with matched flows."""
        self.connection = connection
        """DuckDB connection with the tables."""
        self.results = results
        """The results folder."""
        self.reference = reference
        """The reference: a file or a results folder."""
        self.scheme = scheme
        """The scheme of the results."""
        self.reference_scheme = reference_scheme
        """The scheme of the reference; `None` for a file."""
        self.summary = Summary(**statistics.summed(connection))
        """Statistics of flow-by-flow differences."""
        found = statistics.binned(connection)
        self.bins: tuple[Bin, ...] = tuple(_bin(row) for row in found if row["bin"] is not None)
        """Slowdowns by size, smallest flows first.

        Empty for a single common flow with an `fct.txt`: `fct_analysis.py` drops it.
        """
        self.whole: Bin | None = _bin(found[-1]) if self.bins else None
        """Slowdowns of all flows in the bins."""

    def __repr__(self) -> str:
        return f"<Comparison of {self.scheme} in {self.results} with {self.reference}: {self.summary.matched} flows>"

    @property
    def names(self) -> dict[Literal["reference", "results"], str]:
        """The sides in tables: the schemes, or the folders if these have the same scheme."""
        if self.reference_scheme is None:
            return {"reference": "reference", "results": "results"}
        if self.reference_scheme != self.scheme:
            return {"reference": self.reference_scheme, "results": self.scheme}
        paths = (self.reference, self.results)
        short = paths[0].name and paths[0].name != paths[1].name and paths[1].name
        reference, results = (path.name if short else str(path) for path in paths)
        return {"reference": reference, "results": results}

    @property
    def first(self) -> Difference | None:
        """The first difference; `None` if all common flows are identical."""
        row = self.connection.execute(
            """
            SELECT flow, coalesce(src_name, 'host ' || src), coalesce(dst_name, 'host ' || dst), size_bytes,
                   start_ps / 1000, at_ps / 1000
            FROM differing JOIN results USING (flow) ORDER BY at_ps, flow LIMIT 1
            """
        ).fetchone()
        return Difference(*row) if row else None

    def largest(self, count: int) -> list[Flow]:
        """The flows with the largest differences; identical flows are never included."""
        columns = ", ".join(field.name for field in fields(Flow))
        query = f"SELECT {columns} FROM flows WHERE NOT identical ORDER BY abs(difference) DESC, line LIMIT $count"
        return [Flow(*row) for row in self.connection.execute(query, {"count": count}).fetchall()]

    def unmatched(self, side: Literal["reference", "results"], count: int | None = None) -> list[Unmatched]:
        """Flows of one side only: all, or the first `count`."""
        columns = ", ".join(field.name for field in fields(Unmatched))
        query = f"SELECT {columns} FROM unmatched WHERE side = $side ORDER BY line, flow LIMIT $count"
        return [Unmatched(*row) for row in self.connection.execute(query, {"side": side, "count": count}).fetchall()]


def _bin(row: dict[str, Any]) -> Bin:
    sides = (
        Percentiles(*(row[f"{side}_{name}"] for name in statistics.PERCENTILES)) for side in ("reference", "results")
    )
    return Bin(row["flows"], row["size_min_bytes"], row["size_max_bytes"], *sides)
