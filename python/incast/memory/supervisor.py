"""Starts a command and stays its parent: supervisor.py SOCKET CORE SETTINGS PROGRAM COMMAND...

A process of its own, which adopts the processes that the command leaves behind (prctl(2), PR_SET_CHILD_SUBREAPER): so
they are known, whatever they do to their environment, session or parent, and are not confused with other children of
the user of incast. `supervised` has the other side, at the socket with the number SOCKET, and is sent `started PID
TIME`, `ended STATUS TIME PROCESSOR-SECONDS`, `left COUNT`, or `failed ERRNO`; it sends `signal NUMBER` and `end`.

It is run as a script, without the packages of a site: it imports nothing of incast, so that it starts in milliseconds.
CORE is the core to start on, or -1; SETTINGS are how many variables of the environment follow.
"""

import ctypes
import os
import resource
import select
import signal
import socket
import sys
import time

PR_SET_CHILD_SUBREAPER = 36
GRACE_S = 2.0
"""Seconds that processes may take to end when asked to (our choice)."""
ROUNDS = 10
"""How often is looked for more, which some may have started meanwhile."""
ASKED = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)
"""Signals that are the command's to answer; incast passes on what it gets."""


def main() -> None:
    """Start it, and be there until incast has what it wants to know."""
    descriptor, core, count = map(int, sys.argv[1:4])
    settings, (program, *command) = sys.argv[4 : 4 + count], sys.argv[4 + count :]
    to_incast = socket.socket(fileno=descriptor)
    os.set_inheritable(descriptor, False)
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    # Python has SIGPIPE and SIGXFSZ ignored; what else was ignored when incast was started stays so.
    defaults = [signal.SIGPIPE, signal.SIGXFSZ]
    for number in ASKED:
        if signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, lambda *_: None)
    children, wake = os.pipe()
    for end in (children, wake):
        os.set_blocking(end, False)
    signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    environment = dict(os.environ)
    for each in settings:
        name, _, value = each.partition("=")
        environment[name] = value
    cores = os.sched_getaffinity(0)
    if core >= 0:
        os.sched_setaffinity(0, {core})
    begin = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
    try:
        child = os.posix_spawn(program, command, environment, setsigdef=defaults)
    except OSError as error:
        to_incast.send(b"failed %d" % (error.errno or 0))
        return
    to_incast.send(b"started %d %d" % (child, begin))
    os.sched_setaffinity(0, cores)
    _follow(to_incast, children, child)


def _follow(to_incast: socket.socket, children: int, child: int) -> None:
    running = True
    while True:
        ready, _, _ = select.select([to_incast.fileno(), children], [], [])
        if children in ready:
            os.read(children, 4096)
            for pid, status, end in _reaped():
                if pid == child:
                    running = False
                    to_incast.send(b"ended %d %d %.6f" % (status, end, _processor_s()))
        if to_incast.fileno() in ready:
            what, _, value = to_incast.recv(64).partition(b" ")
            if what == b"signal":
                # Not reaped yet, it has its number still.
                if running:
                    os.kill(child, int(value))
            else:
                # Nothing: incast is gone, and the command goes on without it.
                if what == b"end":
                    to_incast.send(b"left %d" % _end_all())
                return


def _reaped() -> list[tuple[int, int, int]]:
    """Children that have ended, with their wait status, and when that was seen."""
    found = []
    try:
        while (ended := os.waitpid(-1, os.WNOHANG))[0]:
            found.append((*ended, time.clock_gettime_ns(time.CLOCK_MONOTONIC)))
    except ChildProcessError:
        pass
    return found


def _processor_s() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def _end_all() -> int:
    """End all descendants; gives how many there were."""
    ended = set()
    for number in [signal.SIGTERM, *[signal.SIGKILL] * ROUNDS]:
        left = _descendants()
        if not left:
            break
        ended |= set(left)
        for pid, begun in left.items():
            _send(pid, begun, number)
        until = time.monotonic() + GRACE_S
        while _descendants().keys() & left.keys() and time.monotonic() < until:
            time.sleep(0.002)
    _reap_all()
    return len(ended)


def _reap_all() -> None:
    """Wait for children that have ended, whose threads may have not: what they took of the processor counts then."""
    until = time.monotonic() + GRACE_S
    try:
        while time.monotonic() < until:
            if not os.waitpid(-1, os.WNOHANG)[0]:
                time.sleep(0.002)
    except ChildProcessError:
        pass  # There are none.


def _descendants() -> dict[int, str]:
    """Processes that come from this one and run, by number, with when they began; those that have ended are reaped."""
    _reaped()
    parents = {}
    for name in os.listdir("/proc"):  # noqa: PTH208 - pathlib would take longer to load than all else here
        if name.isdigit():
            state, parent, begun = _state(name)
            if state not in "ZX":
                parents[int(name)] = parent, begun
    found: dict[int, str] = {}
    known = {os.getpid()}
    while known:
        more = {pid: begun for pid, (parent, begun) in parents.items() if parent in known and pid not in found}
        found.update(more)
        known = set(more)
    return found


def _state(name: str) -> tuple[str, int, str]:
    """State, parent and beginning of a process (proc(5), /proc/PID/stat); of one that is gone, that it has ended."""
    try:
        with open(f"/proc/{name}/stat", "rb") as file:  # noqa: PTH123 - as above
            fields = file.read().rpartition(b")")[2].split()
    except OSError:
        return "X", 0, ""
    state, parent, threads, begun = fields[0].decode(), int(fields[1]), int(fields[17]), fields[19].decode()
    # Its first thread has ended, and others go on.
    return "S" if state in "ZX" and threads > 1 else state, parent, begun


def _send(pid: int, begun: str, number: int) -> None:
    """Send a signal to a process, unless another one has its number by now."""
    try:
        descriptor = os.pidfd_open(pid)
    except OSError:
        return
    try:
        if _state(str(pid))[2] == begun:
            signal.pidfd_send_signal(descriptor, number)
    except OSError:
        pass  # It has ended, or runs as another user.
    finally:
        os.close(descriptor)


if __name__ == "__main__":
    main()
