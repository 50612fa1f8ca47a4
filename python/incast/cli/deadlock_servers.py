"""Note on GPUs and servers that forward, in the cycles of `incast deadlock check`."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from incast import _core


class _Forwarding(NamedTuple):
    """Hosts of a fabric that forward, each as a switch of its own."""

    name: re.Pattern[str]
    """Names of these switches."""
    kind: str
    how: str


FORWARDING = {
    "rail_optimized": _Forwarding(
        re.compile(r"gpu\d+"), "GPU", "A GPU forwards between NVLink and its NIC (`nvlink.forward`)"
    ),
    "bcube": _Forwarding(re.compile(r"server\d+"), "server", "A server forwards between its ports"),
}


def note(scenario: _core.Scenario, report: dict[str, Any]) -> str | None:
    """A sentence about GPUs or servers in the printed cycles, if there are some."""
    ((fabric, _),) = json.loads(scenario.whole("json"))["fabric"].items()
    if fabric not in FORWARDING:
        return None
    name, kind, how = FORWARDING[fabric]
    found = list(dict.fromkeys(switch for switch in _switches(report) if name.fullmatch(switch)))
    if not found:
        return None
    which = f"{kind} {found[0]}" if len(found) == 1 else f"{len(found)} {kind}s, such as {found[0]}"
    return f"note: the cycles above lead through {which}. {how}; incast models it as a switch with PFC."


def _switches(report: dict[str, Any]) -> Iterator[str]:
    """The switches of all cycles of a report."""
    for graph in report["graphs"]:
        cycles = [each["cycle"] for each in graph.get("named", ())]
        cycles += [each for component in graph.get("components", ()) for each in component["cycles"]]
        yield from (turn["switch"] for cycle in cycles for turn in cycle["turns"])
