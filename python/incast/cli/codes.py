"""Exit codes of the command, and its messages on stderr."""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterable

from incast._echo import lines
from incast.cli.signals import SIGNALLED as SIGNALLED

OK = 0
"""Success."""
ENDED_BADLY = 1
"""Results were written, but a scheme deadlocked, stalled, or dropped packets of a lossless priority."""
BAD_INPUT = 2
"""Bad input: command line, scenario, file to import or results folder."""
ENVIRONMENT = 3
"""A folder that is not writable, a full disk, too little memory, a missing library."""
BUG = 70
"""Internal error."""


class UnfinishedError(KeyboardInterrupt):
    """A sweep or a study was interrupted; its text says what is finished."""


def complain(text: str) -> None:
    """Write a message to stderr, headed `error:` unless it has its heading already."""
    headed = text if text.startswith(("error", "warning", "note")) else f"error: {text}"
    print(lines(headed), file=sys.stderr, flush=True)


def warn(texts: Iterable[str]) -> None:
    """Write warnings to stderr."""
    for text in texts:
        complain(f"warning: {text}")


def complain_grouped(found: Iterable[tuple[str, str]], names: Collection[str]) -> None:
    """Write pairs of name and message to stderr: equal messages on one line, with all names that have it."""
    by_message: dict[str, list[str]] = {}
    for name, message in found:
        by_message.setdefault(message, []).append(name)
    for message, having in by_message.items():
        if len(having) > 1 and set(having) == set(names):
            complain(f"{message} (all {len(having)} schemes)")
        else:
            complain(f"{', '.join(having)}: {message}")


def tell(text: str) -> None:
    """Write an ordinary line to stderr, where stdout belongs to another program."""
    print(lines(text), file=sys.stderr, flush=True)


def say(text: str) -> None:
    """Write text with names from files to stdout, without control characters that a terminal would obey."""
    print(lines(text))
