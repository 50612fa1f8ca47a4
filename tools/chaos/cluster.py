"""A Ray cluster of three nodes on this machine, on the loopback interface, and its faults."""

from __future__ import annotations

import os
import secrets
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import mkdtemp

from chaos.faults import Attempt, Fault, interrupt, kill_all, kill_first, stop_all
from chaos.processes import command_line, marked, send, wait_until

NODES = 2
"""Nodes other than the head."""
TRIES = 4
"""Starts of a node, at most."""


class NoClusterError(Exception):
    """A node does not start."""


class Cluster:
    """Nodes as processes; started when first needed, and again after the loss of one."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.scratch = folder / "tmp"
        self.scratch.mkdir()
        self.port = 0
        self.nodes: list[subprocess.Popen[bytes]] = []
        """The head first."""

    def address(self) -> str:
        """The address of a complete cluster."""
        if not self.nodes or any(node.poll() is not None for node in self.nodes):
            self.end()
            self.port = free_port()
            self.nodes = [self.node("--head", f"--port={self.port}", "--include-dashboard=false")]
            for _ in range(NODES):
                self.nodes.append(self.node(f"--address=127.0.0.1:{self.port}"))
        return f"127.0.0.1:{self.port}"

    def node(self, *options: str) -> subprocess.Popen[bytes]:
        """Start a node of one CPU; returns when it takes part. Ray allows it 30 s, too few on a busy machine."""
        for _ in range(TRIES):
            process, log = self.started(*options)
            if process.poll() is None:
                return process
            self.lose(process)
        raise NoClusterError(f"a Ray node does not start: {log.read_text(encoding='utf-8', errors='replace')[-800:]}")

    def started(self, *options: str) -> tuple[subprocess.Popen[bytes], Path]:
        """A node that takes part or has ended, and its messages."""
        log = self.folder / f"log{len(list(self.folder.glob('log*')))}"
        command = [sys.executable, "-m", "ray.scripts.scripts", "start", "--block", "--num-cpus=1", *options]
        command += ["--node-ip-address=127.0.0.1", "--disable-usage-stats", "--object-store-memory=80000000"]
        if options[0] == "--head":
            command.append(f"--temp-dir={self.folder}")
        with log.open("wb") as out:
            process = subprocess.Popen(
                command,
                env={**os.environ, "TMPDIR": str(self.scratch)},
                stdout=out,
                stderr=out,
                start_new_session=True,
            )
        wait_until(lambda: b"Ray runtime started" in log.read_bytes() or process.poll() is not None)
        return process, log

    def lose(self, node: subprocess.Popen[bytes]) -> None:
        """SIGKILL to all processes of a node."""
        send(members([node]), signal.SIGKILL)
        node.wait()

    def runs(self) -> list[int]:
        """Processes that do runs now."""
        return [pid for pid in members(self.nodes) if command_line(pid).startswith(b"ray::run")]

    def end(self) -> None:
        """SIGKILL to all nodes."""
        send(members(self.nodes), signal.SIGKILL)
        for node in self.nodes:
            node.wait()
        self.nodes = []

    def faults(self) -> dict[str, Fault]:
        """Faults of a sweep on this cluster."""

        def kill_worker(attempt: Attempt) -> None:
            if found := self.runs():
                send([attempt.draw.choice(found)], signal.SIGKILL)

        def lose_node(attempt: Attempt) -> None:
            self.lose(attempt.draw.choice(self.nodes[1:]))

        def lose_head(_: Attempt) -> None:
            self.lose(self.nodes[0])

        def lose_driver(attempt: Attempt) -> None:
            send([pid for pid in marked(attempt.command.mark) if b"ray_driver" in command_line(pid)], signal.SIGKILL)

        return {
            "SIGKILL to all processes": kill_all,
            "SIGKILL to the command": kill_first,
            "SIGINT (Ctrl-C)": interrupt,
            "SIGSTOP, then SIGCONT": stop_all,
            "SIGKILL to a Ray worker": kill_worker,
            "loss of a node with its objects": lose_node,
            "loss of the head": lose_head,
            "SIGKILL to the driver": lose_driver,
        }


def members(nodes: Sequence[subprocess.Popen[bytes]]) -> list[int]:
    """Processes of nodes, by their sessions: Ray overwrites the environment of its workers with titles."""
    sessions = {node.pid for node in nodes}
    pids = (int(entry.name) for entry in Path("/proc").glob("[0-9]*"))
    return [pid for pid in pids if session(pid) in sessions]


def session(pid: int) -> int:
    """Session of a process; 0 if it has ended."""
    try:
        return os.getsid(pid)
    except ProcessLookupError:
        return 0


def free_port() -> int:
    """A port that nobody listens on."""
    with socket.create_server(("127.0.0.1", 0)) as one:
        port: int = one.getsockname()[1]
    return port


@contextmanager
def clusters() -> Iterator[Cluster]:
    """A cluster that is not started yet; others on this machine need its token."""
    os.environ.update(RAY_AUTH_MODE="token", RAY_AUTH_TOKEN=secrets.token_hex(16))
    # Names of sockets must be short.
    cluster = Cluster(Path(mkdtemp(prefix="ray", dir="/tmp")))
    try:
        yield cluster
    finally:
        cluster.end()
        shutil.rmtree(cluster.folder, ignore_errors=True)
