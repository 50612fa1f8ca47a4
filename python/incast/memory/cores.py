"""The machine's cores: which of them a program runs on, and that they wake at once."""

from __future__ import annotations

import os
import struct
from collections.abc import Iterator
from contextlib import contextmanager, suppress

DEVICE = "/dev/cpu_dma_latency"
"""Linux's PM QoS: as long as a file of it is open, cores that sleep wake within the time that was written to it."""


@contextmanager
def awake() -> Iterator[bool]:
    """Ask for cores that wake at once, as long as this lasts; gives whether that was allowed.

    A fault wakes another thread, and the thread that faulted in turn: on cores that slept this takes tens of
    microseconds more.
    """
    try:
        descriptor = os.open(DEVICE, os.O_WRONLY | os.O_CLOEXEC)
    except OSError:
        yield False
        return
    try:
        with suppress(OSError):
            os.write(descriptor, struct.pack("i", 0))
        yield True
    finally:
        os.close(descriptor)


@contextmanager
def on_cores(*, one: bool) -> Iterator[None]:
    """Start programs on one core as long as this lasts, the last that this process may use; or on all of these."""
    before = os.sched_getaffinity(0)
    if one:
        os.sched_setaffinity(0, {max(before)})
    try:
        yield
    finally:
        if one:
            os.sched_setaffinity(0, before)
