"""Overrides as text: paths and values."""

from __future__ import annotations

import json
import re
import tomllib
from functools import cache
from typing import Any


def last_part(path: str) -> str:
    """The last name of a path, which names its column; of `alpha.value` and `headroom.bytes` the one before."""
    *before, last = (part.strip('"') for part in re.split(r"[.\]]", path))
    return before[-1] if last in ("value", "bytes") and before and before[-1] else last


PART = re.compile(r"""\s*(?:\[\s*(\d+)\s*\]|\.?\s*([\w-]+|"(?:[^"\\]|\\.)*"|'[^']*'))\s*""")
"""An index or a name of a path, which can be quoted."""


def covers(path: str, other: str) -> bool:
    """True if setting `path` also sets `other`, whatever the spelling of their names."""
    mine, its = _parts(path), _parts(other)
    return its[: len(mine)] == mine


@cache
def _parts(path: str) -> tuple[int | str, ...]:
    """Names and indices of a path; a path that the scenario will refuse is one name."""
    found: list[int | str] = []
    at = 0
    while at < len(path):
        part = PART.match(path, at)
        if part is None:
            return (path,)
        index, name = part.groups()
        try:
            found.append(int(index) if index else next(iter(tomllib.loads(f"{name} = 0"))))
        except ValueError:
            return (path,)
        at = part.end()
    return tuple(found)


def toml(value: Any) -> str:
    """A value in TOML, on one line."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, list):
        return "[" + ", ".join(map(toml, value)) + "]"
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{json.dumps(name)} = {toml(item)}" for name, item in value.items()) + " }"
    return repr(value)
