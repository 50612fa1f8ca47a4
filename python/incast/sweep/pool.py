"""Runs on the cores of this machine, in one process per core."""

from __future__ import annotations

import json
import queue
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Generator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Generic, Literal, Protocol, TypeVar, cast

from incast.sweep.execute import Pulse

PATIENCE_S = 5.0
"""Seconds for a process to end by itself."""
WORKER = "incast.sweep.worker"
"""Module of the worker processes."""


@dataclass(frozen=True)
class Event:
    """An event of a run."""

    key: str
    """Key of the run."""
    kind: Literal["begin", "pulse", "done", "failed"]
    """Kind of event."""
    pulse: Pulse | None = None
    """Progress, for `pulse`."""
    error: str | None = None
    """Error, for `failed`."""

    @classmethod
    def read(cls, message: dict[str, Any]) -> Event:
        """From the message of a process."""
        kind = message["event"]
        pulse = Pulse(message["fraction"], message["packet_hops"]) if kind == "pulse" else None
        return cls(message["key"], kind, pulse, message.get("error"))


def started(module: str, *arguments: str, stderr: IO[bytes] | None = None) -> subprocess.Popen[str]:
    """Start a process of the same Python that reads and writes lines; it does not import from the working folder.

    Ctrl-C, which reaches all processes of a terminal, is blocked in it: otherwise its imports would end in a traceback.
    """
    pipe = subprocess.PIPE
    command = [sys.executable, "-P", "-m", module, *arguments]
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        return subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=stderr, text=True, encoding="utf-8")
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def give(process: subprocess.Popen[str], request: dict[str, Any]) -> None:
    """Send a line."""
    stdin = cast("IO[str]", process.stdin)
    stdin.write(json.dumps(request) + "\n")
    stdin.flush()


class Keyed(Protocol):
    """A task for a process: a dataclass of plain values."""

    @property
    def key(self) -> str:
        """Unique key."""


T = TypeVar("T", bound=Keyed)


def local(
    tasks: list[T], folder: Callable[[T], Path], *, jobs: int, worker: str = WORKER
) -> Generator[Event, None, None]:
    """Run `tasks` in order, `jobs` in parallel, in processes of the module `worker`; yields events.

    If a process dies, its run fails and another process takes its place. Closing the iterator ends all processes and
    their runs.
    """
    waiting: queue.SimpleQueue[T] = queue.SimpleQueue()
    for task in tasks:
        waiting.put(task)
    events: queue.SimpleQueue[Event | None] = queue.SimpleQueue()
    lanes = [_Lane(waiting, events, folder, worker) for _ in range(min(jobs, len(tasks)))]
    try:
        for lane in lanes:
            lane.thread.start()
        running = len(lanes)
        while running:
            try:
                event = events.get(timeout=0.5)  # so that Ctrl-C is seen
            except queue.Empty:
                continue
            if event is None:
                running -= 1
            else:
                yield event
    finally:
        for lane in lanes:
            lane.stop()
        for lane in lanes:
            # Ctrl-C can come before all have started.
            if lane.thread.ident is not None:
                lane.thread.join(PATIENCE_S)


class _Lane(Generic[T]):
    """A process and its thread."""

    def __init__(
        self,
        waiting: queue.SimpleQueue[T],
        events: queue.SimpleQueue[Event | None],
        folder: Callable[[T], Path],
        worker: str,
    ) -> None:
        self.waiting, self.events, self.folder, self.worker = waiting, events, folder, worker
        self.stopping = threading.Event()
        self.process: subprocess.Popen[str] | None = None
        self.lock = threading.Lock()
        self.thread = threading.Thread(target=self.run, daemon=True)

    def run(self) -> None:
        """Run tasks until none are left."""
        try:
            while not self.stopping.is_set():
                try:
                    task = self.waiting.get_nowait()
                except queue.Empty:
                    break
                try:
                    self.do(task)
                except OSError as error:
                    self.fail(task, f"cannot start a process: {error.strerror}")
        finally:
            if self.process is not None:
                with suppress(BrokenPipeError):
                    cast("IO[str]", self.process.stdin).close()
                self.process.wait()
            self.events.put(None)

    def do(self, task: T) -> None:
        with self.lock:
            if self.stopping.is_set():
                return
            if self.process is None or self.process.poll() is not None:
                self.process = started(self.worker)
        process = self.process
        with suppress(BrokenPipeError, ValueError):  # it died before it took the line, or in the middle of one
            give(process, {"task": vars(task), "folder": str(self.folder(task))})
            for line in cast("IO[str]", process.stdout):
                event = Event.read({"key": task.key, **json.loads(line)})
                self.events.put(event)
                if event.kind in ("done", "failed"):
                    return
        self.fail(task, _death(process.wait()))

    def fail(self, task: T, error: str) -> None:
        if not self.stopping.is_set():
            self.events.put(Event(task.key, "failed", error=error))

    def stop(self) -> None:
        """End the process and its run."""
        with self.lock:
            self.stopping.set()
            if self.process is not None and self.process.poll() is None:
                self.process.kill()


def _death(code: int) -> str:
    """Error for a process that ended during a run."""
    if code < 0:
        name = signal.Signals(-code).name
        hint = ", possibly out of memory; try fewer --jobs" if name == "SIGKILL" else ""
        return f"its process was killed by {name}{hint}"
    return f"its process ended with exit code {code}"
