"""A finding: a sentence about a run, with its importance."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

DEADLOCK = 100
LOSSLESS_DROPS = 95
STORM = 90
FAILURE = 85
UNFINISHED = 80
DROPS = 75
LONG_PAUSES = 70
GUARANTEES = 65
RETRANSMISSIONS = 60
OVERLOAD = 55
COMPARISON = 50
PAUSES = 40
QUIET = 10
"""Importance of findings (our choice): events that end or distort a run first, then comparisons of schemes."""
ORDERS = ("comparison", "completion", "iterations")
"""Kinds of findings that order schemes."""


@dataclass(frozen=True)
class Finding:
    """A sentence about a run."""

    kind: str
    """Kind of event, such as `failure`: the name of its rule."""
    importance: int
    """Rank: findings with a higher value come first."""
    text: str
    """The sentence, with numbers and units."""
    schemes: tuple[str, ...]
    """Schemes that the sentence is about."""

    def to_dict(self) -> dict[str, Any]:
        """The finding as a dictionary, for JSON."""
        return {**asdict(self), "schemes": list(self.schemes)}
