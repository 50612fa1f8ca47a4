"""Runs a command whose large memory is served page by page."""

from __future__ import annotations

import os
import resource
import selectors
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

from incast.errors import EnvironmentFailure
from incast.memory import program
from incast.memory.cores import awake, on_cores
from incast.memory.left import end_those_left
from incast.memory.listener import Failure, Joined, Listener, heard
from incast.memory.permission import explained
from incast.memory.protocol import ONLY, PAGE, VARIABLE, Asked, Local, Policy, Share, Word

THRESHOLD = 128 * 1024
"""Allocations from so many bytes on are served: what the GNU C library maps on its own at first (M_MMAP_THRESHOLD)."""
RECORDS = 1 << 18
"""Records of a ring: 8 MiB, and 13 million a second at the rate that they are read (our choice)."""
LOOK_S = 0.02
"""How often rings are read."""
REST_S = 0.2
"""For how long processes that are left when the command has ended are heard (our choice)."""
MOST_REGION = 1 << 43
"""The largest region, in bytes: page numbers have 32 bits, half of them used."""


@dataclass(frozen=True)
class Instrument:
    """How a program's memory is served."""

    local: Local = field(default_factory=lambda: Share(250_000))
    """How much of it is local; the study has a quarter (Gao et al., OSDI 2016)."""
    policy: Policy = "fifo"
    """Which pages go."""
    threshold_bytes: int = THRESHOLD
    """Allocations from so many bytes on are served."""
    delays_ns: Sequence[int] = ()
    """Delays of fetches, each as likely as any other; none if empty."""
    seed: int = 1
    """Of the draws of delays."""
    one_core: bool = False
    """Whether the program and what serves it share one core: no core has to wake another then, which makes fetches
    of a program of one thread faster and steadier."""
    only: Sequence[str] = ()
    """Names of the programs that are served, as Linux keeps them (15 bytes); all if empty."""


@dataclass(frozen=True)
class Process:
    """What a process did, as the library counted it."""

    ordinal: int
    pid: int
    name: str
    start_ns: int
    """On the clock CLOCK_MONOTONIC."""
    counts: dict[Word, int]
    """The header of its ring."""
    raw: Path
    """Its records."""

    @property
    def peak_bytes(self) -> int:
        """The most memory that it had in the region at a time."""
        return self.counts[Word.PEAK] * PAGE


@dataclass(frozen=True)
class Run:
    """A command that has ended."""

    code: int
    """Its exit code; 128 and its number for a signal, as shells have it."""
    start_ns: int
    """When it was started, on the clock CLOCK_MONOTONIC."""
    seconds: float
    """From its start to its end."""
    cpu_s: float
    """Processor time of it and the processes that it has waited for."""
    processes: tuple[Process, ...]
    ended: int
    """Processes that were left when it ended, and were ended."""
    awake: bool
    """Whether idle cores were kept from sleeping."""

    def total(self, word: Word) -> int:
        """A counter, over all processes."""
        return sum(process.counts[word] for process in self.processes)


@dataclass
class _Live:
    """A process that is connected."""

    ordinal: int
    joined: Joined
    pidfd: int | None
    raw: BinaryIO
    path: Path


class Session:
    """A command while it runs."""

    def __init__(self, instrument: Instrument, folder: Path) -> None:
        """Be ready to run one, with its records going to `folder`."""
        asked = Asked(
            instrument.local,
            instrument.policy,
            instrument.threshold_bytes,
            _region_bytes(),
            RECORDS,
            instrument.seed,
            instrument.delays_ns,
        )
        self._folder = folder
        self._only = instrument.only
        self._one_core = instrument.one_core
        self._listener = Listener(asked)
        self._live: dict[socket.socket, _Live] = {}
        self._ended: list[Process] = []
        self._failures: list[Failure] = []

    def run(self, command: Sequence[str], quiet: BinaryIO | None = None) -> Run:
        """Run a command to its end.

        Its input and output are incast's own; or it has no input, and all that it writes goes to the file `quiet`.
        """
        path = program.check(command)
        _check_library()
        environment = os.environ | {VARIABLE: self._listener.name, "LD_PRELOAD": _preload()}
        if self._only:
            environment[ONLY] = "/".join(self._only)
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        start_ns = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
        stdin = None if quiet is None else subprocess.DEVNULL
        with on_cores(one=self._one_core):
            child = subprocess.Popen(
                list(command), executable=path, env=environment, stdin=stdin, stdout=quiet, stderr=quiet
            )
        try:
            with _Signals(child), awake() as kept:
                self._follow(child)
            seconds = (time.clock_gettime_ns(time.CLOCK_MONOTONIC) - start_ns) / 1e9
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
        finally:
            if child.poll() is None:
                child.kill()
                child.wait()
            left = self._end_those_left()
            self._listener.close()
        self._complain(child.returncode)
        cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        code = child.returncode if child.returncode >= 0 else 128 - child.returncode
        processes = tuple(sorted(self._ended, key=lambda process: process.ordinal))
        return Run(code, start_ns, seconds, cpu, processes, left, kept)

    def _follow(self, child: subprocess.Popen[bytes]) -> None:
        """Read what is written until the command ends."""
        watched = os.pidfd_open(child.pid)
        self._selector = selectors.DefaultSelector()
        try:
            self._selector.register(watched, selectors.EVENT_READ)
            self._selector.register(self._listener, selectors.EVENT_READ)
            look = time.monotonic()
            while True:
                events = self._selector.select(max(0.0, look + LOOK_S - time.monotonic()))
                for key, _ in events:
                    self._hear(key.fileobj)
                if time.monotonic() >= look + LOOK_S:
                    look = time.monotonic()
                    for live in self._live.values():
                        live.joined.ring.drain(live.raw)
                if any(key.fileobj == watched for key, _ in events):
                    child.wait()
                    self._selector.unregister(watched)
                    self._hear_the_rest()
                    return
        finally:
            self._selector.close()
            os.close(watched)

    def _hear(self, source: Any) -> None:
        if source is self._listener:
            while (connection := self._listener.accept()) is not None:
                self._selector.register(connection, selectors.EVENT_READ)
        elif isinstance(source, socket.socket):
            self._message(source)

    def _message(self, connection: socket.socket) -> None:
        found = heard(connection)
        if isinstance(found, Joined):
            self._join(connection, found)
            return
        if isinstance(found, Failure):
            self._failures.append(found)
        self._selector.unregister(connection)
        if (live := self._live.pop(connection, None)) is not None:
            self._leave(live)
        self._listener.drop(connection)

    def _hear_the_rest(self) -> None:
        """What was said before the command ended."""
        until = time.monotonic() + REST_S
        while (events := self._selector.select(0)) and time.monotonic() < until:
            for key, _ in events:
                self._hear(key.fileobj)

    def _join(self, connection: socket.socket, joined: Joined) -> None:
        ordinal = len(self._live) + len(self._ended)
        path = self._folder / f"{ordinal}.raw"
        pidfd = None
        with suppress(ProcessLookupError):
            pidfd = os.pidfd_open(joined.pid)
        self._live[connection] = _Live(ordinal, joined, pidfd, path.open("wb"), path)

    def _leave(self, live: _Live) -> None:
        """Read the last of a process."""
        try:
            ring = live.joined.ring
            ring.drain(live.raw, ended=True)
            counts = {word: ring.word(word) for word in Word}
            process = Process(live.ordinal, live.joined.pid, live.joined.name, counts[Word.START], counts, live.path)
            self._ended.append(process)
        finally:
            live.raw.close()
            live.joined.ring.close()
            if live.pidfd is not None:
                os.close(live.pidfd)

    def _end_those_left(self) -> int:
        """End the processes that the command has left, and read their last; gives how many there were."""
        known = {live.joined.pid: live.pidfd for live in self._live.values() if live.pidfd is not None}
        left = end_those_left(self._listener.name, known)
        for live in self._live.values():
            self._leave(live)
        self._live.clear()
        return left

    def _complain(self, code: int) -> None:
        """Raise if the program could not be instrumented."""
        if self._failures:
            raise EnvironmentFailure(explained(self._failures[0]))
        if not self._ended and self._only:
            raise EnvironmentFailure(
                f"the command ran and ended with {code}, but nothing was recorded: no process of it has the name "
                f"{' or '.join(self._only)}"
            )
        if not self._ended:
            raise EnvironmentFailure(
                f"the command ran and ended with {code}, but without the instrument: nothing was recorded. Does it "
                "clear its environment, or run in a container or network namespace of its own?"
            )


class _Signals:
    """Signals while a command runs: they are the command's to answer, and incast ends when it does."""

    def __init__(self, child: subprocess.Popen[bytes]) -> None:
        self._child = child
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

    def _pass_on(self, number: int, _: object) -> None:
        # A terminal sends Ctrl-C and Ctrl-\ to the command as well: once is enough.
        if number in (signal.SIGINT, signal.SIGQUIT) and _in_foreground():
            return
        with suppress(ProcessLookupError):
            self._child.send_signal(number)


def _in_foreground() -> bool:
    try:
        return os.tcgetpgrp(sys.__stderr__.fileno() if sys.__stderr__ else 2) == os.getpgrp()
    except OSError:
        return False


def _check_library() -> None:
    if not program.LIBRARY.is_file():
        raise EnvironmentFailure(f"{program.LIBRARY} is not there; `make build` builds it")


def _preload() -> str:
    library = os.fspath(program.LIBRARY)
    if any(character in library for character in " :"):
        raise EnvironmentFailure(f"{library} cannot be preloaded: there is a blank or a colon in its path")
    return ":".join(filter(None, [library, os.environ.get("LD_PRELOAD")]))


def _region_bytes() -> int:
    """Addresses for the region: four times the machine's memory, or a quarter of what a process may have."""
    machine = 4 * os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    wanted = machine if limit == resource.RLIM_INFINITY else min(machine, limit // 4)
    return min(wanted, MOST_REGION) // PAGE * PAGE
