"""The picture of `incast deadlock check`."""

from __future__ import annotations

import json
from typing import Any, NamedTuple

from incast import _core
from incast.charts.cycle import Drawing, cycle
from incast.errors import translated
from incast.wiring import Hop, Wiring

LOSSLESS = [3]
"""Where a scenario does not say which priorities are lossless (`switch.lossless`)."""


class Found(NamedTuple):
    """A cycle as the core tells it."""

    turns: list[dict[str, Any]]
    """What packets do at each switch: come in by a port, leave by another."""
    down: list[tuple[str, str]]
    """Links that are down, by the names of their ends."""


def first_cycle(told: dict[str, Any]) -> Found | None:
    """The shortest cycle of a fabric as it is; with failures the one of the first links that are named."""
    if "components" in told:
        cycles = [each["turns"] for component in told["components"] for each in component["cycles"]]
        return Found(min(cycles, key=len), []) if cycles else None
    named = told["named"]
    return Found(named[0]["cycle"]["turns"], [(a, b) for a, b in named[0]["links"]]) if named else None


def draw_cycle(scenario: _core.Scenario, found: Found) -> Drawing:
    """The cycle on the scenario's fabric."""
    with translated():
        wiring = Wiring.read(scenario.fabric())
    lossless = _lossless(json.loads(scenario.whole("json")))
    # Without tags a cycle is there in each lossless priority alike.
    priority = lossless.pop() if len(lossless) == 1 else None
    hops = [Hop(turn["switch"], turn["out_port"], turn["to"], priority) for turn in found.turns]
    return cycle(wiring, hops, down=found.down)


def _lossless(scenario: dict[str, Any]) -> set[int]:
    """The priorities that PFC makes lossless under any scheme."""
    usual = scenario.get("switch", {}).get("lossless", LOSSLESS)
    schemes = (scheme.get("switch", {}).get("lossless", usual) for scheme in scenario["scheme"].values())
    return {priority for each in schemes for priority in each}
