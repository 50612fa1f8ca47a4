"""Runs `python -m incast` in processes forked from one that has imported its libraries.

Most tests call the command, and Python with the libraries of incast takes longer to start than the command then takes.
A forked process is otherwise like a new one: own arguments, folder, environment, output and signals. Tests of the start
itself, of terminals and of signals start Python.

The client sends a JSON line (`arguments`, `cwd`, `environment`) with the descriptors of stdout and stderr. The server
answers with the process number, then with the exit status.
"""

from __future__ import annotations

import atexit
import gc
import json
import os
import runpy
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn

LIBRARIES = (
    "docstring_parser",
    "duckdb",
    "incast.cli.commands",
    "incast.cli.summary",
    "incast.report",
    "incast.scenario",
    "incast.results",
    "incast.study",
    "matplotlib.backends.backend_svg",
    "matplotlib.figure",
    "rich.console",
    "rich.table",
)
LONGEST_REQUEST = 1 << 20


class ForkServer:
    """A server process and the connection to it."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        own, other = socket.socketpair()
        self._connection = own
        with other:
            self._process = subprocess.Popen(
                [sys.executable, __file__, str(other.fileno())],
                env=dict(environment),
                stdin=subprocess.DEVNULL,
                pass_fds=[other.fileno()],
            )
        self._answers = own.makefile("r", encoding="ascii")

    def run(
        self, arguments: Sequence[str], cwd: Path, environment: Mapping[str, str], timeout: float
    ) -> subprocess.CompletedProcess[str]:
        """Run the command to its end. Raises `subprocess.TimeoutExpired` after `timeout` seconds."""
        command = [sys.executable, "-m", "incast", *arguments]
        request = {"arguments": list(arguments), "cwd": str(cwd), "environment": dict(environment)}
        with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as errors:
            line = json.dumps(request).encode() + b"\n"
            assert len(line) <= LONGEST_REQUEST
            socket.send_fds(self._connection, [len(line).to_bytes(4, "big")], [out.fileno(), errors.fileno()])
            self._connection.sendall(line)
            pid = int(self._answers.readline())
            self._connection.settimeout(timeout)
            try:
                status = int(self._answers.readline())
            except TimeoutError:
                os.kill(pid, signal.SIGKILL)
                raise subprocess.TimeoutExpired(command, timeout) from None
            finally:
                self._connection.settimeout(None)
            out.seek(0)
            errors.seek(0)
            code = os.waitstatus_to_exitcode(status)
            return subprocess.CompletedProcess(command, code, out.read(), errors.read())

    def close(self) -> None:
        """End the server."""
        self._answers.close()
        self._connection.close()
        self._process.wait()


def serve(connection: socket.socket) -> None:
    """Answer requests until the client closes the connection."""
    while True:
        length, descriptors, _, _ = socket.recv_fds(connection, 4, 2)
        if not length:
            return
        line = b""
        while len(line) < int.from_bytes(length, "big"):
            line += connection.recv(LONGEST_REQUEST)
        pid = os.fork()
        if pid == 0:
            connection.close()
            become_command(json.loads(line), *descriptors)
        for descriptor in descriptors:
            os.close(descriptor)
        connection.sendall(f"{pid}\n".encode())
        _, status = os.waitpid(pid, 0)
        connection.sendall(f"{status}\n".encode())


def become_command(request: dict[str, Any], out: int, errors: int) -> NoReturn:
    """Be `python -m incast` from here on, and end as it does."""
    os.dup2(out, 1)
    os.dup2(errors, 2)
    os.chdir(request["cwd"])
    os.environ.clear()
    os.environ.update(request["environment"])
    sys.argv = ["incast", *request["arguments"]]
    # Else matplotlib's extension reports its frozen objects as leaks.
    atexit.register(gc.unfreeze)
    # `python -m` finds modules of the working folder first.
    sys.path[0] = request["cwd"]
    runpy.run_module("incast", run_name="__main__", alter_sys=True)
    sys.exit()


if __name__ == "__main__":
    for library in LIBRARIES:
        __import__(library)
    gc.freeze()
    with socket.socket(fileno=int(sys.argv[1])) as connection:
        serve(connection)
