"""Progress of a sweep."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field

from incast.errors import IncastWarning
from incast.sweep.execute import Pulse


@dataclass
class Activity:
    """An active run."""

    label: str
    """Its label."""
    weight: float
    """Its work in packet-hops, estimated."""
    since: float
    """Its start, in seconds of the monotonic clock."""
    pulse: Pulse = field(default=Pulse(0.0, 0))
    """Its progress."""


@dataclass
class SweepProgress:
    """Progress of a sweep. A callback receives the same object each time."""

    runs: int
    """Number of all runs."""
    kept: int = 0
    """Runs finished by an earlier command."""
    done: int = 0
    """Runs finished by this command."""
    failed: int = 0
    """Runs that failed in this command."""
    active: dict[str, Activity] = field(default_factory=dict)
    """Active runs, by key."""
    packet_hops: int = 0
    """Packet-hops of the runs finished by this command."""
    work_done: float = 0.0
    """Estimated work of the runs that ended in this command."""
    work: float = 0.0
    """Estimated work of all runs of this command."""
    started: float = field(default_factory=time.monotonic)
    """Start of the sweep, in seconds of the monotonic clock."""
    damaged: list[tuple[str, str]] = field(default_factory=list)
    """Keys and damage of runs finished by an earlier command that this command runs again."""
    failures: list[tuple[str, str]] = field(default_factory=list)
    """Labels and errors of failed runs."""

    @property
    def ended(self) -> int:
        """Runs that are finished or failed."""
        return self.kept + self.done + self.failed

    def repeated(self) -> list[str]:
        """A message about each damaged run."""
        return [f"run {key} is damaged ({damage}): run again" for key, damage in self.damaged]

    @property
    def hops(self) -> int:
        """Packet-hops simulated by this command."""
        return self.packet_hops + sum(one.pulse.packet_hops for one in self.active.values())

    @property
    def fraction(self) -> float:
        """Fraction of this command's work that is done, 0 to 1."""
        doing = sum(one.weight * one.pulse.fraction for one in self.active.values())
        return min(1.0, (self.work_done + doing) / self.work) if self.work else 0.0

    def left_s(self, now: float) -> float | None:
        """Seconds left at the speed until `now`; `None` if too early to estimate."""
        fraction, elapsed = self.fraction, now - self.started
        return elapsed * (1 / fraction - 1) if fraction > 0.002 and elapsed > 1 else None


Callback = Callable[[SweepProgress], object]
"""Called several times a second. If it raises an exception, the sweep ends and can be resumed."""


def tell(progress: SweepProgress, callback: Callback | None) -> None:
    """Report damaged runs before the first event: to the callback, or as Python warnings."""
    if callback is None:
        for text in progress.repeated():
            warnings.warn(text, IncastWarning, stacklevel=4)
    elif progress.damaged:
        callback(progress)
