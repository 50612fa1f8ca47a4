"""Findings about small real runs agree with their tables."""

from __future__ import annotations

from pathlib import Path

import pytest

import incast
from conftest import RING, write
from incast import charts
from incast.findings.chains import trees
from incast.findings.percentile import SLOWDOWN, p99

FABRIC = """\
[fabric.leaf_spine]
leaves = 2
spines = 2
hosts_per_leaf = 4

[[workload]]
[workload.poisson]
load = 0.5
sizes = "20kB"
duration = "100us"

[scheme.DCQCN]
control = "dcqcn"

[scheme.HPCC]
control = "hpcc"
"""
FAILED = (
    FABRIC
    + """
[network]
failure = [{ link = ["leaf0", "spine0"], at = "20us", until = "40us" }]

[rdma]
rto = "100us"
"""
)
STORM = (
    FABRIC
    + """
[network]
pause = [{ at = "h0", priority = 3, from = "20us", until = "80us" }]

[switch]
buffer = "300kB"
"""
)


BEHIND = """\
[fabric.leaf_spine]
leaves = 2
spines = 1
hosts_per_leaf = 4

[switch]
buffer = "4MiB"

[network]
pause = [{ at = "h0", priority = 3, from = "100us", until = "2ms" }]

[[workload]]
list = [{ src = 4, dst = 0, size = "10MB" }, { src = 5, dst = 1, size = "10MB" }]

[scheme.DCQCN]
control = "dcqcn"
"""


def run(folder: Path, text: str) -> incast.Results:
    """The results of a scenario."""
    return incast.load(write(folder, text)).run(folder / "results")


@pytest.mark.filterwarnings("ignore::incast.IncastWarning")
def test_a_failure_comes_first_with_its_losses(tmp_path: Path) -> None:
    results = run(tmp_path, FAILED)
    first = results.findings()[0]
    assert (first.kind, first.schemes) == ("failure", ("DCQCN", "HPCC"))
    assert first.text.startswith("leaf0-spine0 was down from 20 us to 40 us: ")
    for manifest in results.manifest["schemes"].values():
        lost = manifest["counts"]["link_down_drops"]
        assert lost
        assert f"{lost:,} " in first.text
    assert first.to_dict() == {
        "kind": "failure", "importance": first.importance, "text": first.text, "schemes": ["DCQCN", "HPCC"]
    }  # fmt: skip


@pytest.mark.filterwarnings("ignore::incast.IncastWarning")
def test_a_storm_is_the_root_of_the_pauses(tmp_path: Path) -> None:
    results = run(tmp_path, STORM)
    first = results.findings()[0]
    assert first.text.startswith(
        "h0 sent PFC pauses of priority 3 from 20 us to 80 us (configured storm); they paused "
    )
    source = charts.Source([results])
    found = list(trees(source))
    source.close()
    assert {("DCQCN", "h0 to leaf0"), ("HPCC", "h0 to leaf0")} <= {(tree.scheme, tree.root) for tree in found}
    paused = {row["port"] for row in results.ports.dicts() if row["scheme"] == "DCQCN" and row["paused_ps"]}
    assert sum(tree.ports for tree in found if tree.scheme == "DCQCN") >= len(paused) > 1


def test_a_storm_pauses_ports_behind_the_leaf(tmp_path: Path) -> None:
    first = run(tmp_path, BEHIND).findings()[0]
    # leaf0 to h0, spine0 to leaf0 (by a packet to h1), leaf1 to spine0, h4 and h5.
    assert "they paused 5 ports, the longest for 49.1 % of the run" in first.text


def test_a_deadlock_comes_first(tmp_path: Path) -> None:
    first, *others = run(tmp_path, RING).findings()
    assert first.kind == "deadlock"
    assert "3 paused queues wait for each other (s0 to s1, s1 to s2 and s2 to s0)" in first.text
    assert any(other.text.startswith("3 flows of 3 did not complete because of the deadlock") for other in others)


def test_p99_is_that_of_the_table_of_slowdowns(results: Path) -> None:
    opened = incast.open(results)
    source = charts.Source([opened])
    found = dict(source.rows(f"select scheme, {p99(SLOWDOWN)} from flows group by scheme"))
    source.close()
    assert found == {row["scheme"]: row["p99"] for row in opened.slowdown(bins=1, label="all").dicts()}
