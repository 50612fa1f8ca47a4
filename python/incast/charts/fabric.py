"""Utilisation of links, and time paused."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from incast.charts import look
from incast.charts.chart import Chart, Field
from incast.charts.source import Source, read_scenario


def links(source: Source) -> list[tuple[Any, ...]]:
    """One row per scheme and direction of a link, from the port that sends on it, with the fields of the chart."""
    return source.rows(
        "with of_node as (select node_name, any_value(tier) as tier from ports group by node_name), "
        "sent as (select scheme, port, any_value(node_name) as node_name, any_value(peer_name) as peer_name, "
        "any_value(tier) as tier, any_value(rate_bps) as rate_bps, sum(tx_bytes)::bigint as tx_bytes, "
        "any_value(peer_port) as peer_port, max(paused_ps) as paused_ps, sum(marks)::bigint as marks, "
        "sum(lost)::bigint as lost, sum(drops)::bigint as dropped, "
        "max(peak_queue_bytes) as peak_queue_bytes from ports group by scheme, port) "
        "select sent.scheme, sent.port, sent.node_name, sent.peer_name, sent.tier, coalesce(of_node.tier, 0), "
        "sent.rate_bps, sent.tx_bytes, "
        "if($span > 0, sent.tx_bytes * 8e12 / (sent.rate_bps::double * $span), 0), sent.paused_ps, "
        "if($span > 0, sent.paused_ps / $span, 0), sent.marks, sent.lost + coalesce(far.dropped, 0), "
        "sent.peak_queue_bytes from sent "
        "left join of_node on of_node.node_name = sent.peer_name "
        "left join sent as far on far.scheme = sent.scheme and far.port = sent.peer_port "
        "order by list_position($schemes, sent.scheme), sent.port",
        {"schemes": source.schemes, "span": source.span_ps},
    )


def fabric(source: Source) -> Chart:
    """The links of the fabric."""
    rows = links(source)
    longest = interval(source.span_ps, len(source.schemes))
    return Chart(
        name="fabric",
        title="Links",
        about="Utilisation: wire bytes sent / capacity of the link. Paused: share of the time during which PFC paused "
        f"the port, for the priority that was paused longest. Both are shares of {longest} from the first start of a "
        "flow or pause to the end.",
        fields=(
            Field("scheme", "scheme"),
            Field("port", "number of the sending port in the fabric"),
            Field("node_name", "name of the sending node"),
            Field("peer_name", "name of the receiving node"),
            Field("tier", "tier of the sending node: 0 for hosts, 1 for their switches, and so on"),
            Field("peer_tier", "tier of the receiving node"),
            Field("rate_bps", "rate of the link", "bit/s"),
            Field("tx_bytes", "wire bytes sent, all priorities", "B"),
            Field("utilisation", f"tx_bytes * 8 / (rate * {longest})"),
            Field("paused_ps", "time paused, for the priority that was paused longest", "ps"),
            Field("paused_share", f"paused_ps / ({longest})"),
            Field("marks", "packets marked by ECN at this port"),
            Field("drops", "packets from this port that were dropped on arrival, or lost because the link was down"),
            Field("peak_queue_bytes", "longest egress queue", "B"),
        ),
        rows=rows,
        palette=tuple(source.palette),
        left_out=idle(source, rows),
        why_empty=None if rows else "The results have no rows in the table of ports.",
    )


def interval(span_ps: int, runs: int) -> str:
    """The interval of shares of time in words, for so many runs."""
    return f"{look.time(span_ps)}, the longest run" if runs > 1 else look.time(span_ps)


def with_vms(source: Source) -> bool:
    """True if hosts are VMs, and the switches next to them are their servers."""
    with read_scenario(source.results[0]) as tree:
        return "vms" in tree


def idle(source: Source, rows: Sequence[tuple[Any, ...]]) -> tuple[str, ...]:
    """Note about nodes and ports without traffic under any scheme, which the table of ports lacks."""
    there = source.results[0].manifest["fabric"]
    hosts = {name for row in rows for name, tier in ((row[2], row[4]), (row[3], row[5])) if tier == 0}
    switches = {name for row in rows for name, tier in ((row[2], row[4]), (row[3], row[5])) if tier > 0}
    ports = {row[1] for row in rows}
    vms = with_vms(source)
    missing = {
        "VMs" if vms else "hosts": there["hosts"] - len(hosts),
        "servers and switches" if vms else "switches": there["switches"] - len(switches),
        "ports": 2 * there["links"] - len(ports),
    }
    said = ", ".join(f"{count:,} {name}" for name, count in missing.items() if count > 0)
    return (f"Not drawn, because they had no traffic under any scheme: {said}.",) if said else ()
