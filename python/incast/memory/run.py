"""Runs a command and serves its large memory page by page."""

from __future__ import annotations

import os
import resource
import selectors
import socket
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

from incast.application import wrong
from incast.errors import EnvironmentFailure
from incast.memory import library, program
from incast.memory.cores import awake, last_core
from incast.memory.descriptors import NO_DESCRIPTORS, raised_limit
from incast.memory.listener import DESCRIPTORS, Failure, Joined, Listener
from incast.memory.permission import WHILE_IT_RAN, explained
from incast.memory.protocol import (
    LONGEST_NS,
    MOST_BYTES,
    ONLY,
    PAGE,
    POLICIES,
    VARIABLE,
    Asked,
    Bytes,
    Local,
    Policy,
    Share,
    Word,
)
from incast.memory.supervised import Ended, Signals, Supervised

THRESHOLD = 128 * 1024
"""Smallest served allocation in bytes: the initial M_MMAP_THRESHOLD of the GNU C library."""
RECORDS = 1 << 18
"""Records of a ring: 8 MiB, enough for 13 million per second at this polling interval (our choice)."""
LOOK_S = 0.02
"""Seconds between reads of the rings."""
REST_S = 0.2
"""Seconds for remaining processes to send messages after the end of the command (our choice)."""
MOST_SEED = 2**63 - 1
"""The largest seed; leaves space for one seed per repetition."""
MOST_REGION = 1 << 43
"""The largest region, in bytes: page numbers have 32 bits, half of them used."""


@dataclass(frozen=True)
class Instrument:
    """Settings of the memory server."""

    local: Local = field(default_factory=lambda: Share(250_000))
    """Amount of local memory. Default: a quarter, as in Gao et al., OSDI 2016."""
    policy: Policy = "fifo"
    """Eviction policy."""
    threshold_bytes: int = THRESHOLD
    """Smallest served allocation, in bytes."""
    delays_ns: Sequence[int] = ()
    """Delays of fetches, with equal probability; empty for none."""
    seed: int = 1
    """Seed of the drawn delays."""
    one_core: bool = False
    """If true, the program and its page server share one core. Cores then need not wake each other: faster and
    steadier fetches for a single-threaded program."""
    only: Sequence[str] = ()
    """Names of the served programs, as in Linux (15 bytes); empty for all."""

    def __post_init__(self) -> None:
        """Check the ranges.

        Raises:
            ApplicationError: A value is out of range; the message has the allowed values.

        """
        if not isinstance(self.local, Share | Bytes):
            raise wrong.refused("local", self.local, "memory.Share(millionths) or memory.Bytes(bytes)")
        if self.policy not in POLICIES:
            raise wrong.unknown("policy", str(self.policy), POLICIES)
        allowed = "a whole number of bytes, from 4096 to 2^63"
        if wrong.whole("threshold_bytes", self.threshold_bytes, allowed, PAGE) > MOST_BYTES:
            raise wrong.refused("threshold_bytes", self.threshold_bytes, allowed)
        allowed = "a whole number, from 0 to 2^63 - 1"
        if wrong.whole("seed", self.seed, allowed, 0) > MOST_SEED:
            raise wrong.refused("seed", self.seed, allowed)
        if len(self.delays_ns):
            for delay in (min(self.delays_ns), max(self.delays_ns)):
                allowed = "whole nanoseconds, from 0 to 2^32 - 1"
                if wrong.whole("delays_ns", delay, allowed, 0) > LONGEST_NS:
                    raise wrong.refused("delays_ns", delay, allowed)
        if isinstance(self.only, str) or not all(isinstance(name, str) and name for name in self.only):
            raise wrong.refused("only", self.only, 'names of programs, such as ["memcached"]')


@dataclass(frozen=True)
class Process:
    """A process with the library's counters."""

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
        """Its peak memory in the region."""
        return self.counts[Word.PEAK] * PAGE


@dataclass(frozen=True)
class Unserved:
    """Processes that should have been served but are not in the record."""

    failures: tuple[Failure, ...] = ()
    """Processes that could not be instrumented and were ended, or with a failed instrument."""
    other_users: int = 0
    """Number of processes of other users (su, runuser, setpriv), which run normally."""
    not_heard: int = 0
    """Number of processes without a free file descriptor of incast, which run normally."""


@dataclass(frozen=True)
class Run:
    """A command that has ended."""

    ended: Ended
    processes: tuple[Process, ...]
    left: int
    """Number of processes that were still running at its end, and were ended."""
    awake: bool
    """True if idle cores were kept from sleeping."""
    unserved: Unserved = Unserved()

    @property
    def code(self) -> int:
        """Its exit code; 128 + number for a signal, as in shells."""
        return self.ended.code

    @property
    def seconds(self) -> float:
        """From its start to its end."""
        return self.ended.seconds

    def total(self, word: Word) -> int:
        """A counter, over all processes."""
        return sum(process.counts[word] for process in self.processes)


@dataclass
class _Live:
    """A process that is connected."""

    ordinal: int
    joined: Joined
    raw: BinaryIO
    path: Path


def run_plainly(command: Sequence[str], output: BinaryIO, *, one_core: bool = False) -> Ended:
    """Run a command without the instrument, with an empty input and its output in a file."""
    path = program.check(command)
    core = last_core() if one_core else None
    with Supervised(command, path, {}, core=core, quiet=output) as child, Signals(child), awake():
        return child.wait()


class Session:
    """A command while it runs."""

    def __init__(self, instrument: Instrument, folder: Path) -> None:
        """Prepare a session with records in `folder`."""
        _check_library()
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
        self._core = last_core() if instrument.one_core else None
        self._listener = Listener(asked)
        self._live: dict[socket.socket, _Live] = {}
        self._ended: list[Process] = []
        self._failures: list[Failure] = []

    def run(self, command: Sequence[str], quiet: BinaryIO | None = None, *, no_input: bool = False) -> Run:
        """Run a command to its end.

        Its input and output are those of incast; with `quiet`, its input is empty and its output goes to this file.
        """
        try:
            path = program.check(command)
            settings = {VARIABLE: self._listener.name, "LD_PRELOAD": _preload()}
            if self._only:
                settings[ONLY] = "/".join(self._only)
            core = self._core
            with (
                Supervised(command, path, settings, core=core, quiet=quiet, no_input=no_input) as child,
                # The command has the limit as it was.
                raised_limit() as most,
                Signals(child),
                awake() as kept,
            ):
                self._listener.most = most // DESCRIPTORS
                ended = self._follow(child)
            # The rings still have the counters of ended processes.
            for live in self._live.values():
                self._leave(live)
            self._live.clear()
        finally:
            for live in self._live.values():
                live.raw.close()
                live.joined.ring.close()
            self._listener.close()
        self._complain(child.pid, ended.code)
        processes = tuple(sorted(self._ended, key=lambda process: process.ordinal))
        unserved = Unserved(tuple(self._failures), self._listener.other_users, self._listener.not_heard)
        return Run(ended, processes, child.left, kept, unserved)

    def _follow(self, child: Supervised) -> Ended:
        """Read records until the command ends."""
        with selectors.DefaultSelector() as self._selector:
            self._selector.register(child, selectors.EVENT_READ)
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
                if any(key.fileobj is child for key, _ in events):
                    ended = child.wait()
                    self._selector.unregister(child)
                    self._hear_the_rest()
                    return ended

    def _hear(self, source: Any) -> None:
        if source is self._listener:
            while (connection := self._listener.accept()) is not None:
                self._selector.register(connection, selectors.EVENT_READ)
            if self._listener.is_closed:
                self._selector.unregister(self._listener)
        elif isinstance(source, socket.socket):
            self._message(source)

    def _message(self, connection: socket.socket) -> None:
        found = self._listener.heard(connection)
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
        """Read the remaining messages."""
        until = time.monotonic() + REST_S
        while (events := self._selector.select(0)) and time.monotonic() < until:
            for key, _ in events:
                self._hear(key.fileobj)

    def _join(self, connection: socket.socket, joined: Joined) -> None:
        ordinal = len(self._live) + len(self._ended)
        path = self._folder / f"{ordinal}.raw"
        self._live[connection] = _Live(ordinal, joined, path.open("wb"), path)

    def _leave(self, live: _Live) -> None:
        """Read the last records of a process."""
        try:
            ring = live.joined.ring
            ring.drain(live.raw, ended=True)
            counts = {word: ring.word(word) for word in Word}
            process = Process(live.ordinal, live.joined.pid, live.joined.name, counts[Word.START], counts, live.path)
            self._ended.append(process)
        finally:
            live.raw.close()
            live.joined.ring.close()

    def _complain(self, pid: int, code: int) -> None:
        """Raise if the command itself was not instrumented; child processes are reported in the summary."""
        for failure in self._failures:
            if failure.pid == pid and failure.what not in WHILE_IT_RAN:
                raise EnvironmentFailure(explained(failure))
        if self._ended:
            return
        if self._listener.not_heard:
            raise EnvironmentFailure(
                f"the command ended with exit code {code}, but nothing was recorded: {NO_DESCRIPTORS}"
            )
        if self._listener.other_users:
            raise EnvironmentFailure(
                f"the command ended with exit code {code}, but was not instrumented: it runs as another user, and "
                "incast serves only programs of its own user"
            )
        if self._only:
            raise EnvironmentFailure(
                f"the command ended with exit code {code}, but nothing was recorded: none of its processes has the "
                f"name {' or '.join(self._only)}"
            )
        raise EnvironmentFailure(
            f"the command ended with exit code {code}, but was not instrumented and nothing was recorded: does it "
            "clear its environment, or run in its own container or network namespace?"
        )


def _check_library() -> None:
    try:
        library.build(library.CHECKOUT, library.LIBRARY)
    except library.BuildError as error:
        raise EnvironmentFailure(str(error)) from None


def _preload() -> str:
    path = os.fspath(library.LIBRARY)
    if any(character in path for character in " :"):
        raise EnvironmentFailure(f"cannot preload {path}: its path has a space or a colon")
    return ":".join(filter(None, [path, os.environ.get("LD_PRELOAD")]))


def _region_bytes() -> int:
    """Size of the region: four times the machine's memory, or a quarter of the limit of a process."""
    machine = 4 * os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    wanted = machine if limit == resource.RLIM_INFINITY else min(machine, limit // 4)
    return min(wanted, MOST_REGION) // PAGE * PAGE
