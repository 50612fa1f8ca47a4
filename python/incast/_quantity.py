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
ALIASES = {"KB": 1e3, "KiB": 2.0**10, "MiB": 2.0**20, "GiB": 2.0**30}
"""Other units of sizes that scenarios accept."""
DIGITS = 4
"""Significant digits of a quantity that is computed (our choice)."""


def parsed(text: str) -> tuple[Kind, float] | None:
    """Kind and value in the base unit; `None` if a text is no quantity."""
    match = re.fullmatch(r"(\d+(?:\.\d+)?) ?([A-Za-z]+)", text)
    if match is None:
        return None
    if match[2] in ALIASES:
        return "size", float(match[1]) * ALIASES[match[2]]
    for kind, units in UNITS.items():
        if match[2] in units:
            return kind, float(match[1]) * units[match[2]]
    return None


def written(kind: Kind, value: float) -> str:
    """A quantity with the largest unit that leaves 1 or more, rounded to four digits and to whole base units."""
    rounded = round(float(f"{value:.{DIGITS}g}"))
    unit, factor = next(
        (each for each in reversed(UNITS[kind].items()) if rounded >= each[1]), (next(iter(UNITS[kind])), 1)
    )
    return f"{rounded / factor:.{DIGITS + 4}g}{unit}"
