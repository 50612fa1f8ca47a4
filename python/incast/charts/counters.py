"""Counters of a run: packets sent, marked, dropped, and pauses, by scheme."""

from __future__ import annotations

from typing import Any

from incast import declared
from incast.charts.chart import Chart, Field
from incast.charts.source import Source
from incast.declared import Counter

FROM_TABLES = {
    "flows": ("flows", "count(*)"),
    "started flows": ("flows", "count(start_ps)"),
    "completed flows": ("flows", "count(finish_ps)"),
    "payload acknowledged": ("flows", "sum(acked_bytes)"),
    "data packets sent": ("flows", "sum(packets)"),
    "data packets retransmitted": ("flows", "sum(retransmitted)"),
    "NACKs received": ("flows", "sum(nacks)"),
    "ECN echoes and CNPs received by hosts": ("flows", "sum(marks)"),
    "timeouts of senders": ("flows", "sum(timeouts)"),
    "ECN marks at switches": ("ports", "sum(marks)"),
    "packets dropped": ("ports", "sum(drops)"),
    "XOFF frames received": ("ports", "sum(xoff_received)"),
    "time paused, all ports": ("ports", "sum(paused_ps)"),
    "longest egress queue, of one priority": ("ports", "max(peak_queue_bytes)"),
    "peak headroom used": ("ports", "max(peak_headroom_bytes)"),
    "packets dropped by limiters of hypervisors": ("pairs", "sum(refused_packets)"),
}
"""Counters from tables: table and aggregate."""


def _unit(table: str, aggregate: str) -> str | None:
    """The unit of a column's sum or maximum; a count has none."""
    function, column = aggregate.rstrip(")").split("(")
    return (declared.tables()[table].columns[column].unit or None) if function != "count" else None


def _of_manifests(source: Source) -> list[Counter]:
    """Counters of failures, and those that some scheme has above 0."""
    counts = [manifest["counts"] for manifest in source.manifests.values()]
    return [
        each
        for each in declared.counters()
        if each.notice == "failure" or (each.notice == "shown" and any(count.get(each.name) for count in counts))
    ]


def counters(source: Source) -> Chart:
    """One row per scheme and counter."""
    rows: list[tuple[Any, ...]] = []
    found: dict[tuple[str, str], Any] = {}
    there = {name: of for name, of in FROM_TABLES.items() if of[0] != "pairs" or source.count("pairs")}
    for table in dict.fromkeys(table for table, _ in there.values()):
        mine = {name: aggregate for name, (where, aggregate) in there.items() if where == table}
        columns = ", ".join(f"{aggregate}::bigint" for aggregate in mine.values())
        for scheme, *values in source.rows(f"select scheme, {columns} from {table} group by scheme"):
            found.update({(scheme, name): value for name, value in zip(mine, values, strict=True)})
    for scheme, manifest in source.manifests.items():
        rows.append((scheme, "simulated time", "ps", int(manifest["end_ps"])))
        rows += [(scheme, name, _unit(*of), found.get((scheme, name))) for name, of in there.items()]
        # Earlier versions lacked some counters.
        rows += [
            (scheme, each.description, each.unit or None, manifest["counts"].get(each.name))
            for each in _of_manifests(source)
        ]
        for percentile in ("p50", "p95", "p99"):
            rows.append(
                (scheme, f"slowdown of all flows, {percentile}", None, source.overall.get(scheme, {}).get(percentile))
            )
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
