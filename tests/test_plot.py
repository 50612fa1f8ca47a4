"""Pictures of results."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import incast
from conftest import SMALL, environment, write
from incast import plot


@pytest.fixture(scope="module")
def sampled(tmp_path_factory: pytest.TempPathFactory) -> incast.Results:
    """Results with time series, of a switch that pauses."""
    folder = tmp_path_factory.mktemp("sampled")
    text = SMALL.replace('"hpcc"', '"unlimited"') + '[switch]\nbuffer = "600kB"\n[measure]\nsample_every = "1us"\n'
    return incast.load(write(folder, text)).run(folder / "results")


def draw(*arguments: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "incast.plot", *map(str, arguments)]
    return subprocess.run(command, env=environment(), capture_output=True, text=True, timeout=60, check=False)


def test_queues_are_the_samples(sampled: incast.Results) -> None:
    figure = plot.queues(sampled, ports=2)
    first, second = figure.axes
    peaks: dict[int, int] = {}
    for row in sampled.table("queues").dicts():
        peaks[row["port"]] = max(row["queue_bytes"], peaks.get(row["port"], 0))
    longest = sorted(peaks.values(), reverse=True)
    for axes, peak in zip((first, second), longest, strict=False):
        drawn = [max(np.asarray(line.get_ydata(), float), default=0.0) for line in axes.lines]
        assert max(drawn) == peak / 1e3
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["DCQCN", "HPCC"]


def test_pauses_are_shaded(sampled: incast.Results) -> None:
    paused = {row["port"] for row in sampled.pauses.dicts()}
    assert paused, "the scenario pauses"
    ports = len({row["port"] for row in sampled.table("queues").dicts()})
    shaded = sum(len(axes.patches) for axes in plot.queues(sampled, ports=ports).axes)
    drawn = {row["port"] for row in sampled.table("queues").dicts()}
    assert shaded == sum(row["port"] in drawn for row in sampled.pauses.dicts())


def test_command(sampled: incast.Results, tmp_path: Path) -> None:
    for options, name in ((["--queues"], "queues.svg"), ([], "slowdown.svg")):
        files = [tmp_path / f"{number}-{name}" for number in (1, 2)]
        for file in files:
            done = draw(sampled.path, *options, "-o", file)
            assert (done.returncode, done.stdout) == (0, f"wrote {file}\n"), done.stderr
        assert files[0].read_bytes() == files[1].read_bytes(), "the same results give the same picture"


def test_without_samples(results: Path) -> None:
    done = draw(results, "--queues")
    assert done.returncode == 2
    assert "measure.sample_every" in done.stderr
