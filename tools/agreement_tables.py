"""The tables of the page that `agreement.py` writes."""

from __future__ import annotations

import json
import statistics
from collections.abc import Iterator
from dataclasses import astuple, dataclass, fields
from pathlib import Path
from typing import Literal

import incast
from agreement_runs import MOVED_NS, Case, Run, ways
from incast.comparison import Bin, Flow, Percentiles

Percentile = Literal["p50", "p95", "p99"]
PERCENTILES: tuple[Percentile, ...] = ("p50", "p95", "p99")
LIMIT = 5.0
"""Per cent beyond which a difference has to be explained."""
SURE = 2.0
"""Standard errors by which a mean has to be beyond the limit."""
VERDICTS = ("chance", "wires", "open")
"""What a difference can be; the page says what each means."""
NAMES = {
    "dcqcn": "DCQCN",
    "dcqcn_vwin": "DCQCN+w",
    "dcqcn_ackp0": "DCQCN, ACKs paused",
    "hp95ai50": "HPCC-INT 95 %",
    "hp99ai50": "HPCC-INT 99 %",
    "hpccPint95ai50": "HPCC-PINT 95 %",
    "hpccPint99ai50": "HPCC-PINT 99 %",
    "timely": "TIMELY",
    "timely_vwin": "TIMELY+w",
    "dctcp": "DCTCP",
}
"""Our names of the reference's schemes."""


@dataclass
class Mean:
    """By how much the mean of our runs differs from the mean of the runs in the reference's arithmetic, in per cent."""

    difference: float
    error: float
    """Standard error of the difference."""

    @classmethod
    def of(cls, ours: list[float], theirs: list[float]) -> Mean:
        """From the values of either side."""
        mean = statistics.mean(theirs)
        error = statistics.variance(ours) / len(ours) + statistics.variance(theirs) / len(theirs)
        return cls(100 * (statistics.mean(ours) / mean - 1), 100 * error**0.5 / mean)

    def beyond(self) -> bool:
        """Whether it is surely beyond the limit."""
        return abs(self.difference) - SURE * self.error > LIMIT

    def __str__(self) -> str:
        return f"{self.difference:+.1f} ± {self.error:.1f}"


@dataclass
class Compared:
    """A case in every way that we run it."""

    case: Case
    found: dict[str, list[incast.Comparison]]
    """By way, the run of the flows as they are first, then those with starts moved."""

    @classmethod
    def read(cls, case: Case, work: Path, rounds: int) -> Compared:
        """Compare all runs with the reference."""
        return cls(case, {way: [compared(Run(case, way, i), work) for i in range(rounds + 1)] for way in ways(case)})

    @property
    def name(self) -> str:
        """The scheme."""
        return NAMES[self.case.cc]

    @property
    def exact(self) -> incast.Comparison:
        """Our arithmetic, the flows as they are."""
        return self.found["exact"][0]

    def values(self, way: str, number: int | None, percentile: Percentile) -> list[float]:
        """A percentile of a bin, or of all flows, in every run of a way."""
        return [float(getattr(bin_of(each, number).results, percentile)) for each in self.found[way]]

    def mean(self, way: str, number: int | None, percentile: Percentile) -> Mean:
        """How the mean over the runs of a way differs from that in the reference's arithmetic."""
        return Mean.of(self.values(way, number, percentile), self.values("ns3", number, percentile))

    def cells(self) -> Iterator[tuple[int, Percentile]]:
        """Every percentile of every bin that differs by more than the limit."""
        for number, each in enumerate(self.exact.bins):
            for percentile in PERCENTILES:
                if abs(getattr(each.difference, percentile)) > LIMIT:
                    yield number, percentile

    def verdict(self, number: int, percentile: Percentile) -> str:
        """What the difference of a cell is: see the page."""
        ours, theirs = self.values("exact", number, percentile), self.values("ns3", number, percentile)
        overlap = min(ours) <= max(theirs) and min(theirs) <= max(ours)
        mean = self.mean("exact", number, percentile)
        if overlap and not mean.beyond():
            return "chance"
        if "wires" not in self.found:
            return "open"
        left = self.mean("wires", number, percentile).difference
        return "wires" if abs(left) < abs(mean.difference) / 2 else "open"


def compared(run: Run, work: Path) -> incast.Comparison:
    """One of our runs, compared with the reference."""
    return incast.compare(run.folder(work), run.case.fct, within_ns=MOVED_NS)


def bin_of(comparison: incast.Comparison, number: int | None) -> Bin:
    """A bin by number, or all flows."""
    whole = comparison.whole if number is None else comparison.bins[number]
    assert whole is not None
    return whole


def overview(all_: list[Compared]) -> str:
    """One line for each scheme."""
    lines = head(
        "scheme",
        "flows",
        "identical, profile `ns3`",
        *(f"{name} (%)" for name in PERCENTILES),
        "flow by flow, median (%)",
        "of 60 percentiles, beyond 5 %",
        *VERDICTS,
    )
    for each in all_:
        same = each.found["ns3"][0].summary
        verdicts = [each.verdict(*cell) for cell in each.cells()]
        lines.append(
            row(
                each.name,
                f"{same.reference_flows:,}",
                f"{same.identical:,}",
                *(str(each.mean("exact", None, percentile)) for percentile in PERCENTILES),
                f"{each.exact.summary.median_signed:+.2f}",
                len(verdicts),
                *(verdicts.count(kind) for kind in VERDICTS),
            )
        )
    return "\n".join(lines)


def beyond(all_: list[Compared]) -> str:
    """One line for each percentile that differs by more than the limit."""
    lines = head(
        "scheme",
        "up to",
        "",
        "reference",
        "exact",
        "difference (%)",
        "reference's arithmetic, range (%)",
        "exact, range (%)",
        "means (%)",
        "means, wires (%)",
        "what it is",
    )
    for each in all_:
        for number, percentile in each.cells():
            exact = each.exact.bins[number]
            reference = float(getattr(exact.reference, percentile))
            lines.append(
                row(
                    each.name,
                    f"{exact.size_max_bytes:,} B",
                    percentile,
                    f"{reference:.3f}",
                    f"{getattr(exact.results, percentile):.3f}",
                    f"{getattr(exact.difference, percentile):+.1f}",
                    *(spread(each.values(way, number, percentile), reference) for way in ("ns3", "exact")),
                    each.mean("exact", number, percentile),
                    each.mean("wires", number, percentile) if "wires" in each.found else "",
                    each.verdict(number, percentile),
                )
            )
    return "\n".join(lines)


def spread(values: list[float], reference: float) -> str:
    """From where to where values lie, in per cent of the reference."""
    return f"{100 * (min(values) / reference - 1):+.1f} to {100 * (max(values) / reference - 1):+.1f}"


def bins(all_: list[Compared]) -> str:
    """A table by size for each scheme."""
    parts = []
    for each in all_:
        sides = [f"{side} {name}" for side in ("reference", "exact", "(%)", "means (%)") for name in PERCENTILES]
        lines = [f"### {each.name}", "", *head("up to", "flows", *sides)]
        for number in [*range(len(each.exact.bins)), None]:
            exact = bin_of(each.exact, number)
            lines.append(
                row(
                    "all" if number is None else f"{exact.size_max_bytes:,} B",
                    f"{exact.flows:,}",
                    *figures(exact.reference, ".3f"),
                    *figures(exact.results, ".3f"),
                    *figures(exact.difference, "+.1f"),
                    *(each.mean("exact", number, percentile) for percentile in PERCENTILES),
                )
            )
        parts.append("\n".join(lines))
    return "\n\n".join(parts)


def others(cases: list[Case], work: Path) -> str:
    """One line for each other case and scheme, and each port where there are several."""
    lines = head(
        "case",
        "scheme",
        "to port",
        "flows of the reference",
        "on both sides",
        "identical, profile `ns3`",
        *(f"exact, {name} (%)" for name in PERCENTILES),
        "flow by flow, median (%)",
    )
    for case in cases:
        ports = sorted({int(line.split()[3]) for line in case.fct.read_text().splitlines()})
        for port in ports:
            ns3, exact = (
                incast.compare(Run(case, way, 0).folder(work), case.fct, dport=port) for way in ("ns3", "exact")
            )
            percentiles = figures(exact.whole.difference, "+.1f") if exact.whole else [""] * 3
            counts = [exact.summary.reference_flows, exact.summary.matched, ns3.summary.identical]
            median = f"{exact.summary.median_signed:+.2f}"
            names = [case.folder.name, NAMES[case.cc], port]
            lines.append(row(*names, *(f"{count:,}" for count in counts), *percentiles, median))
    return "\n".join(lines)


def marks(all_: list[Compared]) -> str:
    """The flow that differs most of those marked under DCQCN+w: how long it took, by how often it was marked."""
    (case,) = (each for each in all_ if each.case.cc == "dcqcn_vwin")
    tried = ((flow, times_by_marks(case, flow)) for flow in case.exact.largest(case.exact.summary.matched))
    flow, found = next((flow, found) for flow, found in tried if any(sum(by_marks) for by_marks in found))
    lines = [
        f"Host {flow.src} to {flow.dst}, {flow.size_bytes:,} B: {flow.reference_ns / 1000:.0f} us in the reference, "
        f"{flow.results_ns / 1000:.0f} us in exact arithmetic ({flow.difference:+.0f} %).",
        "",
        *head("marks", "reference's arithmetic: runs", "completion time (us)", "exact: runs", "completion time (us)"),
    ]
    for count in sorted({count for by_marks in found for count in by_marks}):
        cells = []
        for by_marks in found:
            times = by_marks.get(count, [])
            cells += [len(times), f"{min(times):.0f} to {max(times):.0f}" if times else ""]
        lines.append(row(count, *cells))
    return "\n".join(lines)


def times_by_marks(case: Compared, flow: Flow) -> list[dict[int, list[float]]]:
    """Completion times of a flow in us by its marks, in all runs in the reference's arithmetic and in ours."""
    found: list[dict[int, list[float]]] = []
    for way in ("ns3", "exact"):
        found.append({})
        for each in case.found[way]:
            rows = each.connection.execute(
                "SELECT marks, fct_ps / 1e6 FROM read_parquet($file) "
                "WHERE (src, dst, size_bytes) = ($src, $dst, $size)",
                {
                    "file": str(each.results / "flows.parquet"),
                    "src": flow.src,
                    "dst": flow.dst,
                    "size": flow.size_bytes,
                },
            ).fetchall()
            for count, fct in rows:
                found[-1].setdefault(count, []).append(fct)
    return found


def smallest(folder: Path) -> str:
    """The smallest scenarios that show a difference, or showed one, in either arithmetic."""
    lines = head("scenario", "flow", "reference's arithmetic (us)", "exact (us)")
    for name in ("wires", "turns"):
        runs = [incast.load(folder / f"{name}.toml", way).run(threads=1).flows for way in (["profile=ns3"], [])]
        for number, (src, dst, size) in enumerate(
            zip(*(runs[0][c] for c in ("src", "dst", "size_bytes")), strict=True)
        ):
            times = [f"{run['fct_ps'][number] / 1e6:.2f}" for run in runs]
            lines.append(row(f"`{name}.toml`", f"{src} to {dst}, {size:,} B", *times))
    return "\n".join(lines)


@dataclass(frozen=True)
class Cost:
    """What a run of the reference took."""

    scheme: str
    packet_hops: int
    """Of data and of ACKs."""
    events: int
    cpu_s: float
    wall_s: float

    @classmethod
    def read(cls, case: Case) -> Cost:
        """From the reference's own counters."""
        meta = json.loads((case.fct.parent / "meta.json").read_text())
        hops = meta["data_packet_hops"] + meta["ack_packet_hops"]
        return cls(NAMES[case.cc], hops, meta["events"], meta["user_s"], meta["wall_s"])


def costs(cases: list[Case]) -> str:
    """What the reference took for each scheme."""
    lines = head("scheme", "packet-hops (M)", "events (M)", "CPU (s)", "wall (s)", "M packet-hops per CPU-second")
    for each in map(Cost.read, cases):
        millions = [f"{count / 1e6:.2f}" for count in (each.packet_hops, each.events)]
        speed = f"{each.packet_hops / each.cpu_s / 1e6:.3f}"
        lines.append(row(each.scheme, *millions, f"{each.cpu_s:.1f}", f"{each.wall_s:.1f}", speed))
    return "\n".join(lines)


def costs_csv(cases: list[Case]) -> str:
    """The same for programs."""
    lines = [",".join(field.name for field in fields(Cost))]
    lines += [",".join(map(str, astuple(Cost.read(case)))) for case in cases]
    return "\n".join(lines) + "\n"


def figures(percentiles: Percentiles, form: str) -> list[str]:
    """Three percentiles as text."""
    return [format(getattr(percentiles, name), form) for name in PERCENTILES]


def head(*names: str) -> list[str]:
    """The first two lines of a table."""
    return [row(*names), row(*("---" for _ in names))]


def row(*words: object) -> str:
    """A line of a table."""
    return f"| {' | '.join(map(str, words))} |"
