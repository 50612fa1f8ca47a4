"""The ring of records that an instrumented program writes and incast reads."""

from __future__ import annotations

import mmap
import os
import struct
from typing import BinaryIO

from incast.memory.protocol import HEADER_BYTES, RECORD_BYTES, Word


class Ring:
    """A ring, mapped."""

    def __init__(self, descriptor: int) -> None:
        """Map the file of a ring; the descriptor is closed."""
        try:
            self._map = mmap.mmap(descriptor, 0)
        finally:
            os.close(descriptor)
        self._capacity = (len(self._map) - HEADER_BYTES) // RECORD_BYTES
        self._seen = 0
        self._read = 0

    def word(self, word: Word) -> int:
        """A counter of the header."""
        value: int = struct.unpack_from("<Q", self._map, word * 8)[0]
        return value

    def drain(self, out: BinaryIO, *, ended: bool = False) -> int:
        """Append what is new to a file; gives how many records.

        Of a program that runs, the records that were there at the last look: they are whole, on machines too that make
        writes seen out of order. `ended`: all of them.
        """
        written = self.word(Word.WRITTEN)
        until, self._seen = (written if ended else self._seen), written
        count = until - self._read
        while self._read < until:
            first = self._read % self._capacity
            few = min(until - self._read, self._capacity - first)
            at = HEADER_BYTES + first * RECORD_BYTES
            out.write(self._map[at : at + few * RECORD_BYTES])
            self._read += few
        struct.pack_into("<Q", self._map, Word.READ * 8, self._read)
        return count

    def close(self) -> None:
        """Unmap it."""
        self._map.close()
