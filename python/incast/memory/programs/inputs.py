"""Inputs of programs: generated, equal for equal seeds on every machine."""

from __future__ import annotations

import random
from array import array
from bisect import bisect_left
from itertools import accumulate
from pathlib import Path

LETTERS = "abcdefghijklmnopqrstuvwxyz"


def lines(path: Path, count: int, seed: int) -> str:
    """Lines of 60 random letters."""
    rng = random.Random(seed)
    with path.open("w", encoding="ascii") as out:
        for _ in range(count):
            out.write("".join(rng.choices(LETTERS, k=60)) + "\n")
    return str(path)


def words(path: Path, count: int, kinds: int, seed: int) -> str:
    """Words of so many kinds, the k-th as often as 1/k: Zipf's law."""
    rng = random.Random(seed)
    known = ["".join(rng.choices(LETTERS, k=rng.randint(3, 12))) + str(kind) for kind in range(kinds)]
    weights = list(accumulate(1 / (kind + 1) for kind in range(kinds)))
    with path.open("w", encoding="ascii") as out:
        for _ in range(0, count, 10):
            chosen = (known[bisect_left(weights, rng.random() * weights[-1])] for _ in range(10))
            out.write(" ".join(chosen) + "\n")
    return str(path)


def graph(path: Path, nodes: int, degree: int, seed: int) -> str:
    """A directed graph, each node with so many edges, to few nodes often: the density of targets falls as 1/sqrt.

    The file has the numbers of nodes and edges and the target of each edge, node by node, as 4-byte integers.
    """
    rng = random.Random(seed)
    places = list(range(nodes))
    rng.shuffle(places)
    targets = (places[int(nodes * rng.random() ** 2)] for _ in range(nodes * degree))
    content = array("I", [nodes, nodes * degree])
    content.extend(targets)
    path.write_bytes(content.tobytes())
    return str(path)
