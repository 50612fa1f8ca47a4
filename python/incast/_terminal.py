"""Width of the terminal. No other module reads it."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING, Any

from incast._echo import lines

if TYPE_CHECKING:
    from rich.console import Console

NARROWEST = 20
"""Smallest width in columns that is believed (our choice): some terminals and `COLUMNS` report 0 or 1."""
WIDEST = 200
"""Largest width in columns that is used (our choice): lines do not read better, and boxes of `--help` fill them."""
USUAL = 80
"""Columns of a terminal of unknown width (the default of Python and Rich)."""


def width(widest: int) -> int:
    """Columns of the terminal, from `COLUMNS` or the terminal, at most `widest`."""
    return min(believed(shutil.get_terminal_size((USUAL, 24)).columns), widest)


def believed(columns: int) -> int:
    """A reported width up to the largest, or the usual one."""
    return min(columns, WIDEST) if columns >= NARROWEST else USUAL


def console(*, stderr: bool = False) -> Console:
    """A console on stdout or stderr."""
    from rich.console import Console

    class Plain(Console):
        def on_broken_pipe(self) -> None:
            """Pass the error on: Rich would end the process with code 1."""
            raise

        def print(self, *objects: Any, **options: Any) -> None:
            """Print texts without control characters from files; Rich makes its own later."""
            super().print(*(lines(each) if isinstance(each, str) else each for each in objects), **options)

    found = Plain(stderr=stderr)
    # Rich follows the size of a window only while no width is set.
    if found.width != (columns := believed(found.width)):
        found.width = columns
    return found
