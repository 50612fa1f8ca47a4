"""Checks that this machine can serve a program's memory."""

from __future__ import annotations

import tempfile
from pathlib import Path

from incast.errors import EnvironmentFailure
from incast.memory.run import Instrument, Session


def require() -> None:
    """Raise if this machine or this user cannot serve a program's memory, tested with the program `true`.

    Raises:
        EnvironmentFailure: A requirement is missing; the message names the remedy.

    """
    with tempfile.TemporaryDirectory(prefix="incast-memory-") as folder, tempfile.TemporaryFile() as output:
        Session(Instrument(), Path(folder)).run(["true"], output)


def impossible() -> str | None:
    """The reason for which this machine or user cannot serve a program's memory, in one line; `None` if they can."""
    try:
        require()
    except EnvironmentFailure as error:
        return str(error).partition("\n")[0].removeprefix("error: ")
    return None
