"""Same scenario, same seed: the same bytes, whatever the threads."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import incast
from conftest import ROOT, SMALL, write

ONE_SCHEME = """
[fabric.fat_tree]
k = 6

[[workload]]
poisson = { load = 0.5, sizes = "websearch", duration = "300us" }

[[workload]]
incast = { fan_in = 20, size = "200kB", at = "50us" }

[[network.failure]]
switch = "core0"
at = "100us"

[measure]
sample_every = "20us"
fingerprint = true

[scheme.DCQCN]
control = "dcqcn"
"""
"""99 nodes: several threads share the simulation."""


def tables(folder: Path) -> dict[str, bytes]:
    """The bytes of every table of a results folder."""
    return {path.name: path.read_bytes() for path in folder.glob("*.parquet")}


def run(folder: Path, name: str, *, threads: int, text: str = SMALL) -> dict[str, bytes]:
    """The tables of a run."""
    return tables(incast.load(write(folder, text)).run(folder / name, threads=threads).path)


def test_same_seed_same_bytes(tmp_path: Path) -> None:
    first = run(tmp_path, "first", threads=1)
    assert len(first) >= 2
    assert run(tmp_path, "second", threads=1) == first
    assert run(tmp_path, "third", threads=2) == first


def test_other_seed_other_flows(tmp_path: Path) -> None:
    first = run(tmp_path, "first", threads=1)
    other = run(tmp_path, "other", threads=1, text=SMALL.replace("seed = 7", "seed = 8"))
    assert first["flows.parquet"] != other["flows.parquet"]


def test_another_label_draws_other_flows_as_the_template_says(tmp_path: Path) -> None:
    text = (ROOT / "python" / "incast" / "templates" / "leaf-spine.toml").read_text(encoding="utf-8")
    line = next(line for line in text.splitlines() if line.startswith('label = "background"'))
    assert line.endswith("another label draws other random flows")

    def sizes(text: str) -> list[tuple[object, ...]]:
        flows = incast.load(write(tmp_path, text)).run(tmp_path / "out", overwrite=True).flows
        return [(row["start_ps"], row["src"], row["size_bytes"]) for row in flows.dicts()]

    poisson = ONE_SCHEME.partition("[[workload]]\nincast")[0] + '[scheme.DCQCN]\ncontrol = "dcqcn"\n'
    labelled = poisson.replace("[[workload]]", '[[workload]]\nlabel = "poisson"')
    assert sizes(labelled) == sizes(poisson)
    assert sizes(labelled.replace('"poisson"', '"bg"')) != sizes(poisson)


def test_measuring_changes_nothing(tmp_path: Path) -> None:
    measured = SMALL + '\n[measure]\nsample_every = "1us"\nqueue_histogram = true\n'
    first = run(tmp_path, "first", threads=1)
    other = run(tmp_path, "other", threads=1, text=measured)
    assert first["flows.parquet"] == other["flows.parquet"]
    assert first["ports.parquet"] == other["ports.parquet"]
    assert "queues.parquet" in other


def test_threads_of_one_simulation_change_nothing(tmp_path: Path) -> None:
    scenario = incast.load(write(tmp_path, ONE_SCHEME))
    runs = {threads: scenario.run(tmp_path / str(threads), threads=threads) for threads in (1, 2, 3)}

    def outcome(results: incast.Results) -> dict[str, Any]:
        times = ("wall_s", "cpu_s", "packet_hops_per_s", "threads")
        return {name: value for name, value in results.manifest["schemes"]["DCQCN"].items() if name not in times}

    cores = len(os.sched_getaffinity(0))
    for threads, results in runs.items():
        assert tables(results.path) == tables(runs[1].path)
        assert outcome(results) == outcome(runs[1])
        assert results.manifest["schemes"]["DCQCN"]["threads"] == min(threads, cores, 99 // 32)
