"""Signals that ask the command to end.

Imports only modules that Python loads at its start: before signals are handled, Ctrl-C ends in a traceback.
"""

from __future__ import annotations

# Not `signal`, which takes long to import.
import _signal as signal  # type: ignore[import-not-found]
import os

TYPE_CHECKING = False  # as in `typing`, which takes long to import
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType
    from typing import NoReturn

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
"""The signals."""
SIGNALLED = 128
"""Exit code after a signal; its number is added: 130 for Ctrl-C, 143 for SIGTERM."""
NOTHING_WRITTEN = "interrupted; nothing was written"


def handle(handler: Callable[[int, FrameType | None], object]) -> None:
    """Handle the signals, except those that the caller of the command ignores, as `nohup` does."""
    for number in SIGNALS:
        if signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, handler)


def exiting(text: str) -> Callable[[int, FrameType | None], NoReturn]:
    """A handler that prints a message and ends the process at once: during imports, exceptions can get lost."""

    def end(number: int, _: FrameType | None) -> NoReturn:
        try:
            os.write(2, f"error: {text}\n".encode())
        finally:
            os._exit(SIGNALLED + number)

    return end
