"""Options that the commands of `incast memory` share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Literal

from cyclopts import Parameter

from incast.errors import ApplicationError

Command = Annotated[str, Parameter(name="COMMAND", allow_leading_hyphen=True, show_default=False)]
Flag = Annotated[bool, Parameter(negative=(), show_default=False)]
Local = Annotated[
    str,
    Parameter(
        help="How much of the memory is local: a share of the largest footprint so far, such as 25%, or bytes, such as "
        "64MiB."
    ),
]
Policy = Annotated[
    Literal["fifo", "lru"],
    Parameter(help="Which pages go: those that came first, or nearly those that were not used for the longest time."),
]
Threshold = Annotated[
    str, Parameter(help="Allocations of this size and more are served, by malloc and its like or by mmap.")
]
OneCore = Annotated[
    bool,
    Parameter(
        negative=(),
        show_default=False,
        help="Run the program and what serves it on one core: the least overhead for a program of one thread.",
    ),
]
Only = Annotated[
    list[str] | None,
    Parameter(
        negative=(),
        consume_multiple=False,
        help="Serve only processes of this name, such as memcached; repeatable. All if not given.",
    ),
]


def needed(command: Sequence[str]) -> None:
    """Raise if there is no command, or an option in its place that there is not."""
    if not command:
        raise ApplicationError("error: there is no program to run\n = allowed: -- PROGRAM ARGUMENTS at the end")
    if command[0].startswith("-"):
        raise ApplicationError(
            f"error: there is no option `{command[0]}`\n = allowed: those that --help tells, and -- PROGRAM ARGUMENTS "
            "at the end"
        )
