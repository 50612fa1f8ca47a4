"""A comparison as text, CSV, JSON and Markdown."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from dataclasses import asdict
from typing import Literal

from incast._markdown import table
from incast.charts import look
from incast.comparison.comparison import Bin, Comparison, Flow, Unmatched

DIFFERENCE = "difference (%)"
WIDTH = 24
"""Letters of a column of three percentiles."""
PERCENTILES = ("p50", "p95", "p99")
SIDES: tuple[Literal["reference", "results"], ...] = ("reference", "results")
LISTED = 10
"""Most unmatched flows listed in text; CSV and JSON have all."""


def text(comparison: Comparison, by_flow: int) -> str:
    """The comparison as text."""
    lines = [verdict(comparison), sides(comparison), ""]
    bins = list(rows(comparison))
    if bins:
        heads = [*(comparison.names[side] for side in SIDES), DIFFERENCE]
        lines += [f"{'slowdown':<22}" + "".join(f"{_clipped(head):>{WIDTH}}" for head in heads)]
        lines += [f"{'up to':>14}{'flows':>8}" + 3 * "".join(f"{name:>8}" for name in PERCENTILES)]
        for size, each in bins:
            lines.append(f"{size:>14}{each.flows:>8,}" + "".join(f" {cell:>7}" for cell in cells(each)))
        lines.append("")
    lines += summary(comparison)
    largest = comparison.largest(by_flow)
    if largest:
        lines += ["", "largest differences in completion time:", ""]
        lines += [f"- {which(flow)}: {changed(comparison, flow)}" for flow in largest]
    for side in SIDES:
        lines += alone(comparison, side)
    return "\n".join(lines)


def markdown(comparison: Comparison, by_flow: int) -> str:
    """The comparison as a section of a page."""
    heads = [*(comparison.names[side] for side in SIDES), DIFFERENCE]
    names = [f"{head} {name}" for head in heads for name in PERCENTILES]
    lines = [verdict(comparison), "", sides(comparison), ""]
    bins = [[size, f"{each.flows:,}", *cells(each)] for size, each in rows(comparison)]
    if bins:
        heads = ["up to", "flows", *names]
        lines += [*table(heads, bins, [True] * len(heads)), ""]
    lines += [*(f"- {line}" for line in summary(comparison))]
    largest = comparison.largest(by_flow)
    if largest:
        lines += [
            "",
            *table(("flow", "completion time"), ((which(flow), changed(comparison, flow)) for flow in largest)),
        ]
    for side in SIDES:
        lines += alone(comparison, side)
    return "\n".join(lines)


def as_json(comparison: Comparison, by_flow: int) -> str:
    """The comparison as JSON; of the flows on both sides, only those with the largest differences."""
    first = comparison.first
    tree = {
        "results": str(comparison.results),
        "reference": str(comparison.reference),
        "scheme": comparison.scheme,
        "reference_scheme": comparison.reference_scheme,
        "first_difference": first and asdict(first),
        "summary": asdict(comparison.summary),
        "bins": [_bin(each) for each in comparison.bins],
        "whole": comparison.whole and _bin(comparison.whole),
        "largest": [asdict(flow) for flow in comparison.largest(by_flow)],
        "unmatched": [asdict(flow) for side in SIDES for flow in comparison.unmatched(side)],
    }
    return json.dumps(tree, indent=2)


def as_csv(comparison: Comparison, table: Literal["bins", "flows", "unmatched"]) -> Iterator[str]:
    """A table of the comparison as CSV, in parts."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    if table == "bins":
        sides = ("reference", "results", "difference")
        writer.writerow(
            [
                "bin",
                "flows",
                "size_min_bytes",
                "size_max_bytes",
                *(f"{s}_{name}" for s in sides for name in PERCENTILES),
            ]
        )
        for number, each in enumerate(comparison.bins):
            writer.writerow([number, *_row(each)])
        if comparison.whole:
            writer.writerow(["all", *_row(comparison.whole)])
        yield out.getvalue()
        return
    found = comparison.connection.execute(f"FROM {table}")
    writer.writerow([column[0] for column in found.description])
    while rows := found.fetchmany(10_000):
        writer.writerows(rows)
        yield out.getvalue()
        out.seek(0)
        out.truncate()
    yield out.getvalue()


def verdict(comparison: Comparison) -> str:
    """The first line: identical, or where the difference begins."""
    found = comparison.summary
    first = comparison.first
    if first is None:
        if alone := found.reference_only + found.results_only:
            both = "the flow on both sides finishes" if found.matched == 1 else f"all {found.matched:,} others finish"
            text = f"{counted(alone, 'flow is', 'flows are')} on one side only; {both} at the same time"
        else:
            flows = "the only flow finishes" if found.matched == 1 else f"all {found.matched:,} flows finish"
            text = f"identical: {flows} at the same time"
    else:
        start = "never started" if first.start_ns is None else f"start {us(first.start_ns)}"
        flow = f"{first.src_name} -> {first.dst_name}, {look.size(first.size_bytes)}, {start}"
        share = 100 * found.differing / (found.identical + found.differing)
        text = f"first difference: flow {first.flow} ({flow}) at {us(first.at_ns)}; {share:.3g} % of flows differ"
        if found.median_differing is not None:
            text += f"; median absolute difference of these {found.median_differing:.3g} %"
    if found.unfinished:
        text += f"; {counted(found.unfinished, 'flow finishes', 'flows finish')} on neither side"
    return text


def sides(comparison: Comparison) -> str:
    """The two sides."""
    reference = str(comparison.reference)
    if comparison.reference_scheme is not None:
        reference = f"{comparison.reference_scheme} in {reference}"
    return f"results: {comparison.scheme} in {comparison.results}; reference: {reference}"


def us(ns: float) -> str:
    """A time in microseconds, to the picosecond."""
    return f"{ns / 1000:.6f}".rstrip("0").rstrip(".") + " us"


def counted(number: int, one: str, several: str) -> str:
    """A number with its noun."""
    return f"{number:,} {one if number == 1 else several}"


def rows(comparison: Comparison) -> Iterator[tuple[str, Bin]]:
    """The bins with their labels, and all flows as one bin."""
    for each in comparison.bins:
        yield f"{each.size_max_bytes:,} B", each
    if comparison.whole:
        yield "all", comparison.whole


def cells(each: Bin) -> list[str]:
    """Percentiles of the reference, of the results, and their differences."""
    sides = [f"{getattr(side, name):.3f}" for side in (each.reference, each.results) for name in PERCENTILES]
    return sides + [f"{getattr(each.difference, name):+.2f}" for name in PERCENTILES]


def summary(comparison: Comparison) -> Iterator[str]:
    """Lines about flow-by-flow differences."""
    found = comparison.summary
    reference, results = (_side(comparison, side) for side in SIDES)
    yield (
        f"flows: {found.matched:,} completed on both sides, {found.reference_only:,} only in {reference}, "
        f"{found.results_only:,} only in {results}"
    )
    if found.identical < found.matched:
        yield (
            f"completion times: {found.identical:,} identical; difference: median {found.median_signed:+.2f} %; "
            f"absolute difference: median {found.median:.2f} %, p95 {found.p95:.2f} %, maximum {found.largest:.2f} %"
        )
    if found.other_ideals:
        yield (
            f"ideal times: {found.other_ideals:,} differ by 1 ns or more: rates, delays, headers, forwarding or "
            "last ACKs are not the same on the two sides"
        )
    if comparison.reference_scheme is None:
        script = "at least 1; without the largest flow, as in ns-3"
        yield f"slowdown = completion time / ideal time of {reference}, {script}"
    else:
        yield "slowdown = completion time / ideal time of the same side, at least 1"


def alone(comparison: Comparison, side: Literal["reference", "results"]) -> Iterator[str]:
    """The first flows of one side only."""
    found = comparison.unmatched(side, LISTED)
    if found:
        yield from ("", f"only in {_side(comparison, side)}:", "")
        yield from (f"- {which(flow)}: {flow.why}" for flow in found)
        total = comparison.summary.reference_only if side == "reference" else comparison.summary.results_only
        if total > LISTED:
            yield f"- and {total - LISTED:,} more; --format csv --table unmatched lists all"


def which(flow: Flow | Unmatched) -> str:
    """Description of a flow."""
    start = "never started" if flow.start_ns is None else f"start {flow.start_ns / 1000:.3f} us"
    hosts = f"{flow.src_name or f'host {flow.src}'} -> {flow.dst_name or f'host {flow.dst}'}"
    ports = f"ports {flow.sport} to {flow.dport}"
    return f"{numbered(flow)}: {hosts}, {ports}, {flow.size_bytes:,} B, {start}"


def numbered(flow: Flow | Unmatched) -> str:
    """Number of a flow in the results, otherwise its line or number in the reference."""
    if flow.flow is not None:
        return f"flow {flow.flow}"
    return f"line {flow.line}" if flow.src_name is None else f"flow {flow.line} of the reference"


def changed(comparison: Comparison, flow: Flow) -> str:
    """Completion times of a flow on both sides."""
    names = comparison.names
    reference = "" if comparison.reference_scheme is None else f"{names['reference']} "
    times = f"{reference}{flow.reference_ns / 1000:.3f} us, {names['results']} {flow.results_ns / 1000:.3f} us"
    return f"{times} ({flow.difference:+.2f} %)"


def _side(comparison: Comparison, side: Literal["reference", "results"]) -> str:
    """A side in a sentence."""
    return f"the {side}" if comparison.reference_scheme is None else comparison.names[side]


def _clipped(name: str) -> str:
    """The head of a column, cut to its width."""
    return name if len(name) < WIDTH else f"{name[: WIDTH - 2]}…"


def _bin(each: Bin) -> dict[str, object]:
    return {**asdict(each), "difference": asdict(each.difference)}


def _row(each: Bin) -> list[object]:
    percentiles = [
        getattr(side, name) for side in (each.reference, each.results, each.difference) for name in PERCENTILES
    ]
    return [each.flows, each.size_min_bytes, each.size_max_bytes, *percentiles]
