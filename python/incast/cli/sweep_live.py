"""Progress of a sweep: a bar for all runs and one for each active run; without a terminal, a line every few seconds."""

from __future__ import annotations

import time
from types import TracebackType
from typing import Self

from rich.console import Console, Group
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from incast.cli.live import clock
from incast.sweep import SweepProgress

EVERY_S = 10.0
"""Seconds between lines where there is no terminal."""
BAR = 30
"""Columns of a bar."""


class SweepLive:
    """Shows how far a sweep has come; `update` is the progress callback."""

    def __init__(self, console: Console, *, quiet: bool = False) -> None:
        """Show on `console`, or not at all."""
        self._console, self._quiet = console, quiet
        self._printed = time.monotonic()
        self._failures = self._repeated = 0
        self._live = (
            Live(console=console, transient=True, refresh_per_second=5) if console.is_terminal and not quiet else None
        )

    def __enter__(self) -> Self:
        if self._live:
            self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._live:
            self._live.stop()

    def update(self, progress: SweepProgress) -> None:
        """Show where the sweep is now."""
        for text in progress.repeated()[self._repeated :]:
            self._console.print(f"warning: {text}", soft_wrap=True, markup=False, highlight=False)
        self._repeated = len(progress.damaged)
        if self._quiet:
            return
        for label, error in progress.failures[self._failures :]:
            self._console.print(f"failed: {label}: {error.partition(chr(10))[0]}", soft_wrap=True, markup=False)
        self._failures = len(progress.failures)
        now = time.monotonic()
        if self._live:
            self._live.update(_drawn(progress, now))
        elif now - self._printed >= EVERY_S or progress.ended == progress.runs:
            self._printed = now
            self._console.print(f"{progress.fraction:.0%}, {status(progress, now)}", soft_wrap=True)


def status(progress: SweepProgress, now: float) -> str:
    """Runs, speed and time left."""
    parts = [f"{progress.ended}/{progress.runs} runs"]
    if progress.kept:
        parts.append(f"{progress.kept} from an earlier command")
    if progress.failed:
        parts.append(f"{progress.failed} failed")
    elapsed = now - progress.started
    if elapsed > 1 and progress.hops:
        parts.append(f"{progress.hops / elapsed / 1e6:.1f} M packet-hops/s")
    left = progress.left_s(now)
    if left is not None and progress.ended < progress.runs:
        parts.append(f"{clock(left)} left")
    return ", ".join(parts)


def _drawn(progress: SweepProgress, now: float) -> Group:
    head = Table.grid(padding=(0, 1))
    head.add_row(
        ProgressBar(total=1.0, completed=progress.fraction, width=BAR),
        Text(f"{progress.fraction:4.0%}"),
        status(progress, now),
    )
    rows = Table.grid(padding=(0, 1))
    for activity in progress.active.values():
        bar = ProgressBar(total=1.0, completed=activity.pulse.fraction, width=BAR // 2)
        rows.add_row(
            "  ", bar, Text(f"{activity.pulse.fraction:4.0%}"), Text(activity.label, no_wrap=True, overflow="ellipsis")
        )
    return Group(head, rows)
