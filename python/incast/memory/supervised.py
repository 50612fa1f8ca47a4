"""A command under a supervisor, which tracks all its processes."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any, BinaryIO

from incast.errors import ApplicationError, EnvironmentFailure

SUPERVISOR = Path(__file__).with_name("supervisor.py")
STOPPED: dict[int, tuple[int, ...]] = {130: (), 143: (signal.SIGTERM,), 129: (signal.SIGHUP,)}
"""Exit codes of programs that were asked to end by a signal, and what this is for incast itself."""
NOT_REAPED_S = 60.0
"""When a supervisor that answers nothing any more is given up (our choice)."""


@dataclass(frozen=True)
class Ended:
    """How a command ended."""

    code: int
    """Its exit code; 128 and its number for a signal, as shells have it."""
    start_ns: int
    """When it was started, on the clock CLOCK_MONOTONIC."""
    seconds: float
    """From its start to its end."""
    cpu_s: float
    """Processor time of it and the processes that it has waited for."""


class Supervised:
    """A command that runs. As a context: when that is left, nothing of it runs any more."""

    def __init__(
        self,
        command: Sequence[str],
        program: str,
        settings: Mapping[str, str],
        *,
        core: int | None = None,
        quiet: BinaryIO | None = None,
        no_input: bool = False,
    ) -> None:
        """Prepare it; it starts when the context is entered.

        Args:
            command: The command.
            program: The path of its program.
            settings: Variables of the environment, beside incast's own.
            core: The core that it runs on; all of incast's if not given.
            quiet: A file for what it writes; its input is empty then. Otherwise it has incast's own.
            no_input: Whether its input is empty anyway.

        """
        self._program = program
        self.left = 0
        """How many processes it had left when it ended, which were ended."""
        words = [f"{name}={value}" for name, value in settings.items()]
        self._arguments = [str(-1 if core is None else core), str(len(words)), *words, program, *command]
        self._stdin = subprocess.DEVNULL if no_input or quiet is not None else None
        self._output = quiet
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Supervised:
        """Start it."""
        self._socket, other = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        try:
            with other:
                self._process = subprocess.Popen(
                    [sys.executable, "-I", "-S", str(SUPERVISOR), str(other.fileno()), *self._arguments],
                    pass_fds=[other.fileno()],
                    stdin=self._stdin,
                    stdout=self._output,
                    stderr=self._output,
                )
            what, numbers = self._next()
            if what == "failed":
                raise ApplicationError(f"`{self._program}` cannot be started: {os.strerror(int(numbers[0]))}")
        except BaseException as error:
            # An interrupt may come when the command runs already, and has not been heard of.
            self._end()
            if isinstance(error, OSError):
                raise ApplicationError(f"`{self._program}` cannot be started: {error.strerror}") from None
            raise
        self.pid, self.start_ns = map(int, numbers)
        return self

    def fileno(self) -> int:
        """For selectors: it can be read when the command has ended."""
        return self._socket.fileno()

    def send_signal(self, number: int) -> None:
        """Send the command a signal, if it has not ended."""
        with suppress(OSError):
            self._socket.send(b"signal %d" % number)

    def wait(self) -> Ended:
        """How the command ended, when it has."""
        _, (status, end_ns, cpu_s) = self._next()
        code = os.waitstatus_to_exitcode(int(status))
        return Ended(
            code if code >= 0 else 128 - code, self.start_ns, (int(end_ns) - self.start_ns) / 1e9, float(cpu_s)
        )

    def _next(self) -> tuple[str, list[str]]:
        message = ""
        with suppress(ConnectionResetError):
            message = self._socket.recv(256).decode()
        if not message:
            raise EnvironmentFailure(f"the supervisor of `{self._program}` was killed; the program may still run")
        what, *numbers = message.split()
        return what, numbers

    def __exit__(self, *_: object) -> None:
        self._end()

    def _end(self) -> None:
        """End what is left of it."""
        try:
            self._socket.send(b"end")
            # If it had not ended, that it has now may be said first.
            while (found := self._next())[0] != "left":
                pass
            self.left = int(found[1][0])
        except (OSError, EnvironmentFailure):
            pass
        finally:
            self._stop()

    def _stop(self) -> None:
        self._socket.close()
        if self._process is None:
            return
        try:
            self._process.wait(NOT_REAPED_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


class Signals:
    """Signals while a command runs: they are the command's to answer, and incast ends when it does."""

    def __init__(self, command: Supervised) -> None:
        self._command = command
        self._before: dict[int, Any] = {}

    def __enter__(self) -> None:
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
            try:
                self._before[number] = signal.signal(number, self._pass_on)
            except ValueError:  # Not in the main thread: signals are not ours to answer.
                return

    def __exit__(self, *_: object) -> None:
        for number, before in self._before.items():
            signal.signal(number, before)

    def _pass_on(self, number: int, _: FrameType | None) -> None:
        # A terminal sends Ctrl-C and Ctrl-\ to the command as well: once is enough.
        if number not in (signal.SIGINT, signal.SIGQUIT) or not _in_foreground():
            self._command.send_signal(number)


def _in_foreground() -> bool:
    try:
        return os.tcgetpgrp(sys.__stderr__.fileno() if sys.__stderr__ else 2) == os.getpgrp()
    except OSError:
        return False
