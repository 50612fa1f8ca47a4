"""Error messages with a place in a file, in the format of scenario errors."""

from __future__ import annotations

from incast import _echo
from incast.errors import Diagnostic


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
    shown, indent, marks = _echo.excerpt(text, column, width)
    lines = [
        f"error: {_echo.message(message)}",
        f"{gutter} --> {_echo.visible(file)}:{line}:{column}",
        f"{gutter} |",
        f"{line} | {shown}",
        f"{gutter} | {indent}{'^' * marks}",
        *([f"{gutter} = allowed: {_echo.message(allowed)}"] if allowed else []),
        *([f"{gutter} = did you mean `{_echo.word(near)}`?"] if near else []),
    ]
    return "\n".join(lines), Diagnostic(message, None, file, line, column, allowed, near)
