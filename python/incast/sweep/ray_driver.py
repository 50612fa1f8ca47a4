"""Process between a sweep and a Ray cluster, with the protocol of `incast.sweep.worker`.

Ray's library ends its process when it loses the cluster, waits for minutes on a port of another program, prints, and
handles signals; so it needs a process of its own. The process ends, and cancels its runs, when its standard input ends.
"""

from __future__ import annotations

import json
import logging
import os
import queue
import signal
import sys
import threading
from dataclasses import asdict
from pathlib import Path
from typing import Any, TextIO

from incast import _core, _input
from incast.errors import ScenarioError
from incast.sweep import ray_task
from incast.sweep.carry import pack, write
from incast.sweep.execute import Task, attempt, messages, send

POLL_S = 0.25
"""Seconds between polls of the cluster."""
PATIENCE_S = 3.0
"""Seconds for cancelled runs to end."""
Requests = queue.SimpleQueue[str | None]
"""Lines of the input, `None` after the last."""


def main() -> None:
    """Connect to the cluster at the address in the arguments, and do tasks until the input ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    out = messages()
    try:
        ray = _connect(sys.argv[1])
    except Exception as error:  # Ray raises what it likes
        send(out, {"event": "refused", "error": " ".join(str(error).split())})
        return
    send(out, {"event": "connected"})
    requests: Requests = queue.SimpleQueue()
    threading.Thread(target=_listen, args=(requests,), daemon=True).start()
    driver = _Driver(ray, out)
    try:
        driver.work(requests)
    finally:
        driver.stop()
        ray.shutdown()


def _connect(address: str) -> Any:
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    # Under `uv run` Ray would send the working folder to all machines, and run them with uv.
    os.environ.setdefault("RAY_ENABLE_UV_RUN_RUNTIME_ENV", "0")
    import ray

    ray.init(address=address, logging_level=logging.ERROR, log_to_driver=False)
    return ray


def _listen(requests: Requests) -> None:
    for line in sys.stdin:
        requests.put(line)
    requests.put(None)


class _Driver:
    """The runs of a sweep on a cluster."""

    def __init__(self, ray: Any, out: TextIO) -> None:
        self.ray, self.out = ray, out
        self.reporter = ray.remote(num_cpus=0)(ray_task.Reporter).remote()
        self.run = ray.remote(num_cpus=1, max_retries=0)(ray_task.run)
        self.pending: dict[Any, tuple[str, Path]] = {}
        """Runs that have not ended: their keys and their folders."""
        self.begun: set[str] = set()
        self.sent: dict[Path, Any] = {}
        """Files that are in the cluster's object store."""

    def work(self, requests: Requests) -> None:
        """Do tasks until there are no more requests."""
        while True:
            try:
                line = requests.get(block=not self.pending)
            except queue.Empty:
                self.collect()
                continue
            if line is None:
                return
            request = json.loads(line)
            task = Task(**request["task"])
            error = attempt(lambda: self.submit(task, Path(request["folder"])))  # noqa: B023 - called at once
            if error is not None:
                self.end(task.key, error)

    def submit(self, task: Task, folder: Path) -> None:
        parcel, files = pack(task, folder)
        for file in files:
            if file not in self.sent:
                self.sent[file] = self.ray.put(_input.read_bytes(file, ScenarioError))
        contents = [self.sent[file] for file in files]
        ref = self.run.remote(_core.__build__, json.dumps(asdict(parcel)), self.reporter, *contents)
        self.pending[ref] = task.key, folder

    def collect(self) -> None:
        """Pass on what has happened."""
        ready, _ = self.ray.wait(list(self.pending), num_returns=1, timeout=POLL_S)
        self.pass_on_news()
        for ref in ready:
            key, folder = self.pending.pop(ref)
            try:
                error, files = self.ray.get(ref)
            except Exception as failure:  # Ray raises what it likes
                error = _why(failure)
            else:
                error = error or attempt(lambda: write(folder, files))  # noqa: B023 - called at once
            self.end(key, error)

    def pass_on_news(self) -> None:
        try:
            news = self.ray.get(self.reporter.drain.remote(), timeout=POLL_S)
        except Exception:  # without it runs are done all the same
            return
        active = {key for key, _ in self.pending.values()}
        for key, (fraction, packet_hops) in news.items():
            if key in active:
                self.begin(key)
                send(self.out, {"event": "pulse", "key": key, "fraction": fraction, "packet_hops": packet_hops})

    def begin(self, key: str) -> None:
        if key not in self.begun:
            self.begun.add(key)
            send(self.out, {"event": "begin", "key": key})

    def end(self, key: str, error: str | None) -> None:
        self.begin(key)
        send(
            self.out,
            {"event": "done", "key": key} if error is None else {"event": "failed", "key": key, "error": error},
        )

    def stop(self) -> None:
        """Call off what runs; by force what does not end by itself, and so clean up behind it."""
        for force in (False, True):
            for ref in self.pending:
                self.ray.cancel(ref, force=force)
            if self.pending:
                _, left = self.ray.wait(list(self.pending), num_returns=len(self.pending), timeout=PATIENCE_S)
                self.pending = {ref: self.pending[ref] for ref in left}


def _why(failure: Exception) -> str:
    """Error of Ray for a run."""
    kind = type(failure).__name__
    if kind in ("WorkerCrashedError", "OutOfMemoryError", "NodeDiedError", "LocalRayletDiedError"):
        return "its Ray worker died, possibly out of memory"
    cause = getattr(failure, "cause", None) or failure
    lines = str(cause).strip().splitlines() or [""]
    return f"error of the Ray cluster: {type(cause).__name__}: {lines[-1].strip()}"


if __name__ == "__main__":
    main()
