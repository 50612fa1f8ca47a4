"""Findings about guarantees of tenants."""

from __future__ import annotations

from collections.abc import Iterator

from incast import tenants
from incast.charts.source import Source
from incast.findings.finding import GUARANTEES, QUIET, Finding
from incast.findings.words import counted, prefix, share, spread
from incast.tenants.sharing import TOLERANCE


def guarantees(source: Source) -> Iterator[Finding]:
    """VMs that received less than 95 % of their guarantee, and the VM that received least of it."""
    if not source.count("throughput"):
        return
    found = [
        row for each in source.results for row in tenants.guarantees(each).dicts() if row["direction"] == "receive"
    ]
    if not found:
        return
    kept = 1 - TOLERANCE
    of = {scheme: [row for row in found if row["scheme"] == scheme] for scheme in source.schemes}
    of = {scheme: rows for scheme, rows in of.items() if rows}
    below = {scheme: sum(row["satisfaction"] < kept for row in rows) for scheme, rows in of.items()}
    below = {scheme: count for scheme, count in below.items() if count}
    if below:
        judged = spread({scheme: len(of[scheme]) for scheme in below})
        worst = min(found, key=lambda row: row["satisfaction"])
        who = f"VM {worst['vm']} of {worst['tenant']}" + (f", {worst['scheme']}" if len(below) > 1 else "")
        text = (
            f"{prefix(list(below), source.schemes)}{counted(below, 'VM')} of {judged} received less than "
            f"{share(kept)} of the guaranteed throughput; the "
            f"lowest share was {share(worst['satisfaction'])} ({who})."
        )
        yield Finding("guarantees", GUARANTEES, text, tuple(below))
    else:
        least = {scheme: min(row["satisfaction"] for row in rows) for scheme, rows in of.items()}
        text = f"Every VM received at least {spread(least, share)} of its guarantee."
        yield Finding("guarantees", QUIET + 1, text, tuple(of))
