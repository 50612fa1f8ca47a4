"""A simulation on several threads has the results of one thread."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import incast

SCENARIO = """
seed = 3

[fabric.leaf_spine]
leaves = 8
spines = 4
hosts_per_leaf = 8

[[workload]]
label = "background"
poisson = { load = 0.4, sizes = "websearch", duration = "300us" }

[[workload]]
label = "incast"
incast = { fan_in = 40, size = "50kB", receiver = 0, at = "20us" }

[measure]
sample_every = "20us"
fingerprint = true

[scheme.dcqcn]
control = "dcqcn"
"""


def _run(folder: Path, threads: int) -> incast.Results:
    (folder / "s.toml").write_text(SCENARIO)
    return incast.load(folder / "s.toml").run(folder / f"by{threads}", threads=threads)


def test_tables_and_fingerprints_do_not_depend_on_threads(tmp_path: Path) -> None:
    one = _run(tmp_path, 1)
    for threads in (2, 3, 8):
        other = _run(tmp_path, threads)
        assert other.manifest["schemes"]["dcqcn"]["fingerprint"] == one.manifest["schemes"]["dcqcn"]["fingerprint"]
        for table in one.manifest["tables"]:
            name = f"{table}.parquet"
            assert (other.path / name).read_bytes() == (one.path / name).read_bytes(), (threads, table)
        assert _without_times(other) == _without_times(one)


def _without_times(results: incast.Results) -> object:
    def without(tree: object) -> object:
        if isinstance(tree, dict):
            times = ("wall_s", "cpu_s", "packet_hops_per_s")
            return {name: without(entry) for name, entry in tree.items() if name not in times}
        return tree

    return without(json.loads((results.path / "manifest.json").read_text()))


@pytest.mark.parametrize(
    ("change", "why"), [("simulation.arithmetic=ns3", "`ns3` arithmetic orders"), ("seed=4", None)]
)
def test_show_says_why_a_simulation_runs_on_one_thread(tmp_path: Path, change: str, why: str | None) -> None:
    (tmp_path / "s.toml").write_text(SCENARIO)
    shown = incast.load(tmp_path / "s.toml", [change]).summary()
    assert ("one thread:" in shown) == (why is not None)
    assert why is None or why in shown
