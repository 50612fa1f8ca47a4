"""Slowdowns by flow size over several seeds: a point is of flows of the same sizes of every seed."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from itertools import accumulate, pairwise
from pathlib import Path

import pytest

import incast
from conftest import write
from folders import TINY
from incast import charts
from incast.charts import look
from incast.charts.slowdown_seeds import Seeds, starts_of

SEEDS = (1, 2, 3)


def run(folder: Path, text: str, seed: int) -> charts.Source:
    """The tables of a scenario with a seed."""
    scenario = incast.load(write(folder, text))
    scenario.seed = seed
    return charts.Source([scenario.run(folder / str(seed))])


@pytest.fixture(scope="module")
def sources(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[int, charts.Source]]:
    """Runs of flows of random sizes, and of flows of one size."""
    text = TINY + '\n[[workload]]\nlabel = "alike"\nlist = [{ src = 0, dst = 1, size = "5kB" }]\n'
    folder = tmp_path_factory.mktemp("seeds")
    found = {seed: run(folder, text.replace("60us", "100us"), seed) for seed in SEEDS}
    yield found
    for source in found.values():
        source.close()


def cut(sizes: list[tuple[int, int]], bins: int) -> list[int]:
    """The smallest size of each bin, for sizes with their number of flows."""
    return [sizes[at][0] for at in starts_of(list(accumulate(flows for _, flows in sizes)), bins)]


def test_bins_are_those_of_single_runs() -> None:
    assert cut([(7, 100)], 20) == [7]
    different = [(size, 1) for size in range(1, 11)]
    assert cut(different, 5) == [1, 3, 5, 7, 9]
    assert cut(different[:3], 5) == [1, 2, 3]
    # The boundary at flow 5 of 10 is within size 3, which has flows 4 to 7: nearer to 4.
    assert cut([(1, 2), (2, 2), (3, 4), (4, 2)], 2) == [1, 3]
    # Size 2 has flows 2 to 6: flow 5 is nearer to the end.
    assert cut([(1, 2), (2, 5), (3, 3)], 2) == [1, 3]
    # The middle: the lower end.
    assert cut([(1, 3), (2, 4), (3, 3)], 2) == [1, 2]


def test_a_point_is_of_the_same_sizes_of_every_seed(sources: dict[int, charts.Source]) -> None:
    chart = Seeds(sources).chart()
    assert chart is not None
    rows = list(chart.dicts())
    assert {row["label"] for row in rows} == {"poisson"}
    assert "alike (5 kB): all flows have one size." in chart.left_out
    assert "mean over 3 seeds" in chart.about
    bins: dict[tuple[str, int], list[dict[str, object]]] = defaultdict(list)
    for row in rows:
        bins[row["scheme"], row["bin"]].append(row)
    assert len({bin_ for _, bin_ in bins}) > 2
    for found in bins.values():
        assert [row["seed"] for row in found] == list(SEEDS)
    # Bins of all seeds follow one another.
    ends: dict[int, list[int]] = defaultdict(list)
    for row in rows:
        ends[row["bin"]] += [row["size_min_bytes"], row["size_max_bytes"]]
    order = [(min(ends[bin_]), max(ends[bin_])) for bin_ in sorted(ends)]
    assert all(before[1] < after[0] for before, after in pairwise(order))
    assert chart.spec is not None
    labels = chart.spec["spec"]["layer"][1]["encoding"]["x"]["axis"]["labelExpr"]
    assert all(f'"{bin_}": "{look.size(max(ends[bin_]))}"' in labels for bin_ in ends)


def test_percentiles_are_those_of_each_seed(sources: dict[int, charts.Source]) -> None:
    chart = Seeds(sources).chart()
    assert chart is not None
    for row in chart.dicts():
        values = sources[row["seed"]].rows(
            "select slowdown_hpcc from flows where scheme = $scheme and label = 'poisson' "
            "and size_bytes between $low and $high",
            {"scheme": row["scheme"], "low": row["size_min_bytes"], "high": row["size_max_bytes"]},
        )
        slowdowns = sorted(max(1.0, value) for (value,) in values)
        assert row["flows"] == len(slowdowns)
        for name, share in (("p50", 0.5), ("p95", 0.95), ("p99", 0.99)):
            assert row[name] == slowdowns[int(share * len(slowdowns))]


def test_bins_without_flows_of_a_seed_are_counted(tmp_path: Path) -> None:
    head, _, tail = TINY.partition("[[workload]]")
    hpcc = tail[tail.index("[scheme.HPCC]") :]
    dcqcn = tail[tail.index("[scheme.DCQCN]") : tail.index("[scheme.HPCC]")]
    # 1 MB takes 80 us at 100 Gb/s: the largest flow does not complete.
    flows = ", ".join(f'{{ src = 0, dst = 1, size = "{size}" }}' for size in ("1kB", "1kB", "2kB", "1MB"))
    head += f'[simulation]\nhorizon = "40us"\n[[workload]]\nlist = [{flows}]\n'
    with pytest.warns(incast.IncastWarning):
        sources = {
            1: run(tmp_path, f"{head}{dcqcn}{hpcc}", 1),
            2: run(tmp_path, f"{head}{dcqcn}{hpcc}", 2),
            3: run(tmp_path, f"{head}{hpcc}", 3),
        }
    chart = Seeds(sources).chart()
    assert chart is not None
    assert [(row["scheme"], row["size_max_bytes"], row["seed"], row["flows"]) for row in chart.dicts()] == [
        *[("DCQCN", size, seed, flows) for size, flows in ((1000, 2), (2000, 1)) for seed in (1, 2)],
        *[("HPCC", size, seed, flows) for size, flows in ((1000, 2), (2000, 1)) for seed in (1, 2, 3)],
    ]
    assert "mean over 2 (DCQCN), 3 (HPCC) seeds" in chart.about
    assert chart.left_out == (
        "Unfinished flows are not counted: 2 (DCQCN), 3 (HPCC).",
        "Bins are not drawn if a seed has no completed flow in them: 1 of 3 (DCQCN), 1 of 3 (HPCC).",
    )
