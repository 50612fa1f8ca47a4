"""Messages about command lines that are not valid."""

from __future__ import annotations

import re

from cyclopts import CoercionError, CycloptsError, MissingArgumentError, UnknownOptionError, UnusedCliTokensError

from incast._nearest import renamed

NUMBERS: dict[type | None, str] = {int: "a whole number", float: "a number"}
"""Types of options, in words."""


def message(error: CycloptsError) -> str:
    """The message for an error of the command line."""
    return _renamed(error) or _turned(error) or _worded(error) or str(error)


def _renamed(error: CycloptsError) -> str | None:
    """The message for an option, or a value of one, of an earlier version: it names the new one."""
    if isinstance(error, UnknownOptionError):
        written = (error.token.keyword or error.token.value).partition("=")[0]
        known = {name.strip("-").replace("-", "_"): name for each in error.argument_collection for name in each.names}
        now = renamed(written.strip("-").replace("-", "_"), known)
        return f"option `{written}` is now `{known[now]}`" if now else None
    if isinstance(error, CoercionError) and error.token:
        now = renamed(error.token.value, _choices(error))
        return f"`{error.token.value}` is now `{now}`" if now else None
    return None


def _turned(error: CycloptsError) -> str | None:
    """The message for a word, such as a chart, that was written before the folder that it follows."""
    if not (isinstance(error, CoercionError) and error.token and error.token.keyword is None):
        return None
    tokens, choices = error.root_input_tokens or [], _choices(error)
    turned = [tokens[place - 1] for place, token in enumerate(tokens) if token == error.token.value and place]
    if not turned or turned[0] not in choices:
        return None
    return f"write `{error.token.value} {turned[0]}`, not `{turned[0]} {error.token.value}`"


def _choices(error: CoercionError) -> list[str]:
    """Values that the argument may have; empty if it takes others too."""
    return re.findall(r"[\w-]+", str(error).partition("Choose from:")[2])


def _worded(error: CycloptsError) -> str | None:
    """The message where the library's own does not say what to write."""
    if isinstance(error, UnusedCliTokensError) and error.unused_tokens:
        several = "arguments" if len(error.unused_tokens) > 1 else "argument"
        return f"unexpected {several} {', '.join(f'`{token}`' for token in error.unused_tokens)}"
    if isinstance(error, MissingArgumentError) and error.argument is not None:
        if error.keyword is not None:
            return f"{error.keyword} needs a value"
        name = error.argument.name
        return f"missing {'option' if name.startswith('-') else 'argument'} {name}"
    if isinstance(error, CoercionError) and error.token and error.target_type in NUMBERS:
        what = NUMBERS[error.target_type]
        return f"Invalid value for {error.token.keyword}: must be {what}, got `{error.token.value}`"
    return None
