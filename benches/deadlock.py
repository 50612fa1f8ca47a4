#!/usr/bin/env python3
"""Computes rows of Tagger's table on Jellyfish, from 100 to 2,000 switches, and prints what each cost.

A row is the graph, the trees of all servers, the greedy tags, the rules, and their verification. A second table has
what `incast deadlock check` does: the dependencies of all shortest paths, and a cycle with whose packets make it.
Seconds and peak memory are the operating system's account of a whole process, the median of the runs and the most of
them.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SIZES = ((100, 32), (500, 64), (1000, 64), (2000, 64))
CONVENTIONS = ("F", "A")
"""One tree for each switch with servers, and the literal reading, a tree for each server."""
HEADER = ("reading", "switches", "ports", "classes", "rules", "wall s", "CPU s", "peak MB")


CHECK_HEADER = ("switches", "ports", "buffers", "dependencies", "wall s", "CPU s", "peak MB")


def build(name: str) -> Path:
    """Builds an example of the crate; returns its path."""
    command = ["cargo", "build", "--release", "--example", name, "-p", "incast-deadlock"]
    done = subprocess.run([*command, "--message-format=json"], cwd=ROOT, stdout=subprocess.PIPE, text=True)
    if done.returncode != 0:
        sys.exit(3)
    messages = (json.loads(line) for line in done.stdout.splitlines() if line.startswith("{"))
    paths = [m["executable"] for m in messages if m.get("executable") and m["target"]["name"] == name]
    return Path(paths[-1])


def measure(program: Path, arguments: Sequence[str]) -> tuple[list[str], float, float, float]:
    """One row: its figures, wall and CPU seconds, peak resident megabytes."""
    began = time.monotonic()
    reading, writing = os.pipe()
    command = [str(program), *arguments]
    pid = os.posix_spawn(program, command, os.environ, file_actions=[(os.POSIX_SPAWN_DUP2, writing, 1)])
    os.close(writing)
    with os.fdopen(reading) as out:
        lines = out.read().splitlines()
    _, status, usage = os.wait4(pid, 0)
    if status != 0:
        sys.exit(f"row {' '.join(arguments)} failed")
    return lines[1].split(), time.monotonic() - began, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1000


def main() -> None:
    """Compute the rows and print a line for each."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=3, help="runs of each; the median counts (default 3)")
    options = parser.parse_args()
    head(HEADER)
    program = build("jellyfish")
    for name in CONVENTIONS:
        for switches, ports in SIZES:
            figures, cost = several(program, [str(switches), str(ports), "1", name], options.runs)
            row((name, f"{switches:,}", str(ports), figures[4], f"{int(figures[5]):,}", *cost))
    print()
    head(CHECK_HEADER)
    program = build("dependencies")
    for switches, ports in SIZES:
        figures, cost = several(program, [str(switches), str(ports)], options.runs)
        row((f"{switches:,}", str(ports), f"{int(figures[0]):,}", f"{int(figures[1]):,}", *cost))


def several(program: Path, arguments: Sequence[str], count: int) -> tuple[list[str], tuple[str, str, str]]:
    """The figures of a row, and what it cost: median wall and CPU seconds, most megabytes."""
    runs = [measure(program, arguments) for _ in range(count)]
    wall, cpu = statistics.median(run[1] for run in runs), statistics.median(run[2] for run in runs)
    return runs[0][0], (f"{wall:.1f}", f"{cpu:.1f}", f"{max(run[3] for run in runs):.0f}")


def head(cells: Sequence[str]) -> None:
    """Print the head of a table."""
    row(cells)
    print("|---" * len(cells) + "|")


def row(cells: Sequence[str]) -> None:
    """Print a line of a table."""
    print(f"| {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
