"""Options of `incast deadlock check` by routing protocol."""

from __future__ import annotations

import json

from incast import _core

ROWS = (
    ("eBGP, all spines in one AS (RFC 7938): no valleys", "--set network.routing=up-down", "up-down"),
    ("eBGP with allowas-in or an AS per switch, OSPF, IS-IS", "no other option", "converged"),
    ("the same, while routes converge", "--detours 1", "detours"),
    ("ECMP with fast reroute to any neighbour", "--detours 1", "detours"),
)
"""Routing protocol, option next to those of failures, and kind of check."""


def table(scenario: _core.Scenario, detours: int | None) -> str:
    """Lines that tell which routing a check of failures is for, and the options for others."""
    kinds = {"detours"} if detours else {_kind(routing) for routing in _routings(scenario)}
    rows = [
        ("Which routing is yours?", "option", "checked here"),
        *((name, option, _mark(kind, kinds)) for name, option, kind in ROWS),
    ]
    widths = [max(len(row[column]) for row in rows) for column in range(2)]
    return "\n".join(f"{name:<{widths[0]}}  {option:<{widths[1]}}  {mark}" for name, option, mark in rows)


def _mark(kind: str, kinds: set[str]) -> str:
    if kind not in kinds:
        return "no"
    return "yes" if len(kinds) == 1 else "some schemes"


def _kind(routing: str) -> str:
    return "up-down" if routing == "up-down" else "converged"


def _routings(scenario: _core.Scenario) -> set[str]:
    """Routing of all schemes, or of a scenario without schemes."""
    tree = json.loads(scenario.whole("json"))
    usual = tree["network"]["routing"]
    return {each.get("network", {}).get("routing", usual) for each in tree.get("scheme", {}).values()} or {usual}
