"""Runs a command whose large memory is served page by page."""

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
"""Allocations from so many bytes on are served: what the GNU C library maps on its own at first (M_MMAP_THRESHOLD)."""
RECORDS = 1 << 18
"""Records of a ring: 8 MiB, and 13 million a second at the rate that they are read (our choice)."""
LOOK_S = 0.02
"""How often rings are read."""
REST_S = 0.2
"""For how long processes that are left when the command has ended are heard (our choice)."""
MOST_SEED = 2**63 - 1
"""The largest seed, with room for one of each repetition."""
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

    def __post_init__(self) -> None:
        """Refuse what the library cannot do.

        Raises:
            ApplicationError: A value is not possible; what is allowed is said.

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
class Unserved:
    """Processes that the record says nothing of, though they were to be served."""

    failures: tuple[Failure, ...] = ()
    """Those that could not be instrumented, and ended; or whose instrument failed."""
    other_users: int = 0
    """Those of other users, which run as ever: with su, runuser or setpriv."""
    not_heard: int = 0
    """Those for which incast had no file descriptors left, which run as ever."""


@dataclass(frozen=True)
class Run:
    """A command that has ended."""

    ended: Ended
    processes: tuple[Process, ...]
    left: int
    """Processes that were left when it ended, and were ended."""
    awake: bool
    """Whether idle cores were kept from sleeping."""
    unserved: Unserved = Unserved()

    @property
    def code(self) -> int:
        """Its exit code; 128 and its number for a signal, as shells have it."""
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
    """Run a command without the instrument, with an empty input; what it writes goes to a file."""
    path = program.check(command)
    core = last_core() if one_core else None
    with Supervised(command, path, {}, core=core, quiet=output) as child, Signals(child), awake():
        return child.wait()


class Session:
    """A command while it runs."""

    def __init__(self, instrument: Instrument, folder: Path) -> None:
        """Be ready to run one, with its records going to `folder`."""
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

        Its input and output are incast's own; or its input is empty, and all that it writes goes to the file `quiet`.
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
            # Their rings tell what they did, though they are gone.
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
        """Read what is written until the command ends."""
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
        """What was said before the command ended."""
        until = time.monotonic() + REST_S
        while (events := self._selector.select(0)) and time.monotonic() < until:
            for key, _ in events:
                self._hear(key.fileobj)

    def _join(self, connection: socket.socket, joined: Joined) -> None:
        ordinal = len(self._live) + len(self._ended)
        path = self._folder / f"{ordinal}.raw"
        self._live[connection] = _Live(ordinal, joined, path.open("wb"), path)

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

    def _complain(self, pid: int, code: int) -> None:
        """Raise if the command could not be instrumented; of processes that it has started others tell."""
        for failure in self._failures:
            if failure.pid == pid and failure.what not in WHILE_IT_RAN:
                raise EnvironmentFailure(explained(failure))
        if self._ended:
            return
        if self._listener.not_heard:
            raise EnvironmentFailure(
                f"the command ran and ended with {code}, but nothing was recorded: {NO_DESCRIPTORS}"
            )
        if self._listener.other_users:
            raise EnvironmentFailure(
                f"the command ran and ended with {code}, but without the instrument: it runs as another user, and only "
                "programs of the user who runs incast are served"
            )
        if self._only:
            raise EnvironmentFailure(
                f"the command ran and ended with {code}, but nothing was recorded: no process of it has the name "
                f"{' or '.join(self._only)}"
            )
        raise EnvironmentFailure(
            f"the command ran and ended with {code}, but without the instrument: nothing was recorded. Does it "
            "clear its environment, or run in a container or network namespace of its own?"
        )


def _check_library() -> None:
    try:
        library.build(library.CHECKOUT, library.LIBRARY)
    except library.BuildError as error:
        raise EnvironmentFailure(str(error)) from None


def _preload() -> str:
    path = os.fspath(library.LIBRARY)
    if any(character in path for character in " :"):
        raise EnvironmentFailure(f"{path} cannot be preloaded: there is a blank or a colon in its path")
    return ":".join(filter(None, [path, os.environ.get("LD_PRELOAD")]))


def _region_bytes() -> int:
    """Addresses for the region: four times the machine's memory, or a quarter of what a process may have."""
    machine = 4 * os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    wanted = machine if limit == resource.RLIM_INFINITY else min(machine, limit // 4)
    return min(wanted, MOST_REGION) // PAGE * PAGE
