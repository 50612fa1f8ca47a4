"""A command of its own app, so that `main` can import its module when the command is called."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

from cyclopts import App, Parameter

Overrides = Annotated[
    list[str] | None,
    Parameter(name="--set", negative=(), consume_multiple=False, help="PATH=VALUE that overrides a field; repeatable."),
]


def command(name: str, function: Callable[..., Any], epilogue: str) -> App:
    """The app of one function; `epilogue` is printed below its help."""
    app = App(name=name, help_epilogue=epilogue, help_format="plaintext")
    app.default(function)
    return app
