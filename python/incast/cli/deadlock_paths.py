"""Options for the paths of packets, shared by the commands of `incast deadlock`."""

from __future__ import annotations

from typing import Annotated

from incast.cli.command import SEED, whole
from incast.errors import ScenarioError

KINDS = ("routes", "shortest", "trees", "random", "up-down")
"""Names of kinds of paths; any other word is a file."""

Bounces = Annotated[int | None, whole(0, 255)]
PerPair = Annotated[int | None, whole(1, 1000)]
Seed = Annotated[int, whole(0, SEED)]


def paths_of(text: str, bounces: int | None, per_pair: int | None) -> object:
    """Paths as the core takes them."""
    only_for(text, bounces, per_pair)
    if text == "up-down":
        return {"up_down": {"bounces": bounces or 0}}
    if text == "random":
        return {"random": {"per_pair": 1 if per_pair is None else per_pair}}
    return text if text in KINDS else {"file": text}


def only_for(text: str | None, bounces: int | None, per_pair: int | None) -> None:
    """Raise if an option does not apply to these paths."""
    together(bounces is None or text == "up-down", "--bounces needs --paths up-down")
    together(per_pair is None or text == "random", "--per-pair needs --paths random")


def together(good: object, otherwise: str) -> None:
    """Raise unless options go together."""
    if not good:
        raise ScenarioError(otherwise)
