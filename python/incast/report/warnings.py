"""The warnings of runs, which a page shows first."""

from __future__ import annotations

from collections.abc import Sequence

from incast.charts.groups import Group
from incast.report.html import element, prose
from incast.sweep.warned import counted


def section(groups: Sequence[Group]) -> str | None:
    """The warnings of each group; `None` if there are none."""
    found = [of_group(group) for group in groups]
    if not any(found):
        return None
    return "\n".join(
        f'<div data-group="{place}"{" hidden" if place else ""}>{listed(texts)}</div>'
        for place, texts in enumerate(found)
    )


def listed(texts: Sequence[str]) -> str:
    """Warnings as a list."""
    if not texts:
        return element("p", "None.", "empty")
    return f'<ul class="warnings">{"".join(f"<li>{prose(text)}</li>" for text in texts)}</ul>'


def of_group(group: Group) -> list[str]:
    """The warnings of a group; of several runs, those of most runs first, with their number."""
    missing = [group.warning] if group.warning else []
    runs = [results for variation in group.variations for results in variation.source.results]
    if len(runs) == 1:
        return [*missing, *runs[0].warnings()]
    counts = counted(results.warnings() for results in runs)
    return [*missing, *(f"{count:,} of {len(runs):,} runs: {text}" for text, count in counts.items())]
