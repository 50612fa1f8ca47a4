#!/usr/bin/env python3
"""Computes rows of Tagger's table on Jellyfish, from 100 to 2,000 switches, and prints what each cost.

A row is the graph, the trees of all servers, the greedy tags, the rules, and their verification. Seconds and peak
memory are the operating system's account of a whole process, the median of the runs and the most of them.
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


def build() -> Path:
    """Builds the program that computes a row; returns its path."""
    command = ["cargo", "build", "--release", "--example", "jellyfish", "-p", "incast-deadlock"]
    done = subprocess.run([*command, "--message-format=json"], cwd=ROOT, stdout=subprocess.PIPE, text=True)
    if done.returncode != 0:
        sys.exit(3)
    messages = (json.loads(line) for line in done.stdout.splitlines() if line.startswith("{"))
    paths = [m["executable"] for m in messages if m.get("executable") and m["target"]["name"] == "jellyfish"]
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
    program = build()
    print("| " + " | ".join(HEADER) + " |\n" + "|---" * len(HEADER) + "|")
    for name in CONVENTIONS:
        for switches, ports in SIZES:
            runs = [measure(program, [str(switches), str(ports), "1", name]) for _ in range(options.runs)]
            figures = runs[0][0]
            wall, cpu = (statistics.median(run[place] for run in runs) for place in (1, 2))
            peak = max(run[3] for run in runs)
            cells = (name, f"{switches:,}", str(ports), figures[4], f"{int(figures[5]):,}")
            print(f"| {' | '.join((*cells, f'{wall:.1f}', f'{cpu:.1f}', f'{peak:.0f}'))} |", flush=True)


if __name__ == "__main__":
    main()
