"""Parses amounts of memory and times."""

from __future__ import annotations

import re
from fractions import Fraction

from incast.application import wrong
from incast.memory.protocol import LEAST_LOCAL, MOST_BYTES, PAGE, Bytes, Local, Share

FACTORS = {"B": 1, "kB": 10**3, "MB": 10**6, "GB": 10**9, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}
NANOSECONDS = {"s": 10**9, "ms": 10**6, "us": 10**3, "ns": 1}
NUMBER = r"([0-9]{1,19}(?:\.[0-9]{0,19})?|\.[0-9]{1,19})"
"""Of more digits, a number would exceed every limit."""


def local(text: str) -> Local:
    """Local memory: a share such as `25%`, or a size such as `64MiB`."""
    allowed = (
        "a share of the footprint, above 0% and up to 100%, such as 25%; or a size of 256KiB or more, such as 64MiB"
    )
    if written := re.fullmatch(NUMBER + " ?%", text):
        share = Fraction(written[1])
        if not 0 < share <= 100:
            raise wrong.refused("--local", text, allowed)
        return Share(max(1, int(share * 10_000)))
    count = _bytes(text)
    if count is None or count < LEAST_LOCAL:
        raise wrong.refused("--local", text, allowed)
    return Bytes(count)


def threshold(text: str) -> int:
    """Smallest served allocation, in bytes."""
    count = _bytes(text)
    if count is None or count < PAGE:
        raise wrong.refused("--threshold", text, "a size of 4096B or more, such as 128KiB")
    return count


def nanoseconds(text: str) -> float | None:
    """A time in nanoseconds; `None` if the text is not a time."""
    if text == "0":
        return 0.0
    written = re.fullmatch(NUMBER + "(s|ms|us|ns)", text)
    return float(Fraction(written[1]) * NANOSECONDS[written[2]]) if written else None


def _bytes(text: str) -> int | None:
    written = re.fullmatch(f"{NUMBER} ?({'|'.join(FACTORS)})", text)
    count = int(Fraction(written[1]) * FACTORS[written[2]]) if written else None
    return None if count is None or count > MOST_BYTES else count
