"""Findings about flows of UDP that lost bytes."""

from __future__ import annotations

from collections.abc import Iterator

from incast.charts.look import size
from incast.charts.source import Source
from incast.findings.finding import UNFINISHED, Finding
from incast.findings.words import counted, prefix_if_equal, spread


def partial(source: Source) -> Iterator[Finding]:
    """How many flows of UDP lost bytes, and how many bytes."""
    rows = source.rows(
        """
        select scheme, count(*), sum(size_bytes - acked_bytes), sum(size_bytes)
        from flows where status = 'partial' group by scheme
        """
    )
    found = {row[0]: row[1:] for row in source.by_scheme(rows)}
    if not found:
        return
    flows = {scheme: row[0] for scheme, row in found.items()}
    lost = spread({scheme: row[1] for scheme, row in found.items()}, size)
    all_of = spread({scheme: row[2] for scheme, row in found.items()}, size)
    who = f"{prefix_if_equal(flows, source.schemes)}{counted(flows, 'flow')}"
    text = f"{who} lost {lost} of {all_of}: UDP sends nothing again."
    yield Finding("partial", UNFINISHED, text, tuple(found))
