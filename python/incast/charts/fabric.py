"""Utilisation of links, and time paused."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from incast.charts import look
from incast.charts.chart import Chart, Field
from incast.charts.source import Source, read_scenario

DROPS = "A dropped packet counts at the port that it was to leave by; without one, at the port that it came from."
"""Place of drops."""
BY_ARRIVAL = (
    "The table of drops is incomplete (`measure.max_drops`): a packet that a switch dropped counts at the port that it "
    "came from."
)
"""Place of drops if only their numbers by port of arrival are known; hosts count drops at their own port."""
# A port that carried no packet has no row.
_DROPS = (
    "select drops.scheme, coalesce(gone.port, come.port) as port, count(*) as dropped from drops "
    "left join sent as gone on gone.scheme = drops.scheme and gone.port = drops.egress_port "
    "left join sent as come on come.scheme = drops.scheme and come.peer_port = drops.ingress_port "
    "where reason <> 'link-down' group by all"
)
_DROPS_BY_ARRIVAL = (
    "select near.scheme, near.port, if(near.tier = 0, near.dropped, 0) + if(far.tier > 0, far.dropped, 0) as dropped "
    "from sent as near left join sent as far on far.scheme = near.scheme and far.port = near.peer_port"
)


def links(source: Source) -> list[tuple[Any, ...]]:
    """One row per scheme and direction of a link, from the port that sends on it, with the fields of the chart."""
    drops = _DROPS if source.has_all_drops else _DROPS_BY_ARRIVAL
    spans = [source.cut_ps.get(scheme, source.span_ps) for scheme in source.schemes]
    return source.rows(
        "with of_node as (select node_name, any_value(tier) as tier from ports group by node_name), "
        "sent as (select scheme, port, any_value(node_name) as node_name, any_value(peer_name) as peer_name, "
        "any_value(tier) as tier, any_value(rate_bps) as rate_bps, sum(tx_bytes)::bigint as tx_bytes, "
        "any_value(peer_port) as peer_port, max(paused_ps) as paused_ps, sum(marks)::bigint as marks, "
        "sum(lost)::bigint as lost, sum(drops)::bigint as dropped, "
        "max(peak_queue_bytes) as peak_queue_bytes from ports group by scheme, port), "
        f"of_port as ({drops}) "
        "select sent.scheme, sent.port, sent.node_name, sent.peer_name, sent.tier, coalesce(of_node.tier, 0), "
        "sent.rate_bps, sent.tx_bytes, "
        "if(spans.ps > 0, sent.tx_bytes * 8e12 / (sent.rate_bps::double * spans.ps), 0), sent.paused_ps, "
        "if(spans.ps > 0, sent.paused_ps / spans.ps, 0), sent.marks, sent.lost + coalesce(of_port.dropped, 0), "
        "sent.peak_queue_bytes from sent "
        "join (select unnest($schemes) as scheme, unnest($spans) as ps) as spans on spans.scheme = sent.scheme "
        "left join of_node on of_node.node_name = sent.peer_name "
        "left join of_port on of_port.scheme = sent.scheme and of_port.port = sent.port "
        "order by list_position($schemes, sent.scheme), sent.port",
        {"schemes": source.schemes, "spans": spans},
    )


def fabric(source: Source) -> Chart:
    """The links of the fabric."""
    rows = links(source)
    longest = interval(source)
    return Chart(
        name="fabric",
        title="Links",
        about="Utilisation: wire bytes sent / capacity of the link. Paused: share of the time during which PFC paused "
        f"the port, for the priority that was paused longest. Both are shares of {longest}; each run from the first "
        f"start of a flow or pause to its end.{f' {DROPS}' if source.has_all_drops else ''}",
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
            Field(
                "drops",
                "packets that were dropped and were to leave by this port (without such a port: that came from this "
                "port), or lost because the link was down",
            ),
            Field("peak_queue_bytes", "longest egress queue", "B"),
        ),
        rows=rows,
        palette=tuple(source.palette),
        left_out=(*([] if source.has_all_drops else [BY_ARRIVAL]), *idle(source, rows)),
        why_empty=None if rows else "The results have no rows in the table of ports.",
    )


def interval(source: Source) -> str:
    """The interval of shares of time in words."""
    longest = longest_of(source.span_ps, len(source.schemes))
    cut = ", ".join(f"{look.time(ps)} ({scheme})" for scheme, ps in source.cut_ps.items() if ps != source.span_ps)
    return f"{longest}; of runs that ended in a deadlock, {cut}" if cut else longest


def longest_of(span_ps: int, runs: int) -> str:
    """The longest of so many runs in words."""
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
        ("VM", "VMs") if vms else ("host", "hosts"): there["hosts"] - len(hosts),
        ("server or switch", "servers and switches") if vms else ("switch", "switches"): (
            there["switches"] - len(switches)
        ),
        ("port", "ports"): 2 * there["links"] - len(ports),
    }
    said = ", ".join(f"{count:,} {names[count > 1]}" for names, count in missing.items() if count > 0)
    return (f"Not drawn, because they had no traffic under any scheme: {said}.",) if said else ()
