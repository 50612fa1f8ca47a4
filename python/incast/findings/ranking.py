"""Order of schemes by a figure: schemes with equal flows, schemes in the lead, and distances of the others."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from incast.charts.source import Source
from incast.findings.words import joined, number

LEAD = 0.01
"""Relative difference from the best scheme below which others share its place (our choice)."""
OTHERS = 3
"""Most other schemes that are named next to the best (our choice)."""


@dataclass(frozen=True)
class Ranking:
    """Schemes in the order of a figure, the lowest first."""

    lead: tuple[str, ...]
    """The best scheme and those within 1 %."""
    lowest: float
    """Figure of the best scheme."""
    others: tuple[tuple[str, float], ...]
    """The other schemes, with their figures."""

    def against(self, shown: Callable[[float], str] = number) -> str:
        """Figures of the other schemes, with their distance from the lowest: of many, the next and the highest."""
        listed = self.others if len(self.others) <= OTHERS else (self.others[0], self.others[-1])
        return joined(f"{shown(value)} under {scheme} ({distance(value, self.lowest)})" for scheme, value in listed)


def ranking(values: Mapping[str, float]) -> Ranking:
    """The ranking of schemes by their figures."""
    ordered: Sequence[tuple[str, float]] = sorted(values.items(), key=lambda each: each[1])
    lowest = ordered[0][1]
    lead = [scheme for scheme, value in ordered if value == lowest or value < lowest * (1 + LEAD)]
    return Ranking(tuple(lead), lowest, tuple(ordered[len(lead) :]))


def classes(source: Source) -> list[list[str]]:
    """Schemes grouped by equal flows: the same starts, completion times and acknowledged bytes of every flow."""
    digests = dict(
        source.rows(
            "select scheme, sum(hash(flow, start_ps, finish_ps, acked_bytes))::varchar from flows group by scheme"
        )
    )
    groups: dict[str | None, list[str]] = {}
    for scheme in source.schemes:
        groups.setdefault(digests.get(scheme), []).append(scheme)
    return list(groups.values())


def distinct(source: Source) -> list[str]:
    """The first scheme of each class."""
    return [same[0] for same in classes(source)]


def distance(value: float, lowest: float) -> str:
    """Distance from the lowest value, as a factor or in percent."""
    if value >= 2 * lowest:
        return f"{number(value / lowest)} times"
    percent = (value / lowest - 1) * 100
    return f"+{percent:.0f} %" if percent >= 9.5 else f"+{percent:.1g} %"
