"""Runs on the cores of this machine: one process each, which does run after run."""

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
"""Seconds that a process is given to end by itself."""
WORKER = "incast.sweep.worker"
"""The module that does runs."""


@dataclass(frozen=True)
class Event:
    """What happened to a run."""

    key: str
    """Its key."""
    kind: Literal["begin", "pulse", "done", "failed"]
    """What."""
    pulse: Pulse | None = None
    """How far it is, of a `pulse`."""
    error: str | None = None
    """Why it failed, of a `failed`."""

    @classmethod
    def told(cls, message: dict[str, Any]) -> Event:
        """From the message of a process."""
        kind = message["event"]
        pulse = Pulse(message["fraction"], message["packet_hops"]) if kind == "pulse" else None
        return cls(message["key"], kind, pulse, message.get("error"))


def started(module: str, *arguments: str, stderr: IO[bytes] | None = None) -> subprocess.Popen[str]:
    """A process of the same Python that takes lines and says lines; a file of the working folder is no module to it."""
    pipe = subprocess.PIPE
    command = [sys.executable, "-P", "-m", module, *arguments]
    return subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=stderr, text=True, encoding="utf-8")


def give(process: subprocess.Popen[str], request: dict[str, Any]) -> None:
    """Hand over a line."""
    stdin = cast("IO[str]", process.stdin)
    stdin.write(json.dumps(request) + "\n")
    stdin.flush()


class Keyed(Protocol):
    """What can be handed to a process: a dataclass of plain values."""

    @property
    def key(self) -> str:
        """Tells it from others."""


T = TypeVar("T", bound=Keyed)


def local(
    tasks: list[T], folder: Callable[[T], Path], *, jobs: int, worker: str = WORKER
) -> Generator[Event, None, None]:
    """Do `tasks` in order, `jobs` at a time; yields what happens until all have ended. `worker` is what does them.

    A process that dies takes one run with it: the run has failed, another process goes on. Closing the iterator ends
    all processes and their runs.
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
            lane.thread.join(PATIENCE_S)


class _Lane(Generic[T]):
    """A process and the thread that talks to it."""

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
        """Do tasks until there are none."""
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
                event = Event.told({"key": task.key, **json.loads(line)})
                self.events.put(event)
                if event.kind in ("done", "failed"):
                    return
        self.fail(task, _death(process.wait()))

    def fail(self, task: T, error: str) -> None:
        if not self.stopping.is_set():
            self.events.put(Event(task.key, "failed", error=error))

    def stop(self) -> None:
        """End the process and the run in its hands."""
        with self.lock:
            self.stopping.set()
            if self.process is not None and self.process.poll() is None:
                self.process.kill()


def _death(code: int) -> str:
    """What became of a process that ended in the middle of a run."""
    if code < 0:
        name = signal.Signals(-code).name
        hint = ": was there too little memory? Fewer --jobs need less" if name == "SIGKILL" else ""
        return f"the process that ran it was killed by {name}{hint}"
    return f"the process that ran it ended with exit code {code}"
