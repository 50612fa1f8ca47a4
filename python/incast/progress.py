"""Progress of a run."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class SchemeProgress:
    """Progress of one scheme."""

    scheme: str
    """Its name."""
    state: Literal["waiting", "running", "done"]
    """State of the scheme."""
    now_ps: int
    """Simulated time, in picoseconds."""
    events: int
    """Events handled."""
    packet_hops: int
    """Packets, counted once per link crossed."""
    flows_done: int
    """Flows completed."""
    flows: int
    """All flows except those cancelled at the end of their workload entry."""
    bytes_acked: int
    """Payload acknowledged, in bytes."""
    bytes: int
    """Payload of these flows, in bytes."""
    end_ps: int | None = None
    """Simulated end time in picoseconds, if flows continue until then."""

    @property
    def fraction(self) -> float:
        """Fraction of the payload that is acknowledged, or of the simulated time: 0 to 1."""
        if self.state == "done":
            return 1.0
        if self.end_ps:
            return self.now_ps / self.end_ps
        return self.bytes_acked / self.bytes if self.bytes else 0.0


@dataclass(frozen=True)
class Progress:
    """Progress of a run."""

    schemes: tuple[SchemeProgress, ...]
    """The started schemes, in order of their start."""

    @classmethod
    def from_json(cls, text: str) -> Progress:
        """From the JSON text of the core."""
        return cls(tuple(SchemeProgress(**scheme) for scheme in json.loads(text)))


Callback = Callable[[Progress], object]
"""Called several times a second in the thread of the run. If it raises an exception, the run ends."""


def json_callback(callback: Callback | None) -> Callable[[str], object] | None:
    """The callback as the core calls it."""
    if callback is None:
        return None
    return lambda text: callback(Progress.from_json(text))
