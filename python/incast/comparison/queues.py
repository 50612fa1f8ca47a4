"""Queue lengths in the format of the queue monitor of the HPCC authors' ns-3 (`QLEN_MON_FILE`).

A file has blocks. A block begins with `time: T`, in nanoseconds. Each further line is a port of a switch: `node
interface c0 c1 …`, with `ck` samples so far of a queue of k kB, rounded down. ns-3 samples every 100 ns and writes a
block where the time is a multiple of 100 ms.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from incast import _input
from incast._database import utf8
from incast._quantity import picoseconds
from incast.comparison import match, ports
from incast.comparison.reference import located
from incast.errors import ComparisonError, EnvironmentFailure
from incast.integrity import damaged
from incast.results import Results

MOST_BLOCKS = 10_000
"""Most blocks of an exported file (our choice): each has a line for every port."""
MOST_KB = 10**7
"""Longest queue in kB that is read: a line has a number for each kB (our choice: five times the largest buffer)."""
TIME = re.compile(rb"time: (0|[1-9][0-9]{0,14})\n")
PORT = re.compile(rb"(?:0|[1-9][0-9]{0,8}) [1-9][0-9]{0,8}(?: (?:0|[1-9][0-9]{0,9}))+\n")
FORMAT = "`time: NANOSECONDS`, then a line `node interface count …` for each port of a switch"

Port = tuple[int, int]
"""A node and its interface, from 1."""


@dataclass
class Block:
    """Queue lengths up to a time."""

    time_ps: int
    """Time of the last sample at most."""
    counts: dict[Port, list[int]] = field(default_factory=dict)
    """Samples by port and kB."""


@dataclass(frozen=True)
class Sampling:
    """Times of samples of a scheme."""

    start_ps: int
    """First sample."""
    every_ps: int
    """Time between samples."""
    last_ps: int
    """Last sample."""

    def samples(self, until_ps: int) -> int:
        """Number of samples up to a time."""
        until_ps = min(until_ps, self.last_ps)
        return 0 if until_ps < self.start_ps else 1 + (until_ps - self.start_ps) // self.every_ps


def sampling(results: Results, scheme: str, at_least_ps: int = 0) -> Sampling:
    """Times of samples of a scheme.

    Args:
        results: A results folder.
        scheme: One of its schemes.
        at_least_ps: End of the samples of a run that ended before because every flow completed: ns-3 samples empty
            queues until the end of its monitor.

    Raises:
        ComparisonError: Nothing was sampled.

    """
    measure = ports.measured(results)
    every, start, until = (
        picoseconds(str(measure.get(name))) for name in ("sample_every", "sample_from", "sample_until")
    )
    run = results.manifest["schemes"][scheme]
    end = max(int(run["end_ps"]), at_least_ps if run["stop"]["reason"] == "finished" else 0)
    if not every:
        raise ComparisonError(
            f"{results.path} has no samples of queues: run the scenario with measure.sample_every, such as 100ns"
        )
    first = start or 0
    end = end if until is None else min(end, until)
    if end < first:
        raise ComparisonError(f"{results.path} has no samples of queues under {scheme}: the run ended before the first")
    return Sampling(first, every, first + (end - first) // every * every)


def lengths(results: Results, scheme: str, when: Sampling, times: Sequence[int]) -> Iterator[Block]:
    """Queue lengths of every switch port up to each of some times, in picoseconds, in ascending order."""
    connection = ports.connect(results, scheme, "queues")
    with match.reading(results, "queues") as file:
        rows = connection.execute(
            """
            SELECT block.time_ps, node, interface, queue_bytes // 1000 AS kb, count(*)
            FROM (SELECT * FROM read_parquet($file) WHERE scheme = $scheme) AS queue
            ASOF JOIN (SELECT unnest($times::BIGINT[]) AS time_ps) AS block ON queue.time_ps <= block.time_ps
            JOIN ports USING (port) WHERE switch
            GROUP BY ALL ORDER BY ALL
            """,
            {"file": utf8(file), "scheme": scheme, "times": list(times)},
        ).fetchall()
    if rows and (longest := max(kb for _, _, _, kb, _ in rows)) > MOST_KB:
        why = f"a queue has {longest:,} kB, but a switch at most {MOST_KB:,} kB"
        raise damaged(f"{file} is damaged: {why}", results.path)
    switches: list[Port] = connection.execute(
        "SELECT node, interface FROM ports WHERE switch ORDER BY node, interface"
    ).fetchall()
    counts: dict[Port, list[int]] = {port: [] for port in switches}
    place = 0
    for time in times:
        while place < len(rows) and rows[place][0] == time:
            _, node, interface, kb, count = rows[place]
            mine = counts[node, interface]
            mine.extend([0] * (kb + 1 - len(mine)))
            mine[kb] += count
            place += 1
        # Samples of an empty queue are not in the table.
        samples = when.samples(time)
        filled = {port: list(mine) for port, mine in counts.items()}
        for mine in filled.values():
            if samples:
                mine[:1] = [samples - sum(mine[1:])]
        yield Block(time, filled)


def block_times(when: Sampling, every_ps: int) -> list[int]:
    """Multiples of `every_ps` in the sampled time, and the last sample."""
    first = -(-when.start_ps // every_ps) * every_ps
    if (when.last_ps - first) // every_ps >= MOST_BLOCKS:
        least = 1 + (when.last_ps - first) // MOST_BLOCKS
        raise ComparisonError(f"too many blocks: at most {MOST_BLOCKS:,}; --every must be at least {least}ps")
    times = list(range(first, when.last_ps + 1, every_ps))
    return times if times and times[-1] == when.last_ps else [*times, when.last_ps]


def written(blocks: Iterator[Block]) -> Iterator[str]:
    """The lines of a file, as ns-3 writes them."""
    for block in blocks:
        yield f"time: {block.time_ps // 1000}\n"
        for (node, interface), counts in block.counts.items():
            yield " ".join(map(str, (node, interface, *counts))) + "\n"


def read(file: Path) -> list[Block]:
    """The blocks of a file of ns-3, in order of time."""
    blocks: list[Block] = []
    number = 0
    try:
        with _input.opened(file, ComparisonError) as opened:
            for number, line in enumerate(opened, 1):
                if not line.endswith(b"\n"):
                    raise located(file, number, "the file is truncated: it ends in the middle of a line", FORMAT)
                if found := TIME.fullmatch(line):
                    time = 1000 * int(found[1])
                    if blocks and time <= blocks[-1].time_ps:
                        raise located(file, number, "this block is not later than the one before", "ascending times")
                    blocks.append(Block(time))
                elif not blocks or not PORT.fullmatch(line):
                    raise located(file, number, "the line is not of a file of queue lengths", FORMAT)
                else:
                    node, interface, *counts = map(int, line.split())
                    if (node, interface) in blocks[-1].counts:
                        raise located(file, number, f"interface {interface} of node {node} is already in this block",
                                      "each port once")  # fmt: skip
                    blocks[-1].counts[node, interface] = counts
    except (FileNotFoundError, IsADirectoryError, NotADirectoryError) as error:
        raise ComparisonError(f"{file}: {error.strerror}; must be a queue length file of ns-3") from None
    except OSError as error:
        raise EnvironmentFailure(f"{file}: {error.strerror}") from None
    if not number:
        raise ComparisonError(f"{file}: the file is empty; must be {FORMAT}")
    return blocks
