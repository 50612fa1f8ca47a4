"""Findings about configured events that a run did not reach."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from incast import unreached as late
from incast.charts.source import Source
from incast.findings.finding import FAILURE, ORDERS, STORM, Finding
from incast.findings.words import joined, sentence, time

IMPORTANCE = {"storm": STORM + 1, "failure": FAILURE, "change": FAILURE}
"""Importance of an event by its kind."""


def unreached(source: Source) -> Iterator[Finding]:
    """Failures, PFC storms and changes of routes or rules that begin after the run of a scheme has ended."""
    for event in _events(source):
        yield Finding(event.kind, IMPORTANCE[event.kind], f"{sentence(event.text())}.", tuple(event.early))


def with_caveat(source: Source, found: Sequence[Finding]) -> list[Finding]:
    """The findings; those that compare schemes of which only some had an event say which."""
    events = _events(source)
    return [
        replace(each, text=f"{each.text}{_caveat(each, events)}") if each.kind in ORDERS else each for each in found
    ]


def _caveat(finding: Finding, events: Sequence[late.Event]) -> str:
    """A sentence about the first such event."""
    for event in events:
        had = [scheme for scheme in finding.schemes if scheme in event.late]
        if had and any(scheme in event.early for scheme in finding.schemes):
            return f" Only the run of {joined(had)} had {event.what} at {time(event.at_ps)}."
    return ""


def _events(source: Source) -> list[late.Event]:
    return [event for results in source.results if late.possible(results.path) for event in late.events(results)]
