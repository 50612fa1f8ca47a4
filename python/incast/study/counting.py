"""Counts verdicts on claims by kind of claim."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from incast.study.description import Origin
from incast.study.outcome import VERDICTS

PUBLISHED = "published statements"
CALIBRATIONS = "calibrations"
KINDS: dict[str, str] = {
    PUBLISHED: "numbers and directions of the publication",
    CALIBRATIONS: "used to choose a setting, so no findings",
    "drafts": "text that a draft has commented out",
    "ours": "our own claims",
}
"""Kinds of claims in the order of display, with their meaning."""
ORIGINS: dict[Origin, str] = {
    "number": "published number",
    "direction": "published direction",
    "draft": "commented-out text of a draft",
    "ours": "our own",
}
"""Origins in words."""
_PLURALS = {"holds": "hold", "fails": "fail"}
"""Verdicts on several claims, where the word differs."""


def kind(origin: Origin, calibration: str | None) -> str:
    """The kind of a claim."""
    if calibration:
        return CALIBRATIONS
    return {"draft": "drafts", "ours": "ours"}.get(origin, PUBLISHED)


def counted(verdicts: Iterable[str]) -> str:
    """Number of verdicts of each sort that occurs: `12 hold, 3 fail, 2 undecided`."""
    counts = Counter(verdicts)
    each = ((counts[verdict], verdict) for verdict in VERDICTS if counts[verdict])
    return ", ".join(f"{count} {word if count == 1 else _PLURALS.get(word, word)}" for count, word in each) or "none"


def mark(origin: Origin, calibration: str | None) -> str:
    """Mark of a claim that is not about a published statement: `, calibration`, `, draft` or `, ours`."""
    if calibration:
        return ", calibration"
    return f", {origin}" if origin in ("draft", "ours") else ""


def by_kind(claims: Iterable[tuple[Origin, str | None, str]]) -> Iterator[tuple[str, list[str]]]:
    """Verdicts of each kind of claim that occurs, from origin, calibration and verdict of each claim."""
    found: dict[str, list[str]] = {name: [] for name in KINDS}
    for origin, calibration, verdict in claims:
        found[kind(origin, calibration)].append(verdict)
    yield from ((name, verdicts) for name, verdicts in found.items() if verdicts)
