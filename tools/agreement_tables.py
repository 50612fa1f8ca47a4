"""The tables that `agreement.py` writes."""

from __future__ import annotations

import json
import statistics
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

import incast
from agreement_runs import MOVED_NS, Case, Run, ways
from incast._markdown import table
from incast.comparison import Bin, Flow, Percentiles

Percentile = Literal["p50", "p95", "p99"]
PERCENTILES: tuple[Percentile, ...] = ("p50", "p95", "p99")
LIMIT = 5.0
"""Differences above this, in per cent, need an explanation."""
SURE = 2.0
"""Standard errors above the limit at which a difference of means counts."""
CAUSES = ("chance", "links", "open")
"""Causes of a difference; docs/design/agreement.md explains each."""
Row = dict[str, Any]
"""A row of a table by column name."""
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
"""incast's names of the schemes."""


@dataclass
class Mean:
    """Difference of means, `exact` or equally fast links against the `ns3` profile, in per cent."""

    difference: float
    error: float
    """Standard error of the difference."""

    @classmethod
    def of(cls, ours: list[float], theirs: list[float]) -> Mean:
        """Difference of two samples."""
        mean = statistics.mean(theirs)
        error = statistics.variance(ours) / len(ours) + statistics.variance(theirs) / len(theirs)
        return cls(100 * (statistics.mean(ours) / mean - 1), 100 * error**0.5 / mean)

    def beyond(self) -> bool:
        """Returns true if the difference is above the limit by enough standard errors."""
        return abs(self.difference) - SURE * self.error > LIMIT


@dataclass
class Compared:
    """A case with all of its runs."""

    case: Case
    found: dict[str, list[incast.Comparison]]
    """Comparisons by kind of run: first the unchanged run, then those with moved starts."""

    @classmethod
    def read(cls, case: Case, work: Path, rounds: int) -> Compared:
        """Compares all runs with the HPCC authors' ns-3."""
        return cls(case, {way: [compared(Run(case, way, i), work) for i in range(rounds + 1)] for way in ways(case)})

    @property
    def name(self) -> str:
        """The scheme."""
        return NAMES[self.case.cc]

    @property
    def exact(self) -> incast.Comparison:
        """The unchanged run in exact arithmetic."""
        return self.found["exact"][0]

    def values(self, way: str, number: int | None, percentile: Percentile) -> list[float]:
        """A percentile of a bin, or of all flows, in every run of a kind."""
        return [float(getattr(bin_of(each, number).results, percentile)) for each in self.found[way]]

    def mean(self, way: str, number: int | None, percentile: Percentile) -> Mean:
        """Difference between the mean of a kind of run and the mean of the `ns3` runs."""
        return Mean.of(self.values(way, number, percentile), self.values("ns3", number, percentile))

    def cells(self) -> Iterator[tuple[int, Percentile]]:
        """Percentiles of bins that differ by more than the limit."""
        for number, each in enumerate(self.exact.bins):
            for percentile in PERCENTILES:
                if abs(getattr(each.difference, percentile)) > LIMIT:
                    yield number, percentile

    def cause(self, number: int, percentile: Percentile) -> str:
        """Cause of the difference of a cell."""
        ours, theirs = self.values("exact", number, percentile), self.values("ns3", number, percentile)
        overlap = min(ours) <= max(theirs) and min(theirs) <= max(ours)
        mean = self.mean("exact", number, percentile)
        if overlap and not mean.beyond():
            return "chance"
        if "wires" not in self.found:
            return "open"
        left = self.mean("wires", number, percentile).difference
        return "links" if abs(left) < abs(mean.difference) / 2 else "open"


def compared(run: Run, work: Path) -> incast.Comparison:
    """Compares one run with the HPCC authors' ns-3."""
    return incast.compare(run.folder(work), run.case.fct, within_ns=MOVED_NS)


def bin_of(comparison: incast.Comparison, number: int | None) -> Bin:
    """A bin by number, or all flows."""
    whole = comparison.whole if number is None else comparison.bins[number]
    assert whole is not None
    return whole


def overview(all_: list[Compared]) -> list[Row]:
    """One row for each scheme."""
    rows = []
    for each in all_:
        same = each.found["ns3"][0].summary
        causes = [each.cause(*cell) for cell in each.cells()]
        rows.append(
            {
                "scheme": each.name,
                "flows": same.reference_flows,
                "identical_ns3": same.identical,
                **means(each, None),
                "flow_median_pct": f"{each.exact.summary.median_signed:.2f}",
                "beyond_5_pct": len(causes),
                **{kind: causes.count(kind) for kind in CAUSES},
            }
        )
    return rows


def overview_table(rows: list[dict[str, str]]) -> str:
    """The rows of `overview.csv` as the table of docs/design/agreement.md."""
    names = (
        "Scheme",
        "Flows",
        "Identical, `ns3`",
        *(f"{name} (%)" for name in PERCENTILES),
        "Median flow (%)",
        "> 5 %",
        *(kind.capitalize() for kind in CAUSES),
    )
    cells = []
    for row in rows:
        percentiles = (f"{row[f'{name}_mean_pct']} ± {row[f'{name}_mean_error_pct']}" for name in PERCENTILES)
        counts = (row[name] for name in ("flow_median_pct", "beyond_5_pct", *CAUSES))
        cells.append((row["scheme"], row["flows"], row["identical_ns3"], *percentiles, *counts))
    return "\n".join(table(names, cells))


def beyond(all_: list[Compared]) -> list[Row]:
    """One row for each percentile that differs by more than the limit."""
    rows = []
    for each in all_:
        for number, percentile in each.cells():
            exact = each.exact.bins[number]
            reference = float(getattr(exact.reference, percentile))
            mean = each.mean("exact", number, percentile)
            links = each.mean("wires", number, percentile) if "wires" in each.found else None
            rows.append(
                {
                    "scheme": each.name,
                    "size_max_bytes": exact.size_max_bytes,
                    "percentile": percentile,
                    "hpcc_ns3": f"{reference:.3f}",
                    "exact": f"{getattr(exact.results, percentile):.3f}",
                    "difference_pct": f"{getattr(exact.difference, percentile):.1f}",
                    **spread("ns3", each.values("ns3", number, percentile), reference),
                    **spread("exact", each.values("exact", number, percentile), reference),
                    "mean_pct": f"{mean.difference:.1f}",
                    "mean_error_pct": f"{mean.error:.1f}",
                    "links_mean_pct": f"{links.difference:.1f}" if links else "",
                    "links_mean_error_pct": f"{links.error:.1f}" if links else "",
                    "cause": each.cause(number, percentile),
                }
            )
    return rows


def spread(name: str, values: list[float], reference: float) -> Row:
    """Least and greatest of the values, in per cent of the HPCC authors' value."""
    return {
        f"{name}_least_pct": f"{100 * (min(values) / reference - 1):.1f}",
        f"{name}_greatest_pct": f"{100 * (max(values) / reference - 1):.1f}",
    }


def bins(all_: list[Compared]) -> list[Row]:
    """One row for each scheme and size bin, and one without a size for all flows."""
    rows = []
    for each in all_:
        for number in [*range(len(each.exact.bins)), None]:
            exact = bin_of(each.exact, number)
            rows.append(
                {
                    "scheme": each.name,
                    "size_max_bytes": "" if number is None else exact.size_max_bytes,
                    "flows": exact.flows,
                    **figures("hpcc_ns3_{}", exact.reference, ".3f"),
                    **figures("exact_{}", exact.results, ".3f"),
                    **figures("{}_difference_pct", exact.difference, ".1f"),
                    **means(each, number),
                }
            )
    return rows


def means(each: Compared, number: int | None) -> Row:
    """Difference of the means, and its standard error, for each percentile."""
    row: Row = {}
    for name in PERCENTILES:
        mean = each.mean("exact", number, name)
        row[f"{name}_mean_pct"] = f"{mean.difference:.1f}"
        row[f"{name}_mean_error_pct"] = f"{mean.error:.1f}"
    return row


def others(cases: list[Case], work: Path) -> list[Row]:
    """One row for each other case, scheme and destination port."""
    rows = []
    for case in cases:
        ports = sorted({int(line.split()[3]) for line in case.fct.read_text().splitlines()})
        for port in ports:
            ns3, exact = (
                incast.compare(Run(case, way, 0).folder(work), case.fct, dport=port) for way in ("ns3", "exact")
            )
            rows.append(
                {
                    "case": case.folder.name,
                    "scheme": NAMES[case.cc],
                    "dport": port,
                    "hpcc_ns3_flows": exact.summary.reference_flows,
                    "matched": exact.summary.matched,
                    "identical_ns3": ns3.summary.identical,
                    **figures("{}_difference_pct", exact.whole.difference if exact.whole else None, ".1f"),
                    "flow_median_pct": f"{exact.summary.median_signed:.2f}",
                }
            )
    return rows


def marks(all_: list[Compared]) -> list[Row]:
    """The marked DCQCN+w flow that differs most: completion times by number of marks."""
    (case,) = (each for each in all_ if each.case.cc == "dcqcn_vwin")
    tried = ((flow, times_by_marks(case, flow)) for flow in case.exact.largest(case.exact.summary.matched))
    flow, found = next((flow, found) for flow, found in tried if any(sum(by_marks) for by_marks in found))
    rows = []
    for count in sorted({count for by_marks in found for count in by_marks}):
        row: Row = {"src": flow.src, "dst": flow.dst, "size_bytes": flow.size_bytes, "marks": count}
        for name, by_marks in zip(("ns3", "exact"), found, strict=True):
            times = by_marks.get(count, [])
            row[f"{name}_runs"] = len(times)
            row[f"{name}_least_us"] = f"{min(times):.0f}" if times else ""
            row[f"{name}_greatest_us"] = f"{max(times):.0f}" if times else ""
        rows.append(row)
    return rows


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


def smallest(folder: Path) -> list[Row]:
    """The flows of the smallest scenarios, in both arithmetics."""
    rows = []
    for name in ("wires", "turns"):
        ns3, exact = (
            incast.load(folder / f"{name}.toml", options).run(threads=1).flows for options in (["profile=ns3"], [])
        )
        flows = zip(*(ns3[column] for column in ("src", "dst", "size_bytes", "fct_ps")), exact["fct_ps"], strict=True)
        for src, dst, size, theirs, ours in flows:
            times = {"ns3_us": f"{theirs / 1e6:.2f}", "exact_us": f"{ours / 1e6:.2f}"}
            rows.append({"scenario": name, "src": src, "dst": dst, "size_bytes": size, **times})
    return rows


@dataclass(frozen=True)
class Cost:
    """CPU time and size of a run of the HPCC authors' ns-3."""

    scheme: str
    packet_hops: int
    """Packet-hops of data and of ACKs."""
    events: int
    cpu_s: float
    wall_s: float

    @classmethod
    def read(cls, case: Case) -> Cost:
        """From the counters of the HPCC authors' ns-3."""
        meta = json.loads((case.fct.parent / "meta.json").read_text())
        hops = meta["data_packet_hops"] + meta["ack_packet_hops"]
        return cls(NAMES[case.cc], hops, meta["events"], meta["user_s"], meta["wall_s"])


def costs(cases: list[Case]) -> list[Row]:
    """CPU time of the HPCC authors' ns-3 for each scheme."""
    return [asdict(Cost.read(case)) for case in cases]


def figures(names: str, percentiles: Percentiles | None, form: str) -> Row:
    """Three percentiles by column name; empty if there are none."""
    values = {name: "" if percentiles is None else format(getattr(percentiles, name), form) for name in PERCENTILES}
    return {names.format(name): value for name, value in values.items()}
