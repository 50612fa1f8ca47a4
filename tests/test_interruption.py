"""Runs that are stopped, and machines that cannot: nothing half-written stays."""

from __future__ import annotations

import resource
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from conftest import LONG, SMALL, Command, Start, environment, processor_s, stop, wait_until, write

HUGE = """\
[fabric.fat_tree]
k = 64
[[workload]]
poisson = { load = 0.3, sizes = "fb_hadoop", duration = "100us" }
[scheme.DCQCN]
control = "dcqcn"
"""


def left_behind(folder: Path) -> list[str]:
    """Files of a folder other than the scenario, at any depth."""
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.name != "scenario.toml")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_ended_by_a_signal(start: Start, tmp_path: Path, number: signal.Signals) -> None:
    write(tmp_path, LONG)
    process = start("run", "scenario.toml", "-o", "out")
    wait_for_run(process, tmp_path)
    code, errors = stop(process, number)
    assert code == 128 + number
    assert "interrupted" in errors
    assert "Traceback" not in errors
    assert left_behind(tmp_path) == []


@pytest.mark.parametrize("arguments", [("show",), ("run", "-o", "out")])
def test_a_large_scenario_is_left_before_it_is_built(start: Start, tmp_path: Path, arguments: tuple[str, ...]) -> None:
    write(tmp_path, HUGE)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    process = start(arguments[0], "scenario.toml", *arguments[1:])
    wait_until(lambda: processor_s(process.pid) > 2)
    code, errors = stop(process, signal.SIGINT)
    assert (code, errors.strip()) == (130, "error: interrupted; nothing was written")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert after.ru_utime - before.ru_utime < 10, "processor time; the whole scenario takes 30 s"
    assert left_behind(tmp_path) == []


def test_ctrl_c_keeps_older_results(start: Start, command: Command, tmp_path: Path) -> None:
    file = write(tmp_path, SMALL)
    assert command("run", file, "-o", "out", "--quiet").returncode == 0
    before = {path: path.read_bytes() for path in (tmp_path / "out").rglob("*") if path.is_file()}
    write(tmp_path, LONG)
    process = start("run", "scenario.toml", "-o", "out", "--overwrite")
    wait_for_run(process, tmp_path)
    assert stop(process, signal.SIGINT)[0] == 130
    assert {path: path.read_bytes() for path in (tmp_path / "out").rglob("*") if path.is_file()} == before


def test_kill_9(start: Start, command: Command, tmp_path: Path) -> None:
    write(tmp_path, LONG)
    process = start("run", "scenario.toml", "-o", "out")
    wait_for_run(process, tmp_path)
    process.kill()
    process.communicate()
    assert not (tmp_path / "out").exists(), "no half results under the name of results"
    write(tmp_path, SMALL)
    done = command("run", "scenario.toml", "-o", "out", "--quiet")
    assert done.returncode == 0, done.stderr
    assert command("results", "out").returncode == 0
    assert {name.partition("/")[0] for name in left_behind(tmp_path)} == {"out"}, "the next run cleans up"


def wait_for_run(process: subprocess.Popen[str], folder: Path) -> None:
    """Wait until a run has used some processor time since the folder for its results was made."""

    def goes_on() -> bool:
        assert process.poll() is None, process.communicate()
        return any(folder.glob(".out*"))

    wait_until(goes_on)
    before = processor_s(process.pid)
    wait_until(lambda: goes_on() and processor_s(process.pid) > before + 0.3)


def test_folder_is_there(command: Command, small: Path, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "precious").write_text("mine")
    done = command("run", small, "-o", "out")
    assert done.returncode == 2
    assert "out" in done.stderr
    assert left_behind(tmp_path) == ["out", "out/precious"]
    done = command("run", small, "-o", "out", "--overwrite")
    assert done.returncode == 2, "a folder that holds no results is never replaced"
    assert left_behind(tmp_path) == ["out", "out/precious"]


def test_results_are_there(command: Command, small: Path) -> None:
    assert command("run", small, "-o", "out", "--quiet").returncode == 0
    done = command("run", small, "-o", "out")
    assert done.returncode == 2
    assert "--overwrite" in done.stderr
    assert command("run", small, "-o", "out", "--overwrite", "--quiet").returncode == 0


def test_file_in_place_of_the_folder(command: Command, small: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    for out in ("file", "file/out"):
        done = command("run", small, "-o", out)
        assert done.returncode in (2, 3), done.stderr
        assert "file" in done.stderr
        assert "Traceback" not in done.stderr
    assert left_behind(tmp_path) == ["file"]
    assert (tmp_path / "file").read_text() == "mine"


@pytest.fixture
def tiny_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 64 KiB."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=64k", "none", str(disk)]
    if subprocess.run(mount, capture_output=True, check=False).returncode != 0:
        pytest.skip("mounting needs root")
    yield disk
    subprocess.run(["umount", str(disk)], check=True)


BIG = SMALL.replace('"100us"', '"20ms"')
"""Several thousand flows: more than fits on the tiny disk."""


def test_full_disk(command: Command, tmp_path: Path, tiny_disk: Path) -> None:
    write(tmp_path, BIG)
    done = command("run", "scenario.toml", "-o", tiny_disk / "out", "--quiet")
    assert done.returncode == 3, done.stderr
    assert "space" in done.stderr
    assert "Traceback" not in done.stderr
    assert list(tiny_disk.iterdir()) == []


def test_read_only_folder(command: Command, small: Path, tiny_disk: Path) -> None:
    subprocess.run(["mount", "-o", "remount,ro", str(tiny_disk)], check=True)
    done = command("run", small, "-o", tiny_disk / "out", "--quiet")
    assert done.returncode == 3, done.stderr
    assert "disk" in done.stderr


def test_file_size_limit(tmp_path: Path) -> None:
    write(tmp_path, BIG)

    def limit() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, 10_000))

    run = [sys.executable, "-m", "incast", "run", "scenario.toml", "-o", "out", "--quiet"]
    done = subprocess.run(
        run, cwd=tmp_path, env=environment(), capture_output=True, text=True, check=False, preexec_fn=limit
    )
    assert done.returncode == 3, done.stderr
    assert left_behind(tmp_path) == []
