"""Faults: each disturbs a running command at a random moment and returns when the command has ended."""

from __future__ import annotations

import random
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass

from chaos.disk import Disk
from chaos.processes import Command, marked, send, wait_until, workers


@dataclass
class Attempt:
    """A command that runs, and what a fault needs."""

    command: Command
    draw: random.Random
    disk: Disk
    again: Callable[[], Command]
    """Starts the command again."""
    stopped: list[int]
    """Stopped processes of an ended command, which continue while it is repeated."""


Fault = Callable[[Attempt], None]


def kill_all(attempt: Attempt) -> None:
    """SIGKILL to all processes, as at the end of a batch job."""
    send(marked(attempt.command.mark), signal.SIGKILL)


def kill_first(attempt: Attempt) -> None:
    """SIGKILL to the command; its workers have to end by themselves."""
    attempt.command.process.kill()


def kill_worker(attempt: Attempt) -> None:
    """SIGKILL to one worker, as if memory ran out."""
    if found := workers(attempt.command.mark):
        send([attempt.draw.choice(found)], signal.SIGKILL)


def interrupt(attempt: Attempt) -> None:
    """SIGINT to all processes, as Ctrl-C does."""
    send(marked(attempt.command.mark), signal.SIGINT)


def terminate(attempt: Attempt) -> None:
    """SIGTERM to the command."""
    attempt.command.process.terminate()


def stop_all(attempt: Attempt) -> None:
    """SIGSTOP to all processes, SIGCONT later."""
    found = marked(attempt.command.mark)
    send(found, signal.SIGSTOP)
    time.sleep(attempt.draw.uniform(0.1, 1))
    send(found, signal.SIGCONT)


def stop_worker(attempt: Attempt) -> None:
    """SIGSTOP to one worker, SIGKILL to the command; the worker continues while the command is repeated."""
    if found := workers(attempt.command.mark):
        attempt.stopped.append(attempt.draw.choice(found))
        send(attempt.stopped, signal.SIGSTOP)
    attempt.command.process.kill()


def stop_first(attempt: Attempt) -> None:
    """SIGSTOP to the command while another one wants its folder: the other is refused, or its results stay."""
    attempt.command.process.send_signal(signal.SIGSTOP)
    try:
        attempt.again().end()
    finally:
        attempt.command.process.send_signal(signal.SIGCONT)


def fill_disk(attempt: Attempt) -> None:
    """Leave a few kilobytes on the disk until the command ends."""
    attempt.disk.shrink(attempt.draw.choice((0, 4, 32, 128)) * 1024)
    wait_until(lambda: attempt.command.ended())


FAULTS: dict[str, Fault] = {
    "SIGKILL to all processes": kill_all,
    "SIGKILL to the command": kill_first,
    "SIGKILL to a worker": kill_worker,
    "SIGINT (Ctrl-C)": interrupt,
    "SIGTERM": terminate,
    "SIGSTOP, then SIGCONT": stop_all,
    "stopped worker of a killed sweep": stop_worker,
    "second command during SIGSTOP": stop_first,
    "full disk": fill_disk,
}
OF_WORKERS = (kill_worker, stop_worker)
"""Faults of commands that have workers."""
