"""Error messages with a place in a file, in the format of scenario errors."""

from __future__ import annotations

from incast.errors import Diagnostic

SHOWN = 120
"""Characters of a line that are shown (our choice)."""


def located(
    file: str,
    line: int,
    column: int,
    text: str,
    width: int,
    message: str,
    allowed: str | None = None,
    near: str | None = None,
) -> tuple[str, Diagnostic]:
    """The message as text and as a `Diagnostic`.

    Args:
        file: The file.
        line: The line, from 1.
        column: First character of the wrong part, from 1.
        text: Text of the line.
        width: Length of the wrong part in characters.
        message: The error.
        allowed: The allowed values.
        near: The closest valid name.

    """
    gutter = " " * len(str(line))
    lines = [
        f"error: {message}",
        f"{gutter} --> {file}:{line}:{column}",
        f"{gutter} |",
        f"{line} | {text[:SHOWN]}",
        f"{gutter} | {' ' * (column - 1)}{'^' * max(1, width)}"[: SHOWN + len(gutter) + 3],
        *([f"{gutter} = allowed: {allowed}"] if allowed else []),
        *([f"{gutter} = did you mean `{near}`?"] if near else []),
    ]
    return "\n".join(lines), Diagnostic(message, None, file, line, column, allowed, near)
