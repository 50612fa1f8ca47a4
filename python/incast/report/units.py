"""One spelling of units on a page: `100 Gb/s`, `8.32 us`."""

from __future__ import annotations

import re

RATE = re.compile(r"(?<![\w.])(\d+(?:\.\d+)?) ?([kMGT]?)bps\b")
OTHER = re.compile(r"(?<![\w.])(\d+(?:\.\d+)?)(ps|ns|us|ms|s|[kMGT]?B|[KMGT]iB)\b")


def spaced(text: str) -> str:
    """A text with a space between numbers and units, and rates in `b/s`."""
    return OTHER.sub(r"\1 \2", RATE.sub(r"\1 \2b/s", text))
