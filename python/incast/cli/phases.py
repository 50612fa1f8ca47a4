"""Progress of a command without a known end: the current step and its duration."""

from __future__ import annotations

import sys
import threading
from typing import TYPE_CHECKING

from incast import _terminal

if TYPE_CHECKING:
    from rich.progress import Progress

PATIENCE = 0.5
"""Seconds before a step is shown: most end earlier (our choice)."""


class Phases:
    """Shows the current step and its duration on stderr, if that is a terminal."""

    def __init__(self, what: str | None = None, *, quiet: bool = False) -> None:
        """Begin with a step, if one is given."""
        self._shown = not quiet and sys.stderr is not None and sys.stderr.isatty()
        self._changes = threading.Lock()
        self._timer: threading.Timer | None = None
        self._progress: Progress | None = None
        if what is not None:
            self.update(what)

    def __enter__(self) -> Phases:
        return self

    def __exit__(self, *_: object) -> None:
        self._end()

    def update(self, what: str) -> None:
        """Begin a step."""
        if not self._shown:
            return
        self._end()
        self._timer = threading.Timer(PATIENCE, self._show, (what,))
        self._timer.daemon = True
        self._timer.start()

    def _show(self, what: str) -> None:
        # Rich takes a tenth of a second to load, so that short commands do without it.
        from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

        columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
        with self._changes:
            if self._timer is None:  # The step has ended meanwhile.
                return
            self._progress = Progress(*columns, console=_terminal.console(stderr=True), transient=True)
            self._progress.start()
            self._progress.add_task(what, total=None)

    def _end(self) -> None:
        with self._changes:
            if self._timer is not None:
                self._timer.cancel()
                self._timer = None
            if self._progress is not None:
                self._progress.stop()
                self._progress = None
