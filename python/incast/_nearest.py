"""The valid name that somebody may have meant."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


def nearest(name: str, names: Iterable[str]) -> str | None:
    """The valid name closest to the one written, whatever its case; `None` if none is close."""
    known = {each.lower(): each for each in names}
    return next((known[near] for near in difflib.get_close_matches(name.lower(), known, 1)), None)


def hint(name: str, names: Iterable[str]) -> str:
    """The end of a message that names it; empty if there is none."""
    near = nearest(name, names)
    return f"; did you mean `{near}`?" if near else ""
