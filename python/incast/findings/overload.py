"""Findings about tiers of links that were busy throughout."""

from __future__ import annotations

from collections.abc import Iterator

from incast.charts.fabric import links
from incast.charts.source import Source
from incast.findings.finding import OVERLOAD, Finding
from incast.findings.interval import runs
from incast.findings.words import prefix, sentence, share, spread, time

BUSY = 0.9
"""Smallest mean utilisation of a tier's links that is reported (our choice)."""
LINKS = 2
"""Fewest links of a tier and direction: one busy link is a bottleneck, not an overload (our choice)."""


def overload(source: Source) -> Iterator[Finding]:
    """Tiers with a mean utilisation of 90 % or more, each direction by itself, from the first start to the end.

    Each scheme by its own run: of a common one, a slow flow under one scheme would hide the load of all. If these
    differ, the finding has their lengths. Links without traffic count as idle only if another scheme used them.
    """
    spans = runs(source)
    sums: dict[tuple[int, int], dict[str, float]] = {}
    ports: dict[tuple[int, int], set[int]] = {}
    for scheme, port, _, _, tier, peer_tier, rate_bps, tx_bytes, *_ in links(source):
        utilisation = tx_bytes * 8e12 / (rate_bps * spans[scheme])
        between = (tier, peer_tier)
        ports.setdefault(between, set()).add(port)
        by_scheme = sums.setdefault(between, {})
        by_scheme[scheme] = by_scheme.get(scheme, 0.0) + utilisation
    for between, by_scheme in sorted(sums.items()):
        count = len(ports[between])
        busy = {scheme: total / count for scheme, total in by_scheme.items() if total / count >= BUSY}
        if busy and count >= LINKS:
            ends = " to ".join(_tier(tier) for tier in between)
            differ = len(set(spans.values())) > 1
            lengths = {scheme: spans[scheme] for scheme in busy}
            noun = "a run" if len(set(lengths.values())) == 1 else "runs"
            whole = f" over {noun} of {spread(lengths, time)}" if differ else ""
            text = (
                f"{prefix(list(busy), source.schemes)}the {count:,} links from {ends} were {spread(busy, share)} "
                f"utilised on average{whole}"
            )
            dropped = _dropped(source, list(busy))
            text += f", but {share(dropped)} of hosts' packets were dropped." if dropped else ": they limit flows."
            yield Finding("overload", OVERLOAD, sentence(text), tuple(busy))


def _dropped(source: Source, schemes: list[str]) -> float:
    """Largest dropped share of the packets that hosts sent, if so large that other links limit flows; else 0."""
    if not any(int(source.manifests[scheme]["counts"]["drops"]) for scheme in schemes):
        return 0.0
    sent = dict(source.rows("select scheme, sum(tx_packets) from ports where tier = 0 group by scheme"))
    shares = [int(source.manifests[scheme]["counts"]["drops"]) / max(1, int(sent.get(scheme, 0))) for scheme in schemes]
    return max(shares) if max(shares) > 1 - BUSY else 0.0


def _tier(tier: int) -> str:
    return f"tier {tier}" if tier else "hosts"
