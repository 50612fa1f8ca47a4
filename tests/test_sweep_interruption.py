"""Sweeps that are stopped: whatever was finished stays, nothing is done twice, nothing half-written is found."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import incast
from conftest import LONG, SMALL, Command, Start, stop, wait_until, write
from incast import ResultsExistError, sweep
from incast.sweep import SweepProgress
from incast.sweep.dataset import tables
from incast.sweep.folder import locked

RUNS = 24
SEEDS = f'scenario = "scenario.toml"\n[[vary]]\npath = "seed"\nvalues = {list(range(RUNS // 2))}\n'
BRIEF = SMALL.replace('"100us"', '"3ms"')
"""Runs for a tenth of a second."""
SLOW = LONG.replace("5s", "4ms")
"""Runs for a second or two."""


def finished(folder: Path) -> dict[str, tuple[int, int]]:
    """The runs that are there, and what would change if one were done again."""
    found = {}
    every = {f"{table}.parquet" for table, condition in tables().items() if condition is None}
    for run in (folder / "runs").iterdir() if (folder / "runs").is_dir() else ():
        file = run / "slowdown.parquet"
        found[run.name] = (file.stat().st_ino, file.stat().st_mtime_ns)
        assert {path.name for path in run.iterdir()} >= {"manifest.json"} | every
    return found


def workers(parent: int | None = None) -> list[int]:
    """Processes that do runs, of one sweep or of any."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            command, status = (folder / "cmdline").read_bytes(), (folder / "status").read_text()
        except OSError:
            continue
        if b"incast.sweep.worker" in command and (parent is None or f"PPid:\t{parent}\n" in status):
            found.append(int(folder.name))
    return found


def gone(pids: list[int]) -> bool:
    return not any(Path(f"/proc/{pid}/exe").exists() for pid in pids)


def test_a_lock_on_a_lost_file_system_does_not_hide_the_error(tmp_path: Path) -> None:
    def fail() -> None:
        file = (tmp_path / "lock").open("w")
        with locked(file, "taken"):
            os.close(file.fileno())  # so that closing it fails
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()


def test_killed_at_any_moment(start: Start, command: Command, tmp_path: Path) -> None:
    write(tmp_path, BRIEF)
    write(tmp_path, SEEDS, "sweep.toml")
    out = tmp_path / "out"
    kept: dict[str, tuple[int, int]] = {}
    for finished_before in (0, 1, 5, 9, 14):
        process = start("sweep", "sweep.toml", "-o", "out", "--jobs", "2", "--quiet")
        wait_until(lambda: len(workers(process.pid)) == 2 or process.poll() is not None)  # noqa: B023
        wait_until(lambda: len(finished(out)) >= finished_before or process.poll() is not None)  # noqa: B023
        children = workers(process.pid)
        process.kill()
        process.communicate()
        wait_until(lambda: gone(children))  # noqa: B023
        after = finished(out)
        assert after.items() >= kept.items(), "none is lost, none is done again"
        kept = after
        if (out / "sweep.json").is_file():
            assert len(incast.open_sweep(out).done) == len(kept), "what is there can be read before it goes on"
    assert len(kept) >= 14
    done = command("sweep", "sweep.toml", "-o", "out")
    assert done.returncode == 0, done.stderr
    assert f"{RUNS} of {RUNS} runs" in done.stdout
    assert finished(out).items() >= kept.items()
    assert len(finished(out)) == RUNS
    assert {path.name for path in out.iterdir()} == {
        ".sweep.lock",
        "runs",
        "runs.parquet",
        "scenario.toml",
        "sweep.json",
        "sweep.toml",
    }


def test_files_of_a_killed_sweep_are_removed(tmp_path: Path) -> None:
    write(tmp_path, SMALL)
    plan = sweep.read(write(tmp_path, SEEDS.replace(str(list(range(RUNS // 2))), "[1]"), "sweep.toml"))
    left = tmp_path / "out" / ".sweep.json.a1b2c3d4.partial"
    sweep.run(plan, left.parent)
    left.touch()
    assert len(sweep.run(plan, left.parent).done) == 2
    assert not left.exists()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_ended_by_a_signal(start: Start, tmp_path: Path, number: signal.Signals) -> None:
    write(tmp_path, SLOW)
    write(tmp_path, SEEDS, "sweep.toml")
    process = start("sweep", "sweep.toml", "-o", "out", "--jobs", "1", "--quiet")
    wait_until(lambda: len(finished(tmp_path / "out")) >= 1)
    children = workers(process.pid)
    code, said = stop(process, number)
    assert code == 128 + number
    there = len(finished(tmp_path / "out"))
    assert f"interrupted; {there} of 12 runs are finished and kept in out; repeat the command" in said
    assert "Traceback" not in said
    assert there < 12
    assert gone(children)
    assert not (tmp_path / "out" / ".work").exists()
    states = [run.state for run in incast.open_sweep(tmp_path / "out").runs]
    assert states == ["done"] * there + ["waiting"] * (12 - there)


def test_a_worker_is_killed(tmp_path: Path) -> None:
    """As the kernel does it where memory is short."""
    killed: list[int] = []

    def kill(progress: SweepProgress) -> None:
        if not killed and any(activity.pulse.fraction > 0 for activity in progress.active.values()):
            killed.extend(workers(os.getpid()))
            os.kill(killed[0], signal.SIGKILL)

    write(tmp_path, SLOW)
    plan = sweep.read(write(tmp_path, SEEDS.replace(str(list(range(RUNS // 2))), "[1, 2, 3]"), "sweep.toml"))
    done = sweep.run(plan, tmp_path / "out", jobs=1, progress=kill)
    # On a busy machine it may be the second run that is killed.
    assert sorted(run.state for run in done.runs) == ["done", "done", "failed"]
    (error,) = (str(run.error) for run in done.runs if run.state == "failed")
    assert "killed by SIGKILL" in error
    assert "memory" in error
    assert len(sweep.run(plan, tmp_path / "out").done) == 3


def test_two_sweeps_in_one_folder(start: Start, command: Command, tmp_path: Path) -> None:
    write(tmp_path, LONG)
    write(tmp_path, SEEDS, "sweep.toml")
    first = start("sweep", "sweep.toml", "-o", "out", "--jobs", "1", "--quiet")
    wait_until(lambda: workers(first.pid) != [])
    second = command("sweep", "sweep.toml", "-o", "out")
    assert second.returncode == 2
    assert "another sweep is running in out" in second.stderr
    with pytest.raises(ResultsExistError):
        sweep.run(sweep.read(tmp_path / "sweep.toml"), tmp_path / "out")
    assert first.poll() is None
    stop(first, signal.SIGINT)


def test_no_place_to_write(command: Command, tmp_path: Path) -> None:
    write(tmp_path, BRIEF)
    write(tmp_path, SEEDS, "sweep.toml")
    write(tmp_path, "mine", "file")
    done = command("sweep", "sweep.toml", "-o", "file/out")
    assert done.returncode == 3
    assert "cannot write file/out" in done.stderr
    assert "Traceback" not in done.stderr


def test_files_of_the_folder_are_no_modules(tmp_path: Path) -> None:
    """A file of the working folder with the name of a module is nothing to the processes that do the runs."""
    write(tmp_path, SMALL)
    write(tmp_path, SEEDS.replace(str(list(range(RUNS // 2))), "[1]"), "sweep.toml")
    write(tmp_path, "raise SystemExit(5)\n", "queue.py")
    script = "from incast import sweep; print(len(sweep.run(sweep.read('sweep.toml'), 'out').done))"
    python = ["-P", "-c", script]
    done = subprocess.run([sys.executable, *python], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.stdout, done.returncode) == ("2\n", 0), done.stderr
