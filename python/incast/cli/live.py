"""Progress of a run: bars in a terminal, a line every few seconds elsewhere."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, TaskID, TaskProgressColumn, TextColumn
from rich.progress import Progress as Bars
from rich.table import Column

from incast.progress import Progress, SchemeProgress

EVERY = 5.0
"""Seconds between lines where there is no terminal."""
WIDE = 120
"""Columns of a terminal that is wide enough for long bars."""
SMOOTHING = 3.0
"""Seconds over which speeds are averaged."""


@dataclass
class Speed:
    """Speed and remaining time of one scheme, averaged over the last seconds."""

    seen: list[tuple[float, int, float]] = field(default_factory=list)
    """Wall-clock time in seconds, packet-hops, fraction done."""

    def note(self, now: float, progress: SchemeProgress) -> None:
        """Remember where the scheme is at `now`."""
        self.seen.append((now, progress.packet_hops, progress.fraction))
        while len(self.seen) > 2 and self.seen[1][0] < now - SMOOTHING:
            del self.seen[0]

    def hops(self) -> float:
        """Packet-hops a second."""
        (start, first, _), (end, last, _) = self.seen[0], self.seen[-1]
        return (last - first) / (end - start) if end > start else 0.0

    def left(self) -> float | None:
        """Seconds left at this speed."""
        (start, _, first), (end, _, last) = self.seen[0], self.seen[-1]
        return (1.0 - last) * (end - start) / (last - first) if last > first else None


def bars(console: Console) -> Bars:
    """A bar for each task, with its field `status`. The bars disappear at the end."""
    return Bars(
        TextColumn("{task.description}", table_column=Column(no_wrap=True)),
        BarColumn(bar_width=24 if console.width >= WIDE else 8),
        TaskProgressColumn(),
        TextColumn("{task.fields[status]}", table_column=Column(no_wrap=True, overflow="ellipsis")),
        console=console,
        transient=True,
    )


class Live:
    """Shows how far a run has come; `update` is the progress callback."""

    def __init__(self, console: Console, *, quiet: bool = False) -> None:
        """Show on `console`, or not at all."""
        self._console = console
        self._quiet = quiet
        self._speeds: dict[str, Speed] = {}
        self._tasks: dict[str, TaskID] = {}
        self._ended: set[str] = set()
        self._printed = time.monotonic()
        self._bars: Bars | None = None
        if console.is_terminal and not quiet:
            self._bars = bars(console)

    def __enter__(self) -> Self:
        if self._bars:
            self._bars.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bars:
            self._bars.stop()

    def update(self, progress: Progress) -> None:
        """Show where the run is now."""
        if self._quiet:
            return
        now = time.monotonic()
        due = now - self._printed >= EVERY
        if due:
            self._printed = now
        for scheme in progress.schemes:
            speed = self._speeds.setdefault(scheme.scheme, Speed())
            speed.note(now, scheme)
            if self._bars:
                self._draw(self._bars, scheme, speed)
            elif scheme.state == "running" and due:
                self._console.print(f"{scheme.scheme}: {scheme.fraction:.0%}, {status(scheme, speed)}", soft_wrap=True)
            elif scheme.state == "done" and scheme.scheme not in self._ended:
                self._ended.add(scheme.scheme)
                self._console.print(f"{scheme.scheme}: done, {done(scheme)}", soft_wrap=True)

    def _draw(self, bars: Bars, scheme: SchemeProgress, speed: Speed) -> None:
        if scheme.scheme not in self._tasks:
            self._tasks[scheme.scheme] = bars.add_task(scheme.scheme, total=1.0, status="")
        text = done(scheme) if scheme.state == "done" else status(scheme, speed)
        bars.update(self._tasks[scheme.scheme], completed=scheme.fraction, status=text)


def done(scheme: SchemeProgress) -> str:
    """Simulated time and completed flows of a scheme."""
    return f"{simulated(scheme.now_ps)} simulated, {scheme.flows_done:,}/{scheme.flows:,} flows"


def status(scheme: SchemeProgress, speed: Speed) -> str:
    """Progress, speed and time left of a scheme."""
    left = speed.left()
    rest = "" if left is None else f", {clock(left)} left"
    return f"{done(scheme)}, {speed.hops() / 1e6:.1f} M packet-hops/s{rest}"


def simulated(picoseconds: int) -> str:
    """A simulated time with a unit."""
    for unit, factor in (("s", 10**12), ("ms", 10**9), ("us", 10**6), ("ns", 10**3)):
        if picoseconds >= factor:
            return f"{picoseconds / factor:.4g} {unit}"
    return f"{picoseconds} ps"


def clock(seconds: float) -> str:
    """Seconds as h:mm:ss."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
