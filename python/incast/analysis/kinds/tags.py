"""Tags and rules for paths on a fabric: numbers and verification."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from incast.analysis.kind import Kind, Row
from incast.analysis.kinds import fabric
from incast.errors import translated


@dataclass(frozen=True, kw_only=True)
class OfTags(fabric.OfFabric):
    """Parameters of `incast deadlock tag`."""

    method: Literal["greedy", "clos", "per-hop"] = "greedy"
    """Algorithm that assigns tags. Default greedy (Tagger, CoNEXT 2017, Algorithm 2)."""
    classes: int = 1
    """Traffic classes that share the tags, with clos. Default 1 (our choice)."""


def options(cell: OfTags, export: tuple[str, ...] = ()) -> str:
    """The options as the core takes them."""
    asked: dict[str, Any] = {
        "paths": fabric.paths(cell),
        "method": cell.method,
        "classes": cell.classes,
        "random_order": False,
        "compression": "rectangles",
        "priorities": 7,
        "seed": cell.seed,
        "export": list(export),
    }
    return json.dumps(asked)


def _compute(cell: OfTags, base: Path) -> Iterator[Row]:
    with translated():
        text, _ = fabric.opened(cell, base).deadlock_tag(options(cell), str(base), "json")
    found = json.loads(text)
    written = found["rules"][-1]
    verification = found["verification"]
    yield {
        "tags": found["tags"],
        "rules": written["total"],
        "most": written["most"],
        "cyclic": len(verification["cycles"]),
        "falling": verification["falling"],
        "lossy": verification["lossy"],
    }


TAGS = Kind(
    name="tags",
    about="tags and rules for paths on a fabric: numbers, cyclic dependencies, paths that become lossy",
    parameters=OfTags,
    figures={
        "tags": "bigint",
        "rules": "bigint",
        "most": "bigint",
        "cyclic": "bigint",
        "falling": "bigint",
        "lossy": "bigint",
    },
    compute=_compute,
    stamp=fabric.stamp,
)
"""The kind."""
