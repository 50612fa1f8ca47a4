"""Findings about flows that did not complete."""

from __future__ import annotations

from collections.abc import Iterator

from incast.charts.look import time
from incast.charts.source import Source
from incast.findings.finding import UNFINISHED, Finding
from incast.findings.words import counted, prefix_if_equal, share, spread

COMMON = 0.5
"""Smallest share of unfinished flows with one sender or receiver that is reported (our choice)."""
STOPS = {
    "horizon": "by the horizon",
    "budget": "within simulation.max_events",
    "deadlock": "because of the deadlock",
    "stalled": "because no flow could go on",
    "interrupted": "before the interruption",
}
"""Reasons to stop as parts of a sentence."""
CAUSES = {"budget": "simulation.max_events", "stalled": "no flow could go on", "interrupted": "interruption"}
"""Reasons to stop as nouns; others are named as in the manifest."""
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
    found = {scheme: (left, flows, *signs) for scheme, left, flows, *signs in source.by_scheme(rows)}
    schemes = tuple(scheme for scheme, row in found.items() if row[0])
    if not schemes:
        return
    stops: dict[tuple[str, str], list[str]] = {}
    for scheme in schemes:
        stops.setdefault(_stop(source, scheme), []).append(scheme)
    text = _counts(source, {scheme: found[scheme][:2] for scheme in schemes}, stops)
    signs = [
        f"{spread(values)} {sign}"
        for place, sign in enumerate(SIGNS, 2)
        if any((values := {scheme: found[scheme][place] for scheme in schemes}).values())
    ]
    signs += _common(source)
    begin = "" if not signs else ". Of these, " if len(stops) > 1 else ": "
    yield Finding("unfinished", UNFINISHED, f"{text}{begin}{'; '.join(signs)}.", schemes)


def _counts(source: Source, found: dict[str, tuple[int, int]], stops: dict[tuple[str, str], list[str]]) -> str:
    """Numbers of unfinished and of all flows, with the reason to stop; a sentence for each of several reasons."""
    left = {scheme: count for scheme, (count, _) in found.items()}
    all_ = {scheme: count for scheme, (_, count) in found.items()}
    if len(stops) == 1:
        ((stop, at),) = stops
        flows = f"{prefix_if_equal(left, source.schemes)}{counted(left, 'flow')} of {spread(all_)}"
        return f"{flows} did not complete {STOPS.get(stop, stop)}{at}"
    sentences: list[str] = []
    for (stop, at), names in stops.items():
        of = f"{spread({name: left[name] for name in names})} of {spread({name: all_[name] for name in names})}"
        flows = "" if sentences else " flows did not complete"
        sentences.append(f"{', '.join(names)}: {of}{flows} ({CAUSES.get(stop, stop)}{at})")
    return ". ".join(sentences)


def _stop(source: Source, scheme: str) -> tuple[str, str]:
    """Reason to stop, and the time of the horizon."""
    manifest = source.manifests[scheme]
    reason = str(manifest["stop"]["reason"])
    return reason, f", {time(manifest['end_ps'])}" if reason == "horizon" else ""


def _common(source: Source) -> Iterator[str]:
    """Host that most unfinished flows, but not most of all flows, send or receive at."""
    for host, verb in (("dst_name", "go to"), ("src_name", "come from")):
        rows = source.rows(
            f"""
            with each as (
                select {host} as host, count(distinct flow) filter (status not in ('completed', 'partial')) as left_,
                    count(distinct flow) as all_
                from flows where not backlogged and status <> 'cancelled' group by 1)
            select host, left_, left_ / (sum(left_) over ()), all_ / (sum(all_) over ()) from each
            order by left_ desc, host limit 1
            """
        )
        name, left, part, usual = rows[0]
        if left >= 2 and part >= COMMON and usual <= part / 2:
            yield f"{share(part)} of them {verb} {name}"
            return
