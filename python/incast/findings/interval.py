"""The runs that shares of time are of."""

from __future__ import annotations

from collections.abc import Mapping

from incast.charts.source import Source
from incast.findings.words import counted, share, spread, time


def runs(source: Source) -> dict[str, int]:
    """Time from the first start of a flow or pause to the end of the run, by scheme, at least 1 ps."""
    return {name: max(1, int(each["end_ps"]) - source.begins.get(name, 0)) for name, each in source.manifests.items()}


def shares_of(source: Source, times_ps: Mapping[str, int]) -> dict[str, float]:
    """Times of schemes as shares of their own runs: of a common one, a slow flow under one scheme would hide others."""
    spans = runs(source)
    return {scheme: ps / spans[scheme] for scheme, ps in times_ps.items()}


def longest_pause(source: Source, ports: Mapping[str, int], paused_ps: Mapping[str, int]) -> str:
    """Number of paused ports by scheme, and times of the port paused longest: `2 ports, the longest for 5 us, ...`."""
    spans, shares = runs(source), shares_of(source, paused_ps)
    most = max(shares, key=lambda scheme: shares[scheme])
    alike = len(set(spans.values())) == 1
    of = f" of {most}" if len(shares) > 1 else ""
    run = "the run" if alike else f"the run{of}, {time(spans[most])}"
    which = "the longest " if max(ports.values()) > 1 else ""
    up_to = "up to " if len(set(shares.values())) > 1 else ""
    return f"{counted(ports, 'port')}, {which}for {spread(paused_ps, time)}, {up_to}{share(shares[most])} of {run}"
