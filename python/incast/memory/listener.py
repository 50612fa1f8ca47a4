"""Where instrumented programs connect to."""

from __future__ import annotations

import os
import secrets
import socket
import struct
from dataclasses import dataclass
from pathlib import Path

from incast.memory.protocol import ERROR, HELLO, Asked
from incast.memory.ring import Ring

LONGEST = 4096
"""Bytes of a message."""


@dataclass(frozen=True)
class Joined:
    """A program that is instrumented: a process, from its start or its exec on."""

    pid: int
    name: str
    ring: Ring


@dataclass(frozen=True)
class Failure:
    """Why a program could not be instrumented."""

    what: str
    errno: int
    reason: str


class Listener:
    """A socket, and the programs that have connected to it."""

    def __init__(self, asked: Asked) -> None:
        """Listen under a new name."""
        self.name = f"incast-memory-{os.getpid()}-{secrets.token_hex(8)}"
        """The socket's name; it has no place in the file system."""
        self._asked = os.memfd_create("incast-memory-asked")
        os.write(self._asked, asked.pack())
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET | socket.SOCK_NONBLOCK)
        self._socket.bind(f"\0{self.name}")
        self._socket.listen(128)
        self._connections: list[socket.socket] = []

    def fileno(self) -> int:
        """For selectors: it can be read when a program connects."""
        return self._socket.fileno()

    def accept(self) -> socket.socket | None:
        """Take the next connection, and say what is asked; `None` if there is none, or not of this user."""
        try:
            connection, _ = self._socket.accept()
        except BlockingIOError:
            return None
        if _peer(connection)[1] != os.getuid():
            connection.close()
            return None
        self._connections.append(connection)
        try:
            socket.send_fds(connection, [bytes(8)], [self._asked])
        except OSError:
            self.drop(connection)
            return None
        return connection

    def drop(self, connection: socket.socket) -> None:
        """Close a connection."""
        self._connections.remove(connection)
        connection.close()

    def close(self) -> None:
        """Close everything."""
        for connection in self._connections:
            connection.close()
        self._connections.clear()
        self._socket.close()
        os.close(self._asked)


def heard(connection: socket.socket) -> Joined | Failure | None:
    """The next message of a program; `None` if it has ended."""
    try:
        message, descriptors, _, _ = socket.recv_fds(connection, LONGEST, 1)
    except OSError:
        return None
    if message.startswith(HELLO) and descriptors:
        pid = _peer(connection)[0]
        return Joined(pid, _name(pid), Ring(descriptors[0]))
    if message.startswith(ERROR):
        what, number, reason = [*message[1:].decode("utf-8", "replace").split("\n", 2), "", ""][:3]
        return Failure(what, int(number or 0), reason)
    return None


def _peer(connection: socket.socket) -> tuple[int, int]:
    """The process and the user at the other end."""
    pid, uid, _ = struct.unpack("3i", connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))
    return pid, uid


def _name(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/comm").read_text().strip()
    except OSError:
        return "?"
