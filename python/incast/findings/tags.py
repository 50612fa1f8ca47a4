"""Findings about Tagger's rules."""

from __future__ import annotations

from collections.abc import Iterator

from incast.charts.source import Source
from incast.findings.finding import DROPS, Finding
from incast.findings.words import above_0, counted, prefix_if_equal, sentence


def made_lossy(source: Source) -> Iterator[Finding]:
    """Schemes whose rules moved packets to a lossy priority, because no rule expects their paths."""
    counts = {scheme: int(manifest["counts"].get("made_lossy", 0)) for scheme, manifest in source.manifests.items()}
    if not (found := above_0(counts)):
        return
    text = (
        f"{prefix_if_equal(found, source.schemes)}Tagger's rules made {counted(found, 'packet')} lossy: they do not "
        "expect the paths of these packets, which full buffers can drop."
    )
    yield Finding("made_lossy", DROPS - 2, sentence(text), tuple(found))
