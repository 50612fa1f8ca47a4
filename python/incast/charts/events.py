"""Events of a run on the time axes of charts: failures, storms, deadlocks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

from incast.charts import look
from incast.charts.chart import Chart, Spec
from incast.charts.source import Source
from incast.charts.storms import configured

EVENTS = 24
"""Most events marked in a panel (our choice)."""
NAMED = 4
"""Most events named in the description of a chart (our choice)."""
LABELLED = 6
"""Most events of a panel with a label at their line (our choice)."""
APART = 0.06
"""Smallest distance between labels, as a share of the run (our choice)."""
COLOUR = "#888888"
CHANGES = {
    "down": "down",
    "up": "up",
    "silent": "loses packets",
    "clean": "loses no more",
    "withdrawn": "routes avoid it",
    "restored": "routes use it",
}
"""Changes of links in words."""
WATCHDOG = ("watchdog acts", "watchdog ends")


@dataclass(frozen=True)
class Event:
    """A change in the network of a scheme at one time."""

    scheme: str
    time_ps: int
    what: str
    """A word or two, such as `down`."""
    where: str
    """Link, port or node."""
    others: int = 0
    """Further places with the same event."""


def events(source: Source) -> list[Event]:
    """Events of all schemes in order of time; simultaneous events of one kind at several places are one event."""
    order = {scheme: place for place, scheme in enumerate(source.schemes)}
    places: dict[tuple[str, int, str], list[str]] = {}
    for event in (*_links(source), *_storms(source), *_watchdog(source), *_deadlocks(source)):
        places.setdefault((event.scheme, event.time_ps, event.what), []).append(event.where)
    merged = (
        Event(scheme, time, what, where[0], others=len(where) - 1) for (scheme, time, what), where in places.items()
    )
    return sorted(merged, key=lambda each: (each.time_ps, order[each.scheme]))


def _links(source: Source) -> Iterator[Event]:
    if source.count("links"):
        rows = source.rows("select scheme, time_ps, change, a_name || '-' || b_name from links order by time_ps, link")
        yield from (Event(scheme, time, CHANGES[change], link) for scheme, time, change, link in rows)


def _storms(source: Source) -> Iterator[Event]:
    for scheme, storms in configured(source).items():
        end = int(source.manifests[scheme]["end_ps"])
        for storm in storms:
            yield Event(scheme, storm.from_ps, "storm begins", storm.node)
            if storm.until_ps is not None and storm.until_ps < end:
                yield Event(scheme, storm.until_ps, "storm ends", storm.node)


def _watchdog(source: Source) -> Iterator[Event]:
    if not source.count("storms"):
        return
    query = "select scheme, start_ps, end_ps, node_name || ' to ' || peer_name from storms order by start_ps, port"
    for scheme, start, end, port in source.rows(query):
        yield Event(scheme, start, WATCHDOG[0], port)
        if end is not None:
            yield Event(scheme, end, WATCHDOG[1], port)


def _deadlocks(source: Source) -> Iterator[Event]:
    for scheme, manifest in source.manifests.items():
        for deadlock in manifest.get("deadlocks", ()):
            where = f"{deadlock['cycle'][0]['node']} to {deadlock['cycle'][0]['peer']}"
            yield Event(scheme, deadlock["closed_ps"], "deadlock begins", where)
            if deadlock.get("ended_ps") is not None:
                yield Event(scheme, deadlock["ended_ps"], "deadlock ends", where)


def marked(chart: Chart, source: Source, panel: str) -> Chart:
    """A chart over time with a dotted line for each event; `panel` names the field of its panels.

    Panels of schemes have the events of their scheme, others those of all schemes.
    """
    found = events(source) if chart.rows and chart.spec else []
    if not found:
        return chart
    if panel == "scheme":
        kept = [event for scheme in source.schemes for event in _of(found, scheme)[:EVENTS]]
        rows = [{"scheme": event.scheme, **_row(event, "")} for event in kept]
        most = max(len(_of(found, scheme)) for scheme in source.schemes)
    else:
        schemes: dict[tuple[int, str, str, int], list[str]] = {}
        for event in found:
            schemes.setdefault((event.time_ps, event.what, event.where, event.others), []).append(event.scheme)
        alike = [(Event("", *key), names) for key, names in schemes.items()]
        most = len(alike)
        place = [each.name for each in chart.fields].index(panel)
        panels = list(dict.fromkeys(row[place] for row in chart.rows))
        rows = [
            {panel: name, **_row(event, "" if len(names) == len(source.schemes) else f" ({', '.join(names)})")}
            for name in panels
            for event, names in alike[:EVENTS]
        ]
    spec = dict(chart.spec or {})
    spec["spec"] = _layered(spec["spec"], labels=_fit(rows, panel, source))
    left_out = (f"{EVENTS} of {most:,} events are marked: the first.",) if most > EVENTS else ()
    return replace(
        chart,
        about=f"{chart.about} Dotted lines are events: {_in_words(rows)}.",
        events=tuple(rows),
        spec=spec,
        left_out=(*chart.left_out, *left_out),
    )


def _of(found: Iterable[Event], scheme: str) -> list[Event]:
    return [event for event in found if event.scheme == scheme]


def _row(event: Event, scheme: str) -> dict[str, Any]:
    of_link = event.what in CHANGES.values()
    noun = f"{'link' if of_link else 'port' if event.what in WATCHDOG else 'place'}{'s' if event.others > 1 else ''}"
    more = f" and {event.others:,} more {noun}" if event.others else ""
    what = f"{event.where}{more} {event.what}" if of_link else f"{event.what} at {event.where}{more}"
    text = f"{look.time(event.time_ps)}: {what}{scheme}"
    return {"event_ps": event.time_ps, "event": text, "what": event.what}


def _in_words(rows: Iterable[dict[str, Any]]) -> str:
    """The first events in words."""
    texts = list(dict.fromkeys(row["event"] for row in rows))
    more = len(texts) - NAMED
    return "; ".join(texts[:NAMED]) + (f"; and {more:,} more" if more > 0 else "")


def _fit(rows: Iterable[dict[str, Any]], panel: str, source: Source) -> bool:
    """True if the labels of events in each panel stand next to each other."""
    run = max(int(manifest["end_ps"]) for manifest in source.manifests.values())
    times: dict[str, list[int]] = {}
    for row in rows:
        times.setdefault(row[panel], []).append(row["event_ps"])
    return all(
        len(each) <= LABELLED and all(b - a >= APART * run for a, b in pairwise(each)) for each in times.values()
    )


def _layered(unit: Spec, *, labels: bool) -> Spec:
    """A panel with lines for its events over its marks."""
    sizes = {name: unit[name] for name in ("width", "height")}
    layers = unit.get("layer") or [{name: part for name, part in unit.items() if name not in sizes}]
    without = {"filter": "!isValid(datum.event_ps)"}
    only = {"filter": "isValid(datum.event_ps)"}
    x = {**layers[0]["encoding"]["x"], "field": "event_ps"}
    lines: list[Spec] = [
        {
            "transform": [only],
            "mark": {"type": "rule", "strokeDash": [2, 3], "strokeWidth": 1.2, "color": COLOUR},
            "encoding": {"x": x, "tooltip": [{"field": "event"}]},
        }
    ]
    if labels:
        text = {"type": "text", "align": "left", "baseline": "top", "dx": 3, "fontSize": 9.5, "color": COLOUR}
        lines.append(
            {"transform": [only], "mark": text, "encoding": {"x": x, "y": {"value": 0}, "text": {"field": "what"}}}
        )
    return {
        **sizes,
        "layer": [*({**each, "transform": [without, *each.get("transform", ())]} for each in layers), *lines],
    }
