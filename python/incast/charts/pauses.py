"""PFC pauses over time."""

from __future__ import annotations

from collections.abc import Sequence

from incast.charts import look
from incast.charts.chart import Chart, Field, Spec
from incast.charts.events import marked
from incast.charts.source import Source

PORTS = 20
"""Most queues of ports drawn (our choice)."""
BARS = 1500
"""Most intervals of a scheme drawn individually (our choice)."""
STEPS = 500
"""Time steps in which more intervals are merged."""


def pauses(source: Source, *, ports: int = PORTS, bars: int = BARS) -> Chart:
    """PFC pauses of the queues with the longest total pause."""
    ends = {scheme: int(manifest["end_ps"]) for scheme, manifest in source.manifests.items()}
    source.rows("create or replace temp table ends as select unnest($names) as scheme, unnest($times) as run_end_ps",
                {"names": list(ends), "times": list(ends.values())})  # fmt: skip
    source.rows(
        "create or replace temp view closed as select scheme, port, port * 8 + priority as queue, "
        "node_name || ' to ' || peer_name || case when (select count(distinct priority) from pauses) > 1 "
        "then ', priority ' || priority else '' end as link, priority, start_ps, "
        "coalesce(end_ps, run_end_ps) as end_ps, end_ps is null as open "
        "from pauses join ends using (scheme)"
    )
    by_time = (
        "select queue from (select queue, sum(end_ps - start_ps) as paused_ps, arg_max(start_ps, end_ps - start_ps) as "
        "first from closed group by queue order by paused_ps desc, queue limit ?) order by first, queue"
    )
    longest = [queue for (queue,) in source.rows(by_time, [ports])]
    drawn = source.rows(
        "select scheme, count(*), max(end_ps) from closed where list_contains(?, queue) group by scheme", [longest]
    )
    crowded = [scheme for scheme, count, _ in source.by_scheme(drawn) if count > bars]
    step = max(1, max((int(end) for *_, end in drawn), default=0) // STEPS)
    rows = source.rows(
        "select scheme, port, any_value(link), priority, min(start_ps), max(end_ps), sum(end_ps - start_ps)::bigint, "
        "count(*) from closed where list_contains($ports, queue) "
        "group by scheme, port, priority, case when list_contains($crowded, scheme) then start_ps // $step "
        "else start_ps end "
        "order by list_position($ports, any_value(queue)), scheme, min(start_ps)",
        {"ports": longest, "crowded": crowded, "step": step},
    )
    paused = source.rows("select count(distinct queue), count(*) filter (open) from closed")[0]
    left_out = []
    if paused[0] > ports:
        left_out.append(f"{ports} of {paused[0]} paused queues: those paused longest.")
    if crowded:
        of = "" if len(crowded) == len(drawn) else f" of {', '.join(crowded)}"
        left_out.append(
            f"Pauses{of} that begin within the same {look.time(step)} are merged into one bar; a paler bar was paused "
            "for less of its time."
        )
    if paused[1]:
        still = "1 pause" if paused[1] == 1 else f"{paused[1]:,} pauses"
        left_out.append(f"{still} lasted to the end of the run.")
    chart = Chart(
        name="pauses",
        title="PFC pauses over time",
        about="Times during which the peer of a port paused its egress queue (PFC). One row per port, or per port and "
        "priority, ordered by the start of the longest pause.",
        fields=(
            Field("scheme", "scheme"),
            Field("port", "number of the port in the fabric"),
            Field(
                "link",
                "node of the port, and the peer node that paused it; the priority if several were paused",
            ),
            Field("priority", "priority, 0 to 7"),
            Field("start_ps", "start of the first pause", "ps"),
            Field("end_ps", "end of the last pause", "ps"),
            Field("paused_ps", "time paused in between", "ps"),
            Field("intervals", "number of pauses"),
        ),
        rows=rows,
        palette=tuple(source.palette),
        spec=_spec(source.palette, list(dict.fromkeys(row[2] for row in rows))),
        left_out=tuple(left_out),
        why_empty=None if rows else "No pauses.",
    )
    return marked(chart, source, "scheme")


def _spec(schemes: Sequence[str], links: Sequence[str]) -> Spec:
    """A panel for each scheme, a line of bars for each port."""
    return {
        "transform": [{"calculate": "datum.paused_ps / max(1, datum.end_ps - datum.start_ps)", "as": "part"}],
        "facet": {
            "field": "scheme",
            "type": "nominal",
            "sort": list(schemes),
            "header": {"title": None, "labelAnchor": "start"},
        },
        "columns": 1,
        "spec": {
            "width": 700,
            "height": {"step": 13},
            "mark": {"type": "bar", "height": 9, "minBandSize": 1},
            "encoding": {
                "x": {
                    "field": "start_ps",
                    "type": "quantitative",
                    "title": "time",
                    "axis": {"labelExpr": look.TIME, "labelOverlap": True, "labelSeparation": 6, "tickCount": 6},
                },
                "x2": {"field": "end_ps"},
                "y": {"field": "link", "type": "nominal", "sort": list(links), "title": None},
                "color": {**look.colour(schemes), "legend": None},
                "opacity": {
                    "field": "part",
                    "type": "quantitative",
                    "scale": {"domain": [0, 1], "range": [0.25, 1]},
                    "legend": None,
                },
                "tooltip": [
                    {"field": "scheme"},
                    {"field": "link"},
                    {"field": "start_ps", "type": "quantitative", "format": ","},
                    {"field": "end_ps", "type": "quantitative", "format": ","},
                    {"field": "paused_ps", "type": "quantitative", "format": ","},
                    {"field": "intervals", "type": "quantitative"},
                ],
            },
        },
    }
