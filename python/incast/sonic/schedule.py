"""SCHEDULER and the queues that use it."""

from __future__ import annotations

import math
from typing import Any

from incast.sonic import model
from incast.sonic.exact import Exact

STRICT = "INCAST_STRICT"
EQUAL = "INCAST_WRR"


def schedulers(scheduler: Any, exact: Exact) -> dict[str, dict[str, str]]:
    """Rows of SCHEDULER."""
    rows = {STRICT: {"type": "STRICT"}}
    if scheduler == "round-robin":
        rows[EQUAL] = {"type": "WRR", "weight": "1"}
    elif scheduler != "strict-priority":
        for weight in sorted(set(weights(scheduler["drr"], exact).values())):
            rows[_weighted(weight)] = {"type": "DWRR", "weight": str(weight)}
    return rows


def by_queue(scheduler: Any, exact: Exact) -> list[tuple[str, str]]:
    """Schedulers by ranges of queues; queue 0 is served first in incast."""
    own = dict.fromkeys(model.QUEUES, STRICT)
    if scheduler == "round-robin":
        own |= {queue: EQUAL for queue in model.QUEUES if queue}
    elif scheduler != "strict-priority":
        own |= {queue: _weighted(weight) for queue, weight in weights(scheduler["drr"], exact).items()}
    groups = [("0", own.pop(0))]
    for name in sorted(set(own.values())):
        groups += [(keys, name) for keys in model.ranges(queue for queue in own if own[queue] == name)]
    return sorted(groups)


def weights(drr: dict[str, Any], exact: Exact) -> dict[int, int]:
    """Weights of the queues in the rounds: quanta divided by their greatest common divisor, at most 100."""
    quanta = {queue: drr["quanta"][queue] for queue in model.QUEUES if queue and queue not in drr.get("strict", [])}
    if not quanta:
        return {}
    common = math.gcd(*quanta.values())
    most, largest = model.WEIGHTS.stop - 1, max(quanta.values())
    if largest // common <= most:
        return {queue: quantum // common for queue, quantum in quanta.items()}
    # The largest quantum gets the largest weight.
    parts = {queue: (most * quantum / largest, str(quantum)) for queue, quantum in quanta.items()}
    field = "switch.scheduler.drr.quanta"
    return {
        queue: exact.whole(f"{field}[{queue}]", part, shown, "a weight", model.WEIGHTS)
        for queue, (part, shown) in parts.items()
    }


def _weighted(weight: int) -> str:
    return f"INCAST_DWRR_{weight}"
