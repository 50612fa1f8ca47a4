"""The picture of `incast deadlock check`."""

from __future__ import annotations

from typing import Any, NamedTuple

from incast import _core
from incast.charts.cycle import Drawing, cycle
from incast.errors import translated
from incast.wiring import Hop, Wiring


class Found(NamedTuple):
    """A cycle as the core reports it."""

    turns: list[dict[str, Any]]
    """Ingress and egress port of the packets at each switch."""
    down: list[tuple[str, str]]
    """Links that are down, by the names of their ends."""
    priorities: list[int | None]
    """By turn: the priority of the next buffer; none if several priorities have this cycle."""


def first_cycle(report: dict[str, Any]) -> Found | None:
    """The shortest cycle of all graphs; with sets of failed links that of the first set."""
    found = [one for graph in report["graphs"] if (one := _first(graph))]
    return min(found, key=lambda one: len(one.turns), default=None)


def _first(graph: dict[str, Any]) -> Found | None:
    if "sets" in graph:
        named = [(one["cycle"]["turns"], one["links"]) for one in graph["named"][:1]]
    else:
        cycles = [each["turns"] for component in graph["components"] for each in component["cycles"]]
        named = [(turns, graph["down"]) for turns in sorted(cycles, key=len)[:1]]
    if not named:
        return None
    (turns, down) = named[0]
    priorities = graph["priorities"]
    only = priorities[0] if len(priorities) == 1 else None
    # A turn has the tag with which packets arrive; they leave with the tag of the next turn.
    of_turns = [priorities[turn["tag"] - 1] if "tag" in turn else only for turn in (*turns[1:], turns[0])]
    # The name of a parallel link ends with its port.
    ends = [tuple(end.rpartition(":")[0] or end for end in link) for link in down]
    return Found(turns, [(a, b) for a, b in ends], of_turns)


def draw_cycle(scenario: _core.Scenario, found: Found) -> Drawing:
    """The cycle on the scenario's fabric."""
    with translated():
        wiring = Wiring.read(scenario.fabric())
    turns = zip(found.turns, found.priorities, strict=True)
    hops = [Hop(turn["switch"], turn["out_port"], turn["to"], priority) for turn, priority in turns]
    return cycle(wiring, hops, down=found.down)
