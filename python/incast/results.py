"""Results folders."""

from __future__ import annotations

import json
import operator
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from os import PathLike, fspath
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Literal

from incast import _core, _input, declared
from incast._echo import shell
from incast._nearest import hint, keywords
from incast.errors import DamagedError, ResultsError
from incast.integrity import damaged, reading
from incast.table import Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from incast.charts.kinds import Kind
    from incast.findings import Finding
    from incast.scenario import Scenario

ALL = "all"
"""Stands for the flows of all labels together, where a label is meant."""
IDEALS = ("hpcc", "exact")
"""Kinds of ideal completion times."""
MOST_FLOWS = (1 << 25) - 1
"""Most flows of a run (`incast_model::flow::MAX_FLOWS`). A file of few MB can have many more rows."""
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
        from incast import unreached
        from incast.tenants import capacity

        return [*self._folder.warnings(), *unreached.warnings(self), *capacity.warnings(self)]

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
            bins: Number of bins by size, at least 1, with about equally many flows. All flows of a size are in one bin,
                so flows of few sizes have fewer bins. Numbers above that of the run's flows have the effect of that.
            ideal: Ideal completion time. `hpcc`, as in the HPCC evaluation: base RTT + payload and basic headers at the
                slowest link. `exact`: the flow alone on its path, with its real packets; no run is faster.
            clamp: Count slowdowns below 1 as 1.
            label: Only flows with this label; `"all"` mixes the flows of all labels. Default: each label by itself.

        Raises:
            ResultsError: No flow has the label, `bins` is below 1 or not a whole number, or `ideal` is unknown.

        """
        if label is not None and not isinstance(label, str):
            raise ResultsError(f"label must be a text, got {label!r}")
        groups = None if label is None else [(label, [] if label == ALL else [label])]
        if ideal not in IDEALS:
            raise ResultsError(
                f"no ideal completion time is named `{ideal}`, only {', '.join(IDEALS)}{hint(ideal, IDEALS)}"
            )
        table = self._slowdown(groups, bins=bins, ideal=ideal, clamp=clamp)
        if label is not None and not len(table):
            check_label(self.path, label, list(dict.fromkeys(self.table("flows")["label"])))
        return table

    def _slowdown(self, groups: Sequence[tuple[str, Sequence[str]]] | None, *, bins: int, **options: Any) -> Table:
        """Slowdowns of groups of labels, each with a name; a group of none has all flows."""
        given = json.dumps({"bins": self._bins(bins), **options})
        with self._reading_flows():
            return Table(self._folder.slowdown(given, groups), "slowdown")

    def _bins(self, bins: int) -> int:
        """A number of bins, at most that of the flows; bins without flows would only take time."""
        try:
            whole = operator.index(bins)
        except TypeError:
            raise ResultsError(f"bins must be a whole number, got {bins!r}") from None
        if whole < 1:
            raise ResultsError(f"bins must be at least 1, got {whole}")
        return min(whole, max(1, int(self.manifest["flows"])))

    def slowdown_text(self, *, bins: int = 20) -> str:
        """Slowdowns as text: schemes side by side, a block for each label."""
        given = json.dumps({"bins": self._bins(bins)})
        with self._reading_flows():
            return self._folder.slowdown_text(given)

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
            width: Width in inches, at least 2. Default: depends on the chart.
            height: Height in inches.
            title: Text above the panels; an empty text for none. Default: title of the scenario, if it has one.

        Raises:
            ResultsError: The chart, a percentile or the label is unknown, an option has no effect on the chart, a
                number is below 1, the figure is too small, or there is nothing to draw.
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
        return sorted({*super().__dir__(), *declared.tables()})

    def __copy__(self) -> Results:
        return Results(self._folder, self._keep)

    def __deepcopy__(self, _: dict[int, Any]) -> Results:
        return self.__copy__()

    def __reduce__(self) -> tuple[Callable[[str], Results], tuple[str]]:
        """For other processes, which open the folder again."""
        if self._keep is not None:
            raise ResultsError(
                f"{self.path}: these results cannot be pickled, because their temporary folder is deleted with them; "
                'name a folder: scenario.run("results/mine")'
            )
        return open_results, (fspath(self.path.absolute()),)


def check_label(path: Path, label: str, known: Sequence[str]) -> None:
    """Raise `ResultsError` for a label that is neither known nor `"all"`."""
    if label != ALL and label not in known:
        only = f"only {', '.join(known)}{hint(label, known)}" if known else "because it has no flows"
        raise ResultsError(f"{path} has no flows labelled `{label}`, {only}; {ALL} takes all flows")


def open_results(path: str | PathLike[str]) -> Results:
    """Open a results folder."""
    try:
        with reading(Path(path)):
            results = Results(_core.Folder.open(fspath(path)))
    except DamagedError:
        raise
    except ResultsError:
        if what := _other_kind(Path(path)):
            raise ResultsError(f"{path} is {what}") from None
        raise
    if not results.manifest["schemes"]:
        raise damaged(f"{results.path / 'manifest.json'} is damaged: it has no scheme", results.path)
    rows = int(results.manifest["tables"].get("flows", {}).get("rows", 0))
    if rows > MOST_FLOWS * len(results.manifest["schemes"]):
        why = f"it has {rows:,} rows, but a scheme at most {MOST_FLOWS:,} flows"
        raise damaged(f"{results.path / 'flows.parquet'} is damaged: {why}", results.path)
    return results


def _other_kind(path: Path) -> str | None:
    """Kind of a path that is not a results folder, and what to use; `None` for all others."""
    if (path / "sweep.json").is_file():
        return (
            f"a sweep, not the results of one run: its runs are the folders in {path / 'runs'}; `incast results "
            f"{shell(path)}`, `incast plot {shell(path)} over` and `incast report {shell(path)}` show all"
        )
    if (path / "study.json").is_file():
        return (
            f"the results of a study, not of one run: `incast study show {shell(path)}` and "
            f"`incast report {shell(path)}` show them"
        )
    if path.is_file() and (path.parent / "manifest.json").is_file():
        return f"a file of results: name its folder, {path.parent}"
    if path.is_file():
        return "a file, not the folder of results: `incast run` writes such a folder for a scenario"
    return None
