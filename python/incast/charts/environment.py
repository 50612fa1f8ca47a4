"""Environment variables that matplotlib reads, checked with errors that name them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

from incast._echo import word
from incast.errors import IncastError

BACKEND = "MPLBACKEND"
EPOCH = "SOURCE_DATE_EPOCH"
LATEST = 253_402_300_799
"""Seconds from 1970 to the end of the year 9999, the last of Python's dates."""


@contextmanager
def backend() -> Iterator[None]:
    """Raise `IncastError` if matplotlib, imported here, does not know the backend of the environment."""
    try:
        yield
    except ValueError as error:
        given = os.environ.get(BACKEND)
        if not given or "backend" not in str(error):
            raise
        raise IncastError(
            f"error: the environment variable {BACKEND} is `{word(given)}`, which is no backend of matplotlib\n"
            f" = allowed: a backend such as agg; incast draws without it, so remove the variable"
        ) from None


def check_epoch() -> None:
    """Raise `IncastError` if the date for files is no number of seconds."""
    # Charts have no date, but matplotlib reads it.
    given = os.environ.get(EPOCH)
    if given and not (given.isascii() and given.isdigit() and len(given) <= len(str(LATEST)) and int(given) <= LATEST):
        raise IncastError(
            f"error: the environment variable {EPOCH} is `{word(given)}`\n"
            f" = allowed: seconds since 1970, a whole number from 0 to {LATEST}"
        )
