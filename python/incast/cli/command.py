"""A command of its own app, so that `main` can import its module when the command is called."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Annotated, Any

from cyclopts import App, Parameter, Token
from cyclopts.validators import Number

from incast import _limits

Overrides = Annotated[
    list[str] | None,
    Parameter(name="--set", negative=(), consume_multiple=False, help="PATH=VALUE that overrides a field; repeatable."),
]
Flag = Parameter(negative=(), show_default=False)
"""An option without a value."""
Overwrite = Annotated[bool, Flag]

MANY = 2**31 - 1
"""Upper bound of options that count things (our choice; all of the core's numbers hold it)."""
WORKERS = _limits.WORKERS
"""Upper bound of threads and processes."""
SEED = _limits.LARGEST
"""Largest seed: the largest whole number of TOML."""


def whole(least: int, most: int = MANY) -> Parameter:
    """An option that is a whole number in a range."""
    return Parameter(converter=_whole, validator=Number(gte=least, lte=most))


def _whole(_: type, tokens: Sequence[Token]) -> int:
    """The number of an option. The library's own conversion would round 1.5."""
    try:
        return int(tokens[0].value)
    except ValueError:
        raise ValueError(f"must be a whole number, got `{tokens[0].value}`") from None


def command(name: str, function: Callable[..., Any], epilogue: str) -> App:
    """The app of one function; `epilogue` is printed below its help."""
    app = App(name=name, help_epilogue=epilogue, help_format="plaintext")
    app.default(function)
    return app
