"""Same scenario, same seed: the same bytes, whatever the threads."""

from __future__ import annotations

from pathlib import Path

import incast
from conftest import SMALL, write


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


def test_measuring_changes_nothing(tmp_path: Path) -> None:
    measured = SMALL + '\n[measure]\nsample_every = "1us"\nqueue_histogram = true\n'
    first = run(tmp_path, "first", threads=1)
    other = run(tmp_path, "other", threads=1, text=measured)
    assert first["flows.parquet"] == other["flows.parquet"]
    assert first["ports.parquet"] == other["ports.parquet"]
    assert "queues.parquet" in other
