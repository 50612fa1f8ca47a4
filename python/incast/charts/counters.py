"""Counters of a run: packets sent, marked, dropped, and pauses, by scheme."""

from __future__ import annotations

from typing import Any

from incast.charts.chart import Chart, Field
from incast.charts.source import Source
from incast.results import ALL

FROM_FLOWS = {
    "flows": ("flows", None, "count(*)"),
    "started flows": ("flows", None, "count(start_ps)"),
    "completed flows": ("flows", None, "count(finish_ps)"),
    "payload acknowledged": ("flows", "B", "sum(acked_bytes)"),
    "data packets sent": ("flows", None, "sum(packets)"),
    "data packets retransmitted": ("flows", None, "sum(retransmitted)"),
    "NACKs received": ("flows", None, "sum(nacks)"),
    "ECN echoes and CNPs received by hosts": ("flows", None, "sum(marks)"),
    "retransmission timeouts": ("flows", None, "sum(timeouts)"),
    "ECN marks at switches": ("ports", None, "sum(marks)"),
    "packets dropped": ("ports", None, "sum(drops)"),
    "packets lost on failed links": ("ports", None, "sum(lost)"),
    "XOFF frames received": ("ports", None, "sum(xoff_received)"),
    "time paused, all ports": ("ports", "ps", "sum(paused_ps)"),
    "longest egress queue": ("ports", "B", "max(peak_queue_bytes)"),
    "peak headroom used": ("ports", "B", "max(peak_headroom_bytes)"),
}
"""Counters from tables: table, unit, aggregate."""

FROM_COUNTS = {
    "lossless packets dropped: PFC headroom exceeded": ("lossless_drops", None),
    "packets dropped by the PFC watchdog": ("watchdog_drops", None),
    "lossless packets dropped by the PFC watchdog": ("watchdog_lossless_drops", None),
    "bytes dropped by the PFC watchdog": ("watchdog_bytes", "B"),
}
"""Counters of the manifest: name there, and unit."""

OF_ISOLATION = {
    "isolation messages (CIP) sent": ("isolation_messages", None),
    "isolation messages (CIP) received by hosts": ("isolation_messages_to_hosts", None),
    "flows not isolated: table full": ("isolations_refused", None),
}
"""The same, for schemes with congestion isolation."""


def _of_manifest(manifest: dict[str, Any], name: str) -> int | None:
    """A count of a scheme; `None` in older results that lack it."""
    value = manifest["counts"].get(name)
    return None if value is None else int(value)


def counters(source: Source) -> Chart:
    """One row per scheme and counter."""
    rows: list[tuple[Any, ...]] = []
    found: dict[tuple[str, str], Any] = {}
    for table in ("flows", "ports"):
        mine = {name: formula for name, (where, _, formula) in FROM_FLOWS.items() if where == table}
        columns = ", ".join(f"{formula}::bigint" for formula in mine.values())
        for scheme, *values in source.rows(f"select scheme, {columns} from {table} group by scheme"):
            found.update({(scheme, name): value for name, value in zip(mine, values, strict=True)})
    isolates = any("isolations" in each.tables for each in source.results)
    overall = {row["scheme"]: row for each in source.results for row in each.slowdown(bins=1, label=ALL).dicts()}
    for scheme, manifest in source.manifests.items():
        rows.append((scheme, "simulated time", "ps", int(manifest["end_ps"])))
        rows += [(scheme, name, unit, found.get((scheme, name))) for name, (_, unit, _) in FROM_FLOWS.items()]
        of_manifest = {**FROM_COUNTS, **(OF_ISOLATION if isolates else {})}
        rows += [(scheme, name, unit, _of_manifest(manifest, key)) for name, (key, unit) in of_manifest.items()]
        for percentile in ("p50", "p95", "p99"):
            rows.append((scheme, f"slowdown of all flows, {percentile}", None, overall.get(scheme, {}).get(percentile)))
    return Chart(
        name="counters",
        title="Counters",
        about="Over the whole run, all ports and all flows.",
        fields=(
            Field("scheme", "scheme"),
            Field("counter", "name of the counter"),
            Field("unit", "unit of the value"),
            Field("value", "value"),
        ),
        rows=rows,
        palette=tuple(source.palette),
    )
