"""Estimated work of each run of a sweep."""

from __future__ import annotations

import json
import threading

from incast import _core
from incast.errors import IncastError, translated
from incast.sweep.plan import Planned


class Weights:
    """Packet-hops of runs, estimated in a thread while the first runs are simulated."""

    def __init__(self, runs: list[Planned]) -> None:
        self.known: dict[str, float] = {}
        self.first = {run.variation: run for run in runs}
        self.thread = threading.Thread(target=self._estimate, daemon=True)
        self.stopping = threading.Event()

    def start(self) -> None:
        """Begin to estimate."""
        self.thread.start()

    def stop(self) -> None:
        """Stop estimating."""
        self.stopping.set()

    def of(self, run: Planned) -> float:
        """The work of a run, or the mean of known runs if not yet known."""
        return self.known.get(run.variation, self._mean())

    def total(self, runs: list[Planned]) -> float:
        """The work of several runs."""
        mean = self._mean()
        return sum(self.known.get(run.variation, mean) for run in runs)

    def _mean(self) -> float:
        values = list(self.known.values())
        return sum(values) / len(values) if values else 1.0

    def _estimate(self) -> None:
        for variation, run in self.first.items():
            if self.stopping.is_set():
                return
            try:
                with translated():
                    text = _core.Scenario.from_json(run.tree, run.base).summary("json")
                self.known[variation] = float(json.loads(text)["estimate"]["packet_hops"])
            except IncastError:
                # The run itself reports the error.
                self.known[variation] = 0.0
