"""Progress of a study: that of its sweeps and analyses, one after the other."""

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

    def __init__(
        self, console: Console, sweeps: Sequence[str], analyses: Sequence[str] = (), *, quiet: bool = False
    ) -> None:
        """Show on `console`, or not at all."""
        self._console, self._quiet = console, quiet
        self._parts = {**dict.fromkeys(sweeps, ("sweep", "runs")), **dict.fromkeys(analyses, ("analysis", "cells"))}
        self._stack = ExitStack()
        self._part: str | None = None
        self._live = SweepLive(console, quiet=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stack.close()

    def update(self, part: str, progress: SweepProgress) -> None:
        """Show where the sweep or analysis of this name is now."""
        if part != self._part:
            self._stack.close()
            self._part = part
            if not self._quiet:
                what, runs = self._parts[part]
                which = f"{list(self._parts).index(part) + 1} of {len(self._parts)}"
                self._console.print(f"{what} {part} ({which}): {progress.runs} {runs}", soft_wrap=True, highlight=False)
            self._live = self._stack.enter_context(SweepLive(self._console, quiet=self._quiet))
        self._live.update(progress)
