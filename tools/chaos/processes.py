"""Processes of a command, found by a mark in their environment."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryFile

MARK = "INCAST_CHAOS"
PATIENCE_S = 300.0
"""Seconds until a command counts as hanging; it takes a few."""


class Command:
    """A command that runs. Its messages go to a file: a stopped worker would keep a pipe open."""

    def __init__(self, words: Sequence[str], folder: Path, mark: str, more: Mapping[str, str]) -> None:
        scratch = folder.parent / "tmp"
        scratch.mkdir(exist_ok=True)
        self.mark = mark
        self.errors = TemporaryFile()  # noqa: SIM115 - closed with the command
        # Ctrl-C is ignored in background processes of shells without job control.
        signal.signal(signal.SIGINT, signal.default_int_handler)
        environment = {MARK: mark, "TMPDIR": str(scratch), "COLUMNS": "160"}
        # Files of the interpreter are no changes by the command.
        environment |= {"PYTHONDONTWRITEBYTECODE": "1", "NO_COLOR": "1"}
        self.process = subprocess.Popen(
            [sys.executable, "-m", "incast", *words],
            cwd=folder,
            env={**os.environ, **environment, **more},
            stdout=subprocess.DEVNULL,
            stderr=self.errors,
            start_new_session=True,
        )

    def ended(self) -> bool:
        """True if the command has ended; its workers may still live."""
        return self.process.poll() is not None

    def end(self) -> tuple[int | None, str]:
        """Wait for the end; the exit code, `None` for a command that hangs and is killed, and the messages."""
        code: int | None = None
        try:
            code = self.process.wait(PATIENCE_S)
        except subprocess.TimeoutExpired:
            send(marked(self.mark), signal.SIGKILL)
            self.process.wait()
        with self.errors:
            self.errors.seek(0)
            return code, self.errors.read().decode("utf-8", "replace").strip()[-600:]


def marked(mark: str) -> list[int]:
    """Live processes with a mark."""
    wanted, found = f"{MARK}={mark}".encode(), []
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if wanted in (folder / "environ").read_bytes().split(b"\0"):
                found.append(int(folder.name))
    return found


def workers(mark: str) -> list[int]:
    """Processes with a mark that do runs of a sweep."""
    return [pid for pid in marked(mark) if b"incast.sweep.worker" in command_line(pid)]


def command_line(pid: int) -> bytes:
    """Command line of a process; empty if it has ended."""
    with suppress(OSError):
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    return b""


def send(pids: Sequence[int], number: signal.Signals) -> None:
    """Send a signal to those that still live."""
    for pid in pids:
        with suppress(ProcessLookupError):
            os.kill(pid, number)


def wait_until(true: Callable[[], bool], seconds: float = PATIENCE_S) -> bool:
    """Wait for a condition; false if it does not come true in time."""
    end = time.monotonic() + seconds
    while not true():
        if time.monotonic() > end:
            return False
        time.sleep(0.01)
    return True
