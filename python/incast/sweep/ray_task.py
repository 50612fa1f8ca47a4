"""What a machine of a Ray cluster does for a sweep."""

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
"""Seconds between two words on how far a run is."""


class Reporter:
    """An actor that hears how far runs are, for whoever asks."""

    def __init__(self) -> None:
        self.news: dict[str, tuple[float, int]] = {}

    def tell(self, key: str, fraction: float, packet_hops: int) -> None:
        """A run is this far."""
        self.news[key] = fraction, packet_hops

    def drain(self) -> dict[str, tuple[float, int]]:
        """What was told since the last time."""
        news, self.news = self.news, {}
        return news


def run(build: str, request: str, reporter: Any, *contents: bytes) -> tuple[str | None, dict[str, bytes]]:
    """Do a run; why it failed, or the files of its results.

    Args:
        build: What the sweep was planned with.
        request: A `Parcel` as JSON text.
        reporter: Handle of the actor `Reporter`.
        contents: The files of the parcel.

    """
    if _core.__build__ != build:
        return (
            f"{socket.gethostname()} has another build of incast, {_core.__build__}, than the machine that runs the "
            f"sweep, {build}; install the same on all machines of the cluster"
        ), {}
    parcel = Parcel(**json.loads(request))
    with TemporaryDirectory(prefix="incast-ray-") as home:
        base = unpack(parcel, contents, Path(home) / "in")
        folder = Path(home) / "out"
        error = attempt(lambda: _simulate(Task(**parcel.task), base, folder, _Teller(parcel.task["key"], reporter)))
        if error is not None:
            return at_home(parcel, base, error), {}
        restore(parcel, base, folder)
        return None, {file.name: file.read_bytes() for file in folder.iterdir()}


def _simulate(task: Task, base: Path, folder: Path, tell: _Teller) -> None:
    tell(Pulse(0.0, 0))
    with translated():
        scenario = _core.Scenario.from_json(task.tree, base)
    simulate(scenario, task.columns, folder, tell)


class _Teller:
    """Tells the reporter how far a run is, now and then."""

    def __init__(self, key: str, reporter: Any) -> None:
        self.key, self.reporter = key, reporter
        self.told = float("-inf")

    def __call__(self, pulse: Pulse) -> None:
        now = time.monotonic()
        if now - self.told >= EVERY_S:
            self.told = now
            self.reporter.tell.remote(self.key, pulse.fraction, pulse.packet_hops)
