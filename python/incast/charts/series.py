"""Samples over time: queues of ports."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any

from incast.charts import look
from incast.charts.chart import Chart, Field, Spec
from incast.charts.events import marked
from incast.charts.source import Source

PORTS = 4
"""Most ports drawn (our choice)."""
LEAST = 0.01
"""Smallest queue that is drawn, as a fraction of the longest (our choice)."""
NO_SAMPLES = "No samples: set measure.sample_every in the scenario."
NO_QUEUES = "No queue had a packet when it was sampled."


def queues(source: Source, *, ports: int = PORTS, points: int = look.POINTS) -> Chart:
    """Queue length over time of the ports with the longest queues."""
    longest = source.rows(
        "select port, any_value(node_name), any_value(peer_name) from queues group by port "
        "having max(queue_bytes) >= ? * (select max(queue_bytes) from queues) "
        "order by max(queue_bytes) desc, port limit ?",
        [LEAST, ports],
    )
    every, together = step(source, "queues", points)
    rows: list[tuple[Any, ...]] = []
    start, until = source.sampled_ps() if longest else (0, None)
    if longest:
        found = source.rows(
            "select scheme, port, (time_ps - $start) // $step as slot, arg_max(time_ps, queue_bytes), max(queue_bytes) "
            "from queues where list_contains($ports, port) group by all order by all",
            {"start": start, "step": every * together, "ports": [port for port, _, _ in longest]},
        )
        slots = {key: list(group) for key, group in groupby(found, lambda row: (row[0], row[1]))}
        ends = {
            scheme: min(int(manifest["end_ps"]), 2**63 if until is None else until + 1)
            for scheme, manifest in source.manifests.items()
        }
        for port, node, peer in longest:
            for scheme in source.schemes:
                mine = slots.get((scheme, port), [])
                for time, queue in with_empty(mine, every * together, start, ends[scheme]):
                    rows.append((scheme, port, f"{node} to {peer}", time, queue))
    left_out = [*_few(source, len(longest), ports)]
    if together > 1:
        left_out.append(f"Each point is the maximum of {together} samples ({look.time(every * together)}).")
    if start or until is not None:
        to = "" if until is None else f" to {look.time(until)}"
        left_out.append(f"Queues were sampled from {look.time(start)}{to} only.")
    chart = Chart(
        name="queues",
        title="Queues over time",
        about="Bytes queued at a port, all priorities together. The longest queue in the counters and in the table of "
        "links is of one priority. A port without a sample was empty.",
        fields=(
            Field("scheme", "scheme"),
            Field("port", "number of the port in the fabric"),
            Field("link", "node of the port, and its peer node"),
            Field("time_ps", "time of the sample", "ps"),
            Field("queue_bytes", "bytes queued, all priorities", "B"),
        ),
        rows=rows,
        palette=tuple(source.palette),
        spec=_queues_spec(source.palette, list(dict.fromkeys(row[2] for row in rows))),
        left_out=tuple(left_out),
        why_empty=None if rows else NO_QUEUES if source.sampled else NO_SAMPLES,
    )
    return marked(chart, source, "link")


def _few(source: Source, drawn: int, most: int) -> Iterator[str]:
    """A note on ports with a queue that are not drawn."""
    count = source.rows("select count(distinct port) from queues")[0][0]
    if count > drawn == most:
        yield f"{most} of {count} ports with a queue: those with the longest queues under any scheme."
    elif count > drawn:
        yield f"{drawn} of {count} ports with a queue: those that reached {LEAST * 100:g} % of the longest queue."


def with_empty(slots: Sequence[tuple[Any, ...]], step: int, start_ps: int, end_ps: int) -> list[tuple[int, int]]:
    """Times and queues of one port, with zeros at both ends of each gap between samples.

    Args:
        slots: Rows with the number of the slot, the time and the queue at the end; slot 0 begins at `start_ps`.
        step: Time of a slot.
        start_ps: Time of the first sample of the run.
        end_ps: Time before which the last sample was.

    """
    line: list[tuple[int, int]] = []
    before = -1
    for _, _, slot, time, queue in slots:
        if slot > before + 1:
            line.append((start_ps + (before + 1) * step, 0))
        if slot > before + 2:
            line.append((start_ps + (slot - 1) * step, 0))
        line.append((time, queue))
        before = slot
    last = (end_ps - 1 - start_ps) // step
    if slots:
        line += [(start_ps + slot * step, 0) for slot in dict.fromkeys((before + 1, last)) if before < slot <= last]
    return line


def step(source: Source, table: str, points: int) -> tuple[int, int]:
    """Picoseconds between samples, and number of samples per point of a line."""
    last, count = source.rows(f"select max(time_ps) - min(time_ps), count(*) from {table}")[0]
    every = source.sample_ps() if count else 1
    return every, max(1, -(-(int(last or 0) // every + 1) // points))


def _queues_spec(schemes: Sequence[str], links: Sequence[str]) -> Spec:
    """A panel for each port, a line for each scheme."""
    return {
        "facet": {
            "field": "link",
            "type": "nominal",
            "sort": list(links),
            "header": {"title": None, "labelAnchor": "start"},
        },
        "columns": 2,
        "resolve": look.OWN_X_AXES,
        "spec": {
            "width": 400,
            "height": 150,
            "mark": {"type": "line", "interpolate": "linear", "strokeWidth": 1.3},
            "encoding": {
                "x": look.time_axis(),
                "y": {
                    "field": "queue_bytes",
                    "type": "quantitative",
                    "title": "queue",
                    "axis": {"labelExpr": look.BYTES, "tickCount": 4},
                },
                "color": look.colour(schemes),
                "strokeDash": look.dash(schemes),
            },
        },
    }
