"""PFC storms that a scenario configures."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from incast._quantity import picoseconds
from incast.charts.source import Source, read_scenario


@dataclass(frozen=True)
class Storm:
    """A PFC storm that the scenario configures (`network.pause`)."""

    node: str
    """Host or switch that sends the pauses."""
    priority: int
    """Paused priority."""
    from_ps: int
    """Start."""
    until_ps: int | None
    """End; `None` for the end of the run."""


def configured(source: Source) -> dict[str, tuple[Storm, ...]]:
    """Configured storms of each scheme that has any."""
    found = {}
    for results in source.results:
        with read_scenario(results) as tree:
            for scheme in results.manifest["schemes"]:
                own = tree["scheme"][scheme].get("network", {}).get("pause")
                entries = tree["network"]["pause"] if own is None else own
                # Random pauses are those of a slow receiver, not of a storm.
                if storms := tuple(_storm(each) for each in entries if each.get("random") in (None, "none")):
                    found[scheme] = storms
    return found


def dynamic(source: Source) -> list[str]:
    """Schemes with dynamic PFC thresholds: a queue that a storm fills lowers those of all ports."""
    found = []
    for results in source.results:
        with read_scenario(results) as tree:
            for scheme in results.manifest["schemes"]:
                mode = tree["scheme"][scheme].get("switch", {}).get("pfc_mode") or tree["switch"]["pfc_mode"]
                found += [] if "static" in mode else [scheme]
    return found


def _storm(entry: dict[str, Any]) -> Storm:
    from_ps, until_ps = picoseconds(entry.get("from", "0s")), picoseconds(entry.get("until", "none"))
    return Storm(entry["at"], entry["priority"], from_ps or 0, until_ps)
