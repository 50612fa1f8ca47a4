"""Findings about guarantees of tenants."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from incast import tenants
from incast.charts.source import Source
from incast.findings.finding import GUARANTEES, QUIET, Finding
from incast.findings.words import counted, prefix, sentence, share, spread
from incast.tenants.capacity import carried, excess
from incast.tenants.sharing import TOLERANCE

WHOLE = 0.999
"""Least share that counts as all of a guarantee (our choice: packets are cut at the ends of an interval)."""
DONE = {"receive": "received", "send": "sent"}
Rows = list[dict[str, Any]]


def guarantees(source: Source) -> Iterator[Finding]:
    """VMs that received or sent less than 95 % of their guarantee, and the VM with the lowest share.

    If there are none: the lowest share, and that of the worst interval between samples if it is below 95 %. If the
    links of a server do not carry all guarantees there, this comes first, and 95 % are of the share that they carry.
    """
    if not source.count("throughput"):
        return
    found = [row for each in source.results for row in tenants.guarantees(each).dicts()]
    if not found:
        return
    above = excess(source)
    if above:
        yield Finding("guarantees", GUARANTEES + 1, f"{sentence(above)}.", tuple(source.schemes))
    carries = carried(source) if above else {}
    kept = 1 - TOLERANCE
    broken = [_broken(source, [row for row in found if row["direction"] == one], one, kept, carries) for one in DONE]
    if any(broken):
        yield from (each for each in broken if each)
        return
    of = {scheme: [row for row in found if row["scheme"] == scheme] for scheme in source.schemes}
    of = {scheme: rows for scheme, rows in of.items() if rows}
    least = {scheme: min(row["satisfaction"] for row in rows) for scheme, rows in of.items()}
    worst = {scheme: min(row["worst"] for row in rows) for scheme, rows in of.items()}
    whole = min(least.values()) >= WHOLE
    text = f"Every VM received and sent {'all' if whole else f'at least {spread(least, share)}'} of its guarantee"
    if min(worst.values()) < kept:
        text += f", in its worst interval between samples {spread(worst, share)}"
    yield Finding("guarantees", QUIET + 1, f"{text}.", tuple(of))


def _broken(
    source: Source, rows: Rows, direction: str, kept: float, carries: Mapping[tuple[str, str, str], float]
) -> Finding | None:
    """The finding about VMs below their guarantee in one direction, if there are any.

    `carries` has the share of it that the links carry, by scheme, host and direction, if not all.
    """
    of = {scheme: [row for row in rows if row["scheme"] == scheme] for scheme in source.schemes}
    below = {
        scheme: sum(row["satisfaction"] < kept * carries.get((scheme, row["name"], direction), 1) for row in mine)
        for scheme, mine in of.items()
    }
    below = {scheme: count for scheme, count in below.items() if count}
    if not below:
        return None
    judged = spread({scheme: len(of[scheme]) for scheme in below})
    worst = min(rows, key=lambda row: row["satisfaction"])
    who = f"VM {worst['vm']} of {worst['tenant']}" + (f", {worst['scheme']}" if len(below) > 1 else "")
    what = "the share of their guarantee that the links carry" if carries else "the guaranteed throughput"
    of_it = " of the guarantee" if carries else ""
    text = (
        f"{prefix(list(below), source.schemes)}{counted(below, 'VM')} of {judged} {DONE[direction]} less than "
        f"{share(kept)} of {what}; the lowest share{of_it} was {share(worst['satisfaction'])} ({who})."
    )
    return Finding("guarantees", GUARANTEES - (direction == "send"), text, tuple(below))
