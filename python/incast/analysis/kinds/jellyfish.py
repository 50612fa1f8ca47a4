"""Rows of the published table of Tagger on Jellyfish."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from incast import tagger
from incast._nearest import nearest
from incast.analysis.kind import Kind, Row
from incast.errors import ScenarioError

COUNTED = ("diameter", "classes", "total", "most")
"""Figures of the published table."""


@dataclass(frozen=True, kw_only=True)
class Jellyfish:
    """A row of the table."""

    convention: str
    """Reading of the draft: F, Fm or A, or another convention of `incast deadlock table`."""
    switches: int
    """Switches, at least 3."""
    ports: int
    """Ports of each switch, half of them to other switches."""
    seed: int = 1
    """Seed of random draws. Default 1 (our choice)."""


def _stamp(row: Jellyfish, _: Path) -> str:
    known = tagger.conventions()
    if row.convention not in known:
        near = nearest(row.convention, known)
        hint = f"; did you mean `{near}`?" if near else ""
        raise ScenarioError(f"unknown convention `{row.convention}`; allowed: {', '.join(known)}{hint}")
    return ""


def _compute(row: Jellyfish, _: Path) -> Iterator[Row]:
    found = asdict(tagger.row(row.convention, row.switches, row.ports, row.seed))
    known = {(one.switches, one.ports): asdict(one) for one in tagger.published()}
    published = known.get((row.switches, row.ports), dict.fromkeys(COUNTED))
    of_table = {f"published_{name}": published[name] for name in COUNTED}
    yield {**{name: found[name] for name in (*COUNTED, "verified")}, **of_table}


JELLYFISH = Kind(
    name="jellyfish",
    about="the published table of Tagger on Jellyfish: lossless classes and rules",
    parameters=Jellyfish,
    figures={
        **dict.fromkeys(COUNTED, "bigint"),
        "verified": "boolean",
        **{f"published_{name}": "bigint" for name in COUNTED},
    },
    compute=_compute,
    stamp=_stamp,
    weight=lambda row: float(row.switches**2 * (4 if row.convention == "A" else 1)),
)
"""The kind."""
