"""Events of a scenario that begin after the end of a run: failures, PFC storms, changes of routes and rules."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from incast import _input
from incast._quantity import picoseconds
from incast.charts.look import time
from incast.charts.source import SCENARIO, read_scenario
from incast.errors import ResultsError
from incast.findings.words import joined, spread
from incast.results import Results

EVENTS = re.compile(rb"^\[\[.*(failure|pause|route|change)\]\]", re.MULTILINE)
"""Tables of events in `scenario.toml`."""


@dataclass(frozen=True)
class Event:
    """A configured event, with the schemes that ended before it."""

    kind: Literal["failure", "storm", "change"]
    field: str
    """Field with its time, such as `network.failure[0].at`."""
    what: str
    """The event as a noun: `the failure of link h1-s0`."""
    at_ps: int
    """Its start."""
    early: Mapping[str, int]
    """End of the run of each scheme without the event, in ps."""
    late: tuple[str, ...]
    """Schemes with the event."""

    def text(self) -> str:
        """The event, its time, and the end of each run that has not reached it, without the last point."""
        run = "the run" if len(self.early) == 1 else "the runs"
        under = f" under {joined(self.early)}" if self.late else ""
        return f"{self.what} at {time(self.at_ps)} never happened{under}: {run} ended at {spread(self.early, time)}"


def possible(folder: Path) -> bool:
    """True if the scenario of a results folder has events. Sweeps have many, and opening each takes much longer."""
    try:
        return EVENTS.search(_input.read_bytes(folder / SCENARIO, ResultsError, _input.DOCUMENT)) is not None
    except OSError:
        return False  # whoever reads the scenario reports it


def warnings(results: Results) -> list[str]:
    """Warnings about such events, without those that are after the horizon: the scenario already had these."""
    if not possible(results.path):
        return []
    with read_scenario(results) as tree:
        horizon = picoseconds(tree["simulation"].get("horizon", "none"))
    return [
        f"{event.field}: {event.text()}"
        for event in events(results)
        if horizon is None or event.at_ps < horizon or event.kind == "change"
    ]


def events(results: Results) -> list[Event]:
    """The events that some scheme has not reached."""
    found: dict[tuple[str, str, str, int], dict[str, int]] = {}
    ends = {scheme: int(manifest["end_ps"]) for scheme, manifest in results.manifest["schemes"].items()}
    with read_scenario(results) as tree:
        for scheme, end_ps in ends.items():
            for key in configured(tree, tree["scheme"][scheme]):
                found.setdefault(key, {})[scheme] = end_ps
    each = []
    for (kind, field, what, at_ps), of in found.items():
        early = {scheme: end_ps for scheme, end_ps in of.items() if end_ps <= at_ps}
        if early:
            each.append(Event(kind, field, what, at_ps, early, tuple(name for name in of if name not in early)))  # type: ignore[arg-type]
    return each


def configured(tree: dict[str, Any], scheme: dict[str, Any]) -> Iterator[tuple[str, str, str, int]]:
    """Kind, field, noun and start of each event of a scheme."""
    for kind, path, start, noun in (
        ("failure", ("network", "failure"), "at", _failure),
        ("storm", ("network", "pause"), "from", _storm),
        ("change", ("network", "route"), "from", _route),
        ("change", ("switch", "tagging", "change"), "at", _rules),
    ):
        for place, entry in enumerate(_entries(tree, scheme, path)):
            if at_ps := picoseconds(entry.get(start, "0s")):
                yield kind, f"{'.'.join(path)}[{place}].{start}", noun(entry), at_ps


def _entries(tree: dict[str, Any], scheme: dict[str, Any], path: Sequence[str]) -> list[dict[str, Any]]:
    """Tables of a list: those of the scheme, or else of the scenario."""
    for base in (scheme, tree):
        found: Any = base
        for name in path:
            found = found.get(name) if isinstance(found, dict) else None
        if found is not None:
            return list(found)
    return []


def _failure(entry: dict[str, Any]) -> str:
    if "switch" in entry:
        return f"the failure of {entry['switch']}"
    if "link" in entry:
        return f"the failure of link {'-'.join(entry['link'])}"
    links = entry["random"]["links"]
    return "the failure of a random link" if links == 1 else f"the failure of {links:,} random links"


def _storm(entry: dict[str, Any]) -> str:
    noun = "PFC storm" if entry.get("random") in (None, "none") else "random pauses"
    return f"the {noun} of {entry['at']} (priority {entry['priority']})"


def _route(entry: dict[str, Any]) -> str:
    return f"the change of the route from {entry['at']} to {entry['to']}"


def _rules(entry: dict[str, Any]) -> str:
    return f"the change to the rules in {entry['rules']}"
