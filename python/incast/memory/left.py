"""Processes of a command that are there when it has ended."""

from __future__ import annotations

import os
import selectors
import signal
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from incast.memory.protocol import VARIABLE

GRACE_S = 2.0
"""What processes may take to end, when they are asked to."""
ROUNDS = 10
"""How often is looked for more, which some may have started meanwhile."""
LOADING_S = 0.5
"""What Linux may take to load a program."""
PF_EXITING, PF_KTHREAD = 0x4, 0x200000


def end_those_left(name: str, known: Mapping[int, int]) -> int:
    """End the processes that have a socket's name in their environment, and the known ones; gives how many there were.

    A process that has not connected yet, or has just become another program, is none of those that are known.

    Args:
        name: The socket's name.
        known: Processes by their number, as pidfds: some overwrite their environment.

    """
    ended: set[int] = set()
    for number in [signal.SIGTERM, *[signal.SIGKILL] * ROUNDS]:
        left = {pid: os.dup(descriptor) for pid, descriptor in known.items() if not has_ended(descriptor, 0)}
        left |= _with(name, left)
        try:
            for descriptor in left.values():
                with suppress(ProcessLookupError):
                    signal.pidfd_send_signal(descriptor, number)
            until = time.monotonic() + GRACE_S
            for descriptor in left.values():
                has_ended(descriptor, until - time.monotonic())
        finally:
            for descriptor in left.values():
                os.close(descriptor)
        if not left:
            break
        ended |= set(left)
    return len(ended)


def has_ended(descriptor: int, wait_s: float) -> bool:
    """Whether a process has ended, or does so within a time."""
    with selectors.DefaultSelector() as selector:
        selector.register(descriptor, selectors.EVENT_READ)
        return bool(selector.select(max(0.0, wait_s)))


def _with(name: str, others: Mapping[int, int]) -> dict[int, int]:
    """Processes beside others with a socket's name in their environment, as pidfds."""
    found: dict[int, int] = {}
    for entry in os.scandir("/proc"):
        if entry.name.isdigit() and int(entry.name) not in others and _has(entry.name, name):
            with suppress(ProcessLookupError):
                descriptor = os.pidfd_open(int(entry.name))
                # Another process may have got the number meanwhile.
                if _has(entry.name, name):
                    found[int(entry.name)] = descriptor
                else:
                    os.close(descriptor)
    return found


def _has(pid: str, name: str) -> bool:
    return f"{VARIABLE}={name}".encode() in _environment(Path("/proc", pid)).split(b"\0")


def _environment(process: Path) -> bytes:
    """What a process has been given as its environment; nothing if it has ended, or is another user's."""
    until = time.monotonic() + LOADING_S
    try:
        while not (found := (process / "environ").read_bytes()) and time.monotonic() < until:
            if not _is_loading(process):
                # It is loaded now, or has none.
                return (process / "environ").read_bytes()
            time.sleep(0.001)
    except OSError:
        return b""
    return found


def _is_loading(process: Path) -> bool:
    """Whether a process is about to become another program, whose environment is not in place yet."""
    # See proc(5): state, flags, and where the environment ends.
    fields = (process / "stat").read_text(errors="replace").rpartition(")")[2].split()
    return fields[0] not in "ZX" and not int(fields[6]) & (PF_EXITING | PF_KTHREAD) and int(fields[48]) == 0
