"""Findings about PFC deadlocks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from incast.charts.source import Source
from incast.findings.finding import DEADLOCK, Finding
from incast.findings.words import count, joined, prefix, sentence, time

QUEUES = 6
"""Most queues of a cycle that are named (our choice)."""


def deadlocks(source: Source) -> Iterator[Finding]:
    """Cycle, start and end of the first deadlock of each scheme; schemes with the same deadlock share a finding."""
    found: dict[str, list[str]] = {}
    for scheme, manifest in source.manifests.items():
        if mine := manifest.get("deadlocks"):
            found.setdefault(_text(mine), []).append(scheme)
    for text, schemes in found.items():
        yield Finding("deadlock", DEADLOCK, sentence(prefix(schemes, source.schemes) + text), tuple(schemes))


def _text(found: list[dict[str, Any]]) -> str:
    first = found[0]
    cycle = joined((f"{queue['node']} to {queue['peer']}" for queue in first["cycle"]), QUEUES)
    end = time(first["ended_ps"]) if first.get("ended_ps") else "the end of the run"
    stuck = [count(first["stuck_queues"], "queue") + " of switches"]
    if first["stuck_hosts"]:
        stuck.append(count(first["stuck_hosts"], "host port"))
    more = f"; {count(len(found) - 1, 'more deadlock')} followed" if len(found) > 1 else ""
    return (
        f"deadlock from {time(first['closed_ps'])} to {end}: {count(len(first['cycle']), 'paused queue')} wait for "
        f"each other ({cycle}); {joined(stuck)} were stuck{more}."
    )
