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
        if not busy or count < LINKS:
            continue
        between_tiers = f"the {count:,} links from {' to '.join(map(_tier, between))}"
        dropped = _dropped(source, list(busy))
        for schemes in ([name for name in busy if name not in dropped], [name for name in busy if name in dropped]):
            if not schemes:
                continue
            lengths = {scheme: spans[scheme] for scheme in schemes}
            noun = "a run" if len(set(lengths.values())) == 1 else "runs"
            whole = f" over {noun} of {spread(lengths, time)}" if len(set(spans.values())) > 1 else ""
            used = spread({scheme: busy[scheme] for scheme in schemes}, share)
            lost = spread({scheme: dropped[scheme] for scheme in schemes if scheme in dropped}, share)
            text = f"{prefix(schemes, source.schemes)}{between_tiers} were {used} utilised on average{whole}"
            text += f", but {lost} of hosts' packets were dropped." if lost else ": they limit flows."
            yield Finding("overload", OVERLOAD, sentence(text), tuple(schemes))


def _dropped(source: Source, schemes: list[str]) -> dict[str, float]:
    """Dropped share of the packets that hosts sent, of schemes with one so large that other links limit flows."""
    drops = {scheme: int(source.manifests[scheme]["counts"]["drops"]) for scheme in schemes}
    if not any(drops.values()):
        return {}
    sent = dict(source.rows("select scheme, sum(tx_packets) from ports where tier = 0 group by scheme"))
    shares = {scheme: count / max(1, int(sent.get(scheme, 0))) for scheme, count in drops.items()}
    return {scheme: part for scheme, part in shares.items() if part > 1 - BUSY}


def _tier(tier: int) -> str:
    return f"tier {tier}" if tier else "hosts"
