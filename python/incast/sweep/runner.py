"""Runs the unfinished runs of a sweep."""

from __future__ import annotations

import json
import os
import shutil
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from functools import partial
from os import PathLike
from pathlib import Path
from typing import Any

import incast
from incast import _core
from incast.sweep.dataset import Sweep, open_sweep, write_runs
from incast.sweep.execute import Task
from incast.sweep.folder import FORMAT, INDEX, SweepFolder
from incast.sweep.plan import Plan, Planned
from incast.sweep.pool import Event, local
from incast.sweep.progress import Activity, Callback, SweepProgress, tell
from incast.sweep.weights import Weights


def run(
    plan: Plan,
    out: str | PathLike[str],
    *,
    jobs: int | None = None,
    ray: str | None = None,
    progress: Callback | None = None,
) -> Sweep:
    """Run the unfinished runs of a sweep, and return all runs as one dataset.

    A failed run does not stop the others: see `Sweep.failed`. Finished runs are kept however the sweep ends; the next
    call resumes it.

    Args:
        plan: The planned sweep, from `read`.
        out: Folder of the sweep; an existing sweep is resumed.
        jobs: Parallel runs. Default: one per core. Fewer runs take several threads each.
        ray: Address of a Ray cluster to run on, such as `127.0.0.1:6379` (extra `incast[ray]`).
        progress: Called with a `SweepProgress` several times a second. If it raises an exception, the sweep ends.

    Raises:
        ValueError: `jobs` is not a whole number of 1 or more.
        EnvironmentFailure: The folder is not writable, or no Ray cluster answers.
        ResultsExistError: The folder is not a sweep, or another sweep is running in it.

    """
    if jobs is not None and not (isinstance(jobs, int) and jobs >= 1):
        raise ValueError(f"jobs must be a whole number, 1 or more, got {jobs!r}")
    folder = SweepFolder(Path(out))
    with _place(jobs, ray) as events, folder.held():
        return _Run(plan, folder, events, progress).run()


Events = Callable[[list[Task], Callable[[Task], Path]], Generator[Event, None, None]]
"""Runs tasks, each into its folder, and yields events. Closing it ends all active runs."""


@contextmanager
def _place(jobs: int | None, ray: str | None) -> Iterator[Events]:
    """Choose this machine or a cluster for the runs."""
    if ray is None:
        yield partial(_here, jobs=jobs or len(os.sched_getaffinity(0)))
        return
    from incast.sweep.cluster import connected

    with connected(ray) as cluster:
        yield partial(cluster.remote, jobs=jobs)


def _here(tasks: list[Task], folder: Callable[[Task], Path], *, jobs: int) -> Generator[Event, None, None]:
    """Run tasks on this machine; with fewer tasks than `jobs`, each on several threads."""
    threads = max(1, jobs // len(tasks))
    return local([replace(task, threads=threads) for task in tasks], folder, jobs=jobs)


class _Run:
    def __init__(self, plan: Plan, folder: SweepFolder, events: Events, callback: Callback | None) -> None:
        self.plan, self.folder, self.events, self.callback = plan, folder, events, callback
        self.errors: dict[str, str] = {}
        self.by_key = {run.key: run for run in plan.runs}
        kept = folder.prepare(plan.keys)
        self.todo = [run for run in self.by_key.values() if run.key not in kept]
        self.over: list[Planned] = []
        self.progress = SweepProgress(runs=len(self.by_key), kept=len(kept), damaged=list(folder.damaged.items()))
        self.weights = Weights(self.todo)
        self.weighed = (-1, 0, 0)

    def run(self) -> Sweep:
        tell(self.progress, self.callback)
        self.describe()
        try:
            if self.todo:
                self.do()
        finally:
            self.weights.stop()
            # Also after an interruption: finished runs can be used, and the sweep resumed.
            self.describe()
            write_runs(self.folder.path)
        return open_sweep(self.folder.path)

    def do(self) -> None:
        self.weights.start()
        tasks = [Task(run.key, run.digest, run.tree, str(run.base), run.columns) for run in self.todo]
        with closing(self.events(tasks, lambda task: self.folder.work(task.key))) as events:
            for event in events:
                self.note(event)
                self.weigh()
                if self.callback is not None:
                    self.callback(self.progress)

    def note(self, event: Event) -> None:
        now, planned = self.progress, self.by_key[event.key]
        if event.kind == "begin":
            now.active[event.key] = Activity(planned.label, self.weights.of(planned), time.monotonic())
        elif event.kind == "pulse" and event.pulse is not None:
            now.active[event.key].pulse = event.pulse
        else:
            self.ended(event, planned)

    def weigh(self) -> None:
        """Update the estimated work."""
        now = self.progress
        stamp = (len(self.weights.known), len(now.active), len(self.over))
        if stamp == self.weighed:
            return
        self.weighed = stamp
        now.work = self.weights.total(self.todo)
        now.work_done = self.weights.total(self.over)
        for key, activity in now.active.items():
            activity.weight = self.weights.of(self.by_key[key])

    def ended(self, event: Event, planned: Planned) -> None:
        now = self.progress
        activity = now.active.pop(event.key, None)
        self.over.append(planned)
        now.packet_hops += activity.pulse.packet_hops if activity else 0
        error = event.error
        if event.kind == "done":
            try:
                self.folder.commit(event.key)
            except OSError as failure:
                error = f"cannot write {self.folder.runs / event.key}: {failure.strerror}"
        if error is None:
            now.done += 1
        else:
            now.failed += 1
            now.failures.append((planned.label, error))
            self.errors[event.key] = error
            shutil.rmtree(self.folder.work(event.key), ignore_errors=True)

    def describe(self) -> None:
        """Write the index with the states of all runs."""
        plan, there = self.plan, self.folder.finished()
        runs = [
            {
                "key": run.key,
                "columns": run.columns,
                "scheme": run.scheme,
                "state": "done" if run.key in there else "failed" if run.key in self.errors else "waiting",
                "error": self.errors.get(run.key),
            }
            for run in plan.runs
        ]
        columns: list[dict[str, Any]] = [
            {
                "name": name,
                "path": plan.paths[name],
                "values": list(dict.fromkeys(run.columns[name] for run in plan.runs)),
            }
            for name in plan.columns
        ]
        index = {
            "format": FORMAT,
            "incast": incast.__version__,
            "build": _core.__build__,
            "title": plan.title,
            "scale": plan.scale,
            "columns": columns,
            "runs": runs,
        }
        self.folder.write(INDEX, json.dumps(index, indent=1) + "\n")
        for name, text in plan.texts.items():
            self.folder.write(name, text)
