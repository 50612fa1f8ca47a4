"""The published table of Tagger's classes and rules on Jellyfish, and the same figures computed by incast.

A draft of Tagger's evaluation (Hu et al., CoNEXT 2017) counts lossless priority classes and rules for Jellyfish fabrics
of 10 to 2,000 switches. It does not define how trees are drawn, in which order ports are tried, or how rules are
counted: a *convention* does. docs/design/deadlock.md describes each convention, and which ones were chosen because they
match.
"""

from __future__ import annotations

import json
import statistics
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import groupby
from typing import Any

from incast import _core
from incast.errors import translated


@dataclass(frozen=True)
class Row:
    """Figures of one Jellyfish by one convention."""

    convention: str
    """The convention's name, such as `F`."""
    switches: int
    """Switches."""
    ports: int
    """Ports of each, half of them to other switches."""
    seed: int
    """Seed of the graph, the trees and random orders."""
    diameter: int
    """Nodes on the longest path from server to server, both included."""
    classes: int
    """Lossless priority classes."""
    total: int
    """Rules of all switches."""
    most: int
    """Rules of the switch with most rules."""
    verified: bool
    """True if the rules hold: no cyclic dependency, and every path stays lossless."""


@dataclass(frozen=True)
class Published:
    """A row of the published table."""

    switches: int
    """Switches."""
    ports: int
    """Ports of each."""
    diameter: int
    """Its "network diameter"."""
    classes: int
    """Lossless priority classes."""
    total: int
    """Rules of all switches."""
    most: int
    """Rules of the switch with most rules. In the first two rows less than total / switches, so of another graph."""


@cache
def published() -> tuple[Published, ...]:
    """The published rows, by size."""
    return tuple(Published(**row) for row in json.loads(_core.tagger_facts())["published"])


@cache
def conventions() -> tuple[str, ...]:
    """The conventions: F and Fm, declared before the first measurement; A, the literal reading; and others."""
    return tuple(json.loads(_core.tagger_facts())["conventions"])


def row(convention: str, switches: int, ports: int, seed: int = 1) -> Row:
    """Compute and verify one row; seconds to half a minute for 2,000 switches.

    Args:
        convention: One of `conventions()`.
        switches: Switches, at least 3.
        ports: Ports of each; half of them go to other switches, the rest to servers.
        seed: Seed of random choices.

    """
    with translated():
        found: dict[str, Any] = json.loads(_core.tagger_row(convention, switches, ports, seed))
    return Row(**found)


def rows(
    names: Sequence[str],
    sizes: Sequence[tuple[int, int]],
    seeds: Sequence[int],
    progress: Callable[[int, int], object] | None = None,
) -> Iterator[Row]:
    """Rows of all sizes, conventions and seeds, in this order; `progress` is called with rows done and total."""
    count = len(names) * len(sizes) * len(seeds)
    done = 0
    for size in sizes:
        for name in names:
            for seed in seeds:
                yield row(name, *size, seed)
                done += 1
                if progress:
                    progress(done, count)


def text(found: Sequence[Row]) -> str:
    """Mean and range over seeds as text, each size with its published row if any."""
    known = {(one.switches, one.ports): one for one in published()}
    lines: list[tuple[str, ...]] = [
        ("switches", "ports", "convention", "seeds", "diameter", "classes", "rules", "rules of largest switch")
    ]
    for size, of_size in groupby(found, key=lambda one: (one.switches, one.ports)):
        if size in known:
            one = known[size]
            figures = (str(one.diameter), str(one.classes), f"{one.total:,}", str(one.most))
            lines.append((f"{size[0]:,}", str(size[1]), "published", "", *figures))
        for name, group in groupby(of_size, key=lambda one: one.convention):
            mine = list(group)
            columns = ([getattr(one, field) for one in mine] for field in ("diameter", "classes", "total", "most"))
            spreads = [spread(column) for column in columns]
            wrong = sum(not one.verified for one in mine)
            says = f"{name}, {wrong} not verified" if wrong else name
            lines.append((f"{size[0]:,}", str(size[1]), says, str(len(mine)), *spreads))
    widths = [max(len(line[place]) for line in lines) for place in range(len(lines[0]))]
    return "\n".join(
        "  ".join(
            cell.ljust(width) if place == 2 else cell.rjust(width)
            for place, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in lines
    )


def spread(values: Sequence[int]) -> str:
    """A mean with its range, or the common value."""
    if min(values) == max(values):
        return f"{values[0]:,}"
    return f"{statistics.fmean(values):,.1f} ({min(values):,} to {max(values):,})"
