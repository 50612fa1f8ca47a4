"""The machine's cores: pinning, wake-up latency, and use by other programs."""

from __future__ import annotations

import os
import resource
import struct
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

DEVICE = "/dev/cpu_dma_latency"
"""Linux's PM QoS: as long as a file of it is open, cores that sleep wake within the time that was written to it."""


@contextmanager
def awake() -> Iterator[bool]:
    """Keep idle cores from sleeping in this context; yields whether that was allowed.

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


def last_core() -> int:
    """The core of `--one-core`: the last that this process may use."""
    return max(os.sched_getaffinity(0))


class Others:
    """How much of this process's cores goes to others from now on: programs that share them, or the host of a guest."""

    def __init__(self) -> None:
        self._begin = time.monotonic()
        self._taken = _busy_s() - _own_s()

    def cores(self) -> float:
        """How many cores others had, in the mean, while this process and those it has waited for had the rest."""
        taken = _busy_s() - _own_s() - self._taken
        return max(0.0, taken / (time.monotonic() - self._begin))


def _busy_s() -> float:
    """Time for which this process's cores were busy since the machine started, in seconds (proc(5), /proc/stat)."""
    ours = {f"cpu{core}" for core in os.sched_getaffinity(0)}
    ticks = 0
    for line in Path("/proc/stat").read_text(encoding="ascii").splitlines():
        name, *fields = line.split()
        if name in ours:
            user, nice, system, _, _, interrupts, soft, stolen = map(int, fields[:8])
            ticks += user + nice + system + interrupts + soft + stolen
    return ticks / os.sysconf("SC_CLK_TCK")


def _own_s() -> float:
    """Processor time of this process and of those that it has waited for, in seconds."""
    usages = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)
