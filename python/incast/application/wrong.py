"""Errors for wrong values: the value, the allowed values, the closest name."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from numbers import Integral, Real

from incast import _echo
from incast._located import located
from incast._nearest import nearest
from incast.errors import ApplicationError, Diagnostic


def refused(field: str, value: object, allowed: str) -> ApplicationError:
    """The error for a value of a parameter."""
    message = f"{field} cannot be `{value}`"
    found = Diagnostic(message, field=field, allowed=allowed)
    return ApplicationError(f"error: {_echo.message(message)}\n = allowed: {allowed}", (found,))


def unknown(what: str, name: str, names: Iterable[str]) -> ApplicationError:
    """The error for a name that is not in `names`; `what` is its kind, such as `calibration` or `scheme`."""
    names = list(names)
    near = nearest(name, names)
    message, allowed = f"unknown {what}: `{name}`", ", ".join(names)
    hint = f"\n = did you mean `{near}`?" if near else ""
    found = Diagnostic(message, allowed=allowed, nearest=near)
    return ApplicationError(f"error: {_echo.message(message)}\n = allowed: {_echo.message(allowed)}{hint}", (found,))


def real(field: str, value: object, allowed: str, fits: Callable[[float], bool]) -> float:
    """A finite number that fits, or the error for it."""
    if isinstance(value, bool) or not isinstance(value, Real) or not math.isfinite(value) or not fits(float(value)):
        raise refused(field, value, allowed)
    return float(value)


def whole(field: str, value: object, allowed: str, least: int, most: float = math.inf) -> int:
    """A whole number from `least` to `most`, or the error for it."""
    if isinstance(value, bool) or not isinstance(value, Integral) or not least <= int(value) <= most:
        raise refused(field, value, allowed)
    return int(value)


def overhead(value: object) -> float:
    """The software overhead of an access, in seconds, or the error for it."""
    return real("overhead_s", value, "a finite number of seconds, 0 or more", lambda seconds: seconds >= 0)


def at_cell(
    file: str, line: int, text: str, cell: int | None, message: str, allowed: str, names: Iterable[str] = ()
) -> ApplicationError:
    """The error for a cell of a table in a file, or for a whole line.

    Args:
        file: The file.
        line: The line, from 1.
        text: Text of the line, cells separated by commas.
        cell: Number of the wrong cell, from 0; `None` for the line.
        message: The error.
        allowed: The allowed values.
        names: Valid names for a wrong name; the message suggests the closest.

    """
    cells = text.split(",") if cell is not None else [text]
    wrong = cells[cell or 0]
    blank = len(wrong) - len(wrong.lstrip())
    column = 1 + sum(len(before) + 1 for before in cells[: cell or 0]) + blank
    wrong = wrong.strip()
    message, found = located(file, line, column, text, len(wrong), message, allowed, nearest(wrong, names))
    return ApplicationError(message, (found,))
