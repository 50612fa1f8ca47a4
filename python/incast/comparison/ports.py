"""Switch and host ports by ns-3's numbers, and comparisons that have a row for each port."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from incast import _database
from incast._database import utf8
from incast.charts.source import read_scenario
from incast.comparison import match
from incast.results import Results

if TYPE_CHECKING:
    import duckdb

PORTS = "ports.parquet"
"""Table of ports of a results folder."""


@dataclass(frozen=True)
class Rows:
    """A table of a comparison."""

    columns: tuple[str, ...]
    """Names of the columns."""
    rows: Sequence[tuple[Any, ...]]
    """Values."""


@dataclass(frozen=True)
class PortComparison:
    """Comparison of PFC frames or queue lengths, by port."""

    results: Path
    """The results folder."""
    reference: Path
    """The reference's file."""
    scheme: str
    """The scheme of the results."""
    verdict: str
    """Identical, or where the difference begins."""
    identical: bool
    """True without any difference."""
    ports: Rows
    """One row for each port with values, largest difference first."""
    more: dict[str, Rows] = field(default_factory=dict)
    """Further tables by name."""

    @property
    def tables(self) -> dict[str, Rows]:
        """All tables by name, `ports` first."""
        return {"ports": self.ports, **self.more}


def connect(results: Results, scheme: str, *tables: str) -> duckdb.DuckDBPyConnection:
    """Open a connection with the table `ports`: node, interface from 1, and whether a switch, as ns-3 numbers them."""
    files = {name: results.path / f"{name}.parquet" for name in ("ports", *tables)}
    connection = _database.connect(files.values())
    for table in files:
        match.check(connection, results, table)
    with match.reading(results, "ports"):
        connection.execute(
            """
            CREATE TABLE ports AS
            SELECT DISTINCT port, node, local_port + 1 AS interface, node_name, peer_name, tier > 0 AS switch
            FROM read_parquet($file) WHERE scheme = $scheme
            """,
            {"file": utf8(files["ports"]), "scheme": scheme},
        )
    return connection


def measured(results: Results) -> dict[str, Any]:
    """The section `measure` of the scenario that was run."""
    with read_scenario(results) as tree:
        return {**tree["measure"]}
