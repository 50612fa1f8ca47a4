"""Studies: run, resumed, judged again, shown; and their errors, with the place."""

from __future__ import annotations

import json
import re
import shutil
import signal
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import duckdb
import pytest

import incast
from conftest import ROOT, Command, Start, stop, wait_until
from incast.cli.study_ends import complaints
from incast.integrity import SUMS, write_sums
from incast.study import folder
from incast.study.results import FORMAT
from incast.study.tabulating import Span
from incast.sweep.dataset import write_runs

TINY = ROOT / "tests" / "data" / "study"
"""Two controls on a dumbbell, two loads, three seeds: 12 runs in a few seconds."""


@pytest.fixture
def tiny(tmp_path: Path) -> Path:
    """The tiny study, to be changed."""
    return Path(shutil.copytree(TINY, tmp_path / "tiny"))


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> incast.StudyResults:
    """The tiny study's results."""
    return incast.load_study(TINY).run(tmp_path_factory.mktemp("study") / "out")


def change(file: Path, old: str, new: str) -> None:
    text = file.read_text(encoding="utf-8")
    assert old in text
    file.write_text(text.replace(old, new, 1), encoding="utf-8")


def test_results(ran: incast.StudyResults) -> None:
    assert {name: sorted(file.name for file in ran.path.glob(name)) for name in ("*.json", "*.md")} == {
        "*.json": ["claims.json", "study.json"],
        "*.md": ["claims.md"],
    }
    verdicts = {claim.id: claim.verdict for claim in ran.claims}
    assert verdicts == {"C1": "fails", "C2": "holds", "C3": "fails", "C4": "holds"}
    assert ran.claims["C3"].explanation == "Every host sends."
    assert (ran.study, ran.scale, len(ran.sweeps["load"].done)) == ("study", "quick", 12)
    assert ran.manifest["cpu_s"] > 0
    again = incast.open_study(ran.path)
    assert list(again.claims) == list(ran.claims)
    assert again.manifest == ran.manifest


def test_killed_before_its_first_manifest(tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    left = [out / name for name in (".lock", ".study.json.a1b2c3d4.partial")]
    for file in left:
        file.touch()
    assert len(incast.load_study(TINY).run(out, scale="smoke").claims) == 4
    assert [file for file in left if file.exists()] == left[:1]


def test_charts_are_the_metrics(ran: incast.StudyResults) -> None:
    (chart,) = ran.figures["1"].charts
    assert list(incast.open_study(ran.path).figures) == list(ran.figures)
    assert (chart.title, chart.x, chart.series, chart.panels, chart.missing) == (
        "All flows",
        "load",
        "scheme",
        None,
        (),
    )
    rows = {
        (load, scheme): (mean, spread)
        for load, scheme, mean, spread in ran.sweeps["load"]
        .connect()
        .sql("""
        with each as (select load, scheme, seed, avg(p95) as p95 from slowdown group by all)
        select load, scheme, avg(p95), stddev_samp(p95) from each group by all
    """)
        .fetchall()
    }
    found = {(bar.x, bar.series): bar for bar in chart.bars}
    assert found.keys() == rows.keys()
    # In the order in which they were run.
    assert list(found) == [(load, scheme) for load in (0.2, 0.4) for scheme in ("HPCC", "DCQCN")]
    for key, (mean, spread) in rows.items():
        bar = found[key]
        # Student's t with two degrees of freedom: 4.303.
        half = 4.3027 * spread / 3**0.5
        assert (bar.value, bar.low, bar.high) == pytest.approx((mean, mean - half, mean + half), rel=1e-4)
        assert bar.seeds == 3


def test_tables_are_rows_with_means_and_ranges(ran: incast.StudyResults, command: Command) -> None:
    (table,) = ran.tables
    assert incast.open_study(ran.path).tables == ran.tables
    found = (
        ran.sweeps["load"]
        .connect()
        .sql("""
        with each as (select load, scheme, seed, avg(p95) as p95 from slowdown group by all)
        select load, scheme, avg(p95), min(p95), max(p95) from each group by all order by load desc, scheme
    """)
        .fetchall()
    )
    assert [row.cells[:2] for row in table.rows] == [row[:2] for row in found]
    for row, (load, _, *spread) in zip(table.rows, found, strict=True):
        _, _, p95, packets, published = row.cells
        assert (p95.mean, p95.least, p95.most) == pytest.approx(spread)
        assert packets.least <= packets.mean <= packets.most
        assert published == (Span(mean=10, least=10, most=10) if load > 0.3 else None)
        assert row.seeds == 3
    lines = (ran.path / "tables" / "tails.csv").read_text(encoding="utf-8").splitlines()
    assert lines[0].startswith(
        "load,scheme,p95,p95_least,p95_greatest,packets,packets_least,packets_greatest,published,"
    )
    assert len(lines) == 5
    assert lines[1].startswith(f"0.4,DCQCN,{table.rows[0].cells[2].mean},")
    assert lines[-1].endswith(",,,,3")
    shown = command("study", "show", ran.path).stdout
    note = "Means over 3 seeds, with minimum and maximum in brackets where seeds differ."
    assert "Tails and packets\n    Of all flows.\n" in shown
    assert re.search(r"\n +load  scheme +p95 slowdown +sent \(packets\)  published\n +0\.4  DCQCN ", shown)
    assert note in shown
    listed = "\nfigures\n    1: Tails (figure 1)\n    table-1: Tails and packets (ours)\n"
    assert listed in command("study", "show", TINY).stdout
    page = (ran.path / "claims.md").read_text(encoding="utf-8")
    assert "| load | scheme | p95 slowdown | sent (packets) | published |\n|---:|---|---:|---:|---:|\n" in page
    assert note in page
    drawn = (ran.path / "report.html").read_text(encoding="utf-8")
    assert '<figure class="table" id="table-tails"' in drawn
    assert 'download="tails.csv" href="data:text/csv' in drawn


def test_a_row_has_one_value_for_each_seed(tiny: Path, ran: incast.StudyResults) -> None:
    out = Path(shutil.copytree(ran.path, tiny.parent / "out"))
    change(out / "study.json", '"study": "study"', '"study": "tiny"')
    change(tiny / "claims.toml", 'rows = ["load", "scheme"]', 'rows = ["load"]')
    change(tiny / "claims.toml", "select load, scheme, seed, p95, packets", "select load, seed, p95, packets")
    with pytest.raises(incast.ScenarioError, match=r"table `tails` has several rows with load 0\.4, of one seed"):
        incast.load_study(tiny).judge(out)


def test_tables_of_claims_that_are_gone_are_removed(tiny: Path, ran: incast.StudyResults) -> None:
    out = Path(shutil.copytree(ran.path, tiny.parent / "out"))
    change(out / "study.json", '"study": "study"', '"study": "tiny"')
    change(tiny / "claims.toml", 'name = "tails"', 'name = "queues"')
    incast.load_study(tiny).judge(out)
    assert [file.name for file in (out / "tables").iterdir()] == ["queues.csv"]


def test_explanations_say_of_which_run_they_are(ran: incast.StudyResults, tiny: Path, command: Command) -> None:
    note = "Figures in this text: scale quick, 2026-01-31, incast at commit 0123abc."
    assert ran.claims["C3"].taken == note
    assert f"    Every host sends.\n    ({note})\n" in command("study", "show", ran.path).stdout
    assert f"Every host sends.\n\n*{note}*\n" in (ran.path / "claims.md").read_text(encoding="utf-8")
    assert note in (ran.path / "report.html").read_text(encoding="utf-8")
    # A claim of its own run; beside results of another scale; and a file that says nothing.
    change(tiny / "explanations.md", "abc\n", "abc\nmeasured C1 C3: smoke, 2026-02-01, 4567def0\n")
    (taken,) = (each.taken for each in folder.read(tiny).explanations.values())
    assert taken is not None
    assert (taken.scale, taken.commit) == ("smoke", "4567def0")
    assert taken.sentence("quick").endswith("4567def0; results: scale quick.")
    (tiny / "explanations.md").write_text("## C3\n\nEvery host sends.\n", encoding="utf-8")
    assert folder.read(tiny).explanations["C3"].taken is None


@pytest.mark.parametrize("name", folder.shipped())
def test_explanations_of_studies_that_come_with_incast_say_it(name: str) -> None:
    for claim, explanation in folder.read(folder.find(name)).explanations.items():
        assert explanation.taken is not None, claim


def test_a_calibration_is_no_finding(ran: incast.StudyResults, command: Command) -> None:
    assert [claim.id for claim in ran.claims if claim.calibration] == ["C4"]
    shown = command("study", "show", ran.path)
    assert "C4  holds, calibration: Schemes send" in shown.stdout
    assert "a calibration, not a finding: the flows, which are the same" in shown.stdout
    page = (ran.path / "claims.md").read_text(encoding="utf-8")
    assert "| C4 | holds, calibration | published number |" in page
    assert "A calibration, not a finding: the flows, which are the same." in page
    assert "<td>holds, calibration</td>" in ran._repr_html_()


def test_a_study_without_scipy_stops_before_it_runs(
    tiny: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "scipy", None)
    with pytest.raises(incast.IncastError, match=r"a study \(extra incast\[study\]\) needs scipy: pip install scipy$"):
        incast.load_study(tiny).run(tmp_path / "out", scale="smoke")
    assert not (tmp_path / "out").exists()


def test_claims_are_counted_by_kind_published_statements_first(ran: incast.StudyResults, command: Command) -> None:
    assert ran.claims.by_kind() == {
        "published statements": ["fails", "holds"], "calibrations": ["holds"], "ours": ["fails"]
    }  # fmt: skip
    assert ran.claims.counted() == "published statements: 1 holds, 1 fails"
    summary = command("study", "show", ran.path).stdout.splitlines()[-8:]
    assert summary == [
        "study at scale quick: 4 claims",
        "published statements (numbers and directions of the publication): 1 holds, 1 fails",
        "    holds: C2",
        "    fails: C1",
        "calibrations (used to choose a setting, so no findings): 1 holds",
        "    holds: C4",
        "ours (our own claims): 1 fails",
        "    fails: C3",
    ]
    page = (ran.path / "claims.md").read_text(encoding="utf-8")
    assert "| published statements (numbers and directions of the publication) | 1 holds, 1 fails |" in page


def test_figures_are_those_of_the_tables(ran: incast.StudyResults) -> None:
    """The ratio of C1, by another way."""
    rows = (
        ran.sweeps["load"]
        .connect()
        .sql("""
        with of as (select load, scheme, seed, avg(p95) as p95 from slowdown group by all)
        select load, exp(avg(ln(a.p95 / b.p95))) from of a join of b using (load, seed)
        where a.scheme = 'HPCC' and b.scheme = 'DCQCN' group by load order by load
    """)
    )
    checks = ran.claims["C1"].checks
    assert [check.value for check in checks] == pytest.approx([value for _, value in rows.fetchall()])
    assert {(check.seeds, len(check.per_seed)) for check in checks} == {(3, 3)}


def test_claims_as_rows_and_in_a_notebook(ran: incast.StudyResults) -> None:
    rows = list(ran.claims.dicts())
    assert len(rows) == sum(len(claim.checks) for claim in ran.claims)
    assert rows[0]["id"] == "C1"
    page = ran._repr_html_()
    assert "C4" in page
    assert "<td>fails</td>" in page
    with pytest.raises(KeyError, match="there are C1, C2, C3, C4"):
        ran.claims["C9"]


def test_claims_page(ran: incast.StudyResults) -> None:
    page = (ran.path / "claims.md").read_text(encoding="utf-8")
    assert "| C3 | fails | our own | 0 of 1 figure | Nobody sends | nowhere |" in page
    assert "Every host sends." in page
    # Claims, and a table.
    assert page.count("\n## ") == 4 + 1


def test_command(command: Command, tiny: Path) -> None:
    done = command("study", "run", tiny, "--scale", "smoke", "-o", "out")
    assert done.returncode == 0, done.stderr
    assert "tiny at scale smoke: 4 claims\n" in done.stdout
    assert "why: needs scale quick" in done.stdout
    assert done.stderr.startswith("tiny at scale smoke: 4 runs; one seed\n")
    assert "sweep load (1 of 1): 4 runs" in done.stderr
    for arguments in ((tiny, "out"), ("out",)):
        shown = command("study", "show", *arguments)
        assert shown.returncode == 0, shown.stderr
        assert shown.stdout in done.stdout
    listed = json.loads(command("study", "show", "out", "--format", "json").stdout)
    assert listed == json.loads((tiny.parent / "out" / "claims.json").read_text())["claims"]
    quiet = command("study", "run", tiny, "--scale", "smoke", "-o", "out", "-q")
    assert (quiet.returncode, quiet.stdout, quiet.stderr) == (0, "", "")


def test_what_a_study_runs(command: Command) -> None:
    done = command("study", "show", TINY)
    assert done.returncode == 0, done.stderr
    assert "quick: three seeds\n    runs: load 12; claims checked: 4 of 4" in done.stdout
    assert "runs: load 4; claims checked: 2 of 4" in done.stdout
    assert "packets of HPCC / DCQCN: ratio from 0.9 to 1.1" in done.stdout
    tree = json.loads(command("study", "show", TINY, "--format", "json").stdout)
    assert tree["scales"]["smoke"]["runs"] == {"load": 4}
    assert not list(TINY.parent.glob("results*"))


def test_unexplained_failures_say_so(tiny: Path, ran: incast.StudyResults, command: Command) -> None:
    out = Path(shutil.copytree(ran.path, tiny.parent / "out"))
    change(out / "study.json", '"study": "study"', '"study": "tiny"')
    (tiny / "explanations.md").unlink()
    done = command("study", "judge", tiny, out)
    assert done.returncode == 0, done.stderr
    assert re.search(r"C3  fails \(1 of 1 figure\), ours: Nobody sends\n.*\n.*\n    no explanation yet\n", done.stdout)
    assert "(no explanation yet)" in (out / "claims.md").read_text(encoding="utf-8")


def test_changed_claims_are_judged_without_running(tiny: Path, ran: incast.StudyResults) -> None:
    out = Path(shutil.copytree(ran.path, tiny.parent / "out"))
    change(out / "study.json", '"study": "study"', '"study": "tiny"')
    change(tiny / "claims.toml", "below = 1\n", "above = 1\n")
    runs = {file: file.stat().st_mtime_ns for file in out.glob("load/runs/*/*")}
    assert incast.load_study(tiny).judge(out).claims["C3"].verdict == "holds"
    assert {file: file.stat().st_mtime_ns for file in out.glob("load/runs/*/*")} == runs
    shutil.rmtree(out / "load")
    found = incast.load_study(tiny).judge(out).claims["C3"]
    assert (found.verdict, found.reason) == ("not measured", "12 of 12 runs have no results")


def test_a_run_is_gone_on_with(tiny: Path, tmp_path: Path) -> None:
    study = incast.load_study(tiny)
    study.run(tmp_path / "out", scale="smoke")
    runs = {file: file.stat().st_mtime_ns for file in tmp_path.glob("out/load/runs/*/*")}
    again = study.run(tmp_path / "out", scale="smoke")
    assert {file: file.stat().st_mtime_ns for file in tmp_path.glob("out/load/runs/*/*")} == runs
    assert again.claims["C3"].verdict == "fails"
    study.run(tmp_path / "out", scale="smoke", overwrite=True)
    assert all(file.stat().st_mtime_ns != before for file, before in runs.items())


def test_other_results_are_left_alone(tiny: Path, tmp_path: Path, ran: incast.StudyResults, command: Command) -> None:
    for name, holds in (("mine", "notes.txt"), ("results", "study.json")):
        (tmp_path / name).mkdir()
        (tmp_path / name / holds).write_text("{}", encoding="utf-8")
        done = command("study", "run", tiny, "-o", name, "--overwrite")
        assert done.returncode == 2, done.stderr
        assert [file.name for file in (tmp_path / name).iterdir()] == [holds]
    out = shutil.copytree(ran.path, tmp_path / "out")
    done = command("study", "run", tiny, "-o", "out")
    assert done.returncode == 2
    assert "out has study study at scale quick, not tiny at scale quick; use --overwrite" in done.stderr
    assert incast.open_study(out).manifest == ran.manifest


def test_only_one_run_is_at_work_in_a_folder(tiny: Path, start: Start, command: Command, tmp_path: Path) -> None:
    change(tiny / "dumbbell.toml", '"200us"', '"40ms"')
    process = start("study", "run", tiny, "-o", "out", "--jobs", 1)
    wait_until(lambda: any(tmp_path.glob("out/load/runs/*")))
    done = command("study", "run", tiny, "-o", "out", "--overwrite")
    assert done.returncode == 2
    assert "another run is active" in done.stderr
    assert any(tmp_path.glob("out/load/runs/*"))
    stop(process, signal.SIGINT)


def test_results_of_another_version_can_be_overwritten(tiny: Path, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    manifest = {"format": 99, "study": "tiny"}
    (tmp_path / "out" / "study.json").write_text(json.dumps(manifest), encoding="utf-8")
    with pytest.raises(incast.ResultsError, match=f"reads format {FORMAT}; run the study again, with --overwrite"):
        incast.load_study(tiny).run(tmp_path / "out", scale="smoke")
    found = incast.load_study(tiny).run(tmp_path / "out", scale="smoke", overwrite=True)
    assert found.manifest["format"] == FORMAT


def test_failed_runs_are_told_and_what_they_spoil_is_not_measured(
    ran: incast.StudyResults, tmp_path: Path, command: Command
) -> None:
    out = Path(shutil.copytree(ran.path, tmp_path / "out"))
    index = json.loads((out / "load" / "sweep.json").read_text(encoding="utf-8"))
    (lost,) = (run for run in index["runs"] if (*run["columns"].values(), run["scheme"]) == (0.4, 3, "HPCC"))
    lost.update(state="failed", error="its process was killed by SIGKILL")
    shutil.rmtree(out / "load" / "runs" / lost["key"])
    (out / "load" / "sweep.json").write_text(json.dumps(index), encoding="utf-8")
    write_runs(out / "load")
    done = command("study", "judge", TINY, out)
    assert done.returncode == 1
    assert "load=0.4, seed=3, HPCC: its process was killed by SIGKILL" in done.stderr
    claims = incast.open_study(out).claims
    assert claims["C2"].reason == "1 of 3 runs with load 0.4, scheme HPCC have no results"
    assert [check.verdict for check in claims["C2"].checks] == ["holds", "holds", "not measured", "holds"]
    assert (claims["C3"].verdict, claims["C4"].verdict) == ("not measured", "not measured")


def test_an_interrupted_run_is_gone_on_with(tiny: Path, start: Start, command: Command, tmp_path: Path) -> None:
    change(tiny / "dumbbell.toml", '"200us"', '"40ms"')
    process = start("study", "run", tiny, "-o", "out", "--jobs", 1)
    wait_until(lambda: any(tmp_path.glob("out/load/runs/*")))
    code, errors = stop(process, signal.SIGINT)
    assert code == 130, errors
    assert "interrupted; finished runs are kept in out; repeat the command to resume" in errors
    assert not (tmp_path / "out" / "claims.json").exists()
    kept = {file.name for file in tmp_path.glob("out/load/runs/*")}
    done = command("study", "judge", tiny, "out")
    assert done.returncode == 0, done.stderr
    assert "runs have no results" in done.stdout
    assert kept
    assert len(kept) < 12


@dataclass
class Bad:
    """A study that is wrong, and what has to be said about it."""

    file: str
    old: str
    new: str
    at: str
    """Part of the line that is to be named."""
    says: tuple[str, ...]


STUDIES = {
    "a field of study.toml": Bad(
        "study.toml", "text =", "txet =", "txet", ("unknown field `txet`", "did you mean `text`")
    ),
    "a sweep without a file": Bad(
        "study.toml", '["load"]', '["laod"]', "sweeps", ("no file laod.toml", "did you mean `load`")
    ),
    "a sweep named twice": Bad("study.toml", '["load"]', '["load", "load"]', "sweeps", ("named twice",)),
    "a sweep with another's name": Bad("study.toml", '["load"]', '["claims"]', "sweeps", ("`claims` is no name",)),
    "no sweep": Bad("study.toml", '["load"]', "[]", "sweeps", ("at least one sweep",)),
    "a scale": Bad("study.toml", "scale.smoke", "scale.smok", "smok", ("unknown field `smok`", "did you mean `smoke`")),
    "a scale that the sweep lacks": Bad("study.toml", "scale.smoke", "scale.paper", "[scale.", ("paper",)),
    "a field of a metric": Bad("claims.toml", "sql = ", "slq = ", "slq", ("unknown field `slq`", "did you mean `sql`")),
    "a field of a check": Bad("claims.toml", "below = 1.0", "beneath = 1.0", "beneath", ("unknown field `beneath`",)),
    "a metric's sweep": Bad(
        "claims.toml", 'sweep = "load"', 'sweep = "lod"', '"lod"', ("no sweep `lod`", "did you mean `load`")
    ),
    "a metric": Bad(
        "claims.toml", 'metric = "p95"', 'metric = "p59"', '"p59"', ("no metric `p59`", "did you mean `p95`")
    ),
    "SQL with a wrong column": Bad(
        "claims.toml",
        "avg(p95)",
        "avg(p96)",
        "avg(p96)",
        ("metric `p95`: the SQL does not run", '"p96" not found', "p95"),
    ),
    "SQL with a wrong table": Bad("claims.toml", "from slowdown", "from slowdwn", "slowdwn", ("slowdwn", "slowdown")),
    "SQL that does not parse": Bad("claims.toml", "group by all", "group all", "group all", ("syntax error",)),
    "SQL that is no query": Bad(
        "claims.toml",
        'sql = "select load',
        'sql = "drop table flows; select load',
        "drop",
        ("must be one query", "not 2 statements"),
    ),
    "SQL without a value": Bad("claims.toml", "as value", "as figure", "as figure", ("no column `value`", "figure")),
    "SQL with values of text": Bad("claims.toml", "avg(p95)", "first(scheme)", "first(", ("no number but VARCHAR",)),
    "SQL with seeds of text": Bad(
        "claims.toml",
        "seed, avg(p95) as value",
        "seed::text as seed, avg(p95) as value",
        "seed::text",
        ("no whole number but VARCHAR",),
    ),
    "a column to choose by": Bad(
        "claims.toml", "of = { scheme", "of = { schema", "schema", ("no column `schema`", "did you mean `scheme`")
    ),
    "a seed to choose by": Bad(
        "claims.toml", "at = { load = [0.2, 0.4] }", "at = { seed = 1 }", "seed = 1", ("no column `seed`",)
    ),
    "a value that no run has": Bad(
        "claims.toml", '"HPCC", "DCQCN"', '"HPCC", "DCQN"', "DCQN", ("no run has scheme `DCQN`", "did you mean `DCQCN`")
    ),
    "a number that no run has": Bad(
        "claims.toml", "[0.2, 0.4]", "[0.2, 0.6]", "0.6", ("no run has load `0.6`", "0.2, 0.4")
    ),
    "a number in quotes": Bad(
        "claims.toml", "[0.2, 0.4]", '["0.2", 0.4]', '"0.2"', ("its values are numbers", "0.2, without quotes")
    ),
    "a value chosen twice": Bad("claims.toml", "[0.2, 0.4]", "[0.2, 0.2]", "0.2]", ("load `0.2` is chosen twice",)),
    "the same on both sides": Bad(
        "claims.toml",
        'against = { scheme = "DCQCN" }',
        'against = { scheme = "HPCC" }',
        "against = {",
        ("chooses the same as `of`",),
    ),
    "other columns on the other side": Bad(
        "claims.toml",
        'against = { scheme = "DCQCN" }',
        "against = { load = 0.2 }",
        "against",
        ("other columns than `of`",),
    ),
    "a column chosen twice": Bad(
        "claims.toml",
        "at = { load = [0.2, 0.4] }",
        'at = { scheme = "HPCC" }',
        "of =",
        ("has chosen `scheme` already",),
    ),
    "a list of no values": Bad("claims.toml", "[0.2, 0.4]", "[]", "load = []", ("no value is chosen",)),
    "a chart's metric": Bad(
        "claims.toml", 'metric = "p95"\nx', 'metric = "p59"\nx', '"p59"', ("no metric `p59`", "did you mean `p95`")
    ),
    "a column to draw by": Bad(
        "claims.toml", 'x = "load"', 'x = "laod"', '"laod"', ("no column `laod` to draw by", "did you mean `load`")
    ),
    "a column drawn twice": Bad(
        "claims.toml", 'x = "load"', 'x = "load"\npanels = "load"', "panels", ("`load` is x already",)
    ),
    "no panels beside each other": Bad(
        "claims.toml", 'x = "load"', 'x = "load"\ncolumns = 0', "columns = 0", ("`columns` cannot be 0", "1 or more")
    ),
    "pauses of no sweep": Bad(
        "claims.toml",
        "[[figure.chart]]",
        '[[figure.pauses]]\nsweep = "laod"\n\n[[figure.chart]]',
        '"laod"',
        ("no sweep `laod`", "did you mean `load`"),
    ),
    "a column that is not drawn": Bad(
        "claims.toml",
        "select load, scheme, seed, avg(p95) as value",
        "select load, bin, scheme, seed, avg(p95) as value",
        "[[figure.chart]]",
        ("has a column `bin` that the chart does not draw", "each column of the metric"),
    ),
    "a share that is divided": Bad(
        "claims.toml",
        'about = "p95 slowdown of all flows"',
        'about = "p95 slowdown of all flows"\nshare = true',
        'against = { scheme = "DCQCN" }',
        ("metric `p95` is a share of 0 and 1 per seed", "nothing for a share"),
    ),
    "an id": Bad("claims.toml", 'id = "C2"', 'id = "C1"', 'id = "C1"', ("two claims `C1`",)),
    "a scale to judge from": Bad("claims.toml", 'from = "quick"', 'from = "paper"', '"paper"', ("no scale `paper`",)),
    "a scale that there is not": Bad(
        "claims.toml", 'from = "quick"', 'from = "quik"', '"quik"', ("did you mean `quick`",)
    ),
    "no expectation": Bad(
        "claims.toml", "below = 1.0\n", "\n", "[[claim.check]]", ("expects nothing", "below, above, between, about")
    ),
    "two expectations": Bad(
        "claims.toml", "below = 1.0\n", "below = 1.0\nabove = 0.5\n", "above", ("one expectation, not below and above",)
    ),
    "bounds the wrong way round": Bad("claims.toml", "[0.9, 1.1]", "[1.1, 0.9]", "between", ("must be first",)),
    "an infinite bound": Bad("claims.toml", "below = 1.0", "below = inf", "below", ("finite",)),
    "a tolerance alone": Bad(
        "claims.toml", "below = 1.0", 'below = 1.0\ntolerance = "5%"', "tolerance", ("belongs to `about`",)
    ),
    "no tolerance": Bad("claims.toml", "below = 1.0\n", "about = 1.0\n", "[[claim.check]]", ("needs a `tolerance`",)),
    "a tolerance that is none": Bad(
        "claims.toml", "below = 1.0", 'about = 1.0\ntolerance = "5 pct"', "tolerance", ("`5 pct` is no tolerance", "5%")
    ),
    "a claim without checks": Bad(
        "claims.toml", '[[claim.check]]\nmetric = "hosts"\nbelow = 1\n', "check = []\n", "check", ("checks nothing",)
    ),
    "an explanation of nothing": Bad(
        "explanations.md", "## C3", "## C33", "## C33", ("no claim `C33`", "did you mean `C3`")
    ),
    "a table's sweep": Bad(
        "claims.toml",
        'name = "tails"\nsweep = "load"',
        'name = "tails"\nsweep = "lod"',
        '"lod"',
        ("no sweep `lod`", "did you mean `load`"),
    ),
    "a table of nothing": Bad(
        "claims.toml",
        'name = "tails"\nsweep = "load"',
        'name = "tails"',
        "[[figure.table]]",
        ("table `tails` is of a `sweep` or of an `analysis`",),
    ),
    "a table's SQL": Bad(
        "claims.toml", "from tails join sent", "from tails join snet", 'sql = """', ("table `tails`: the SQL", "snet")
    ),
    "a table's rows": Bad(
        "claims.toml",
        'rows = ["load", "scheme"]',
        'rows = ["load", "schema"]',
        "schema",
        ("no column `schema` to identify rows", "did you mean `scheme`"),
    ),
    "a table without rows": Bad(
        "claims.toml", 'rows = ["load", "scheme"]', "rows = []", "rows = []", ("nothing identifies the rows",)
    ),
    "a table's column": Bad(
        "claims.toml", "p95 = { title", "p96 = { title", "p96", ("no column `p96`", "did you mean `p95`")
    ),
    "a table of texts": Bad(
        "claims.toml",
        'rows = ["load", "scheme"]',
        'rows = ["load"]',
        '"""',
        ("`scheme` of table `tails` has no numbers",),
    ),
    "a table's name": Bad(
        "claims.toml",
        'name = "tails"',
        'name = "a/b"',
        "a/b",
        ("`a/b` is not a valid name of a table",),
    ),
    "a head's scale": Bad(
        "explanations.md", ": quick", ": quik", "quik", ("no scale `quik`", "did you mean `quick`", "smoke, quick")
    ),
    "a head's date": Bad("explanations.md", "01-31", "31-01", "31-01", ("`2026-31-01` is no date",)),
    "a head's commit": Bad("explanations.md", "0123abc", "HEAD", "HEAD", ("`HEAD` is no commit",)),
    "a head's claim": Bad(
        "explanations.md", "measured:", "measured C33:", "C33", ("no claim `C33`", "did you mean `C3`")
    ),
    "a long title": Bad(
        "study.toml", 'title = "', f'title = "{"t" * 1001}', "title", ("characters)` is too long", "at most 1,000")
    ),
    "a head's line": Bad("explanations.md", "measured:", "taken:", "taken", ("no line of a head", "measured: SCALE")),
    "a part of a head's line": Bad(
        "explanations.md", ", 0123abc", "", "2026", ("a scale, a date and a commit are needed",)
    ),
    "a head said twice": Bad(
        "explanations.md", "---\nm", "---\nmeasured: quick, 2026-01-31, 0123abc\nm", "measured", ("said already",)
    ),
    "a head without an end": Bad("explanations.md", "abc\n---\n", "abc\n", "---", ("the head has no end",)),
    "two explanations": Bad("explanations.md", "## C3", "## C3\n\n## C3", "## C3", ("explained already",)),
    "a scenario": Bad("dumbbell.toml", "load = 0.4", "laod = 0.4", "laod", ("did you mean `load`",)),
    "a sweep": Bad("load.toml", "poisson.load", "poisson.laod", "laod", ("did you mean `load`",)),
}


@pytest.mark.parametrize("bad", STUDIES.values(), ids=STUDIES)
def test_what_is_wrong_is_told_where_it_stands(bad: Bad, tiny: Path) -> None:
    change(tiny / bad.file, bad.old, bad.new)
    with pytest.raises(incast.ScenarioError) as caught:
        incast.load_study(tiny)
    text = str(caught.value)
    for part in bad.says:
        assert part in text, text
    assert caught.value.line is not None, text
    assert caught.value.file is not None
    line = Path(caught.value.file).read_text(encoding="utf-8").splitlines()[caught.value.line - 1]
    assert bad.at in line, text


@pytest.mark.parametrize("name", ["study.toml", "claims.toml"])
def test_a_folder_that_lacks_a_file(name: str, tiny: Path, command: Command) -> None:
    (tiny / name).unlink()
    done = command("study", "show", tiny)
    assert done.returncode == 2
    assert f"it has no {name}" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("run", "hpc"), "no study or folder `hpc`"),
        (("show", "nothing/there"), "no study or folder `nothing/there`"),
        (("run", TINY, "--scale", "paper"), "study study has no scale `paper`"),
        (("run", TINY, "--scale", "huge"), "huge"),
        (("run", TINY, "--jobs", "0"), "jobs"),
        (("judge", TINY, "nowhere"), "no results of a study here"),
        (("show", TINY, "nowhere"), "no results of a study here"),
    ],
)
def test_bad_commands(arguments: tuple[str, ...], says: str, command: Command, tmp_path: Path) -> None:
    done = command("study", *arguments)
    assert (done.returncode, done.stdout) == (2, ""), done.stderr
    assert says in done.stderr
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("spoil", "says"),
    [
        (lambda out: change(out / "study.json", f'"format": {FORMAT}', '"format": 99'), f"reads format {FORMAT}"),
        (lambda out: (out / "study.json").write_text("{", encoding="utf-8"), "not as incast writes it"),
        (lambda out: (out / "claims.json").write_text("[1]", encoding="utf-8"), "not as incast writes it"),
        (lambda out: (out / "claims.json").unlink(), "run is not finished"),
        (
            lambda out: change(out / "study.json", '"study": "study"', '"study": "other"'),
            "results of study other, not of",
        ),
    ],
)
def test_damaged_results(
    spoil: Callable[[Path], object], says: str, ran: incast.StudyResults, tmp_path: Path, command: Command
) -> None:
    out = Path(shutil.copytree(ran.path, tmp_path / "out"))
    spoil(out)
    done = command("study", "show", TINY, out)
    assert (done.returncode, done.stdout) == (2, "")
    assert says in done.stderr


def test_warnings_of_a_study_have_a_line_for_each_kind(
    ran: incast.StudyResults, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def warn(sweep: incast.Sweep, number: int, texts: list[str], stop: str) -> None:
        file = sweep.path / "runs" / sweep.done[number].key / "manifest.json"
        manifest = json.loads(file.read_text())
        manifest["warnings"] = [{"field": "rdma.rto", "line": None, "scheme": None, "text": text} for text in texts]
        (scheme,) = manifest["schemes"].values()
        scheme["stop"] |= {"reason": stop, "text": f"{stop}: queues {number} and 9 wait"}
        scheme["counts"]["lossless_drops"] = 7 * number
        file.write_text(json.dumps(manifest))

    sweeps = {
        name: incast.open_sweep(shutil.copytree(ran.sweeps["load"].path, tmp_path / name)) for name in ("load", "more")
    }
    warn(sweeps["load"], 0, ["has no effect: never used"], "deadlock")
    warn(sweeps["load"], 3, ["late 12 times; write `rto = 1ms`", "has no effect: never used"], "deadlock")
    warn(sweeps["more"], 1, ["late 5 times; write `rto = 2ms`"], "finished")
    assert complaints(sweeps, "all are on a page") == 0
    assert capsys.readouterr().err.splitlines() == [
        "warning: 2 of 24 runs (sweep load): deadlock",
        "warning: 2 of 24 runs (sweeps load, more): lossless packets dropped: PFC headroom exceeded",
        "warning: 2 of 24 runs (sweep load): rdma.rto: has no effect: never used",
        "warning: 2 of 24 runs (sweeps load, more): rdma.rto: late 12 times (numbers of one run)",
        "note: all are on a page",
    ]


def test_a_truncated_table_is_told(ran: incast.StudyResults, tmp_path: Path, command: Command) -> None:
    out = Path(shutil.copytree(ran.path, tmp_path / "out"))
    file = next(out.glob("load/runs/*/slowdown.parquet"))
    file.write_bytes(file.read_bytes()[:100])
    done = command("study", "judge", TINY, out)
    assert done.returncode == 2
    assert "slowdown" in done.stderr


def test_sql_that_reads_a_column_of_later_versions(ran: incast.StudyResults, tmp_path: Path, command: Command) -> None:
    out = Path(shutil.copytree(ran.path, tmp_path / "out"))
    for run in out.glob("load/runs/*"):
        duckdb.sql(f"copy (select * exclude packets from '{run}/flows.parquet') to '{run}/new' (format parquet)")
        (run / "new").rename(run / "flows.parquet")
        manifest = json.loads((run / "manifest.json").read_text())
        manifest["tables"]["flows"]["bytes"] = (run / "flows.parquet").stat().st_size
        (run / "manifest.json").write_text(json.dumps({**manifest, "build": "0123456789ab"}))
        (run / SUMS).unlink()
        write_sums(run)
    done = command("study", "judge", TINY, "out")
    assert (done.returncode, done.stdout) == (2, "")
    assert "flows.parquet has no column packets: incast " in done.stderr
    assert "(build 0123456789ab) wrote these results" in done.stderr
    assert done.stderr.endswith("; repeat the command `incast study run ... -o out`: it runs every simulation again\n")


def test_a_study_runs_damaged_runs_again(ran: incast.StudyResults, tmp_path: Path, command: Command) -> None:
    out = Path(shutil.copytree(ran.path, tmp_path / "out"))
    claims = (out / "claims.json").read_bytes()
    file = next(out.glob("load/runs/*/flows.parquet"))
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 1
    file.write_bytes(content)
    key = file.parent.name
    for arguments in (("judge", TINY, "out"), ("run", TINY, "-o", "out", "--quiet")):
        done = command("study", *arguments)
        if arguments[0] == "judge":
            assert done.returncode == 2
            assert f"out/load/runs/{key}/flows.parquet is damaged: its SHA-256" in done.stderr
            assert "repeat the command `incast study run ... -o out`" in done.stderr
    assert done.returncode == 0, done.stderr
    damage = "flows.parquet: its SHA-256 is not that of SHA256SUMS"
    assert f"warning: run {key} is damaged ({damage}): run again\n" in done.stderr
    assert (out / "claims.json").read_bytes() == claims


def test_metrics_that_cannot_tell_rows_apart(tiny: Path, tmp_path: Path) -> None:
    change(tiny / "claims.toml", 'metric = "p95"\nx', 'metric = "packets"\nx')
    change(tiny / "claims.toml", "select load, scheme, seed, avg(p95)", "select scheme, seed, avg(p95)")
    change(tiny / "claims.toml", "group by all", "group by scheme, seed, load")
    change(tiny / "claims.toml", "at = { load = [0.2, 0.4] }\n", "")
    with pytest.raises(incast.ScenarioError, match=r"several rows with scheme HPCC, seed 1.*\n.*claims.toml:\d+"):
        incast.load_study(tiny).run(tmp_path / "out", scale="smoke")


def test_studies_that_come_with_incast(command: Command) -> None:
    done = command("study", "list", "--format", "json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout).keys() == folder.shipped().keys()


@pytest.mark.parametrize("name", folder.shipped())
def test_studies_fit_together(name: str) -> None:
    """Their files have no error, and their explanations name claims that they have."""
    assert incast.load_study(name).name == name
