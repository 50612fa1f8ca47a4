"""Progress of a run started from Python: bars on a terminal, a line for each scheme in a notebook."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from incast.progress import Callback, Progress

BAR = 24
"""Characters of a bar in a notebook."""


@contextmanager
def shown(progress: Callback | bool | None) -> Iterator[Callback | None]:
    """The callback of a run for what its caller asked for: a function, yes, no, or the default."""
    if callable(progress):
        yield progress
    elif progress is not None and not isinstance(progress, bool):
        raise TypeError(f"progress must be a function, True, False or None, got {progress!r}")
    elif (progress is None and not (in_notebook() or sys.stderr.isatty())) or progress is False:
        yield None
    elif in_notebook():
        cell = Cell()
        try:
            yield cell.update
        finally:
            cell.clear()
    else:
        # Only now: the modules need Rich.
        from incast import _terminal
        from incast.cli.live import Live

        with Live(_terminal.console(stderr=True)) as live:
            yield live.update


def in_notebook() -> bool:
    """True in a kernel that shows rich output, such as Jupyter's."""
    if "IPython" not in sys.modules:
        return False
    shell: Any = sys.modules["IPython"].get_ipython()
    return shell is not None and hasattr(shell, "kernel")


class Cell:
    """Shows the progress of a run below a notebook's cell; nothing is left when it is cleared."""

    def __init__(self) -> None:
        self._handle: Any = None

    def update(self, progress: Progress) -> None:
        """Replace the text."""
        self._show(text(progress))

    def clear(self) -> None:
        """Remove the text."""
        if self._handle is not None:
            self._show("")

    def _show(self, plain: str) -> None:
        data = {"text/plain": plain}
        if self._handle is None:
            self._handle = sys.modules["IPython"].display.display(data, raw=True, display_id=True)
        else:
            self._handle.update(data, raw=True)


def text(progress: Progress) -> str:
    """A bar for each scheme that has begun."""
    width = max((len(each.scheme) for each in progress.schemes), default=0)
    lines = []
    for each in progress.schemes:
        full = int(each.fraction * BAR)
        bar = "#" * full + "-" * (BAR - full)
        lines.append(f"{each.scheme:<{width}}  {bar} {each.fraction:4.0%}  {each.flows_done:,}/{each.flows:,} flows")
    return "\n".join(lines)
