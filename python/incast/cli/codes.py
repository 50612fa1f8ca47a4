"""Exit codes of the command, and its messages on stderr."""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Collection, Iterable
from dataclasses import dataclass

from incast._echo import data, first_lines, lines
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


@dataclass(frozen=True)
class Cause:
    """One cause of an exit code: a row of docs/exit-codes.md."""

    code: int | str
    """The code; `128 + n` for signals."""
    commands: str
    """The commands that can end so."""
    text: str
    """The cause."""


EVERY = "every command"
TABLE = (
    Cause(OK, EVERY, "Success. A claim that fails is a result, so the code is 0."),
    Cause(ENDED_BADLY, "run, sweep", "A scheme ended in a deadlock."),
    Cause(ENDED_BADLY, "run, sweep", "A scheme stalled: flows are incomplete and no packet moves any more."),
    Cause(
        ENDED_BADLY,
        "run, sweep",
        "A switch dropped a packet of a lossless priority because it had no buffer space.",
    ),
    Cause(ENDED_BADLY, "run, sweep", "The PFC watchdog dropped a packet of a lossless priority."),
    Cause(
        ENDED_BADLY,
        "sweep, study run, study judge, study map",
        "A simulation or an analysis failed, also for lack of memory or disk space.",
    ),
    Cause(
        ENDED_BADLY,
        "deadlock check, deadlock table",
        "The fabric can deadlock under the given routes or rules.",
    ),
    Cause(
        ENDED_BADLY,
        "deadlock verify",
        "The rules allow a deadlock, or make packets on expected paths lossy.",
    ),
    Cause(BAD_INPUT, EVERY, "Invalid input: the command line, a scenario, an imported file or a results folder."),
    Cause(
        ENVIRONMENT,
        EVERY,
        "A problem of the machine: a folder is not writable, the disk is full, memory is used up, a library is "
        "missing, the locale cannot represent a name.",
    ),
    Cause(
        BUG,
        EVERY,
        "A bug in incast. Please report it in the issue tracker of its repository, with the scenario and the file that "
        "the message names: it has the traceback.",
    ),
    Cause(SIGNALLED + 2, EVERY, "Ctrl-C. run has written nothing; sweep and study run keep finished runs."),
    Cause(SIGNALLED + 15, EVERY, "SIGTERM, as Ctrl-C."),
    Cause(
        "128 + n",
        EVERY,
        "Signal n ended the command, such as 129 for SIGHUP, and 137 if Linux ended it because memory was used up.",
    ),
)
"""All exit codes. `incast --help` prints it; docs/exit-codes.md repeats it with links."""
WIDTH = 79
"""Columns of the table in the help."""


def explained() -> str:
    """The table as text."""
    rows = []
    before: int | str | None = None
    for one in TABLE:
        head = f"{one.code if one.code != before else '':>7}  "
        where = "" if one.commands == EVERY else f"{one.commands}: "
        rows.append(textwrap.fill(where + one.text, WIDTH, initial_indent=head, subsequent_indent=" " * len(head)))
        before = one.code
    return "\n".join(rows)


class UnfinishedError(KeyboardInterrupt):
    """A sweep or a study was interrupted; its text says what is finished."""


def complain(text: str) -> None:
    """Write a message to stderr, headed `error:` unless it has its heading already."""
    headed = text if text.startswith(("error", "warning", "note")) else f"error: {text}"
    print(first_lines(headed), file=sys.stderr, flush=True)


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


def write_data(text: str) -> None:
    """Write CSV, TOML or other data to stdout: unchanged, but without control characters if that is a terminal."""
    sys.stdout.write(data(text) if sys.stdout.isatty() else text)


def say(text: str) -> None:
    """Write text with names from files to stdout, without control characters that a terminal would obey."""
    print(lines(text))
