"""Analyses: read with their scales, computed cell by cell, resumed; and their errors."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import duckdb
import pytest

import incast
from conftest import Command
from incast import analysis
from incast.analysis.kinds import kinds
from incast.sweep import SweepProgress

FAILURES = """
title = "Failures"
analysis = "dependencies"
[set]
scenario = "fabric.toml"
overrides = ["fabric={fat_tree={k=4}}"]
paths = "routes"
[[vary]]
path = "failures"
values = [1, 2]
[[vary]]
name = "routes"
[[vary.points]]
name = "converged"
[[vary.points]]
name = "one detour"
set = { detours = 1 }
[[skip]]
failures = 1
routes = "one detour"
[scale.smoke]
values = { failures = [2] }
[scale.quick]
"""
FABRIC = """
fabric.star = { hosts = 2 }
[[workload]]
list = [{ src = 0, dst = 1, size = "1kB" }]
[scheme.PFC]
control = "unlimited"
"""
CLAIMS = """
[metric.cyclic]
about = "sets of failed links that make a cyclic dependency"
analysis = "failures"
sql = "select failures, routes, cyclic as value from figures"
[[claim]]
id = "C1"
statement = "Two failures can make one"
source = "made for the tests"
origin = "ours"
from = "smoke"
[[claim.check]]
metric = "cyclic"
at = { failures = 2 }
above = 0
"""
STUDY = """
title = "Failures"
text = "Failures of a fat tree."
source = "made for the tests"
analyses = ["failures"]
[scale.smoke]
about = "two failures"
[scale.quick]
about = "one and two"
"""


@pytest.fixture
def study(tmp_path: Path) -> Path:
    folder = tmp_path / "mine"
    folder.mkdir()
    for name, text in (
        ("failures.toml", FAILURES),
        ("fabric.toml", FABRIC),
        ("claims.toml", CLAIMS),
        ("study.toml", STUDY),
    ):
        (folder / name).write_text(text, encoding="utf-8")
    return folder


def test_cells_are_the_product_of_the_axes(study: Path) -> None:
    plan = analysis.read(study / "failures.toml", "quick")
    assert [cell.label for cell in plan.runs] == [
        "failures=1, routes=converged",
        "failures=2, routes=converged",
        "failures=2, routes=one detour",
    ]
    assert plan.columns == ("failures", "routes")
    assert {cell.columns["failures"] for cell in analysis.read(study / "failures.toml", "smoke").runs} == {2}
    assert len({cell.key for cell in plan.runs}) == 3


def test_the_table_is_what_the_command_says(study: Path, tmp_path: Path, command: Command) -> None:
    done = analysis.run(analysis.read(study / "failures.toml", "quick"), tmp_path / "out")
    assert (len(done.done), done.failed, done.impossible) == (3, (), None)
    rows = {(row["failures"], row["routes"]): row for row in done.rows}
    assert rows[1, "converged"] == {
        "failures": 1,
        "routes": "converged",
        "sets": 32,
        "cyclic": 0,
        "shortest": None,
    }
    fat_tree = ("--set", "fabric={fat_tree={k=4}}")
    checked = command("deadlock", "check", study / "fabric.toml", "--failures", "2", *fat_tree)
    assert checked.returncode == 1
    pairs = rows[2, "converged"]
    assert f"{pairs['cyclic']} of {pairs['sets']} sets of failed links" in checked.stdout
    (count,) = done.connect().sql("select count(*) from figures").fetchall()[0]
    assert count == 3
    columns = duckdb.read_parquet(f"{tmp_path}/out/figures.parquet").columns
    assert columns == ["failures", "routes", "sets", "cyclic", "shortest"]


def test_what_is_there_is_not_computed_again(study: Path, tmp_path: Path) -> None:
    plan = analysis.read(study / "failures.toml", "quick")

    class EndedError(Exception):
        pass

    def end(progress: SweepProgress) -> None:
        if progress.done == 1:
            raise EndedError

    with pytest.raises(EndedError):
        analysis.run(plan, tmp_path / "out", end)
    part = analysis.open_analysis(tmp_path / "out")
    assert [cell.done for cell in part.runs] == [True, False, False]
    first = tmp_path / "out" / "runs" / part.done[0].key / "rows.json"
    stamp = first.stat().st_mtime_ns
    kept: list[int] = []
    done = analysis.run(plan, tmp_path / "out", lambda progress: kept.append(progress.kept))
    assert (len(done.done), kept[-1], first.stat().st_mtime_ns) == (3, 1, stamp)
    # Other parameters are other cells.
    change(study / "failures.toml", "detours = 1", "detours = 2")
    again = analysis.run(analysis.read(study / "failures.toml", "quick"), tmp_path / "out")
    assert sum(cell.key in {one.key for one in done.runs} for cell in again.runs) == 2


def test_a_study_of_an_analysis_alone(study: Path, tmp_path: Path, command: Command) -> None:
    said = command("study", "run", str(study), "--scale", "smoke", "-o", str(tmp_path / "out"))
    assert "C1  holds, ours: Two failures can make one" in said.stdout
    assert "analysis failures (1 of 1): 2 cells" in said.stderr
    found = incast.open_study(tmp_path / "out")
    assert (found.claims["C1"].verdict, list(found.sweeps), list(found.analyses)) == ("holds", [], ["failures"])
    assert "smoke: two failures\n    runs: failures 2;" in command("study", "show", str(study)).stdout


def test_what_the_machine_cannot_do_is_left_out(study: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    why = "this machine has no links"
    monkeypatch.setitem(kinds(), "dependencies", replace(kinds()["dependencies"], impossible=lambda: why))
    found = incast.load_study(study).run(tmp_path / "out", scale="smoke")
    claim = found.claims["C1"]
    assert claim.verdict == "not measured"
    assert claim.reason is not None
    assert f"have no results: {why}" in claim.reason
    assert found.analyses["failures"].impossible == why
    assert found.analyses["failures"].failed == ()


@pytest.mark.parametrize(
    ("file", "old", "new", "says"),
    [
        ("failures.toml", '"dependencies"', '"dependancies"', "did you mean `dependencies`"),
        ("failures.toml", 'path = "failures"', 'path = "failure"', "did you mean `failures`"),
        ("failures.toml", "detours = 1", "detour = 1", "did you mean `detours`"),
        ("failures.toml", "detours = 1", 'detours = "1"', "`1` where a whole number is expected"),
        ("failures.toml", 'paths = "routes"', "", "parameter `paths` of `dependencies` is not given"),
        ("failures.toml", 'paths = "routes"', 'paths = "route"', "unknown paths `route`"),
        ("failures.toml", "k=4", "k=5", "even"),
        ("failures.toml", 'name = "routes"', 'name = "cyclic"', "`cyclic` is a figure of the analysis"),
        ("failures.toml", "values = { failures = [2] }", "values = { fail = [2] }", "unknown axis `fail`"),
        ("failures.toml", 'routes = "one detour"', 'route = "one detour"', "did you mean `routes`"),
        ("failures.toml", 'scenario = "fabric.toml"', 'scenario = "fabrics.toml"', "fabrics.toml"),
        ("failures.toml", "values = [1, 2]", "", "either a `path` with `values`, or `points`"),
        ("study.toml", '["failures"]', '["failure"]', "did you mean `failures`"),
        ("study.toml", "analyses", "sweeps", "unknown field `analysis`"),
        ("claims.toml", 'analysis = "failures"', 'analysis = "failure"', "did you mean `failures`"),
        ("claims.toml", 'analysis = "failures"', 'sweep = "failures"', "the study has no sweep `failures`"),
        ("claims.toml", 'analysis = "failures"', "", "is of a `sweep` or of an `analysis`"),
        ("claims.toml", "from figures", "from runs", "runs"),
        ("claims.toml", "failures = 2", "failures = 3", "no run has failures `3`"),
    ],
)
def test_bad_input(study: Path, command: Command, file: str, old: str, new: str, says: str) -> None:
    change(study / file, old, new)
    out = study.parent / "out"
    said = command("study", "run", study, "-o", out)
    assert (said.returncode, says in said.stderr) == (2, True), said.stderr
    assert not out.exists()


def change(file: Path, old: str, new: str) -> None:
    text = file.read_text(encoding="utf-8")
    assert old in text
    file.write_text(text.replace(old, new, 1), encoding="utf-8")
