"""Settings of a scenario that CONFIG_DB does not have."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from incast.sonic.exact import Exact
from incast.sonic.thresholds import Switch, Thresholds

WRITTEN = {
    "queues",
    "buffer",
    "reserve",
    "lossless",
    "pfc",
    "pfc_mode",
    "resume_offset",
    "headroom",
    "by_rate",
    "lossy_alpha",
    "scheduler",
    "watchdog",
}
"""Fields of `[switch]` that are written."""
SEPARATE = {
    "tagging": "rules of Tagger: see `incast deadlock tag --export sonic`",
    "isolation": "congestion isolation (802.1Qcz) has no table",
}
"""Guards that are left out."""


class Notes:
    """Settings of one scheme that are left out."""

    def __init__(self, found: Thresholds) -> None:
        self.found = found

    def all(self, switches: Mapping[str, tuple[str, ...]]) -> list[str]:
        """One line for each setting; `switches`: by file."""
        return [
            *self._fields(),
            *self._headrooms(),
            *self._reserves(switches),
            *self._scheduler(),
            *self._marking(),
            *self._classes(),
        ]

    def _fields(self) -> Iterator[str]:
        params = self.found.params
        for name, value in params.items():
            if name in SEPARATE:
                if value.get("enabled"):
                    yield f"switch.{name}: {SEPARATE[name]}"
            elif name == "forwarding":
                if value != "store-and-forward":
                    yield f"switch.forwarding = {_shown(value)}: a setting of the ASIC"
            elif name == "cut_through_header":
                if params["forwarding"] != "store-and-forward":
                    yield f"switch.cut_through_header = {_shown(value)}: a property of the ASIC"
            elif name not in WRITTEN and value is not None:
                yield f"switch.{name} = {_shown(value)}: no table"

    def _headrooms(self) -> Iterator[str]:
        count = len(self.found.paused)

        def shares(switch: Switch) -> bool:
            return switch.headroom < count * sum(port.headroom for port in switch.ports)

        if count > 1 and any(map(shares, self.found.switches)):
            yield (
                f"shared headroom: with three-delays a port sets aside one headroom for its {count} lossless "
                "priorities, so xoff of the pool is less than the sum over groups"
            )

    def _reserves(self, switches: Mapping[str, tuple[str, ...]]) -> Iterator[str]:
        more = len(self.found.paused) - 1
        reserve = Exact.size(self.found.params["reserve"])
        if more > 0 and reserve:
            less = [
                f"{file} {more * reserve * len(switch.ports)} of {switch.shared} B"
                for file, switch in zip(switches, self.found.switches, strict=True)
            ]
            yield (
                "one reserve per port: SONiC has one for each lossless priority, so its shared buffer is smaller: "
                + ", ".join(less)
            )
        if self.found.paused and reserve:
            yield "the reserve of lossy queues: ingress_lossy_profile has size 0, as in SONiC's device tables"

    def _scheduler(self) -> Iterator[str]:
        scheduler = self.found.params["scheduler"]
        strict = scheduler == "strict-priority" or (isinstance(scheduler, dict) and scheduler["drr"].get("strict"))
        if strict:
            yield (
                "queue 0 before all others: SONiC serves STRICT queues from the highest number, so queue 0 (PFC frames "
                "in incast) comes after the other STRICT queues"
            )
        if isinstance(scheduler, dict):
            yield "the size of switch.scheduler.drr.quanta: weights of DWRR keep the ratio"

    def _marking(self) -> Iterator[str]:
        if self.found.ecn:
            yield f"ecn.mark_at = {_shown(self.found.mark_at)}: a property of the ASIC"
            yield "marking by the instantaneous queue: an ASIC can average, with a weight that CONFIG_DB does not have"
            yield "marking without drops: WRED drops packets without ECN above the thresholds"

    def _classes(self) -> Iterator[str]:
        named = "lossless DSCPs" if self.found.paused else "DSCPs"
        yield f"DSCP_TO_TC_MAP: incast has no DSCPs; map your {named} to the traffic classes of their priorities"


def _shown(value: Any) -> str:
    return json.dumps(value)
