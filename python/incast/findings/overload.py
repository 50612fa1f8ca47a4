"""Findings about tiers of links that were busy throughout."""

from __future__ import annotations

from collections.abc import Iterator

from incast.charts.fabric import links
from incast.charts.source import Source
from incast.findings.finding import OVERLOAD, Finding
from incast.findings.words import prefix, sentence, share, spread

BUSY = 0.9
"""Smallest mean utilisation of a tier's links that is reported (our choice)."""
LINKS = 2
"""Fewest links of a tier and direction: one busy link is a bottleneck, not an overload (our choice)."""


def overload(source: Source) -> Iterator[Finding]:
    """Tiers with a mean utilisation of 90 % or more, each direction by itself, from the first start to the end.

    Links without traffic count as idle only if another scheme used them.
    """
    sums: dict[tuple[int, int], dict[str, float]] = {}
    ports: dict[tuple[int, int], set[int]] = {}
    for scheme, port, _, _, tier, peer_tier, _, _, utilisation, *_ in links(source):
        between = (tier, peer_tier)
        ports.setdefault(between, set()).add(port)
        by_scheme = sums.setdefault(between, {})
        by_scheme[scheme] = by_scheme.get(scheme, 0.0) + utilisation
    for between, by_scheme in sorted(sums.items()):
        count = len(ports[between])
        busy = {scheme: total / count for scheme, total in by_scheme.items() if total / count >= BUSY}
        if busy and count >= LINKS:
            ends = " to ".join(_tier(tier) for tier in between)
            text = (
                f"{prefix(list(busy), source.schemes)}the {count:,} links from {ends} were {spread(busy, share)} "
                "utilised on average: they limit flows."
            )
            yield Finding("overload", OVERLOAD, sentence(text), tuple(busy))


def _tier(tier: int) -> str:
    return f"tier {tier}" if tier else "hosts"
