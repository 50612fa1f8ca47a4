"""The cycles of simulated deadlocks, drawn on their fabric for a page."""

from __future__ import annotations

from typing import Any

from incast import charts
from incast.charts.source import Source
from incast.errors import IncastError

DRAWN = 4
"""Most cycles drawn for a scenario (our choice)."""


def drawn(source: Source, most: int) -> list[dict[str, Any]]:
    """The cycles of the first deadlocks of schemes, at most so many, each once.

    Each has `title`, the schemes; `lines`, a line for each of them; and `svg`, `None` where the fabric cannot be made
    again.
    """
    found: dict[str, dict[str, Any]] = {}
    for name, manifest in source.manifests.items():
        for deadlock in manifest.get("deadlocks", ())[:1]:
            cycle = deadlock["cycle"]
            one = found.setdefault(str(cycle), {"schemes": [], "lines": [], "cycle": cycle})
            one["schemes"].append(name)
            one["lines"].append(f"{name}: {deadlock['text']}.")
    results = source.results[0]
    try:
        wiring = results.scenario().wiring() if found else None
    except IncastError:
        wiring = None  # The scenario's section of the page says why.
    return [
        {
            "title": ", ".join(one["schemes"]),
            "lines": one["lines"],
            "svg": wiring and charts.cycle(wiring, wiring.hops(one["cycle"])).svg,
        }
        for one in list(found.values())[:most]
    ]
