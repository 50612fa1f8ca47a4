"""Runs on the machines of an existing Ray cluster."""

from __future__ import annotations

import importlib.util
import json
import re
import select
import socket
import subprocess
import tempfile
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager, suppress
from itertools import islice
from pathlib import Path
from typing import IO, Any, cast

from incast._library import missing
from incast.errors import EnvironmentFailure, IncastError
from incast.sweep.execute import Task
from incast.sweep.pool import Event, give, started

ADDRESS = re.compile(r"(?:ray://)?(?P<host>\[[0-9A-Fa-f:.]+\]|[^\s:/\[\]]+):(?P<port>[0-9]{1,5})")
"""Format of an address."""
KNOCK_S = 3.0
"""Timeout for opening the cluster's port, in seconds."""
CONNECT_S = 30.0
"""Timeout for connecting Ray, in seconds; it takes two to eight."""
CLOSE_S = 10.0
"""Seconds for the driver to cancel active runs."""
AHEAD = 1000
"""Runs submitted to the cluster at a time; it runs as many in parallel as it has CPUs."""


@contextmanager
def connected(address: str) -> Iterator[Cluster]:
    """The cluster at an address.

    Raises:
        MissingLibraryError: Ray is not installed.
        IncastError: The address is not valid.
        EnvironmentFailure: No cluster answers at the address.

    """
    if importlib.util.find_spec("ray") is None:
        raise missing("ray", "--ray")
    _knock(address)
    with tempfile.TemporaryFile() as noise:
        process = started("incast.sweep.ray_driver", address, stderr=noise)
        try:
            _greet(process, address)
            yield Cluster(address, process, noise)
        finally:
            _close(process)


class Cluster:
    """A Ray cluster, connected through a process of its own."""

    def __init__(self, address: str, process: subprocess.Popen[str], noise: IO[bytes]) -> None:
        self.address, self.process, self.noise = address, process, noise

    def remote(
        self, tasks: list[Task], folder: Callable[[Task], Path], *, jobs: int | None = None
    ) -> Generator[Event, None, None]:
        """Run `tasks`, `jobs` in parallel or as many as the cluster has CPUs; yields events.

        If a Ray worker dies, its run fails. Closing the iterator cancels the rest.
        """
        waiting = iter(tasks)
        left = len(tasks)
        try:
            for task in islice(waiting, jobs or AHEAD):
                self._give(task, folder)
            while left:
                event = Event.read(self._hear())
                if event.kind in ("done", "failed"):
                    left -= 1
                    for task in islice(waiting, 1):
                        self._give(task, folder)
                yield event
        finally:
            if left:
                _close(self.process)

    def _give(self, task: Task, folder: Callable[[Task], Path]) -> None:
        with suppress(BrokenPipeError):  # reported by `_hear`
            give(self.process, {"task": vars(task), "folder": str(folder(task))})

    def _hear(self) -> dict[str, Any]:
        """The next message."""
        line = cast("IO[str]", self.process.stdout).readline()
        if not line:
            raise EnvironmentFailure(f"lost the connection to the Ray cluster at {self.address}{self._last_words()}")
        message: dict[str, Any] = json.loads(line)
        return message

    def _last_words(self) -> str:
        """The last line that the driver printed."""
        self.noise.seek(0)
        lines = self.noise.read().decode(errors="replace").strip().splitlines()
        return f": {lines[-1]}" if lines else ""


def _knock(address: str) -> None:
    """Raise if nothing listens at an address."""
    found = ADDRESS.fullmatch(address)
    if not found or not 0 < int(found["port"]) < 2**16:
        raise IncastError(
            f"`{address}` is not an address of a Ray cluster, allowed: HOST:PORT if this machine belongs to the "
            "cluster, such as 127.0.0.1:6379, or ray://HOST:PORT, such as ray://head:10001"
        )
    try:
        socket.create_connection((found["host"].strip("[]"), int(found["port"])), KNOCK_S).close()
    except OSError as error:
        why = "no answer" if isinstance(error, TimeoutError) else error.strerror or str(error)
        raise EnvironmentFailure(f"no Ray cluster at {address}: {why}; start one with `ray start --head`") from None


def _greet(process: subprocess.Popen[str], address: str) -> None:
    """Wait until the driver is connected."""
    stdout = cast("IO[str]", process.stdout)
    ready, _, _ = select.select([stdout], [], [], CONNECT_S)
    line = stdout.readline() if ready else ""
    if not line:
        process.kill()
        why = "Ray's library ended" if ready else f"the process at this port did not answer within {CONNECT_S:.0f} s"
        raise EnvironmentFailure(f"no Ray cluster at {address}: {why}")
    message = json.loads(line)
    if message["event"] != "connected":
        raise EnvironmentFailure(f"cannot use the Ray cluster at {address}: {message['error']}")


def _close(process: subprocess.Popen[str]) -> None:
    """Let the driver cancel active runs and end."""
    with suppress(BrokenPipeError):
        cast("IO[str]", process.stdin).close()
    try:
        process.wait(CLOSE_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
