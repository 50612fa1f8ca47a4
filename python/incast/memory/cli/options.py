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
        help="Local memory: a share of the largest footprint so far, such as 25%, or a size of 256KiB or more, such "
        "as 64MiB."
    ),
]
Policy = Annotated[
    Literal["fifo", "lru"],
    Parameter(help="Pages to evict: the oldest (fifo), or approximately the least recently used (lru)."),
]
Threshold = Annotated[
    str, Parameter(help="Smallest allocation that is served, made by malloc and similar functions or by mmap.")
]
OneCore = Annotated[
    bool,
    Parameter(
        negative=(),
        show_default=False,
        help="Run the program and its page server on one core: least overhead for a single-threaded program.",
    ),
]
Only = Annotated[
    list[str] | None,
    Parameter(
        negative=(),
        consume_multiple=False,
        help="Serve only processes of this name, such as memcached; repeatable. Default: all.",
    ),
]


def needed(command: Sequence[str]) -> None:
    """Raise if there is no command, or an unknown option in its place."""
    if not command:
        raise ApplicationError("error: missing program to run\n = allowed: -- PROGRAM ARGUMENTS at the end")
    if command[0].startswith("-"):
        raise ApplicationError(
            f"error: unknown option `{command[0]}`\n = allowed: the options in --help, and -- PROGRAM ARGUMENTS at the "
            "end"
        )
