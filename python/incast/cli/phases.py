"""Progress of a command without a known end: the current step and its duration."""

from __future__ import annotations

from rich.progress import Progress, SpinnerColumn, TaskID, TextColumn, TimeElapsedColumn

from incast import _terminal


class Phases:
    """Shows the current step and its duration on stderr, if that is a terminal."""

    def __init__(self, *, quiet: bool = False) -> None:
        console = _terminal.console(stderr=True)
        columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
        self._progress = Progress(*columns, console=console, transient=True, disable=quiet or not console.is_terminal)
        self._task: TaskID | None = None

    def __enter__(self) -> Phases:
        return self

    def __exit__(self, *_: object) -> None:
        self._progress.stop()

    def update(self, what: str) -> None:
        """Begin a step."""
        if self._task is not None:
            self._progress.remove_task(self._task)
        else:
            self._progress.start()
        self._task = self._progress.add_task(what, total=None)
