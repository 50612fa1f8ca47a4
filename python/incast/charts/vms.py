"""Throughput of VMs over time, and their throughput relative to their guarantees."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from incast import tenants
from incast.charts import look
from incast.charts.chart import Chart, Field, Spec
from incast.charts.events import marked
from incast.charts.source import Source
from incast.tenants.window import part

VMS = 8
"""Most VMs drawn (our choice)."""
GOT = ("satisfaction", "wire_bps", "guarantee_bps")
KEPT: Spec = {"type": "rule", "strokeDash": [5, 4], "strokeWidth": 1, "color": "#888888"}
"""The line of a guarantee."""
NO_TENANTS = "The scenario has no tenants."
NO_GUARANTEES = "No VM with a guarantee had traffic to receive."


def vms(source: Source, *, vms: int = VMS, points: int = look.POINTS) -> Chart:
    """Throughput received by VMs over time, with their guarantees as lines."""
    rows: list[tuple[Any, ...]] = []
    count, together = 0, 1
    if source.count("throughput"):
        count = source.rows("select count(distinct dst) from throughput")[0][0]
        chosen = [host for (host,) in source.rows(_WORST, {"vms": vms})]
        intervals = source.rows("select count(distinct start_ps) from throughput")[0][0]
        together = max(1, -(-intervals // points))
        rows = source.by_scheme(source.rows(_OVER_TIME, {"hosts": chosen, "together": together}))
    left_out = []
    if count > vms:
        left_out.append(f"{vms} of {count} receiving VMs: those that received least of their guarantee.")
    if together > 1:
        left_out.append(f"Each point is the mean of {together} intervals.")
    chart = Chart(
        name="vms",
        title="VMs over time",
        about="Throughput received by a VM between samples, including headers and interframe gaps. The dashed line is "
        "its guarantee.",
        fields=(
            Field("scheme", "scheme"),
            Field("who", "tenant of the VM, number in the tenant, host"),
            Field("time_ps", "middle of the interval", "ps"),
            Field("wire_bps", "throughput received, including headers and interframe gaps", "bit/s"),
            Field("guarantee_bps", "hose guarantee; 0 for none", "bit/s"),
        ),
        rows=rows,
        palette=tuple(source.palette),
        spec=_over_time_spec(source.palette, list(dict.fromkeys(row[1] for row in rows))),
        left_out=tuple(left_out),
        why_empty=None if rows else NO_TENANTS,
    )
    return marked(chart, source, "who")


def guarantees(source: Source) -> Chart:
    """Received throughput / guaranteed throughput of each VM, lowest first."""
    rows: list[tuple[Any, ...]] = []
    if source.count("throughput"):
        for results in source.results:
            got = [row for row in tenants.guarantees(results).dicts() if row["direction"] == "receive"]
            for scheme in results.manifest["schemes"]:
                mine = sorted((row for row in got if row["scheme"] == scheme), key=lambda row: row["satisfaction"])
                rows += [
                    (scheme, place / len(mine), f"{row['tenant']} {row['vm']}", *(row[name] for name in GOT))
                    for place, row in enumerate(mine, 1)
                ]
    return Chart(
        name="guarantees",
        title="Guarantees",
        about="Received throughput / guaranteed throughput of each VM with a guarantee, lowest first. Guaranteed: by "
        "hoses, for the traffic that senders had. Below 1, the guarantee was not kept."
        + (f" {part(source)}" if rows else ""),
        fields=(
            Field("scheme", "scheme"),
            Field("share", "share of VMs with at most this satisfaction"),
            Field("vm", "tenant of the VM, number in the tenant"),
            Field("satisfaction", "received throughput / guaranteed throughput"),
            Field("wire_bps", "mean throughput received, including headers and interframe gaps", "bit/s"),
            Field("guarantee_bps", "hose guarantee", "bit/s"),
        ),
        rows=rows,
        palette=tuple(source.palette),
        spec=_guarantees_spec(source.palette),
        why_empty=None if rows else NO_GUARANTEES if source.count("throughput") else NO_TENANTS,
    )


_WORST = """
    with each as (
        select scheme, dst, sum(wire_bytes) as got, sum(guaranteed_bytes) as sure from throughput group by scheme, dst)
    select dst from each group by dst
    order by min(got / nullif(sure, 0)) nulls last, max(got) desc, dst limit $vms
"""
_OVER_TIME = """
    with names as (
        select host, any_value(tenant || ' ' || vm || ' (' || name || ')') as who, any_value(receive_bps) as guarantee,
            any_value(tenant) as tenant, any_value(vm) as vm
        from vms group by host),
    numbered as (select *, dense_rank() over (partition by scheme order by start_ps) - 1 as number from throughput),
    steps as (
        select scheme, dst, number // $together as step, min(start_ps) as first, max(end_ps) as last,
            sum(wire_bytes) as bytes
        from numbered where list_contains($hosts, dst) group by all)
    select scheme, coalesce(who, 'host ' || dst), (first + last) // 2, bytes * 8e12 / (last - first),
        coalesce(guarantee, 0)
    from steps left join names on host = dst order by tenant, vm, dst, step
"""


def _over_time_spec(schemes: Sequence[str], who: Sequence[str]) -> Spec:
    """A panel for each VM, a line for each scheme."""
    return {
        "facet": {
            "field": "who",
            "type": "nominal",
            "sort": list(who),
            "header": {"title": None, "labelAnchor": "start"},
        },
        "columns": 2,
        "resolve": look.OWN_X_AXES,
        "spec": {
            "width": 400,
            "height": 150,
            "layer": [
                {
                    "mark": {"type": "line", "strokeWidth": 1.3},
                    "encoding": {
                        "x": look.time_axis(),
                        "y": {
                            "field": "wire_bps",
                            "type": "quantitative",
                            "title": "received",
                            "axis": {"labelExpr": look.RATE, "tickCount": 4},
                        },
                        "color": look.colour(schemes),
                        "strokeDash": look.dash(schemes),
                    },
                },
                {
                    "transform": [{"filter": "datum.guarantee_bps > 0"}],
                    "mark": KEPT,
                    "encoding": {"y": {"field": "guarantee_bps", "type": "quantitative", "aggregate": "max"}},
                },
            ],
        },
    }


def _guarantees_spec(schemes: Sequence[str]) -> Spec:
    """A line for each scheme, and one where guarantees are kept."""
    return {
        "width": 640,
        "height": 240,
        "layer": [
            {
                "transform": [
                    {"joinaggregate": [{"op": "count", "as": "vms"}], "groupby": ["scheme"]},
                    {"calculate": "datum.share - 1 / datum.vms", "as": "share_before"},
                ],
                "mark": {"type": "rule", "strokeWidth": 2},
                "encoding": {
                    "x2": {"field": "share"},
                    "x": {
                        "field": "share_before",
                        "type": "quantitative",
                        "title": "share of VMs",
                        "axis": {"labelExpr": look.SHARE, "grid": False, "tickCount": 5},
                        "scale": {"domain": [0, look.ABOVE]},
                    },
                    "y": {
                        "field": "satisfaction",
                        "type": "quantitative",
                        "title": "received / guaranteed",
                        "scale": {"type": "symlog", "constant": 0.1},
                        "axis": {"values": [0, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100]},
                    },
                    "color": look.colour(schemes),
                    "strokeDash": look.dash(schemes),
                    "tooltip": [
                        {"field": "scheme"},
                        {"field": "vm"},
                        {"field": "satisfaction", "format": ".3f"},
                    ],
                },
            },
            {
                "mark": KEPT,
                "encoding": {"y": {"datum": 1}},
            },
        ],
    }
