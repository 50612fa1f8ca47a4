"""Network namespaces that live as long as the process that made them, and no longer.

They have no names and are held open by file descriptors alone: the kernel removes them, with their interfaces,
addresses and rules, when the process has ended, however it ended. Names in `/run/netns` would stay behind after a kill.
All is done by system calls of this process, so that `unshare` and `nsenter` need not be there; `ip` and `nft` do.

Only a process with one thread can take what an ordinary user is given here, a user namespace in which it is root.
"""

from __future__ import annotations

import ctypes
import errno
import os
import shutil
import signal
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

CLONE_NEWUSER = 0x10000000
CLONE_NEWNET = 0x40000000
PR_SET_PDEATHSIG = 1
SBIN = "/usr/local/sbin:/usr/sbin:/sbin"
"""Where `ip` and `nft` are, which is not on every user's path."""
PATIENCE_S = 20
"""Seconds that `ip` and `nft` may take."""


class Refused(Exception):
    """The machine does not do what is asked; the text says why, in one sentence."""


def enter() -> None:
    """Leave the machine's network, for good.

    Raises:
        Refused: It is not permitted.

    """
    if os.geteuid() != 0 or not _unshare(CLONE_NEWNET):
        user, group = os.geteuid(), os.getegid()
        if not _unshare(CLONE_NEWUSER | CLONE_NEWNET):
            raise Refused(f"network namespaces cannot be made: {_why()}; that needs CAP_SYS_ADMIN or user namespaces")
        try:
            Path("/proc/self/setgroups").write_text("deny")
            Path("/proc/self/uid_map").write_text(f"0 {user} 1")
            Path("/proc/self/gid_map").write_text(f"0 {group} 1")
        except OSError as error:
            raise Refused(f"user namespaces are restricted: {error.filename}: {error.strerror}") from None


def end_with_parent(parent: int) -> None:
    """Have the kernel kill this process when its parent, process `parent`, has ended."""
    if _libc().prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0) != 0:
        raise Refused(f"prctl: {_why()}")
    if os.getppid() != parent:
        os._exit(1)


class Namespace:
    """A network of its own: a host, or a switch."""

    def __init__(self) -> None:
        """Make it, with its loopback interface up; this process is not in it then."""
        home = os.open("/proc/thread-self/ns/net", os.O_RDONLY | os.O_CLOEXEC)
        try:
            if not _unshare(CLONE_NEWNET):
                raise Refused(f"network namespaces cannot be made: {_why()}")
            self._file = os.open("/proc/thread-self/ns/net", os.O_RDONLY | os.O_CLOEXEC)
            _setns(home)
        finally:
            os.close(home)
        self.ip("link", "set", "lo", "up")

    @contextmanager
    def entered(self) -> Iterator[None]:
        """Be in it: sockets that are made and programs that are started belong to it, and stay in it."""
        home = os.open("/proc/thread-self/ns/net", os.O_RDONLY | os.O_CLOEXEC)
        try:
            _setns(self._file)
            try:
                yield
            finally:
                _setns(home)
        finally:
            os.close(home)

    def ip(self, *arguments: str) -> None:
        """Run `ip` in it."""
        self._run("ip", *arguments)

    def nft(self, *arguments: str, text: str | None = None) -> str:
        """Run `nft` in it, with `text` as its standard input; what it printed."""
        return self._run("nft", *arguments, text=text)

    def wire(self, name: str, other: Namespace, other_name: str) -> None:
        """A cable from interface `name` here to `other_name` in `other`; both are up."""
        there = f"/proc/{os.getpid()}/fd/{other._file}"
        self.ip("link", "add", name, "type", "veth", "peer", "name", other_name, "netns", there)
        self.ip("link", "set", name, "up")
        other.ip("link", "set", other_name, "up")

    def set(self, name: str, value: str) -> None:
        """Set a parameter of its network, such as `ipv4/ip_forward`."""
        with self.entered():
            try:
                Path("/proc/sys/net", name).write_text(value)
            except OSError as error:
                raise Refused(f"{error.filename} cannot be set: {error.strerror}") from None

    def counters(self, interface: str) -> tuple[int, int]:
        """Bytes and packets that came in by an interface."""
        with self.entered():
            lines = Path("/proc/thread-self/net/dev").read_text(encoding="ascii").splitlines()
        fields = next(line.split() for line in lines if line.split()[0] == f"{interface}:")
        return int(fields[1]), int(fields[2])

    def socket(self, kind: socket.SocketKind, protocol: int = 0) -> socket.socket:
        """An IPv4 socket in it."""
        with self.entered():
            try:
                return socket.socket(socket.AF_INET, kind, protocol)
            except OSError as error:
                raise Refused(f"no such socket can be made: {error.strerror}") from None

    def _run(self, program: str, *arguments: str, text: str | None = None) -> str:
        command = [tool(program), *arguments]
        try:
            with self.entered():
                done = subprocess.run(
                    command, input=text or "", capture_output=True, text=True, timeout=PATIENCE_S, check=False
                )
        except OSError as error:
            raise Refused(f"{command[0]} cannot be started: {error.strerror}") from None
        except subprocess.TimeoutExpired:
            raise Refused(f"{' '.join((program, *arguments))}: no end after {PATIENCE_S} s") from None
        if done.returncode != 0:
            said = (done.stderr.strip() or done.stdout.strip() or f"exit code {done.returncode}").splitlines()[0]
            raise Refused(f"{' '.join((program, *arguments))}: {said}")
        return done.stdout


def tool(program: str) -> str:
    """Where a program is.

    Raises:
        Refused: It is not there.

    """
    found = shutil.which(program) or shutil.which(program, path=SBIN)
    if found is None:
        raise Refused(f"program `{program}` is not installed (package {'iproute2' if program == 'ip' else 'nftables'})")
    return found


def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def _unshare(what: int) -> bool:
    done: int = _libc().unshare(what)
    return done == 0


def _setns(file: int) -> None:
    if _libc().setns(file, CLONE_NEWNET) != 0:
        raise Refused(f"a network namespace cannot be entered: {_why()}")


def _why() -> str:
    """Error of the last system call."""
    number = ctypes.get_errno()
    if number == errno.ENOSPC:
        return "more than /proc/sys/user permits"
    return os.strerror(number)
