"""Damaged results: each damaged file is named, and sweeps run damaged runs again."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import duckdb
import pytest

import incast
from conftest import SMALL, Command, write
from incast import ResultsError, integrity, sweep

SWEEP = 'scenario = "scenario.toml"\n[[vary]]\npath = "seed"\nvalues = [1, 2, 3, 4]\n'


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the results of a run and of a sweep with eight runs."""
    folder = tmp_path_factory.mktemp("integrity")
    incast.load(write(folder, SMALL)).run(folder / "run")
    assert len(sweep.run(sweep.read(write(folder, SWEEP, "sweep.toml")), folder / "swept").done) == 8
    return folder


@pytest.fixture
def there(made: Path, tmp_path: Path) -> Path:
    """A copy, to be damaged."""
    shutil.copytree(made, tmp_path, dirs_exist_ok=True)
    return tmp_path


def delete(file: Path) -> None:
    file.unlink()


def cut(file: Path) -> None:
    file.write_bytes(file.read_bytes()[:500])


def flip(file: Path) -> None:
    content = bytearray(file.read_bytes())
    # The flipped bit is among the values of a table, before its footer (length: 4 bytes before the last 4).
    behind = 8 + int.from_bytes(content[-8:-4], "little") if content.endswith(b"PAR1") else 0
    content[(len(content) - behind) // 2] ^= 4
    file.write_bytes(content)


def refused(command: Command, *arguments: object) -> str:
    done = command(*arguments)
    assert (done.returncode, done.stdout) == (2, ""), done.stderr
    assert done.stderr.startswith("error: ")
    assert "Traceback" not in done.stderr
    return done.stderr


@pytest.mark.usefixtures("there")
def test_whole_results(command: Command) -> None:
    done = command("results", "run", "--verify")
    assert (done.returncode, done.stdout, done.stderr) == (0, "all 11 tables are as written\n", "")
    done = command("results", "run", "--verify", "--table", "flows", "--format", "csv")
    assert (done.returncode, done.stderr) == (0, "all 11 tables are as written\n")
    assert done.stdout.startswith("scheme,")
    # Each run of a sweep has a table of slowdowns too.
    done = command("results", "swept", "--verify")
    assert (done.returncode, done.stdout, done.stderr) == (0, "all 96 tables are as written\n", "")
    said = refused(command, "compare", "swept")
    assert "swept is a sweep, not the results of one run: its runs are the folders in swept/runs" in said
    assert "`incast results swept`, `incast plot swept over`" in said
    said = refused(command, "results", "run/flows.parquet")
    assert "run/flows.parquet is a file of results: name its folder, run" in said
    assert "nowhere: not the results of" in refused(command, "results", "nowhere", "--verify")


def test_every_damaged_file_of_a_run_is_named(there: Path, command: Command) -> None:
    run = there / "run"
    for spoil, name in ((delete, "queues"), (cut, "ports"), (flip, "flows")):
        spoil(run / f"{name}.parquet")
    missing = "run/queues.parquet is damaged: the file is missing"
    for arguments in (["results", "run"], ["results", "run", "--table", "pauses"], ["report", "run"]):
        said = refused(command, *arguments)
        assert missing in said
        assert "run/ports.parquet is damaged: it has 500 bytes, the manifest says " in said
        assert said.endswith("\nrun the scenario again\n")
    said = refused(command, "results", "run", "--verify")
    assert [line.split(" is damaged")[0] for line in said.splitlines()] == [
        "error: run/flows.parquet",
        "run/ports.parquet",
        "run/queues.parquet",
        "run the scenario again",
    ]
    with pytest.raises(ResultsError, match=r"queues\.parquet is damaged"):
        incast.open(run)


def test_a_flipped_bit_is_no_other_result(there: Path, command: Command) -> None:
    """The size is unchanged, so only tables that are read are compared, and all before a page is written."""
    flip(there / "run" / "flows.parquet")
    for arguments in (["results", "run"], ["results", "run", "--table", "flows"], ["report", "run"]):
        assert "run/flows.parquet is damaged: its SHA-256 is not the manifest's" in refused(command, *arguments)
    assert not (there / "run.html").exists()
    assert command("results", "run", "--table", "ports").returncode == 0


def test_a_folder_that_was_replaced_after_it_was_opened_is_not_mixed(there: Path) -> None:
    results = incast.open(there / "run")
    cut(there / "run" / "flows.parquet")
    with pytest.raises(ResultsError, match=r"flows\.parquet is damaged: it has 500 bytes, the manifest says"):
        results.findings()


def test_the_manifest_is_compared(there: Path, command: Command) -> None:
    file = there / "run" / "manifest.json"
    manifest = json.loads(file.read_text(encoding="utf-8"))
    manifest["incast"] = "99.0"
    file.write_text(json.dumps(manifest), encoding="utf-8")
    done = command("results", "run")
    assert done.returncode == 0
    assert done.stderr == f"note: incast 99.0 wrote these results; this is {incast.__version__}\n"
    manifest["tables"]["flows"]["rows"] = 99_999_999
    file.write_text(json.dumps(manifest), encoding="utf-8")
    manifest["incast"] = incast.__version__
    file.write_text(json.dumps(manifest), encoding="utf-8")
    assert "the manifest says 99999999" in refused(command, "results", "run", "--table", "flows")
    assert "the manifest says 99999999" in refused(command, "results", "run", "--verify")
    scheme = next(iter(manifest["schemes"]))
    manifest["schemes"][scheme]["counts"] = {}
    file.write_text(json.dumps(manifest), encoding="utf-8")
    assert f"counts of scheme `{scheme}` lack `drops`" in refused(command, "results", "run")


def rows(file: Path, sql: str) -> None:
    """Rewrite the table of runs as a query over it, `t`."""
    with duckdb.connect() as connection:
        connection.execute(f"create table t as from read_parquet('{file}')")
        connection.execute(f"copy ({sql}) to '{file}' (format parquet)")


TABLE_OF_RUNS: dict[str, tuple[Callable[[Path], object], str]] = {
    "missing": (delete, "the file is missing"),
    "garbage": (lambda file: file.write_text("garbage"), "it cannot be read: Invalid Input Error: File "),
    "cut": (cut, "it cannot be read: Invalid Input Error: No magic bytes"),
    "row": (lambda file: rows(file, "from t limit 7"), "it has 7 rows, the index has 8 runs"),
    "value": (
        lambda file: rows(file, "select * replace (if(seed = 2, seed + 1, seed) as seed) from t"),
        "2 of its 8 rows are not those of the runs",
    ),
    "column": (
        lambda file: rows(file, "select *, 1 as more from t"),
        "its columns are not those of a sweep: more",
    ),
}


@pytest.mark.parametrize("name", TABLE_OF_RUNS)
def test_the_table_of_runs_is_compared(name: str, there: Path, command: Command) -> None:
    spoil, why = TABLE_OF_RUNS[name]
    spoil(there / "swept" / "runs.parquet")
    said = refused(command, "results", "swept", "--verify")
    assert said.startswith(f"error: swept/runs.parquet is damaged: {why}"), said
    assert said.endswith("\nrepeat the command `incast sweep ... -o swept`: it runs damaged runs again\n")
    sweep.run(sweep.read(there / "sweep.toml"), there / "swept")
    assert integrity.verify([there / "swept"]) == 96


def test_the_index_of_a_sweep_is_read(there: Path, command: Command) -> None:
    index = there / "swept" / "sweep.json"
    whole = json.loads(index.read_text(encoding="utf-8"))
    first = whole["runs"][0]["key"]
    index.write_text(json.dumps(whole | {"runs": whole["runs"][1:]}), encoding="utf-8")
    said = refused(command, "results", "swept", "--verify")
    assert f"swept/runs/{first} is damaged: the index does not list this run\n" in said
    index.write_text("garbage", encoding="utf-8")
    said = refused(command, "results", "swept", "--verify")
    assert "swept/sweep.json is damaged: " in said
    assert said.endswith("remove swept/sweep.json and repeat the command that wrote it: finished runs are kept\n")
    index.unlink()
    done = sweep.run(sweep.read(there / "sweep.toml"), there / "swept")
    assert integrity.verify([done.path]) == 96
    shutil.rmtree(done.path / "runs" / first)
    assert f"swept/runs/{first} is damaged: the run is missing\n" in refused(command, "results", "swept", "--verify")


def test_a_killed_sweep_has_no_table_of_runs(there: Path) -> None:
    swept = there / "swept"
    index = json.loads((swept / "sweep.json").read_text(encoding="utf-8"))
    last = index["runs"][-1]
    last["state"] = "waiting"
    (swept / "sweep.json").write_text(json.dumps(index), encoding="utf-8")
    shutil.rmtree(swept / "runs" / last["key"])
    assert integrity.verify([swept]) == 84
    (swept / "runs.parquet").unlink()
    assert integrity.verify([swept]) == 84


def test_a_sweep_runs_damaged_runs_again(there: Path, command: Command) -> None:
    out = there / "swept"
    keys = [run.key for run in incast.open_sweep(out).runs]
    whole = {path: path.read_bytes() for path in out.rglob("runs/*/*.parquet")}
    damage: list[tuple[Callable[[Path], None], str, str]] = [
        (delete, "flows.parquet", "flows.parquet: the file is missing"),
        (cut, "ports.parquet", "ports.parquet: its SHA-256 is not that of SHA256SUMS"),
        (flip, "slowdown.parquet", "slowdown.parquet: its SHA-256 is not that of SHA256SUMS"),
        (delete, "manifest.json", "manifest.json: the file is missing"),
        (flip, "manifest.json", "manifest.json: its SHA-256 is not that of SHA256SUMS"),
        (delete, "SHA256SUMS", "SHA256SUMS: the file is missing"),
        (cut, "SHA256SUMS", "SHA256SUMS: line 7 is not a checksum and a name"),
    ]
    for key, (spoil, name, _) in zip(keys, damage, strict=False):
        spoil(out / "runs" / key / name)
    kept = (out / "runs" / keys[-1] / "flows.parquet").stat()

    # Before that, the damage is reported with the command that repairs it.
    advice = "repeat the command `incast sweep ... -o swept`: it runs damaged runs again"
    for arguments in (["results", f"swept/runs/{keys[0]}"], ["report", "swept"], ["results", "swept", "--verify"]):
        said = refused(command, *arguments)
        assert f"swept/runs/{keys[0]}/flows.parquet is damaged: the file is missing" in said
        assert advice in said
    with pytest.raises(ResultsError, match=r"flows\.parquet is damaged: the file is missing; repeat the command"):
        incast.open_sweep(out).connect()
    with pytest.raises(ResultsError, match=r"manifest\.json"):
        incast.open_sweep(out).results(incast.open_sweep(out).runs[3])

    done = command("sweep", "sweep.toml", "-o", "swept", "--quiet")
    assert done.returncode == 0, done.stderr
    lines = done.stderr.splitlines()
    assert len(lines) == len(damage), done.stderr
    for key, (_, _, why) in zip(keys, damage, strict=False):
        assert any(line.startswith(f"warning: run {key} is damaged ({why}") for line in lines), done.stderr
        assert all(line.endswith("): run again") for line in lines)
    assert {path: path.read_bytes() for path in out.rglob("runs/*/*.parquet")} == whole
    assert (out / "runs" / keys[-1] / "flows.parquet").stat() == kept, "whole runs are not repeated"
    assert integrity.verify([out]) == 96


def test_a_sweep_warns_in_python(there: Path) -> None:
    plan = sweep.read(there / "sweep.toml")
    delete(there / "swept" / "runs" / plan.runs[0].key / "links.parquet")
    expected = rf"run {plan.runs[0].key} is damaged \(links\.parquet: the file is missing\): run again"
    with pytest.warns(incast.IncastWarning, match=expected) as caught:
        sweep.run(plan, there / "swept")
    assert [each.filename for each in caught if each.category is incast.IncastWarning] == [__file__]
