"""Exit codes of the command, and how failures are told."""

from __future__ import annotations

import os
import sys

OK = 0
"""Done."""
ENDED_BADLY = 1
"""Results were written, but a scheme deadlocked, stalled, or dropped packets of a lossless priority."""
BAD_INPUT = 2
"""What was given is wrong: the command line, a scenario, a file to import, a results folder."""
ENVIRONMENT = 3
"""The machine cannot do it: a folder that cannot be written, a full disk."""
BUG = 70
"""incast itself failed."""
SIGNALLED = 128
"""Ended by a signal; its number is added."""
INTERRUPTED = 130
"""Ctrl-C."""


class UnfinishedError(KeyboardInterrupt):
    """A sweep or a study was interrupted; its text says what is finished."""


def complain(text: str) -> None:
    """Write a message to stderr, headed `error:` unless it has its heading already."""
    headed = text if text.startswith(("error", "warning", "note")) else f"error: {text}"
    print(headed, file=sys.stderr, flush=True)


def close_stdout() -> None:
    """Nobody reads our output any more: let the interpreter end without saying so."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def tell(text: str) -> None:
    """Write a line to stderr that is no complaint: stdout belongs to another program."""
    print(text, file=sys.stderr, flush=True)
