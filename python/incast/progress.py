"""How far a run has come."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class SchemeProgress:
    """How far one scheme of a run has come."""

    scheme: str
    """Its name."""
    state: Literal["waiting", "running", "done"]
    """Whether it has begun, and ended."""
    now_ps: int
    """Simulated time, in picoseconds."""
    events: int
    """Events handled."""
    packet_hops: int
    """Packets, counted once per link crossed."""
    flows_done: int
    """Flows completed."""
    flows: int
    """All flows but those that the end of their workload entry has cancelled."""
    bytes_acked: int
    """Payload acknowledged, in bytes."""
    bytes: int
    """Payload of these flows, in bytes."""
    end_ps: int | None = None
    """Simulated time at which it ends at the latest, where flows go on until then, in picoseconds."""

    @property
    def fraction(self) -> float:
        """The part of the payload that has been acknowledged, or of the simulated time; 0 to 1, 1 when done."""
        if self.state == "done":
            return 1.0
        if self.end_ps:
            return self.now_ps / self.end_ps
        return self.bytes_acked / self.bytes if self.bytes else 0.0


@dataclass(frozen=True)
class Progress:
    """How far a run has come: its schemes in the order in which they began."""

    schemes: tuple[SchemeProgress, ...]
    """One entry per scheme that has begun."""

    @classmethod
    def from_json(cls, text: str) -> Progress:
        """From what the core tells."""
        return cls(tuple(SchemeProgress(**scheme) for scheme in json.loads(text)))


Callback = Callable[[Progress], object]
"""Called several times a second in the thread that runs; raising ends the run."""


def told(callback: Callback | None) -> Callable[[str], object] | None:
    """The callback as the core calls it."""
    if callback is None:
        return None
    return lambda text: callback(Progress.from_json(text))
