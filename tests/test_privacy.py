"""Results say nothing of the machine and its folders that the user did not ask for."""

from __future__ import annotations

import json
import shutil
import signal
import stat
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import incast
from conftest import LONG, Start, stop, wait_until, write

if TYPE_CHECKING:
    from conftest import Command

TRACE = """\
[fabric.star]
hosts = 4

[[workload]]
trace = { file = "../traces/flows.csv" }

[rdma]
rto = "1us"

[scheme.A]
control = "dcqcn"
"""
"""Names a file, and has a warning with a place."""


@pytest.fixture
def scenario(tmp_path: Path) -> Path:
    """A scenario in a folder, and its trace in another."""
    for name in ("scenarios", "traces"):
        (tmp_path / name).mkdir()
    write(tmp_path / "traces", "src,dst,size_bytes,start_us\n0,1,20000,0\n", "flows.csv")
    return write(tmp_path / "scenarios", TRACE)


def texts(folder: Path) -> dict[str, str]:
    """The text files of a folder, at any depth."""
    files = (file for file in folder.rglob("*") if file.suffix in (".json", ".toml", ".md", ".csv", ".html"))
    return {str(file.relative_to(folder)): file.read_text(encoding="utf-8") for file in files}


def test_a_manifest_has_no_host_and_no_absolute_path(command: Command, scenario: Path, tmp_path: Path) -> None:
    done = command("run", scenario, "-o", tmp_path / "deep" / "out")
    assert done.returncode == 0, done.stderr
    results = incast.open(tmp_path / "deep" / "out")
    assert set(results.manifest["machine"]) == {"cpu", "cores", "os"}
    assert results.manifest["scenario_dir"] == "../../scenarios"
    assert results.manifest["warnings"][0]["line"].startswith("scenario.toml:")
    found = texts(results.path)
    assert set(found) == {"manifest.json", "scenario.toml"}
    assert [name for name, text in found.items() if str(tmp_path) in text] == []
    # The scenario finds its trace, also after all has moved.
    assert "trace: 1 flow" in results.scenario().summary()
    assert "trace: 1 flow" in command("show", results.path / "scenario.toml").stdout
    moved = shutil.move(tmp_path, tmp_path.with_name(f"{tmp_path.name}-moved"))
    try:
        assert "trace: 1 flow" in incast.open(Path(moved) / "deep" / "out").scenario().summary()
    finally:
        shutil.move(moved, tmp_path)


def test_without_files_there_is_no_folder(results: Path) -> None:
    found = incast.open(results)
    assert "scenario_dir" not in found.manifest
    assert found.scenario().title == "two schemes, eight hosts"


def test_a_sweep_has_no_absolute_path(command: Command, scenario: Path, tmp_path: Path) -> None:
    sweep = 'scenario = "scenario.toml"\n[[vary]]\npath = "seed"\nvalues = [1, 2]\n'
    done = command("sweep", write(scenario.parent, sweep, "sweep.toml"), "-o", "out")
    assert done.returncode == 0, done.stderr
    assert [name for name, text in texts(tmp_path / "out").items() if str(tmp_path) in text] == []
    found = incast.open_sweep(tmp_path / "out")
    assert found.results(found.done[0]).manifest["scenario_dir"] == "../../../scenarios"
    assert found.results(found.done[0]).scenario().title is None


def mode(path: Path) -> int:
    """Permissions of a file."""
    return stat.S_IMODE(path.stat().st_mode)


def test_unfinished_results_are_private(start: Start, tmp_path: Path) -> None:
    write(tmp_path, LONG)
    write(tmp_path, 'scenario = "scenario.toml"\n[[vary]]\npath = "seed"\nvalues = [1]\n', "sweep.toml")
    run = start("run", "scenario.toml", "-o", "out")
    wait_until(lambda: any(tmp_path.glob(".out.partial-*/.lock")))
    wait_until(lambda: {mode(found) for found in tmp_path.glob(".out.partial-*")} == {0o700})
    stop(run, signal.SIGINT)
    started = start("sweep", "sweep.toml", "-o", "many")
    wait_until((tmp_path / "many" / ".work").exists)
    assert mode(tmp_path / "many" / ".work") == 0o700
    stop(started, signal.SIGINT)


def test_finished_results_have_the_usual_permissions(results: Path) -> None:
    (made := results.parent / "made").mkdir()
    assert mode(results) == mode(made)
    assert json.loads((results / "manifest.json").read_text(encoding="utf-8"))["format"] == 1
