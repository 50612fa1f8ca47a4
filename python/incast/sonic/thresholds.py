"""Thresholds of a scenario's switches, as the core computes them for a run."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from incast import _core
from incast.errors import ScenarioError, translated


@dataclass(frozen=True)
class Port:
    """Thresholds of one port; sizes in bytes."""

    rate: int
    """Rate in bit/s."""
    delay: int
    """One-way delay of the link in ps."""
    headroom: int
    """Headroom of a lossless priority."""
    alpha: float | None
    """Share of the free buffer; `None`: a static threshold."""
    xoff: int | None
    """Static XOFF threshold above the reserve."""
    kmin: int
    kmax: int
    pmax: float
    """ECN marking."""


@dataclass(frozen=True)
class Switch:
    """Switches with equal ports."""

    names: tuple[str, ...]
    headroom: int
    """Bytes of all headrooms."""
    reserved: int
    """Bytes of all reserves."""
    shared: int
    """Bytes shared by the ports."""
    ports: tuple[Port, ...]


@dataclass(frozen=True)
class Thresholds:
    """Thresholds under schemes that have equal ones."""

    schemes: tuple[str, ...]
    params: dict[str, Any]
    """`[switch]` with defaults; sizes in bytes and times in ps have their units."""
    paused: tuple[int, ...]
    """Priorities that PFC pauses."""
    ecn: bool
    """True if switches mark."""
    mark_at: str
    switches: tuple[Switch, ...]


def of_scenario(scenario: _core.Scenario, scheme: str | None) -> Thresholds:
    """Thresholds of a scheme, or of all schemes if they are equal."""
    with translated():
        found = [_read(each) for each in json.loads(scenario.thresholds())]
    if scheme is None and len(found) > 1:
        groups = "; ".join(", ".join(each.schemes) for each in found)
        raise ScenarioError(f"schemes have different switch settings: choose one with --scheme; equal ones: {groups}")
    names = [name for each in found for name in each.schemes]
    if scheme is not None and scheme not in names:
        from incast._nearest import hint

        raise ScenarioError(f"--scheme {scheme}: no such scheme; allowed: {', '.join(names)}{hint(scheme, names)}")
    return next(each for each in found if scheme is None or scheme in each.schemes)


def _read(found: dict[str, Any]) -> Thresholds:
    switches = [
        Switch(
            tuple(each["names"]), each["headroom"], each["reserved"], each["shared"], tuple(map(_port, each["ports"]))
        )
        for each in found["switches"]
    ]
    return Thresholds(
        tuple(found["schemes"]),
        found["switch"],
        tuple(found["paused"]),
        found["ecn"],
        found["mark_at"],
        tuple(switches),
    )


def _port(port: dict[str, Any]) -> Port:
    return Port(**port)
