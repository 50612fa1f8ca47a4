"""Protocol between incast and its preloaded library; crates/incast-memory has the other side.

A program that is started with `INCAST_MEMORY`, the name of an abstract Unix socket, connects. It gets a file with
what is asked of it (`Asked`), and gives a file of its own, a ring of records with a header of counters (`Word`), or
an error.
"""

from __future__ import annotations

import enum
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from incast.application import wrong

VARIABLE = "INCAST_MEMORY"
"""The environment variable with the socket's name."""
ONLY = "INCAST_MEMORY_ONLY"
"""The environment variable with the names of the programs that are served, with slashes between them."""
VERSION = 1
PAGE = 4096
"""Bytes of a page."""
LEAST_LOCAL = 64 * PAGE
"""Least local memory: `LEAST` in the library's pager.rs."""
MILLION = 1_000_000
MOST_BYTES = 2**63
"""The most bytes: more than there are addresses."""
LONGEST_NS = 2**32 - 1
"""The longest delay: the library keeps them in 32 bits."""
HEADER_BYTES = 4096
"""Bytes before the first record."""
RECORD_BYTES = 32
HELLO, ERROR = b"H", b"E"
"""First bytes of a program's message."""

Policy = Literal["fifo", "lru"]
POLICIES: tuple[Policy, ...] = ("fifo", "lru")


@dataclass(frozen=True)
class Share:
    """A share of the largest footprint so far."""

    millionths: int
    """From 1 to 1,000,000."""

    def __post_init__(self) -> None:
        """Check the range."""
        allowed = "a whole number of millionths, from 1 to 1000000"
        if wrong.whole("Share", self.millionths, allowed, 1) > MILLION:
            raise wrong.refused("Share", self.millionths, allowed)

    def __str__(self) -> str:
        return f"{self.millionths / 1e4:g} % of the footprint"


@dataclass(frozen=True)
class Bytes:
    """A number of bytes, independent of the footprint."""

    bytes: int
    """A page, 4096, or more."""

    def __post_init__(self) -> None:
        """Check the range: from one page to the size of the address space."""
        allowed = "a whole number of bytes, from 4096 to 2^63"
        if wrong.whole("Bytes", self.bytes, allowed, PAGE) > MOST_BYTES:
            raise wrong.refused("Bytes", self.bytes, allowed)

    def __str__(self) -> str:
        return f"{self.bytes:,} B"


Local = Share | Bytes
"""Amount of local memory."""


@dataclass(frozen=True)
class Asked:
    """Settings of the library."""

    local: Local
    policy: Policy
    threshold_bytes: int
    region_bytes: int
    records: int
    seed: int
    delays_ns: Sequence[int] = ()

    def pack(self) -> bytes:
        """Bytes in the library's format."""
        by_pages = isinstance(self.local, Bytes)
        limit = -(-self.local.bytes // PAGE) if isinstance(self.local, Bytes) else self.local.millionths
        numbers = (
            VERSION,
            POLICIES.index(self.policy),
            int(by_pages),
            limit,
            self.threshold_bytes,
            self.region_bytes,
            self.records,
            self.seed,
        )
        return struct.pack("<8Q", *numbers) + struct.pack(f"<{len(self.delays_ns)}I", *self.delays_ns)


class Word(enum.IntEnum):
    """Places in a ring's header, of 8 bytes each."""

    WRITTEN = 0
    READ = 1
    START = 2
    FIRST = 3
    FETCHED = 4
    SENT = 5
    DROPPED = 6
    MAPPED_AGAIN = 7
    GUARDED = 8
    FOOTPRINT = 9
    PEAK = 10
    PINNED = 11
    LIMIT = 12
    PROCESSOR = 13
    CALLS = 14
    UNSERVED = 15
    STALLED = 16
    LOST = 17
