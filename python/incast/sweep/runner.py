"""Does the runs of a sweep that are not there yet."""

from __future__ import annotations

import json
import os
import shutil
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import closing, contextmanager
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
from incast.sweep.progress import Activity, Callback, SweepProgress
from incast.sweep.weights import Weights


def run(
    plan: Plan,
    out: str | PathLike[str],
    *,
    jobs: int | None = None,
    ray: str | None = None,
    progress: Callback | None = None,
) -> Sweep:
    """Do the runs of a sweep that are not finished yet, and return all of them as one dataset.

    A run that fails does not stop the others: see `Sweep.failed`. Whenever a sweep ends, by whatever means, every run
    that was finished stays, and the next call does the rest.

    Args:
        plan: What to run, from `read`.
        out: Folder of the sweep; one that is there is continued.
        jobs: Runs at once; one per core if not given.
        ray: Address of a Ray cluster, such as `127.0.0.1:6379`, to run on it instead (extra `incast[ray]`).
        progress: Called with a `SweepProgress` several times a second; an exception it raises ends the sweep.

    Raises:
        EnvironmentFailure: The folder cannot be written, or no Ray cluster answers.
        ResultsExistError: The folder holds something else, or another sweep works in it.

    """
    if jobs is not None and jobs < 1:
        raise ValueError(f"jobs is {jobs}: at least 1 run at once is needed")
    folder = SweepFolder(Path(out))
    with _place(jobs, ray) as events, folder.held():
        return _Run(plan, folder, events, progress).run()


Events = Callable[[list[Task], Callable[[Task], Path]], Generator[Event, None, None]]
"""What does tasks, each into its folder; told as they go. To close it is to end all that is not done."""


@contextmanager
def _place(jobs: int | None, ray: str | None) -> Iterator[Events]:
    """Where runs are done: on this machine, or on a cluster that was found to be there."""
    if ray is None:
        yield partial(local, jobs=jobs or len(os.sched_getaffinity(0)))
        return
    from incast.sweep.cluster import connected

    with connected(ray) as cluster:
        yield partial(cluster.remote, jobs=jobs)


class _Run:
    def __init__(self, plan: Plan, folder: SweepFolder, events: Events, callback: Callback | None) -> None:
        self.plan, self.folder, self.events, self.callback = plan, folder, events, callback
        self.errors: dict[str, str] = {}
        self.by_key = {run.key: run for run in plan.runs}
        kept = folder.prepare(plan.keys)
        self.todo = [run for run in self.by_key.values() if run.key not in kept]
        self.over: list[Planned] = []
        self.progress = SweepProgress(runs=len(self.by_key), kept=len(kept))
        self.weights = Weights(self.todo)
        self.weighed = (-1, 0, 0)

    def run(self) -> Sweep:
        self.describe()
        try:
            if self.todo:
                self.do()
        finally:
            self.weights.stop()
            # Also of a sweep that was interrupted: what is there can be used, and resumed.
            self.describe()
            write_runs(self.folder.path)
        return open_sweep(self.folder.path)

    def do(self) -> None:
        self.weights.start()
        tasks = [Task(run.key, run.digest, run.tree, str(run.base), run.columns) for run in self.todo]
        with closing(self.events(tasks, lambda task: self.folder.work / task.key)) as events:
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
        """Say how much work there is, as it is known by now."""
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
            shutil.rmtree(self.folder.work / event.key, ignore_errors=True)

    def describe(self) -> None:
        """Write what was asked for, and what has become of it."""
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
