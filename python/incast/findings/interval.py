"""The interval that shares of time count from: one for all schemes, so that they can be compared."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from incast.charts.source import Source
from incast.findings.words import counted, share, spread, time


@dataclass(frozen=True)
class Interval:
    """A length of time with its name."""

    ps: int
    name: str
    """`the run`, or `the longest run, 11.4 ms`."""

    def longest(self, ports: Mapping[str, int], paused_ps: Mapping[str, int]) -> str:
        """Number of paused ports by scheme, and times of the port paused longest: `2 ports, the longest for 5 us`."""
        which = "the longest " if max(ports.values()) > 1 else ""
        up_to = "up to " if len(set(paused_ps.values())) > 1 else ""
        part = f"{up_to}{share(max(paused_ps.values()) / self.ps)} of {self.name}"
        return f"{counted(ports, 'port')}, {which}for {spread(paused_ps, time)}, {part}"


def runs(source: Source) -> dict[str, int]:
    """Time from the first start of a flow or pause to the end of the run, by scheme, at least 1 ps."""
    return {name: max(1, int(each["end_ps"]) - source.begins.get(name, 0)) for name, each in source.manifests.items()}


def longest_run(source: Source) -> Interval:
    """The longest run of a scheme.

    One slow flow makes a run much longer: of each scheme's own run, the same pauses would be a smaller share.
    """
    found = runs(source)
    ps = max(found.values())
    return Interval(ps, "the run" if len(set(found.values())) == 1 else f"the longest run, {time(ps)}")
