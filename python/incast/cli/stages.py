"""Progress of an analysis: a bar in a terminal, a line every few seconds elsewhere."""

from __future__ import annotations

import time
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import Progress as Bars
from rich.progress import TaskID

from incast import _terminal
from incast.cli.live import EVERY, bars, clock


class Stages:
    """Shows on stderr how far an analysis has come; `update` is the progress callback."""

    def __init__(self, console: Console | None = None) -> None:
        """Show on `console`, stderr if not given."""
        self._console = console or _terminal.console(stderr=True)
        self._what = ""
        self._began = self._printed = time.monotonic()
        self._bars: Bars | None = None
        self._task: TaskID | None = None
        if self._console.is_terminal:
            self._bars = bars(self._console)

    def __enter__(self) -> Self:
        if self._bars:
            self._bars.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bars:
            self._bars.stop()

    def update(self, what: str, done: int, of: int) -> None:
        """Show that `done` of `of` items of the stage `what` are done."""
        now = time.monotonic()
        if what != self._what:
            self._what, self._began = what, now
        said = status(done, of, now - self._began)
        if self._bars:
            if self._task is None:
                self._task = self._bars.add_task(what, total=1.0, status="")
            fraction = done / of if of else 0.0
            self._bars.update(self._task, description=what, completed=fraction, status=said)
        elif now - self._printed >= EVERY:
            self._printed = now
            self._console.print(f"{what}: {said}", soft_wrap=True, highlight=False)


def status(done: int, of: int, seconds: float) -> str:
    """Items done, speed and time left."""
    text = f"{done:,} of {of:,}"
    if done == 0 or seconds <= 0.0:
        return text
    rate = done / seconds
    return f"{text}, {rate:,.{0 if rate >= 10 else 1}f}/s, {clock((of - done) / rate)} left"
