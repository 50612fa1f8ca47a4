"""Findings about runs without incident."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from incast.charts.source import Source
from incast.findings.finding import QUIET, Finding


def quiet(source: Source) -> Iterator[Finding]:
    """A run in which all flows completed or were cancelled, without a dropped packet, under every scheme."""
    manifests = source.manifests.values()
    calm = all(each["stop"]["reason"] == "finished" and not each["counts"]["drops"] for each in manifests)
    if not calm or not any(each["completed"] for each in manifests):
        return
    completed = [int(each["completed"]) for each in manifests]
    cancelled = [int(each["stop"].get("cancelled", 0)) for each in manifests]
    counts = _range(completed)
    if any(cancelled):
        were = "was" if max(cancelled) == 1 else "were"
        which, others = (
            f"All started flows ({counts})",
            f"; {_range(cancelled)} {were} cancelled at the end of their workload entry",
        )
    else:
        which, others = f"All {counts} flows" if max(completed) > 1 else "The flow", ""
    paused = "" if any(each["counts"].get("pauses") for each in manifests) else "; no port was paused"
    text = f"{which} completed without a dropped packet{others}{paused}."
    yield Finding("quiet", QUIET, text, tuple(source.schemes))


def _range(counts: Sequence[int]) -> str:
    """The count of all schemes, or the lowest and the highest."""
    low, high = min(counts), max(counts)
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"
