"""Sharing of a network by tenants, as text."""

from __future__ import annotations

from collections.abc import Sequence

from incast.charts.source import Source
from incast.results import Results
from incast.tenants.sharing import TOLERANCE, sharing
from incast.tenants.window import part

HEAD = ("tenants", "VMs", "below", "least", "throughput", "of optimum", "Jain, VMs", "Jain, pairs", "messages")


def text(results: Results) -> str:
    """One line for each scheme, with a legend."""
    rows = [HEAD]
    for row in sharing(results).dicts():
        share = row["message_share"]
        rows.append((
            row["scheme"],
            str(row["vms"]),
            str(row["below"]) if row["vms"] else "-",
            _share(row["least"]),
            "-" if row["wire_bps"] is None else f"{row['wire_bps'] / 1e6:,.0f} Mb/s",
            _share(row["utilisation"]),
            _index(row["jain_vms"]),
            _index(row["jain_pairs"]),
            "-" if share is None else f"{100 * share:.2g} %",
        ))  # fmt: skip
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = [_line(row, widths) for row in rows]
    about = (
        f"VMs: with a guarantee and traffic to receive; below: received less than {100 - 100 * TOLERANCE:g} % of it;",
        "least: lowest received / guaranteed; throughput: between servers;",
        "of optimum: / sum of max-min rates on the links; above 100 %, pairs get less than their max-min rate;",
        "messages: between hypervisors, / throughput.",
        _part(results),
    )
    return "\n".join((*lines, *about))


def _part(results: Results) -> str:
    """The part of the run that the figures cover."""
    source = Source([results])
    try:
        return part(source)
    finally:
        source.close()


def _line(row: Sequence[str], widths: Sequence[int]) -> str:
    padded = [cell.rjust(width) for cell, width in zip(row, widths, strict=True)]
    return "  ".join((row[0].ljust(widths[0]), *padded[1:]))


def _share(value: float | None) -> str:
    return "-" if value is None else f"{100 * value:.4g} %"


def _index(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"
