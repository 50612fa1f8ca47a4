"""Finding about the one seed of comparisons."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from incast.charts.source import Source
from incast.findings.finding import COMPARISON, ORDERS, Finding


def one_seed(source: Source, found: Sequence[Finding]) -> Iterator[Finding]:
    """The seed of the run, if a finding orders schemes: with other seeds, their order may differ."""
    compared = {name for each in found if each.kind in ORDERS and len(each.schemes) > 1 for name in each.schemes}
    if compared:
        text = f"Schemes are compared with one seed ({source.seed}); a sweep over seeds shows if their order holds."
        yield Finding("seed", COMPARISON - 1, text, tuple(name for name in source.schemes if name in compared))
