"""Made-up results: tables and manifests for tests of rules that read them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import duckdb

from incast.charts import Source

Row = Mapping[str, Any]
FLOW: Row = {
    "scheme": "A",
    "flow": 0,
    "message": 0,
    "label": "all",
    "src_name": "h0",
    "dst_name": "h1",
    "size_bytes": 1000,
    "dependency": None,
    "start_ps": 0,
    "finish_ps": 1_000_000,
    "delivered_ps": 1_000_000,
    "ideal_hpcc_ps": 1_000_000,
    "slowdown_hpcc": 1.0,
    "acked_bytes": 1000,
    "packets": 1,
    "retransmitted": 0,
    "nacks": 0,
    "timeouts": 0,
    "status": "completed",
    "backlogged": False,
    "goodput_bps": None,
}
PORT: Row = {
    "scheme": "A",
    "port": 0,
    "node_name": "h0",
    "peer_name": "s0",
    "peer_port": 1,
    "tier": 0,
    "priority": 3,
    "rate_bps": 100_000_000_000,
    "tx_bytes": 0,
    "tx_packets": 0,
    "marks": 0,
    "drops": 0,
    "lost": 0,
    "peak_queue_bytes": 0,
    "paused_ps": 0,
}
PAUSE: Row = {
    "scheme": "A",
    "port": 0,
    "node_name": "h0",
    "peer_name": "s0",
    "priority": 3,
    "start_ps": 0,
    "end_ps": None,
    "culprit_port": 1,
    "culprit_priority": 3,
    "culprit_peer_name": "h1",
}
LINK: Row = {"scheme": "A", "link": 0, "a_name": "l0", "b_name": "s0", "change": "down", "time_ps": 0}
DROP: Row = {"scheme": "A", "reason": "buffer", "node_name": "s0", "ingress_port": None, "egress_port": 0, "flow": 0}
WAIT: Row = {"scheme": "A", "victim_ps": 0, "host_victim_ps": 0, "blocked_ps": 0, "host_blocked_ps": 0}
MESSAGE: Row = {"scheme": "A", "message": 0, "label": "all"}
ITERATION: Row = {
    "scheme": "A",
    "label": "job",
    "collective": 0,
    "iteration": 0,
    "start_ps": 0,
    "end_ps": 1_000_000,
    "communication_ps": 1_000_000,
}
STORM: Row = {"scheme": "A", "port": 0, "node_name": "h0", "peer_name": "s0", "start_ps": 0, "end_ps": None}
VM: Row = {"scheme": "A", "host": 0, "server": "h0"}
PAIR: Row = {"scheme": "A", "pair": 0, "src": 0, "dst": 1}
LIMIT: Row = {"scheme": "A", "pair": 0, "time_ps": 0, "limit_bps": 0, "waiting_packets": 1}
THROUGHPUT: Row = {
    "scheme": "A",
    "start_ps": 0,
    "end_ps": 1_000_000,
    "src": 0,
    "dst": 1,
    "wire_bytes": 0,
    "optimum_bytes": 0,
}
USUAL: dict[str, Row] = {
    "flows": FLOW,
    "messages": MESSAGE,
    "ports": PORT,
    "pauses": PAUSE,
    "links": LINK,
    "drops": DROP,
    "waits": WAIT,
    "storms": STORM,
    "iterations": ITERATION,
    "vms": VM,
    "pairs": PAIR,
    "limits": LIMIT,
    "throughput": THROUGHPUT,
}
TYPES = {bool: "boolean", int: "bigint", float: "double", str: "varchar"}
TYPE_OF_MISSING = {"dependency": "bigint", "goodput_bps": "bigint", "end_ps": "bigint", "ingress_port": "bigint"}


def manifest(reason: str = "finished", *, end_ps: int = 10_000_000, **more: Any) -> dict[str, Any]:
    """The manifest of a scheme; `counts` has only counters above 0."""
    counts = {"drops": 0, "pauses": 0, **more.pop("counts", {})}
    return {"stop": {"reason": reason}, "end_ps": end_ps, "completed": 0, "counts": counts, **more}


class Made(Source):
    """Made-up tables: rows with the columns that differ from the usual ones."""

    def __init__(self, manifests: Mapping[str, dict[str, Any]] | None = None, **tables: Iterable[Row]) -> None:
        """Take manifests of schemes and rows of tables."""
        super().__init__([])
        self.manifests = dict(manifests or {"A": manifest()})
        self.palette = list(self.manifests)
        self.tables = {name: [{**usual, **row} for row in tables.get(name, ())] for name, usual in USUAL.items()}

    def count(self, table: str) -> int:
        """Number of rows of a table."""
        return len(self.tables.get(table, ()))

    def _connect(self) -> duckdb.DuckDBPyConnection:
        connection = duckdb.connect()
        for name, rows in self.tables.items():
            columns = ", ".join(f"{column} {self._type(column, value)}" for column, value in USUAL[name].items())
            connection.execute(f"create table {name} ({columns})")
            if rows:
                marks = ", ".join("?" * len(USUAL[name]))
                connection.executemany(f"insert into {name} values ({marks})", [list(row.values()) for row in rows])
        return connection

    @staticmethod
    def _type(column: str, value: Any) -> str:
        return TYPE_OF_MISSING[column] if value is None else TYPES[type(value)]
