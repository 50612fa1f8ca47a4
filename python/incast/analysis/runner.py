"""Computes the cells of an analysis that are not there yet."""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import incast
from incast import _core
from incast.analysis.dataset import INDEX, Analysis, open_analysis, write_table
from incast.analysis.plan import AnalysisPlan, Cell
from incast.sweep.folder import FORMAT, SweepFolder
from incast.sweep.pool import Event, local
from incast.sweep.progress import Activity, SweepProgress, tell

WORKER = "incast.analysis.worker"
"""The module that computes."""


@dataclass(frozen=True)
class Task:
    """A cell as it is handed to the process that computes it; plain values only."""

    key: str
    kind: str
    parameters: dict[str, Any]
    base: str


def run(plan: AnalysisPlan, out: Path, progress: Callable[[SweepProgress], object] | None = None) -> Analysis:
    """Compute the cells of an analysis that are not there yet, one after the other; each may use all cores.

    A cell that fails does not stop the others. What this machine cannot do is left out, and the index says why.
    """
    folder = SweepFolder(out)
    with folder.held():
        return _Run(plan, folder, progress).run()


class _Run:
    def __init__(
        self, plan: AnalysisPlan, folder: SweepFolder, callback: Callable[[SweepProgress], object] | None
    ) -> None:
        self.plan, self.folder, self.callback = plan, folder, callback
        self.errors: dict[str, str] = {}
        self.by_key = {cell.key: cell for cell in plan.runs}
        kept = folder.prepare(frozenset(self.by_key))
        self.todo = [cell for cell in self.by_key.values() if cell.key not in kept]
        self.impossible: str | None = None
        self.progress = SweepProgress(runs=len(self.by_key), kept=len(kept), damaged=list(folder.damaged.items()))
        self.progress.work = sum(map(self.weight, self.todo))

    def run(self) -> Analysis:
        began = time.monotonic()
        tell(self.progress, self.callback)
        if self.todo:
            self.impossible = self.plan.kind.impossible()
        self.describe()
        try:
            if self.todo and self.impossible is None:
                self.do()
        finally:
            self.describe(time.monotonic() - began)
            write_table(self.folder.path)
        return open_analysis(self.folder.path)

    def weight(self, cell: Cell) -> float:
        return self.plan.kind.weight(cell.parameters)

    def do(self) -> None:
        base = str(self.plan.path.parent.absolute())
        missing = {cell.key: reason for cell in self.todo if (reason := self.plan.kind.missing(cell.parameters))}
        self.errors |= missing
        todo = [cell for cell in self.todo if cell.key not in missing]
        tasks = [Task(cell.key, self.plan.kind.name, asdict(cell.parameters), base) for cell in todo]
        with closing(local(tasks, lambda task: self.folder.work(task.key), jobs=1, worker=WORKER)) as events:
            for event in events:
                self.note(event)
                if self.callback is not None:
                    self.callback(self.progress)

    def note(self, event: Event) -> None:
        now, cell = self.progress, self.by_key[event.key]
        if event.kind == "begin":
            now.active[event.key] = Activity(cell.label, self.weight(cell), time.monotonic())
            return
        now.active.pop(event.key, None)
        now.work_done += self.weight(cell)
        if event.kind == "done":
            self.folder.commit(event.key)
            now.done += 1
            return
        error = event.error or "it failed"
        now.failed += 1
        now.failures.append((cell.label, error))
        self.errors[event.key] = error
        shutil.rmtree(self.folder.work(event.key), ignore_errors=True)

    def describe(self, took_s: float = 0.0) -> None:
        """Write what was asked for, and what has become of it."""
        there = self.folder.finished()
        cells = []
        for cell in self.plan.runs:
            error = None if cell.key in there else self.errors.get(cell.key) or self.impossible
            cells.append({"key": cell.key, "columns": cell.columns, "done": cell.key in there, "error": error})
        index = {
            "format": FORMAT,
            "incast": incast.__version__,
            "build": _core.__build__,
            "title": self.plan.title,
            "analysis": self.plan.kind.name,
            "impossible": self.impossible,
            "types": self.plan.types,
            "seconds": round(took_s, 3),
            "cells": cells,
        }
        self.folder.write(INDEX, json.dumps(index, indent=1) + "\n")
