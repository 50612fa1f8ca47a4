"""Progress of a study: that of its sweeps, one after the other."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from types import TracebackType
from typing import Self

from rich.console import Console

from incast.cli.sweep_live import SweepLive
from incast.sweep import SweepProgress


class StudyLive:
    """Shows how far a study has come; `update` is the progress callback."""

    def __init__(self, console: Console, sweeps: Sequence[str], *, quiet: bool = False) -> None:
        """Show on `console`, or not at all."""
        self._console, self._sweeps, self._quiet = console, sweeps, quiet
        self._stack = ExitStack()
        self._sweep: str | None = None
        self._live = SweepLive(console, quiet=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stack.close()

    def update(self, sweep: str, progress: SweepProgress) -> None:
        """Show where the sweep of this name is now."""
        if sweep != self._sweep:
            self._stack.close()
            self._sweep = sweep
            if not self._quiet:
                which = f"{self._sweeps.index(sweep) + 1} of {len(self._sweeps)}"
                self._console.print(f"sweep {sweep} ({which}): {progress.runs} runs", soft_wrap=True, highlight=False)
            self._live = self._stack.enter_context(SweepLive(self._console, quiet=self._quiet))
        self._live.update(progress)
