"""Compares sampled queue lengths with those of the HPCC authors' ns-3."""

from __future__ import annotations

from itertools import accumulate
from os import PathLike
from pathlib import Path
from typing import Any

from incast.comparison import match, ports, queues
from incast.comparison.ports import PortComparison, Rows
from incast.comparison.queues import Block, Port
from incast.errors import ComparisonError
from incast.results import Results, open_results

COLUMNS = ("samples", "mean_kb", "p99_kb", "max_kb")


def compare_queues(
    results: Results | str | PathLike[str], qlen: str | PathLike[str], *, scheme: str | None = None
) -> PortComparison:
    """Compare queue lengths of results with those of the queue monitor of the HPCC authors' ns-3, by switch port.

    Compares all blocks of the file; table `ports` has the last one. Lengths are whole kB, rounded down. Counts can only
    be identical with the monitor's times of samples: 100 ns (`measure.sample_every`), from `QLEN_MON_START`
    (`measure.sample_from`). After a run in which every flow completed, queues count as empty.

    Args:
        results: A results folder, with `measure.sample_every`.
        qlen: The file of ns-3 (`QLEN_MON_FILE`): blocks of `time: T` and a line `node interface counts…` per port.
        scheme: The scheme to compare; required if the results have several.

    """
    if not isinstance(results, Results):
        results = open_results(results)
    scheme = match.chosen(results, scheme)
    file = Path(qlen)
    theirs = queues.read(file)
    when = queues.sampling(results, scheme, theirs[-1].time_ps)
    names: dict[Port, str] = {
        (node, interface): name
        for node, interface, name in ports.connect(results, scheme)
        .execute("SELECT node, interface, node_name || ' -> ' || peer_name FROM ports WHERE switch")
        .fetchall()
    }
    unknown = sorted({port for block in theirs for port in block.counts if port not in names})
    if unknown:
        node, interface = unknown[0]
        raise ComparisonError(
            f"{file}: the results' fabric has no switch {node} with an interface {interface}; was it another topology?"
        )
    ours = list(queues.lengths(results, scheme, when, [block.time_ps for block in theirs]))
    verdict = "identical: all {} have the same queue lengths".format(_number(len(names), "port"))
    first = _first(theirs, ours)
    if first is not None:
        time_ps, (node, interface) = first
        verdict = (
            f"first difference: node {node}, interface {interface} ({names[node, interface]}), "
            f"in the block of {time_ps / 10**12:g} s; {_number(_differing(theirs[-1], ours[-1]), 'port')} of "
            f"{len(names):,} differ in the last block"
        )
        if _samples(theirs[-1]) != _samples(ours[-1]):
            verdict += (
                f"; {_samples(theirs[-1]):,} samples in the reference, {_samples(ours[-1]):,} in the results, every "
                f"{when.every_ps / 1000:g} ns"
            )
    return PortComparison(results.path, file, scheme, verdict, first is None, _ports(theirs[-1], ours[-1], names))


def _first(theirs: list[Block], ours: list[Block]) -> tuple[int, Port] | None:
    """The first time and port with other counts."""
    for their, our in zip(theirs, ours, strict=True):
        for port, counts in our.counts.items():
            if their.counts.get(port) != counts:
                return our.time_ps, port
    return None


def _differing(their: Block, our: Block) -> int:
    return sum(their.counts.get(port) != counts for port, counts in our.counts.items())


def _samples(block: Block) -> int:
    """Samples of each port."""
    return max(map(sum, block.counts.values()), default=0)


def _ports(their: Block, our: Block, names: dict[Port, str]) -> Rows:
    """Samples, mean, 99th percentile and maximum by port, largest difference of means first."""
    columns = [f"{side}_{name}" for name in COLUMNS for side in ("reference", "results")]
    rows: list[tuple[Any, ...]] = []
    for (node, interface), counts in our.counts.items():
        both = zip(_figures(their.counts.get((node, interface), [])), _figures(counts), strict=True)
        rows.append((node, interface, names[node, interface], *(figure for pair in both for figure in pair)))
    place = 3 + 2 * COLUMNS.index("mean_kb")
    rows.sort(key=lambda row: -abs((row[place] or 0) - (row[place + 1] or 0)))
    return Rows(("node", "interface", "name", *columns), rows)


def _figures(counts: list[int]) -> tuple[int, float | None, int | None, int | None]:
    """Samples, mean, 99th percentile (element floor(0.99 n)) and maximum."""
    samples = sum(counts)
    if not samples:
        return 0, None, None, None
    mean = sum(kb * count for kb, count in enumerate(counts)) / samples
    p99 = next(kb for kb, seen in enumerate(accumulate(counts)) if seen > int(0.99 * samples))
    return samples, mean, p99, max(kb for kb, count in enumerate(counts) if count)


def _number(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"
