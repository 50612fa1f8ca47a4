"""An error at a place in a file, shown as errors in a scenario are."""

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
    """The message for people, and the same for programs.

    Args:
        file: The file.
        line: The line, from 1.
        column: Where in it the wrong part begins, from 1.
        text: What the line says.
        width: How long the wrong part is, in characters.
        message: What is wrong.
        allowed: What would be allowed.
        near: The valid name that may have been meant.

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
