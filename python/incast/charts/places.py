"""Positions of the nodes of a small fabric in a drawing: tiers as rows, or a ring for a single tier."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

from incast.wiring import Wiring

ROW = 150
"""From one tier to the next, in pixels."""
BETWEEN = 56
"""Least distance between two nodes of a row."""
LEAST_WIDTH = 760
HEIGHT = 26
"""Height of a node's box, in pixels."""
LETTER = 7.4
"""Width of a letter of a node's name (12.5 px)."""
Point = tuple[float, float]


@dataclass
class Places:
    """Centres of nodes, and of the groups of hosts at them."""

    box: float
    """Width of the boxes of nodes."""
    width: float = LEAST_WIDTH
    height: float = 0.0
    at: dict[int, Point] = field(default_factory=dict)
    """By node."""
    hosts: dict[int, Point] = field(default_factory=dict)
    """By switch: where the group of its hosts stands."""
    rows: list[tuple[int, float]] = field(default_factory=list)
    """Tiers with their height, where they are rows."""


def place(wiring: Wiring, shown: Sequence[int], with_hosts: set[int]) -> Places:
    """Places for nodes in this order; `with_hosts` are the switches at which a group of hosts is drawn."""
    places = Places(max(46.0, max(len(wiring.nodes[node].name) for node in shown) * LETTER + 16))
    tiers = sorted({wiring.nodes[node].tier for node in shown}, reverse=True)
    there = set(shown)
    joined = any(link.a in there and link.b in there for link in wiring.links)
    if len(tiers) == 1 and joined:
        _circle(places, shown, with_hosts)
    else:
        _rows(places, wiring, shown, tiers, with_hosts)
    return places


def _rows(places: Places, wiring: Wiring, shown: Sequence[int], tiers: Sequence[int], with_hosts: set[int]) -> None:
    rows = [[node for node in shown if wiring.nodes[node].tier == tier] for tier in tiers]
    places.width = max(LEAST_WIDTH, max(map(len, rows)) * (places.box + BETWEEN))
    for number, (tier, row) in enumerate(zip(tiers, rows, strict=True)):
        y = HEIGHT + number * ROW
        places.rows.append((tier, y))
        for place_, node in enumerate(row):
            x = (place_ + 0.5) * places.width / len(row)
            places.at[node] = (x, y)
            if node in with_hosts:
                places.hosts[node] = (x, y + 50)
    places.height = max(y for _, y in [*places.at.values(), *places.hosts.values()]) + 30


def _circle(places: Places, shown: Sequence[int], with_hosts: set[int]) -> None:
    radius = max(140.0, len(shown) * (places.box + BETWEEN) / (2 * math.pi))
    outside = radius + 74
    beyond = 82 if with_hosts else 24
    wide = radius * 1.25 + places.box / 2 + beyond
    places.width = max(LEAST_WIDTH, 2 * wide)
    middle = (places.width / 2, radius + beyond)
    for number, node in enumerate(shown):
        # The first at the upper left, so that a cycle of four is a rectangle.
        angle = 2 * math.pi * (number + 0.5) / len(shown) - math.pi
        way = (math.cos(angle) * 1.25, math.sin(angle))
        places.at[node] = (middle[0] + way[0] * radius, middle[1] + way[1] * radius)
        if node in with_hosts:
            places.hosts[node] = (middle[0] + way[0] * outside, middle[1] + way[1] * outside)
    places.height = 2 * middle[1]
