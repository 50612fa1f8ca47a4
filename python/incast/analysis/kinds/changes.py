"""Updates of Tagger rules while packets are in flight: deadlocks with mixed rules."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from incast import _core
from incast.analysis.kind import Kind, Row
from incast.analysis.kinds import fabric, tags
from incast.errors import translated


@dataclass(frozen=True, kw_only=True)
class OfChanges(tags.OfTags):
    """Old and new rules for paths, or one set of rules."""

    new_seed: int | None = None
    """Offset from `seed` of the seed of the new paths. Default: 0."""
    new_bounces: int | None = None
    """Bounces of the new up-down paths. Default: `bounces`."""
    swapped: bool = False
    """If true, the new rules swap tags 1 and 2 where an old rule changes the tag: two users share two priorities in
    opposite directions. Default false.
    """


def rules(cell: tags.OfTags, base: Path) -> str:
    """The rules of a cell, as `incast deadlock tag --export json` writes them."""
    with translated():
        _, files = fabric.opened(cell, base).deadlock_tag(tags.options(cell, ("json",)), str(base), "json")
    ((_, text),) = files
    return text


def swapped(text: str) -> str:
    """Rules of tags 1 and 2 that lead from each to the other where they led to another tag."""
    tree = json.loads(text)
    for switch in tree["switches"]:
        switch["rules"] = [rule for rule in switch["rules"] if rule["tag"] <= 2]
        for rule in switch["rules"]:
            rule["new_tag"] = rule["tag"] if rule["new_tag"] == rule["tag"] else 3 - rule["tag"]
    return json.dumps(tree)


def _compute(cell: OfChanges, base: Path) -> Iterator[Row]:
    texts = [swapped(rules(cell, base)) if cell.swapped else rules(cell, base)]
    if cell.new_seed is not None or cell.new_bounces is not None:
        texts.append(rules(_new(cell), base))
    with tempfile.TemporaryDirectory() as folder:
        names = [f"{number}.json" for number in range(len(texts))]
        for name, text in zip(names, texts, strict=True):
            (Path(folder) / name).write_text(text, encoding="utf-8")
        asked = {"files": names, "paths": None, "classes": cell.classes, "seed": cell.seed}
        scenario: _core.Scenario = fabric.opened(cell, base)
        with translated():
            _, _, verified = scenario.deadlock_verify(json.dumps(asked), folder)
    found = json.loads(verified)
    turns = len(found["cycle"]["turns"]) if found["cycle"] else None
    yield {
        "tags": found["tags"],
        "cyclic": int(not found["deadlock_free"]),
        "falling": found["falling"],
        "shortest": turns,
    }


def _new(cell: OfChanges) -> tags.OfTags:
    """Parameters of the new rules; the fabric stays that of the old ones."""
    overrides = [each.replace("{seed}", str(cell.seed)) for each in cell.overrides]
    seed = cell.seed if cell.new_seed is None else cell.seed + cell.new_seed
    bounces = cell.bounces if cell.new_bounces is None else cell.new_bounces
    return replace(cell, overrides=overrides, seed=seed, bounces=bounces)


CHANGES = Kind(
    name="changes",
    about="updates of rules while packets are in flight, with old or new rules in each switch",
    parameters=OfChanges,
    figures={"tags": "bigint", "cyclic": "bigint", "falling": "bigint", "shortest": "bigint"},
    compute=_compute,
    stamp=fabric.stamp,
)
"""The kind."""
