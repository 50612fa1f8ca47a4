"""Findings about runs without incident."""

from __future__ import annotations

from collections.abc import Iterator

from incast.charts.source import Source
from incast.findings.finding import QUIET, Finding


def quiet(source: Source) -> Iterator[Finding]:
    """A run in which all flows completed without a dropped packet, under every scheme."""
    manifests = source.manifests.values()
    calm = all(each["stop"]["reason"] == "finished" and not each["counts"]["drops"] for each in manifests)
    if not calm:
        return
    flows = max((int(each["completed"]) for each in manifests), default=0)
    paused = "" if any(each["counts"].get("pauses") for each in manifests) else "; no port was paused"
    which = f"All {flows:,} flows" if flows > 1 else "The flow"
    text = f"{which} completed without a dropped packet{paused}."
    yield Finding("quiet", QUIET, text, tuple(source.schemes))
