"""Formation of a deadlock: pauses spread from port to port until they form a cycle."""

from __future__ import annotations

from collections.abc import Sequence

from incast.charts import look
from incast.charts.chart import Chart, Field, Spec
from incast.charts.source import Source

PORTS = 24
"""Most ports drawn for a deadlock (our choice)."""
BEFORE = 1.0
"""Time drawn before the first of the final pauses / time drawn after it (our choice)."""
ON_CYCLE, BEHIND, PASSING = "on the cycle", "behind it", "resumed"
"""Kinds of pauses: of the cycle, of queues and hosts that wait for the cycle, and pauses that ended."""
COLOURS = ("#a13d00", "#d9a03c", "#b9c3cb")


def closing(source: Source, *, ports: int = PORTS) -> Chart:
    """The pauses around the first deadlock of every scheme, in order of the start of the final pause."""
    rows = source.by_scheme(source.rows(_PAUSES, {"before": BEFORE, "ports": ports}))
    found = source.rows("select scheme, max(deadlock) + 1 from deadlocks group by scheme")
    left_out = [f"{scheme}: the first of {count} deadlocks." for scheme, count in source.by_scheme(found) if count > 1]
    most = source.rows(_WIDEST)[0][0] or 0
    if most > ports:
        left_out.append(f"{ports} of {most} paused ports: those of the cycle, then those paused first.")
    return Chart(
        name="closing",
        title="Formation of the deadlock",
        about="PFC pauses around the first deadlock. One row per port, ordered by the start of its final pause. The "
        "dashed line marks the time at which the cycle closed: since then its queues wait only for each other.",
        fields=(
            Field("scheme", "scheme"),
            Field("link", "node of the port, and the peer node that paused it"),
            Field("priority", "priority, 0 to 7"),
            Field("start_ps", "start of the pause", "ps"),
            Field("end_ps", "end of the pause, or of the drawing", "ps"),
            Field("part", f"kind of pause: {ON_CYCLE}, {BEHIND}, or {PASSING}"),
            Field("closed_ps", "time at which the cycle closed", "ps"),
        ),
        rows=rows,
        palette=tuple(source.palette),
        spec=_spec(source.schemes),
        left_out=tuple(left_out),
        why_empty=None if rows else "No deadlocks.",
    )


_FIRST = """
    first as (
        select scheme, any_value(closed_ps) as closed_ps, any_value(detected_ps) as detected_ps
        from deadlocks where deadlock = 0 group by scheme),
    last as (
        select p.scheme, p.port, p.priority, p.start_ps, p.end_ps, f.closed_ps, f.detected_ps,
               d.port is not null as on_cycle
        from pauses p join first f using (scheme)
        left join deadlocks d on d.scheme = p.scheme and d.port = p.port and d.priority = p.priority and d.deadlock = 0
        where p.start_ps <= f.detected_ps and (p.end_ps is null or p.end_ps > f.detected_ps))
"""
"""The first deadlock of every scheme, and the pauses at the time of its detection."""

_WIDEST = f"""
    with {_FIRST} select max(count) from (select count(*) as count from last group by scheme)
"""

_PAUSES = f"""
    with {_FIRST},
    kept as (
        select *, row_number() over (partition by scheme order by on_cycle desc, start_ps, port, priority) as place
        from last qualify place <= greatest($ports, count(*) filter (on_cycle) over (partition by scheme))),
    span as (
        select scheme, max(detected_ps) as until_ps,
               max(detected_ps) - ((1 + $before) * (max(detected_ps) - min(start_ps)))::bigint as from_ps
        from kept group by scheme)
    select p.scheme, p.node_name || ' to ' || p.peer_name, p.priority, greatest(p.start_ps, s.from_ps),
           least(coalesce(p.end_ps, s.until_ps), s.until_ps),
           case when p.start_ps < k.start_ps then '{PASSING}' when k.on_cycle then '{ON_CYCLE}' else '{BEHIND}' end,
           k.closed_ps
    from pauses p join kept k using (scheme, port, priority) join span s using (scheme)
    where p.start_ps <= k.start_ps and coalesce(p.end_ps, s.until_ps) > s.from_ps
    order by p.scheme, k.start_ps, p.port, p.priority, p.start_ps
"""
"""All pauses of these queues up to the final ones."""


def _spec(schemes: Sequence[str]) -> Spec:
    """A panel for each scheme, a line of bars for each port."""
    time = {"labelExpr": look.TIME, "labelOverlap": True, "labelSeparation": 6, "tickCount": 6}
    legend = {"title": None, "orient": "top"}
    kinds = {"domain": [ON_CYCLE, BEHIND, PASSING], "range": list(COLOURS)}
    bars = {
        "mark": {"type": "bar", "height": 10, "minBandSize": 1},
        "encoding": {
            "x": {"field": "start_ps", "type": "quantitative", "title": "time", "axis": time, "scale": {"zero": False}},
            "x2": {"field": "end_ps"},
            "y": {"field": "link", "type": "nominal", "sort": None, "title": None},
            "color": {"field": "part", "type": "nominal", "scale": kinds, "legend": legend},
            "tooltip": [
                {"field": "link"},
                {"field": "priority"},
                {"field": "part"},
                {"field": "start_ps", "type": "quantitative", "format": ","},
                {"field": "end_ps", "type": "quantitative", "format": ","},
            ],
        },
    }
    rule = {
        "mark": {"type": "rule", "strokeWidth": 1.5, "strokeDash": [5, 3], "color": look.INK},
        "encoding": {"x": {"aggregate": "max", "field": "closed_ps", "type": "quantitative"}},
    }
    return {
        "facet": {
            "field": "scheme",
            "type": "nominal",
            "sort": list(schemes),
            "header": {"title": None, "labelAnchor": "start"},
        },
        "columns": 1,
        "resolve": {"scale": {"x": "independent", "y": "independent"}},
        "spec": {"width": 700, "height": {"step": 15}, "layer": [bars, rule]},
    }
