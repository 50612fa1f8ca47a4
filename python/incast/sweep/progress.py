"""How far a sweep has come."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field

from incast.sweep.execute import Pulse


@dataclass
class Activity:
    """A run in progress."""

    label: str
    """What it is."""
    weight: float
    """Its share of the work: packet-hops, as far as they can be estimated."""
    since: float
    """When it began, in seconds of the monotonic clock."""
    pulse: Pulse = field(default=Pulse(0.0, 0))
    """How far it is."""


@dataclass
class SweepProgress:
    """How far a sweep has come; a callback is given the same object again and again."""

    runs: int
    """All runs."""
    kept: int = 0
    """Of these, those that were there from an earlier time."""
    done: int = 0
    """Those done now."""
    failed: int = 0
    """Those that failed now."""
    active: dict[str, Activity] = field(default_factory=dict)
    """Those in progress, by key."""
    packet_hops: int = 0
    """Packet-hops of the runs done now."""
    work_done: float = 0.0
    """Weight of the runs that ended now, as far as weights are known now."""
    work: float = 0.0
    """Weight of all runs to be done now, likewise."""
    started: float = field(default_factory=time.monotonic)
    """When the sweep began, in seconds of the monotonic clock."""
    failures: list[tuple[str, str]] = field(default_factory=list)
    """What failed, and why."""

    @property
    def ended(self) -> int:
        """Runs that need no more work."""
        return self.kept + self.done + self.failed

    @property
    def hops(self) -> int:
        """Packet-hops simulated now."""
        return self.packet_hops + sum(one.pulse.packet_hops for one in self.active.values())

    @property
    def fraction(self) -> float:
        """The part of the work of now that is done, 0 to 1."""
        doing = sum(one.weight * one.pulse.fraction for one in self.active.values())
        return min(1.0, (self.work_done + doing) / self.work) if self.work else 0.0

    def left_s(self, now: float) -> float | None:
        """Seconds until the end, if it goes on as up to `now`; `None` as long as nobody can say."""
        fraction, elapsed = self.fraction, now - self.started
        return elapsed * (1 / fraction - 1) if fraction > 0.002 and elapsed > 1 else None


Callback = Callable[[SweepProgress], object]
"""Called several times a second; an exception that it raises ends the sweep, which can be resumed."""
