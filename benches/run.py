#!/usr/bin/env python3
"""Runs the benchmarks one process at a time and prints what each cost.

CPU seconds and peak memory are the operating system's account of the whole process (build-up included); instructions
per packet-hop come from valgrind's callgrind on a run of a tenth of the size, less one of a twentieth, so that what is
spent before and after the simulation cancels. Instructions do not depend on how busy the machine is; seconds do.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
HEADER = ("bench", "hosts", "packet-hops", "events", "ev/hop", "CPU s", "M hops/CPU-s", "peak MB", "instr/hop")


def build() -> Path:
    """Builds the benchmark program; returns its path."""
    command = ["cargo", "build", "--release", "--example", "bench", "-p", "incast-sim", "--message-format=json"]
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
    if done.returncode != 0:
        sys.exit(3)
    messages = (json.loads(line) for line in done.stdout.splitlines() if line.startswith("{"))
    paths = [m["executable"] for m in messages if m.get("executable") and m["target"]["name"] == "bench"]
    return Path(paths[-1])


def measure(program: Path, name: str) -> tuple[dict[str, float], float, float]:
    """One run: its own report, CPU seconds and peak resident megabytes."""
    with tempfile.TemporaryFile("w+") as out:
        pid = os.posix_spawn(
            program, [str(program), name], os.environ, file_actions=[(os.POSIX_SPAWN_DUP2, out.fileno(), 1)]
        )
        _, status, usage = os.wait4(pid, 0)
        if status != 0:
            sys.exit(f"bench {name} failed")
        out.seek(0)
        report = json.load(out)
    return report, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1000


def instructions(program: Path, name: str) -> float | None:
    """Instructions per packet-hop, or None where valgrind is not installed."""
    if shutil.which("valgrind") is None:
        return None
    totals = []
    for scale in ("0.1", "0.05"):
        command = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", str(program), name, scale]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        found = re.search(r"Collected\s*:\s*(\d+)", done.stderr)
        assert found, done.stderr
        totals.append((int(found[1]), json.loads(done.stdout)["packet_hops"]))
    (more, hops), (less, fewer) = totals
    return (more - less) / (hops - fewer) if hops > fewer else None


WIDTHS = (22, 6, 12, 12, 7, 7, 13, 8, 10)


def aligned_row(cells: Sequence[str]) -> str:
    """A line of the table for a terminal: names to the left, figures to the right."""
    name, *figures = (cell.ljust(width) if i == 0 else cell.rjust(width) for i, (cell, width) in padded(cells))
    return "  ".join([name, *figures])


def padded(cells: Sequence[str]) -> Iterator[tuple[int, tuple[str, int]]]:
    """Every cell with its column's number and width."""
    return enumerate(zip(cells, WIDTHS, strict=True))


def markdown_row(cells: Sequence[str]) -> str:
    """A line of the table in Markdown."""
    return "| " + " | ".join(cells) + " |"


def main() -> None:
    """Run the benches named on the command line and print a line for each."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help="benches to run; all of them if none is named")
    parser.add_argument("--runs", type=int, default=3, help="runs of each; the median CPU time counts (default 3)")
    parser.add_argument("--no-instructions", action="store_true", help="leave out callgrind, which is slow")
    parser.add_argument("--markdown", action="store_true", help="print a Markdown table")
    options = parser.parse_args()
    program = build()
    listed = subprocess.run([program, "--list"], capture_output=True, text=True, check=True).stdout.splitlines()
    known = [line.split("\t")[0] for line in listed]
    for name in options.names:
        if name not in known:
            sys.exit(f"no bench `{name}`; there are {', '.join(known)}")
    line = markdown_row if options.markdown else aligned_row
    print(line(HEADER))
    if options.markdown:
        print(line(["---"] * len(HEADER)))
    for name in options.names or known:
        runs = [measure(program, name) for _ in range(options.runs)]
        report = runs[0][0]
        cpu = statistics.median(run[1] for run in runs)
        peak = max(run[2] for run in runs)
        count = None if options.no_instructions else instructions(program, name)
        hops, events = report["packet_hops"], report["events"]
        row = (
            name,
            str(report["hosts"]),
            f"{hops:,}",
            f"{events:,}",
            f"{events / hops:.2f}",
            f"{cpu:.2f}",
            f"{hops / cpu / 1e6:.1f}",
            f"{peak:.0f}",
            "-" if count is None else f"{count:.0f}",
        )
        print(line(row), flush=True)


if __name__ == "__main__":
    main()
