"""Does the runs of a sweep that are not there yet."""

from __future__ import annotations

import json
import os
import shutil
import threading
import time
from collections.abc import Iterator
from os import PathLike
from pathlib import Path
from typing import Any

import incast
from incast import _core
from incast.errors import IncastError, translated
from incast.sweep.dataset import Sweep, open_sweep, write_runs
from incast.sweep.execute import Task
from incast.sweep.folder import FORMAT, INDEX, SweepFolder
from incast.sweep.plan import Plan, Planned
from incast.sweep.pool import Event, local
from incast.sweep.progress import Activity, Callback, SweepProgress


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
        jobs: Runs at once on this machine; one per core if not given.
        ray: Address of a Ray cluster, such as `127.0.0.1:6379`, to run on it instead (extra `incast[ray]`).
        progress: Called with a `SweepProgress` several times a second; an exception it raises ends the sweep.

    """
    folder = SweepFolder(Path(out))
    with folder.held():
        return _Run(plan, folder, jobs, ray, progress).run()


class _Run:
    def __init__(
        self, plan: Plan, folder: SweepFolder, jobs: int | None, ray: str | None, callback: Callback | None
    ) -> None:
        self.plan, self.folder, self.ray, self.callback = plan, folder, ray, callback
        self.jobs = jobs or len(os.sched_getaffinity(0))
        self.errors: dict[str, str] = {}
        self.by_key = {run.key: run for run in plan.runs}
        kept = folder.prepare(plan.keys)
        self.todo = [run for run in self.by_key.values() if run.key not in kept]
        self.progress = SweepProgress(runs=len(self.by_key), kept=len(kept))
        self.weights = _Weights(self.todo)

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
        events = self.events([Task(run.key, run.tree, str(run.base), run.columns) for run in self.todo])
        try:
            for event in events:
                self.note(event)
                self.progress.work = self.weights.total()
                if self.callback is not None:
                    self.callback(self.progress)
        finally:
            events.close()  # type: ignore[attr-defined]  # both are generators

    def events(self, tasks: list[Task]) -> Iterator[Event]:
        """What happens to the runs, here or on a cluster."""
        if self.ray is None:
            return local(tasks, self.jobs, lambda task: self.folder.work / task.key)
        from incast.sweep.cluster import remote

        return remote(tasks, self.ray, lambda task: self.folder.work / task.key)

    def note(self, event: Event) -> None:
        now, planned = self.progress, self.by_key[event.key]
        if event.kind == "begin":
            now.active[event.key] = Activity(planned.label, self.weights.of(planned), time.monotonic())
        elif event.kind == "pulse" and event.pulse is not None:
            now.active[event.key].pulse = event.pulse
        else:
            self.ended(event, planned)

    def ended(self, event: Event, planned: Planned) -> None:
        now = self.progress
        activity = now.active.pop(event.key, None)
        now.work_done += self.weights.of(planned)
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
        for name, source in (("sweep.toml", plan.path), ("scenario.toml", plan.scenario)):
            self.folder.write(name, source.read_text(encoding="utf-8"))


class _Weights:
    """How much work each run is, in packet-hops; worked out beside the first runs, one variation after the other."""

    def __init__(self, runs: list[Planned]) -> None:
        self.known: dict[str, float] = {}
        self.cells = [_cell(run) for run in runs]
        self.first = {_cell(run): run for run in runs}
        self.thread = threading.Thread(target=self.work, daemon=True)
        self.stopping = False

    def start(self) -> None:
        self.thread.start()

    def stop(self) -> None:
        self.stopping = True

    def work(self) -> None:
        for cell, run in self.first.items():
            if self.stopping:
                return
            try:
                with translated():
                    text = _core.Scenario.from_json(run.tree, run.base).summary("json")
                self.known[cell] = float(json.loads(text)["estimate"]["packet_hops"])
            except IncastError:
                # The run itself will say what is wrong.
                self.known[cell] = 0.0

    def mean(self) -> float:
        return sum(self.known.values()) / len(self.known) if self.known else 1.0

    def of(self, run: Planned) -> float:
        """The work of a run; as long as it is not known, the mean of those that are."""
        return self.known.get(_cell(run), self.mean())

    def total(self) -> float:
        """The work of all runs."""
        mean = self.mean()
        return sum(self.known.get(cell, mean) for cell in self.cells)


def _cell(run: Planned) -> str:
    """What runs of the same variation have in common."""
    return json.dumps(run.columns)
