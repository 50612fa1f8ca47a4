"""Findings about jobs that were also simulated without the other traffic."""

from __future__ import annotations

from collections.abc import Iterator

from incast.alone import FOLDER, alone
from incast.charts.source import Source
from incast.findings.finding import COMPARISON, Finding
from incast.findings.words import spread


def jobs(source: Source) -> Iterator[Finding]:
    """How many times as long as alone a job's iterations take next to the other traffic (`incast run --alone`)."""
    slowdowns: dict[str, dict[str, float]] = {}
    for results in source.results:
        if (results.path / FOLDER).is_dir():
            for row in alone(results).dicts():
                slowdowns.setdefault(row["label"], {})[row["scheme"]] = row["slowdown"]
    for label, values in slowdowns.items():
        slowdown = spread(values)
        long = "as long as" if slowdown == "1" else f"{slowdown} times as long as"
        text = f"Next to the other traffic, iterations of job {label} take {long} alone."
        yield Finding("alone", COMPARISON + 1, text, tuple(values))
