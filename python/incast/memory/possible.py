"""Whether this machine can do it."""

from __future__ import annotations

import tempfile
from pathlib import Path

from incast.errors import EnvironmentFailure
from incast.memory.run import Instrument, Session


def require() -> None:
    """Raise if this machine or this user cannot serve a program's memory, as tried with `true`.

    Raises:
        EnvironmentFailure: What is missing, and how to get it.

    """
    with tempfile.TemporaryDirectory(prefix="incast-memory-") as folder, tempfile.TemporaryFile() as output:
        Session(Instrument(), Path(folder)).run(["true"], output)


def impossible() -> str | None:
    """Why this machine or this user cannot serve a program's memory, in a line; `None` if they can."""
    try:
        require()
    except EnvironmentFailure as error:
        return str(error).partition("\n")[0].removeprefix("error: ")
    return None
