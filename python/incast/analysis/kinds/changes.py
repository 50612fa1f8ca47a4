"""Updates of Tagger rules while packets are in flight: deadlocks with mixed rules."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

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
    two_steps: bool = False
    """If true, the change leads by the rules common to old and new, and packets in flight leave between the two steps.
    Default false: one step.
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


def common(old: str, new: str) -> str:
    """The rules that two sets of rules have in common."""
    tree = json.loads(old)
    others = {switch["switch"]: _turns(switch["rules"]) for switch in json.loads(new)["switches"]}
    for switch in tree["switches"]:
        both = _turns(switch["rules"]).items() & others.get(switch["switch"], {}).items()
        outs: dict[tuple[int, int, int], list[int]] = {}
        for (tag, port, out), new_tag in sorted(both):
            outs.setdefault((tag, port, new_tag), []).append(out)
        switch["rules"] = [
            {"tag": tag, "in": [port], "out": ports, "new_tag": new_tag} for (tag, port, new_tag), ports in outs.items()
        ]
    return json.dumps(tree)


def _turns(rules: list[dict[str, Any]]) -> dict[tuple[int, int, int], int]:
    """New tags by tag, ingress port and egress port."""
    return {(rule["tag"], port, out): rule["new_tag"] for rule in rules for port in rule["in"] for out in rule["out"]}


def _compute(cell: OfChanges, base: Path) -> Iterator[Row]:
    texts = [swapped(rules(cell, base)) if cell.swapped else rules(cell, base)]
    if cell.new_seed is not None or cell.new_bounces is not None:
        texts.append(rules(_new(cell), base))
    if cell.two_steps and len(texts) == 2:
        middle = common(*texts)
        steps = [_verified(cell, base, [texts[0], middle]), _verified(cell, base, [middle, texts[1]])]
    else:
        steps = [_verified(cell, base, texts)]
    turns = [len(step["cycle"]["turns"]) for step in steps if step["cycle"]]
    yield {
        "tags": max(step["tags"] for step in steps),
        "cyclic": int(not all(step["deadlock_free"] for step in steps)),
        "falling": sum(step["falling"] for step in steps),
        "shortest": min(turns, default=None),
    }


def _verified(cell: OfChanges, base: Path, texts: list[str]) -> dict[str, Any]:
    """Verification of a network in which each switch has any of these sets of rules."""
    with tempfile.TemporaryDirectory() as folder:
        names = [f"{number}.json" for number in range(len(texts))]
        for name, text in zip(names, texts, strict=True):
            (Path(folder) / name).write_text(text, encoding="utf-8")
        asked = {"files": names, "paths": None, "classes": cell.classes, "seed": cell.seed}
        scenario: _core.Scenario = fabric.opened(cell, base)
        with translated():
            _, _, verified = scenario.deadlock_verify(json.dumps(asked), folder)
    found: dict[str, Any] = json.loads(verified)
    return found


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
