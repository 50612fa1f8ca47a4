"""The programs: how each is made ready to run."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from incast.memory.programs import inputs

SCRIPTS = Path(__file__).parent


@dataclass(frozen=True)
class Ready:
    """A program that can be run: a command, and how to run it."""

    command: Sequence[str]
    one_core: bool
    """If true, one thread works at a time, so that the instrument can share its core."""
    only: Sequence[str] = ()
    """Programs that are served; all if empty."""
    throughput: str | None = None
    """Where in the output its throughput is, for servers: a regular expression with a group."""


@dataclass(frozen=True)
class Program:
    """A program of the study."""

    name: str
    stands_for: str
    """Which of the study's applications."""
    about: str
    """Its task and input at size 1."""
    ready: Callable[[Path, float, int], Ready]
    """Generates its input in a folder, for a size and a seed."""
    needs: tuple[str, str] | None = None
    """A program that has to be installed, and Debian's package with it."""

    def missing(self) -> str | None:
        """Message about the program that is not installed; `None` if all are."""
        if self.needs is None or shutil.which(self.needs[0]):
            return None
        name, package = self.needs
        return f"{name} is not installed: apt install {package}"


def _sort(folder: Path, size: float, seed: int) -> Ready:
    file = inputs.lines(folder / "lines.txt", max(1_000, round(250_000 * size)), seed)
    return Ready(("env", "LC_ALL=C", "sort", "-S", "64M", "--parallel=1", "-o", "/dev/null", file), True)


def _wordcount(folder: Path, size: float, seed: int) -> Ready:
    words = max(10_000, round(500_000 * size))
    file = inputs.words(folder / "words.txt", words, max(1_000, words // 10), seed)
    return Ready((sys.executable, "-I", str(SCRIPTS / "wordcount.py"), file), True)


def _pagerank(folder: Path, size: float, seed: int) -> Ready:
    file = inputs.graph(folder / "graph.bin", max(2_000, round(100_000 * size)), 8, seed)
    return Ready((sys.executable, "-I", str(SCRIPTS / "pagerank.py"), file, "3"), True)


def _memcached(_: Path, size: float, seed: int) -> Ready:
    items, operations = max(1_000, round(40_000 * size)), max(1_000, round(100_000 * size))
    command = (sys.executable, "-I", str(SCRIPTS / "keyvalue.py"), "memcached", str(items), str(operations), str(seed))
    # It and its load generator wait for each other, so that one core is enough for both.
    return Ready(command, True, ("memcached",), r"throughput: ([0-9.]+) operations/s")


PROGRAMS: dict[str, Program] = {
    program.name: program
    for program in (
        Program(
            "sort", "Hadoop sort", "GNU sort of 250,000 generated lines, 15 MB, in memory", _sort, ("sort", "coreutils")
        ),
        Program(
            "wordcount", "Hadoop word count", "Python, counting 500,000 generated words of 50,000 kinds", _wordcount
        ),
        Program(
            "pagerank",
            "GraphLab, Timely Dataflow",
            "Python, three iterations of PageRank over a generated graph of 100,000 nodes and 800,000 edges",
            _pagerank,
        ),
        Program(
            "memcached",
            "memcached",
            "memcached with 40,000 values of 1 kB, under a load generator that reads 100,000, one after the other",
            _memcached,
            ("memcached", "memcached"),
        ),
    )
}
"""All of them, by name."""
