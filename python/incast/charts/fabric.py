"""How busy every link was, and how long it was paused."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from incast.charts.chart import Chart, Field
from incast.charts.source import Source


def fabric(source: Source) -> Chart:
    """One row per scheme and direction of a link, from the port that sends on it."""
    ends = {scheme: int(manifest["end_ps"]) for scheme, manifest in source.manifests.items()}
    order = source.schemes
    rows = source.rows(
        "with ends as (select unnest($schemes) as scheme, unnest($times) as run_ps), "
        "of_node as (select node_name, any_value(tier) as tier from ports group by node_name), "
        "sent as (select scheme, port, any_value(node_name) as node_name, any_value(peer_name) as peer_name, "
        "any_value(tier) as tier, any_value(rate_bps) as rate_bps, sum(tx_bytes)::bigint as tx_bytes, "
        "max(paused_ps) as paused_ps, sum(marks)::bigint as marks, sum(drops + lost)::bigint as drops, "
        "max(peak_queue_bytes) as peak_queue_bytes from ports group by scheme, port) "
        "select sent.scheme, port, sent.node_name, peer_name, sent.tier, coalesce(of_node.tier, 0), rate_bps, "
        "tx_bytes, "
        "if(run_ps > 0, tx_bytes * 8e12 / (rate_bps::double * run_ps), 0), paused_ps, "
        "if(run_ps > 0, paused_ps / run_ps, 0), marks, drops, peak_queue_bytes "
        "from sent join ends using (scheme) left join of_node on of_node.node_name = sent.peer_name "
        "order by list_position($schemes, sent.scheme), port",
        {"schemes": order, "times": [ends[scheme] for scheme in order]},
    )
    return Chart(
        name="fabric",
        title="Links",
        about="Utilisation: wire bytes sent over what the link can carry from the start to the end of the run. Paused: "
        "share of that time in which sending was paused (PFC), of the priority that was paused longest.",
        fields=(
            Field("scheme", "the scheme simulated"),
            Field("port", "number of the sending port, over the whole fabric"),
            Field("node_name", "name of the node that sends"),
            Field("peer_name", "name of the node that receives"),
            Field("tier", "layer of the sending node: 0 hosts, 1 their switches, and so on up"),
            Field("peer_tier", "layer of the receiving node"),
            Field("rate_bps", "rate of the link", "bit/s"),
            Field("tx_bytes", "wire bytes sent, all priorities", "B"),
            Field("utilisation", "tx_bytes * 8 / (rate * time of the run)"),
            Field("paused_ps", "time that sending was paused, of the priority paused longest", "ps"),
            Field("paused_share", "paused_ps / time of the run"),
            Field("marks", "packets marked by ECN on leaving"),
            Field("drops", "packets dropped on arrival at this port, or lost because its link was down"),
            Field("peak_queue_bytes", "longest egress queue", "B"),
        ),
        rows=rows,
        palette=tuple(source.palette),
        left_out=idle(source, rows),
        why_empty=None if rows else "The results have no ports.",
    )


def idle(source: Source, rows: Sequence[tuple[Any, ...]]) -> tuple[str, ...]:
    """What carried nothing under any scheme: the table of ports does not have it."""
    there = source.results[0].manifest["fabric"]
    hosts = {name for row in rows for name, tier in ((row[2], row[4]), (row[3], row[5])) if tier == 0}
    switches = {name for row in rows for name, tier in ((row[2], row[4]), (row[3], row[5])) if tier > 0}
    ports = {row[1] for row in rows}
    missing = {
        "hosts": there["hosts"] - len(hosts),
        "switches": there["switches"] - len(switches),
        "ports": 2 * there["links"] - len(ports),
    }
    said = ", ".join(f"{count:,} {name}" for name, count in missing.items() if count > 0)
    return (f"Carried nothing under any scheme, and not drawn: {said}.",) if said else ()
