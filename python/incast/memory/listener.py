"""The socket for instrumented programs."""

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
DESCRIPTORS = 3
"""File descriptors for a process: its connection, its ring, and the file that its records go to."""


@dataclass(frozen=True)
class Joined:
    """An instrumented program: a process since its start or its last exec."""

    pid: int
    name: str
    ring: Ring


@dataclass(frozen=True)
class Failure:
    """A failure to instrument a program."""

    what: str
    errno: int
    reason: str
    pid: int = 0
    """The process."""
    name: str = ""
    """Its name, as Linux has it."""


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
        self._connections: dict[socket.socket, str] = {}
        """Each with its program's name: one that cannot be instrumented is gone when it is heard."""
        self.most = 0
        """Processes that can be connected at a time; the listener closes when there are more."""
        self.not_heard = 0
        """Processes that were not accepted, as they were too many; those after the listener has closed do not count."""
        self.other_users = 0
        """Processes of other users, which were not accepted."""

    @property
    def is_closed(self) -> bool:
        """True if no program is accepted any more."""
        return self._socket.fileno() < 0

    def fileno(self) -> int:
        """For selectors: it can be read when a program connects."""
        return self._socket.fileno()

    def accept(self) -> socket.socket | None:
        """Take the next connection, and say what is asked; `None` if there is none."""
        while not self.is_closed:
            try:
                connection, _ = self._socket.accept()
            except BlockingIOError:
                return None
            pid, user = _peer(connection)
            if user != os.getuid():
                self.other_users += 1
                connection.close()
            elif len(self._connections) >= self.most:
                # Who waits to be accepted would wait until others end, perhaps for ever. So it runs unserved.
                self.not_heard += 1
                connection.close()
                self._socket.close()
            else:
                self._connections[connection] = _name(pid)
                try:
                    socket.send_fds(connection, [bytes(8)], [self._asked])
                except OSError:
                    self.drop(connection)
                else:
                    return connection
        return None

    def heard(self, connection: socket.socket) -> Joined | Failure | None:
        """The next message of a program; `None` if it has ended."""
        try:
            message, descriptors, _, _ = socket.recv_fds(connection, LONGEST, 1)
        except OSError:
            return None
        pid, name = _peer(connection)[0], self._connections[connection]
        if message.startswith(HELLO) and descriptors:
            return Joined(pid, name, Ring(descriptors[0]))
        if message.startswith(ERROR):
            what, number, reason = [*message[1:].decode("utf-8", "replace").split("\n", 2), "", ""][:3]
            return Failure(what, int(number or 0), reason, pid, name)
        return None

    def drop(self, connection: socket.socket) -> None:
        """Close a connection."""
        del self._connections[connection]
        connection.close()

    def close(self) -> None:
        """Close everything."""
        for connection in self._connections:
            connection.close()
        self._connections.clear()
        self._socket.close()
        os.close(self._asked)


def _peer(connection: socket.socket) -> tuple[int, int]:
    """The process and the user at the other end."""
    pid, uid, _ = struct.unpack("3i", connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))
    return pid, uid


def _name(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/comm").read_text().strip()
    except OSError:
        return "?"
