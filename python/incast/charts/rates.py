"""Throughput of flows over time."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from incast.charts import look
from incast.charts.chart import Chart, Field, Spec
from incast.charts.events import marked
from incast.charts.series import NO_SAMPLES
from incast.charts.source import Source

FLOWS = 6
"""Most flows drawn: one for each colour."""
PACKETS = 10
"""Packets of a flow in a step, on average (our choice): with one packet more or less, the rate differs by 10 %."""
STEPS = 20
"""Steps of the longest flow, with fewer packets if need be (our choice)."""
APART = 4
"""If the longest run is so many times the shortest, each panel has its own axis and steps (our choice): on a common
axis, the shortest run would take a quarter of a panel or less."""
MEASURED = "acknowledged payload"
"""Title of the axis. A rate that the control allows would be that of the link under controls of windows."""


def rates(source: Source, *, flows: int = FLOWS, points: int = look.POINTS) -> Chart:
    """Throughput over time of the flows that were active longest."""
    longest = source.rows(
        "select flow from rates group by flow order by count(*) desc, flow limit ?",
        [flows],
    )
    every = source.sample_ps() if source.count("rates") else 1
    rows: list[tuple[Any, ...]] = []
    samples: dict[str, int] = {}
    if longest:
        chosen = sorted(flow for (flow,) in longest)
        samples = _samples(source, chosen, every, points)
        names = dict(
            source.rows(
                "select flow, any_value(src_name || ' to ' || dst_name) from flows where list_contains(?, flow) "
                "group by flow",
                [chosen],
            )
        )
        steps = {scheme: every * count for scheme, count in samples.items()}
        found = source.by_scheme(_measured(source, chosen, steps))
        # Damaged results can have rates of flows that the table of flows lacks.
        shown = {flow: f"{flow}: {names[flow]}" if flow in names else str(flow) for flow in chosen}
        rows = [(scheme, flow, shown[flow], time, rate) for scheme, flow, time, rate in found]
    count = source.rows("select count(distinct flow) from rates")[0][0]
    left_out = []
    if count > flows:
        left_out.append(f"{flows} of {count:,} flows: those with the most samples.")
    if max(samples.values(), default=1) > 1:
        left_out.append(f"Each point is the mean over {_in_words(samples, every)}.")
    own = own_axes(last_times(rows, 0, 3))
    chart = Chart(
        name="rates",
        title="Throughput of flows over time",
        about="Payload acknowledged per time (of UDP and pHost: payload that arrived), while the flow is active. The "
        "table `rates` also has the rate and the window that the congestion control allows."
        + (" Each panel has its own axis of time." if own else ""),
        fields=(
            Field("scheme", "scheme"),
            Field("flow", "number of the flow"),
            Field("who", "number, sender and receiver of the flow"),
            Field("time_ps", "middle of the step", "ps"),
            Field("acked_bps", "payload acknowledged in the step / its time", "bit/s"),
        ),
        rows=rows,
        palette=tuple(source.palette),
        spec=_spec(source.palette, list(dict.fromkeys(row[2] for row in rows)), own=own),
        left_out=tuple(left_out),
        why_empty=None
        if rows
        else "No flow has two samples: set a shorter measure.sample_every."
        if source.sampled
        else NO_SAMPLES,
    )
    return marked(chart, source, "scheme")


def last_times(rows: Iterable[Any], scheme: Any, time: Any) -> dict[str, int]:
    """The last time of each scheme, from rows with the scheme and the time at these places."""
    found: dict[str, int] = {}
    for row in rows:
        found[row[scheme]] = max(found.get(row[scheme], 0), row[time])
    return found


def own_axes(last: Mapping[str, int]) -> bool:
    """True if the panels of schemes with these last times have their own axes of time."""
    return bool(last) and max(last.values()) >= APART * min(last.values())


def _samples(source: Source, flows: Sequence[int], every: int, points: int) -> dict[str, int]:
    """Samples of a step, by scheme: few enough steps for so many points, with enough packets of these flows.

    They are the same for all schemes, unless these have axes of their own.
    """
    rows = source.rows(
        "with sent as (select sum(acked_bytes) / nullif(sum(packets), 0) as packet_bytes from flows "
        "where list_contains($flows, flow)), of_flow as ("
        "select scheme, max(acked_bytes) - min(acked_bytes) as bytes, count(*) - 1 as steps, "
        "max(time_ps) as last from rates where list_contains($flows, flow) group by scheme, flow), spans as ("
        "select scheme, max(time_ps) - min(time_ps) as ps from rates group by scheme) "
        "select scheme, sum(bytes) / nullif(any_value(packet_bytes), 0), sum(steps), max(steps), any_value(ps), "
        "max(last) from of_flow join spans using (scheme), sent group by scheme",
        {"flows": flows},
    )
    own = own_axes({row[0]: row[-1] for row in rows})
    groups = [[row] for row in rows] if own else [rows]
    return {row[0]: _together(group, every, points) for group in groups for row in group}


def _together(rows: Sequence[tuple[Any, ...]], every: int, points: int) -> int:
    """Samples of a step of some schemes, from their packets, steps, steps of the longest flow, and times."""
    _, packets, steps, most, spans, _ = zip(*rows, strict=True)
    few = sum(each or 0 for each in packets) / max(1, sum(steps))
    enough = min(math.ceil(PACKETS / few) if few else 1, int(max(most)) // STEPS)
    return max(1, -(-(int(max(spans)) // every + 1) // points), enough)


def _in_words(samples: Mapping[str, int], every: int) -> str:
    """Samples of a step: of each scheme, or of all."""
    least, most = min(samples.values()), max(samples.values())
    to = f"{least:,} to {most:,}" if least < most else f"{most:,}"
    times = f"{look.time(every * least)} to {look.time(every * most)}" if least < most else look.time(every * most)
    return f"{to} samples ({times})"


def _measured(source: Source, flows: Sequence[int], steps_ps: Mapping[str, int]) -> list[tuple[Any, ...]]:
    """Scheme, flow, middle of a step and rate in it. A step of less than half the time is left out, unless alone."""
    return source.rows(
        "with of_scheme as (select unnest($schemes) as scheme, unnest($steps::bigint[]) as step), "
        "slots as (select scheme, flow, time_ps, acked_bytes, step, time_ps // step as slot from rates "
        "join of_scheme using (scheme) where list_contains($flows, flow)), "
        "ends as (select scheme, flow, time_ps, acked_bytes, step from slots qualify "
        "row_number() over (partition by scheme, flow, slot order by time_ps desc) = 1 or "
        "row_number() over (partition by scheme, flow order by time_ps) = 1), "
        "steps as (select *, lag(time_ps) over flow_ as from_ps, lag(acked_bytes) over flow_ as from_bytes, "
        "count(*) over (partition by scheme, flow) as points from ends "
        "window flow_ as (partition by scheme, flow order by time_ps)) "
        "select scheme, flow, (from_ps + time_ps) // 2, (acked_bytes - from_bytes) * 8e12 / (time_ps - from_ps) "
        "from steps where time_ps - from_ps >= if(points > 2, step / 2, 0) order by scheme, flow, time_ps",
        {"schemes": list(steps_ps), "steps": list(steps_ps.values()), "flows": flows},
    )


def _spec(schemes: Sequence[str], flows: Sequence[str], *, own: bool) -> Spec:
    """A panel for each scheme, a line for each flow; `own` gives each panel its own axis of time."""
    lines = look.around(look.LINES_OF_FLOWS, len(flows))
    return {
        "facet": {
            "field": "scheme",
            "type": "nominal",
            "sort": list(schemes),
            "header": {"title": None, "labelAnchor": "start"},
        },
        "columns": 2,
        "resolve": {**look.OWN_X_AXES, **({"scale": {"x": "independent"}} if own else {})},
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
