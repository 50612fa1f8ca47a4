"""Throughput of flows over time."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from incast.charts import look
from incast.charts.chart import Chart, Field, Spec
from incast.charts.events import marked
from incast.charts.series import NO_SAMPLES, step
from incast.charts.source import Source

FLOWS = 6
"""Most flows drawn: one for each colour."""
PACKETS = 10
"""Packets of a flow in a step, on average (our choice): with one packet more or less, the rate differs by 10 %."""
STEPS = 20
"""Steps of the longest flow, with fewer packets if need be (our choice)."""
MEASURED = "acknowledged payload"
"""Title of the axis. A rate that the control allows would be that of the link under controls of windows."""


def rates(source: Source, *, flows: int = FLOWS, points: int = look.POINTS) -> Chart:
    """Throughput over time of the flows that were active longest."""
    longest = source.rows(
        "select flow from rates group by flow order by count(*) desc, flow limit ?",
        [flows],
    )
    every, together = step(source, "rates", points)
    rows: list[tuple[Any, ...]] = []
    if longest:
        chosen = sorted(flow for (flow,) in longest)
        together = max(together, _samples(source, chosen))
        names = dict(
            source.rows(
                "select flow, any_value(src_name || ' to ' || dst_name) from flows where list_contains(?, flow) "
                "group by flow",
                [chosen],
            )
        )
        found = source.by_scheme(_measured(source, chosen, every * together))
        # Damaged results can have rates of flows that the table of flows lacks.
        shown = {flow: f"{flow}: {names[flow]}" if flow in names else str(flow) for flow in chosen}
        rows = [(scheme, flow, shown[flow], time, rate) for scheme, flow, time, rate in found]
    count = source.rows("select count(distinct flow) from rates")[0][0]
    left_out = []
    if count > flows:
        left_out.append(f"{flows} of {count:,} flows: those with the most samples.")
    if together > 1:
        left_out.append(f"Each point is the mean over {together} samples ({look.time(every * together)}).")
    chart = Chart(
        name="rates",
        title="Throughput of flows over time",
        about="Payload acknowledged per time (of UDP and pHost: payload that arrived), while the flow is active. The "
        "table `rates` also has the rate and the window that the congestion control allows.",
        fields=(
            Field("scheme", "scheme"),
            Field("flow", "number of the flow"),
            Field("who", "number, sender and receiver of the flow"),
            Field("time_ps", "middle of the step", "ps"),
            Field("acked_bps", "payload acknowledged in the step / its time", "bit/s"),
        ),
        rows=rows,
        palette=tuple(source.palette),
        spec=_spec(source.palette, list(dict.fromkeys(row[2] for row in rows))),
        left_out=tuple(left_out),
        why_empty=None
        if rows
        else "No flow has two samples: set a shorter measure.sample_every."
        if source.sampled
        else NO_SAMPLES,
    )
    return marked(chart, source, "scheme")


def _samples(source: Source, flows: Sequence[int]) -> int:
    """Samples of a step with enough packets of these flows."""
    ((packets, most),) = source.rows(
        "with sent as (select sum(acked_bytes) / nullif(sum(packets), 0) as packet_bytes from flows "
        "where list_contains($flows, flow)), sampled as ("
        "select max(acked_bytes) - min(acked_bytes) as bytes, count(*) - 1 as steps from rates "
        "where list_contains($flows, flow) group by scheme, flow) "
        "select sum(bytes) / nullif(any_value(packet_bytes), 0) / nullif(sum(steps), 0), max(steps) from sampled, sent",
        {"flows": flows},
    )
    return min(math.ceil(PACKETS / packets) if packets else 1, int(most) // STEPS)


def _measured(source: Source, flows: Sequence[int], step_ps: int) -> list[tuple[Any, ...]]:
    """Scheme, flow, middle of a step and rate in it. A step of less than half the time is left out, unless alone."""
    return source.rows(
        "with slots as (select scheme, flow, time_ps, acked_bytes, time_ps // $step as slot from rates "
        "where list_contains($flows, flow)), "
        "ends as (select scheme, flow, time_ps, acked_bytes from slots qualify "
        "row_number() over (partition by scheme, flow, slot order by time_ps desc) = 1 or "
        "row_number() over (partition by scheme, flow order by time_ps) = 1), "
        "steps as (select *, lag(time_ps) over flow_ as from_ps, lag(acked_bytes) over flow_ as from_bytes, "
        "count(*) over (partition by scheme, flow) as points from ends "
        "window flow_ as (partition by scheme, flow order by time_ps)) "
        "select scheme, flow, (from_ps + time_ps) // 2, (acked_bytes - from_bytes) * 8e12 / (time_ps - from_ps) "
        "from steps where time_ps - from_ps >= if(points > 2, $step / 2, 0) order by scheme, flow, time_ps",
        {"step": step_ps, "flows": flows},
    )


def _spec(schemes: Sequence[str], flows: Sequence[str]) -> Spec:
    """A panel for each scheme, a line for each flow."""
    lines = look.around(look.LINES_OF_FLOWS, len(flows))
    return {
        "facet": {
            "field": "scheme",
            "type": "nominal",
            "sort": list(schemes),
            "header": {"title": None, "labelAnchor": "start"},
        },
        "columns": 2,
        "resolve": look.OWN_X_AXES,
        "spec": {
            "width": 400,
            "height": 150,
            "mark": {"type": "line", "strokeWidth": 1.1},
            "encoding": {
                "x": look.time_axis(),
                "y": {
                    "field": "acked_bps",
                    "type": "quantitative",
                    "title": MEASURED,
                    "axis": {"labelExpr": look.RATE, "tickCount": 4},
                },
                "color": look.colour(flows, "who", "flow"),
                "strokeDash": {
                    "field": "who",
                    "type": "nominal",
                    "scale": {"domain": list(flows), "range": [look.DASHES[line] for line in lines]},
                    "legend": {"title": "flow", "orient": "top"},
                },
            },
        },
    }
