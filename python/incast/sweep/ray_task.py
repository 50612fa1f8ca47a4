"""Run of a sweep on a machine of a Ray cluster."""

from __future__ import annotations

import json
import socket
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from incast import _core
from incast.errors import translated
from incast.sweep.carry import Parcel, at_home, restore, unpack
from incast.sweep.execute import Pulse, Task, attempt, simulate

EVERY_S = 0.3
"""Seconds between reports of a run's progress."""


class Reporter:
    """An actor that collects the progress of runs."""

    def __init__(self) -> None:
        self.news: dict[str, tuple[float, int]] = {}

    def tell(self, key: str, fraction: float, packet_hops: int) -> None:
        """Report the progress of a run."""
        self.news[key] = fraction, packet_hops

    def drain(self) -> dict[str, tuple[float, int]]:
        """Progress reported since the last call."""
        news, self.news = self.news, {}
        return news


def run(build: str, request: str, reporter: Any, *contents: bytes) -> tuple[str | None, dict[str, bytes]]:
    """Do a run; returns its error, or the files of its results.

    Args:
        build: Build of incast that planned the sweep.
        request: A `Parcel` as JSON text.
        reporter: Handle of the actor `Reporter`.
        contents: The files of the parcel.

    """
    if _core.__build__ != build:
        return (
            f"{socket.gethostname()} has build {_core.__build__} of incast, the sweep has {build}; install the same "
            "build on all machines of the cluster"
        ), {}
    parcel = Parcel(**json.loads(request))
    with TemporaryDirectory(prefix="incast-ray-") as home:
        base = unpack(parcel, contents, Path(home) / "in")
        folder = Path(home) / "out"
        error = attempt(lambda: _simulate(Task(**parcel.task), base, folder, _Teller(parcel.task["key"], reporter)))
        if error is not None:
            return at_home(parcel, base, error), {}
        restore(parcel, folder)
        return None, {file.name: file.read_bytes() for file in folder.iterdir()}


def _simulate(task: Task, base: Path, folder: Path, tell: _Teller) -> None:
    tell(Pulse(0.0, 0))
    with translated():
        scenario = _core.Scenario.from_json(task.tree, base)
    simulate(scenario, task.columns, folder, tell)


class _Teller:
    """Reports the progress of a run every few tenths of a second."""

    def __init__(self, key: str, reporter: Any) -> None:
        self.key, self.reporter = key, reporter
        self.sent = float("-inf")

    def __call__(self, pulse: Pulse) -> None:
        now = time.monotonic()
        if now - self.sent >= EVERY_S:
            self.sent = now
            self.reporter.tell.remote(self.key, pulse.fraction, pulse.packet_hops)
