"""Results folders."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from os import PathLike, fspath
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Literal

from incast import _core, _input, declared
from incast._nearest import keywords
from incast.errors import DamagedError
from incast.integrity import damaged, reading
from incast.table import Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from incast.charts.kinds import Kind
    from incast.findings import Finding
    from incast.scenario import Scenario

ALL = "all"
"""Stands for the flows of all labels together, where a label is meant."""
METHODS = ("iterations", "throughput")
"""Tables that have a method of their name instead of an attribute."""


class Results:
    """The results of a run: a folder of Parquet tables, a manifest and the scenario.

    Every table is an attribute, such as `results.flows` or `results.ports`. It is read on first access. The exceptions
    are methods: `results.iterations()`, and `results.throughput()`, which adds up the rows of `table("throughput")`.
    """

    def __init__(self, folder: _core.Folder, keep: TemporaryDirectory[str] | None = None) -> None:
        """Wrap a folder; `keep` is a temporary folder that lives as long as its results."""
        self._folder = folder
        self._keep = keep
        self._tables: dict[str, Table] = {}
        self.path = _input.of_core(folder.path)
        """The folder."""
        self.manifest: dict[str, Any] = json.loads(folder.manifest())
        """Version, machine, run times, and counts and stop reason of each scheme: `manifest.json`."""

    def __repr__(self) -> str:
        # Methods hide the tables of their name, which are reached by name.
        names = (f'table("{name}")' if name in METHODS else name for name in self.tables)
        return f"<Results in {self.path}: {', '.join(names)}>"

    def _repr_html_(self) -> str:
        """HTML for notebooks."""
        from incast import notebook

        return notebook.of_results(self)

    def warnings(self) -> list[str]:
        """Warnings of the run, to check before trusting its results."""
        return self._folder.warnings()

    def findings(self) -> list[Finding]:
        """The most important findings about the run, as sentences (`incast.findings`)."""
        from incast import findings

        return findings.findings(self)

    def scenario(self) -> Scenario:
        """The scenario that was run, with all defaults; files that it names are where they were then."""
        from incast.scenario import of_core

        with reading(self.path):
            core = self._folder.scenario()
        return of_core(core, _input.of_core(self._folder.scenario_dir))

    @property
    def tables(self) -> tuple[str, ...]:
        """Names of the tables in this folder."""
        return tuple(self._folder.tables())

    def table(self, name: str) -> Table:
        """A table by name."""
        if name not in self._tables:
            with reading(self.path):
                self._tables[name] = Table(self._folder.table(name), name)
        return self._tables[name]

    @keywords
    def slowdown(
        self,
        *,
        bins: int = 20,
        ideal: Literal["hpcc", "exact"] = "hpcc",
        clamp: bool = True,
        label: str | None = None,
    ) -> Table:
        """Slowdowns of completed flows by scheme, label and flow size: p50, p95, p99, mean and maximum of each bin.

        Slowdown = completion time / ideal completion time. The defaults are those of the HPCC evaluation.

        Args:
            bins: Number of bins by size, with about equally many flows. All flows of a size are in one bin, so flows
                of few sizes have fewer bins.
            ideal: Ideal completion time. `hpcc`, as in the HPCC evaluation: base RTT + payload and basic headers at the
                slowest link. `exact`: the flow alone on its path, with its real packets; no run is faster.
            clamp: Count slowdowns below 1 as 1.
            label: Only flows with this label; `"all"` mixes the flows of all labels. Default: each label by itself.

        """
        groups = None if label is None else [(label, [] if label == ALL else [label])]
        return self._slowdown(groups, bins=bins, ideal=ideal, clamp=clamp)

    def _slowdown(self, groups: Sequence[tuple[str, Sequence[str]]] | None, **options: Any) -> Table:
        """Slowdowns of groups of labels, each with a name; a group of none has all flows."""
        with self._reading_flows():
            return Table(self._folder.slowdown(json.dumps(options), groups), "slowdown")

    def slowdown_text(self, *, bins: int = 20) -> str:
        """Slowdowns as text: schemes side by side, a block for each label."""
        with self._reading_flows():
            return self._folder.slowdown_text(json.dumps({"bins": bins}))

    @contextmanager
    def _reading_flows(self) -> Iterator[None]:
        try:
            with reading(self.path):
                yield
        except DamagedError as error:
            from incast import _tables

            raise _tables.explained(error, self) from None

    def plot(
        self,
        chart: Kind = "slowdown",
        *,
        label: str | None = None,
        bins: int | None = None,
        percentiles: Sequence[Literal["p50", "p95", "p99"]] = (),
        ports: int | None = None,
        flows: int | None = None,
        vms: int | None = None,
        width: float | None = None,
        height: float | None = None,
        title: str | None = None,
    ) -> Figure:
        """Draw a chart as a matplotlib figure, which a notebook shows. `incast.plot.save` writes it to a file.

        Args:
            chart: `slowdown`: by flow size; a distribution if flows have one size. `cdf-fct`, `cdf-slowdown`:
                distributions. `iterations`: communication and compute time of each iteration of collectives. `queues`,
                `rates`: over time; the scenario needs `measure.sample_every`. `pauses`: when ports were paused.
                `closing`: how pauses spread until the first deadlock. `vms`, `guarantees`: of tenants.
            label: For slowdown and distributions: only flows with this label; `"all"` for the flows of all labels
                together. Default: a panel for each label.
            bins: For slowdown: number of bins, at least 1, with about equally many flows. Default: 20.
            percentiles: For slowdown: percentiles to draw. Default: all three.
            ports: Number of ports, at least 1: those with the longest queues (default 4), paused longest (20) or, for
                closing, paused first (24).
            flows: For rates: number of flows, at least 1. Default: 6.
            vms: For vms: number of VMs, at least 1. Default: 8.
            width: Width in inches. Default: depends on the chart.
            height: Height in inches.
            title: Text above the panels; an empty text for none. Default: title of the scenario, if it has one.

        Raises:
            ResultsError: The chart or the label is unknown, an option has no effect on the chart, a number is below 1,
                or there is nothing to draw.
            MissingLibraryError: Matplotlib is not installed.

        """
        from incast.charts.drawn import of_results

        options = {"label": label, "bins": bins, "percentiles": percentiles, "ports": ports, "flows": flows, "vms": vms}
        return of_results(self, chart, options, width=width, height=height, title=title)

    def iterations(self, by: Literal["iteration", "label"] = "iteration") -> Table:
        """Iterations of collectives: times, algorithm and bus bandwidth (`incast.iterations.iterations`)."""
        from incast import iterations

        return iterations.iterations(self, by)

    def alone(self) -> Table:
        """Iteration time of each job next to the other traffic and alone, after a run with `alone`."""
        from incast import alone

        return alone.alone(self)

    def throughput(
        self, by: Literal["vm", "pair", "tenant"] = "vm", direction: Literal["receive", "send"] = "receive"
    ) -> Table:
        """Throughput over time by VM, pair or tenant, with guarantees and optimum (`incast.tenants.throughput`)."""
        from incast import tenants

        return tenants.throughput(self, by, direction)

    def guarantees(self, *, skip: float = 0.25) -> Table:
        """Throughput of each VM relative to its guarantee (`incast.tenants.guarantees`)."""
        from incast import tenants

        return tenants.guarantees(self, skip=skip)

    def sharing(self, *, skip: float = 0.25) -> Table:
        """Guarantees, utilisation and fairness of each scheme (`incast.tenants.sharing`)."""
        from incast import tenants

        return tenants.sharing(self, skip=skip)

    def __getattr__(self, name: str) -> Table:
        """A table by name."""
        if name in declared.tables():
            return self.table(name)
        raise AttributeError(f"results have no attribute or table {name!r}", name=name, obj=self)

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *declared.tables()]


def open_results(path: str | PathLike[str]) -> Results:
    """Open a results folder."""
    with reading(Path(path)):
        results = Results(_core.Folder.open(fspath(path)))
    if not results.manifest["schemes"]:
        raise damaged(f"{results.path / 'manifest.json'} is damaged: it has no scheme", results.path)
    return results
