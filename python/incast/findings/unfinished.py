"""Findings about flows that did not complete."""

from __future__ import annotations

from collections.abc import Iterator

from incast.charts.look import time
from incast.charts.source import Source
from incast.findings.finding import UNFINISHED, Finding
from incast.findings.words import counted, joined, prefix_if_equal, share, spread

COMMON = 0.5
"""Smallest share of unfinished flows with one sender or receiver that is reported (our choice)."""
STOPS = {
    "horizon": "by the horizon",
    "budget": "within simulation.max_events",
    "deadlock": "because of the deadlock",
    "stalled": "because no packet could move",
    "interrupted": "before the interruption",
}
"""Reasons to stop as parts of a sentence."""
SIGNS = ("had no byte acknowledged", "had timeouts", "did not start")


def unfinished(source: Source) -> Iterator[Finding]:
    """Flows that did not complete, with the reason to stop and signs of the cause.

    Signs: flows without any acknowledged byte, flows with timeouts, flows that did not start, and a host that sends or
    receives at least half of the unfinished flows, if it has at most half of that share of all flows. Flows that always
    have data to send (backlogged) and cancelled flows are not expected to complete.
    """
    rows = source.rows(
        """
        select scheme, count(*) filter (status not in ('completed', 'partial')), count(*),
            count(*) filter (status = 'incomplete' and acked_bytes = 0),
            count(*) filter (status = 'incomplete' and timeouts > 0), count(*) filter (status = 'not-started')
        from flows where not backlogged and status <> 'cancelled' group by scheme
        """
    )
    found = {row[0]: row[1:] for row in source.by_scheme(rows)}
    schemes = tuple(scheme for scheme, row in found.items() if row[0])
    if not schemes:
        return
    stops: dict[str, list[str]] = {}
    for scheme in schemes:
        stops.setdefault(_stop(source, scheme), []).append(scheme)
    several = len(stops) > 1
    why = joined(f"{stop} ({', '.join(names)})" if several else stop for stop, names in stops.items())
    left = {scheme: found[scheme][0] for scheme in schemes}
    text = (
        f"{prefix_if_equal(left, source.schemes)}{counted(left, 'flow')} of "
        f"{spread({scheme: found[scheme][1] for scheme in schemes})} did not complete {why}"
    )
    signs = [
        f"{spread(values)} {sign}"
        for place, sign in enumerate(SIGNS, 2)
        if any((values := {scheme: found[scheme][place] for scheme in schemes}).values())
    ]
    signs += _common(source)
    yield Finding("unfinished", UNFINISHED, f"{text}{': ' if signs else ''}{'; '.join(signs)}.", schemes)


def _stop(source: Source, scheme: str) -> str:
    manifest = source.manifests[scheme]
    reason = str(manifest["stop"]["reason"])
    at = f", {time(manifest['end_ps'])}" if reason == "horizon" else ""
    return STOPS.get(reason, reason) + at


def _common(source: Source) -> Iterator[str]:
    """Host that most unfinished flows, but not most of all flows, send or receive at."""
    for host, verb in (("dst_name", "go to"), ("src_name", "come from")):
        rows = source.rows(
            f"""
            with each as (
                select {host} as host, count(*) filter (status not in ('completed', 'partial')) as left_, count(*) as all_
                from flows where not backlogged and status <> 'cancelled' group by 1)
            select host, left_, left_ / (sum(left_) over ()), all_ / (sum(all_) over ()) from each
            order by left_ desc, host limit 1
            """
        )
        name, left, part, usual = rows[0]
        if left >= 2 and part >= COMMON and usual <= part / 2:
            yield f"{share(part)} of them {verb} {name}"
            return
