"""Whether this machine can do it."""

from __future__ import annotations

import tempfile
from pathlib import Path

from incast.errors import EnvironmentFailure
from incast.memory.run import Instrument, Session


def impossible() -> str | None:
    """Why this machine or this user cannot serve a program's memory, as tried with `true`; `None` if they can."""
    with tempfile.TemporaryDirectory(prefix="incast-memory-") as folder, tempfile.TemporaryFile() as output:
        try:
            Session(Instrument(), Path(folder)).run(["true"], output)
        except EnvironmentFailure as error:
            return str(error).partition("\n")[0].removeprefix("error: ")
    return None
