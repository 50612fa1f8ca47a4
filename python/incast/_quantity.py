"""Quantities with units, as scenarios have them: `64kB`, `1.5us`, `100Gbps`."""

from __future__ import annotations

import re
from typing import Literal

Kind = Literal["size", "time", "rate"]
UNITS: dict[Kind, dict[str, float]] = {
    "size": {"B": 1, "kB": 1e3, "MB": 1e6, "GB": 1e9},
    "time": {"ps": 1, "ns": 1e3, "us": 1e6, "ms": 1e9, "s": 1e12},
    "rate": {"bps": 1, "kbps": 1e3, "Mbps": 1e6, "Gbps": 1e9, "Tbps": 1e12},
}
"""Units by kind, the base unit first: bytes, picoseconds, bit/s."""
ALIASES: dict[Kind, dict[str, float]] = {
    "size": {"KB": 1e3, "KiB": 2.0**10, "MiB": 2.0**20, "GiB": 2.0**30},
    "time": {"\N{MICRO SIGN}s": 1e6, "\N{GREEK SMALL LETTER MU}s": 1e6},
    "rate": {"b/s": 1, "bit/s": 1, "Kbps": 1e3, "kb/s": 1e3, "Mb/s": 1e6, "Gb/s": 1e9, "Tb/s": 1e12},
}
"""Other units that scenarios accept."""
DIGITS = 4
"""Significant digits of a computed number or quantity (our choice)."""


def parsed(text: str) -> tuple[Kind, float] | None:
    """Kind and value in the base unit; `None` if a text is no quantity."""
    match = re.fullmatch(r"(\d+(?:\.\d+)?) ?([^\W\d][\w/]*)", text)
    if match is None:
        return None
    for kind in UNITS:
        factor = {**UNITS[kind], **ALIASES[kind]}.get(match[2])
        if factor is not None:
            return kind, float(match[1]) * factor
    return None


def picoseconds(text: str) -> int | None:
    """A time of a scenario, such as `1.5us`, in picoseconds; `None` for `none` and other texts."""
    found = parsed(text)
    return round(found[1]) if found and found[0] == "time" else None


def size_bytes(text: str) -> float:
    """A size of a scenario, such as `19.2MB`, in bytes."""
    found = parsed(text)
    if found is None or found[0] != "size":
        raise ValueError(f"not a size: {text!r}")
    return found[1]


def written(kind: Kind, value: float) -> str:
    """A quantity with the largest unit that leaves 1 or more, rounded to four digits and to whole base units."""
    rounded = round(float(f"{value:.{DIGITS}g}"))
    unit, factor = next(
        (each for each in reversed(UNITS[kind].items()) if rounded >= each[1]), (next(iter(UNITS[kind])), 1)
    )
    return f"{rounded / factor:.{DIGITS + 4}g}{unit}"
