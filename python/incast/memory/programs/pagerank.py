"""PageRank of a graph in a file: pagerank.py FILE ITERATIONS.

By power iteration with a damping of 0.85 (Brin and Page, "The Anatomy of a Large-Scale Hypertextual Web Search Engine",
WWW 1998); all nodes have as many edges.
"""

import sys
from array import array
from pathlib import Path

DAMPING = 0.85


def main() -> None:
    """Rank, and print the highest."""
    content = array("I", Path(sys.argv[1]).read_bytes())
    nodes, edges = content[0], content[1]
    targets = content[2 : 2 + edges]
    degree = edges // nodes
    rank = array("d", [1 / nodes]) * nodes
    for _ in range(int(sys.argv[2])):
        incoming = array("d", [0.0]) * nodes
        at = 0
        for node in range(nodes):
            share = rank[node] / degree
            for target in targets[at : at + degree]:
                incoming[target] += share
            at += degree
        rank = array("d", ((1 - DAMPING) / nodes + DAMPING * each for each in incoming))
    print(f"{sum(rank):.6f} {max(rank):.3e}")


if __name__ == "__main__":
    main()
