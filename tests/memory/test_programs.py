"""The real programs of the study: each does its work, and says what is asked of it."""

from __future__ import annotations

import re
import subprocess
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from conftest import PATIENCE
from incast import memory
from incast.memory.programs import PROGRAMS, Ready
from memory.running import record, running_in, served

SIZE = 0.02


def ready(name: str, folder: Path) -> Ready:
    return PROGRAMS[name].ready(folder, SIZE, 7)


def needs_memcached() -> None:
    """Skip where it is not installed; the study says so then."""
    if (why := PROGRAMS["memcached"].missing()) is not None:
        assert why == "memcached is not installed: apt install memcached"
        pytest.skip("no memcached")


def printed(command: Ready, folder: Path) -> str:
    done = subprocess.run(command.command, cwd=folder, capture_output=True, text=True, timeout=2 * PATIENCE, check=True)
    return done.stdout


def test_inputs_are_those_of_the_seed(tmp_path: Path) -> None:
    made = []
    for number, seed in enumerate((1, 1, 2)):
        folder = tmp_path / str(number)
        folder.mkdir()
        for program in ("sort", "wordcount", "pagerank"):
            PROGRAMS[program].ready(folder, SIZE, seed)
        made.append({file.name: file.read_bytes() for file in folder.iterdir()})
    assert made[0] == made[1]
    assert made[0].keys() == {"lines.txt", "words.txt", "graph.bin"}
    assert all(made[0][name] != made[2][name] for name in made[0])


def test_words_are_counted(tmp_path: Path) -> None:
    command = ready("wordcount", tmp_path)
    words = Counter((tmp_path / "words.txt").read_text(encoding="ascii").split())
    assert words.total() == 10_000
    assert printed(command, tmp_path) == "".join(f"{word} {count}\n" for word, count in words.most_common(3))
    # Zipf's law: the second most frequent about half as often as the first.
    first, second = (count for _, count in words.most_common(2))
    assert 0.4 < second / first < 0.6


def test_ranks_sum_to_one(tmp_path: Path) -> None:
    total, highest = map(float, printed(ready("pagerank", tmp_path), tmp_path).split())
    assert total == pytest.approx(1.0, abs=1e-6)
    targets = np.fromfile(tmp_path / "graph.bin", np.uint32)[2:]
    nodes, degree = 2_000, 8
    rank = np.full(nodes, 1 / nodes)
    for _ in range(3):
        incoming = np.zeros(nodes)
        np.add.at(incoming, targets, np.repeat(rank / degree, degree))
        rank = 0.15 / nodes + 0.85 * incoming
    assert highest == pytest.approx(rank.max(), rel=1e-3)


def test_lines_are_sorted(tmp_path: Path) -> None:
    command = ready("sort", tmp_path)
    *sort, place, file = command.command
    assert place == "/dev/null"
    done = subprocess.run([*sort, str(tmp_path / "sorted.txt"), file], check=True)
    assert done.returncode == 0
    expected = sorted(Path(file).read_text(encoding="ascii").splitlines())
    assert len(expected) == 5_000
    assert (tmp_path / "sorted.txt").read_text(encoding="ascii").splitlines() == expected


@pytest.mark.long
def test_a_server_is_asked_and_ended(tmp_path: Path) -> None:
    needs_memcached()
    command = ready("memcached", tmp_path)
    output = printed(command, tmp_path)
    throughput = re.search(command.throughput or "", output)
    window = re.search("from ([0-9.]+) to ([0-9.]+)", output)
    assert throughput
    assert window
    begin, end = map(float, window.groups())
    assert float(throughput[1]) == pytest.approx(2_000 / (end - begin), rel=1e-3)
    assert running_in(tmp_path) == []


@pytest.mark.long
@served
def test_a_server_alone_is_served(tmp_path: Path) -> None:
    needs_memcached()
    command = ready("memcached", tmp_path)
    found, output = record(tmp_path, list(command.command), only=list(command.only), one_core=True)
    assert found.code == 0, output
    assert {process["name"] for process in found.summary.processes} == {"memcached"}
    assert found.summary.fetches > 1_000
    begin, end = (
        float(each) - found.summary.start_ns / 1e9 for each in re.findall("from ([0-9.]+) to ([0-9.]+)", output)[0]
    )
    assert 0 < begin < end < found.summary.seconds
    asked = memory.recorded_segments(found.path, (begin, end))
    assert 0 < int(asked.fetches.sum()) < found.summary.fetches, "storing fetches too"
