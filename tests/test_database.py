"""SQL of other people: it computes, and opens nothing."""

from __future__ import annotations

import re
import shutil
import signal
import socket
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import duckdb
import pytest

import incast
from conftest import ROOT, SMALL, Command, Start, processor_s, stop, wait_until, write
from incast import _database
from incast.errors import ResultsError, ScenarioError

STUDY = ROOT / "tests" / "data" / "study"
PACKAGE = ROOT / "python" / "incast"
LINE = 9
"""Line of the SQL of the metric `hosts` in claims.toml of the study."""


def test_the_reason_of_a_failed_write_is_no_json() -> None:
    json = (
        r'{"exception_type":"IO","exception_message":"Could not write file \"a.parquet\": File too large","errno":"27"}'
    )
    error = duckdb.IOException(f"IO Error: Async write failed for range [offset=1484, size=3520]: {json}")
    assert _database.reason(error) == 'Could not write file "a.parquet": File too large'
    assert _database.reason(duckdb.IOException("IO Error: No space\nmore")) == "IO Error: No space"


def test_one_module_opens_duckdb() -> None:
    opens = re.compile(r"duckdb\.(connect|sql|query|execute|from_\w+|read_\w+|default_connection)\b|from duckdb import")
    found = {
        str(file.relative_to(PACKAGE)): match[0]
        for file in PACKAGE.rglob("*.py")
        # Not the program text that a sweep prints for its user.
        if (match := opens.search(file.read_text(encoding="utf-8").replace("duckdb.sql({json", "")))
    }
    assert found == {"_database.py": "duckdb.connect"}


@pytest.fixture
def study(tmp_path: Path) -> Path:
    """A study, to be changed."""
    return Path(shutil.copytree(STUDY, tmp_path / "study"))


def attack(study: Path, sql: str) -> None:
    """Replace the SQL of a metric."""
    file = study / "claims.toml"
    lines = file.read_text(encoding="utf-8").splitlines()
    assert lines[LINE - 1] == 'sql = "select count(distinct src) as value from flows"'
    lines[LINE - 1] = f"sql = '''{sql}'''"
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")


OPENS_NOTHING = "reads only its tables, no file and no address"
ONE_QUERY = "must be one query"
ATTACKS = {
    "text": ("select length(content) as value from read_text('/etc/passwd')", OPENS_NOTHING),
    "blob": ("select size as value from read_blob('/etc/passwd')", OPENS_NOTHING),
    "csv": ("select count(*) as value from '/etc/passwd.csv'", OPENS_NOTHING),
    "parquet": ("select count(*) as value from read_parquet('{folder}/private.parquet')", OPENS_NOTHING),
    "json": ("select count(*) as value from read_json('{folder}/study.toml')", OPENS_NOTHING),
    "names": ("select count(*) as value from glob('/etc/*')", OPENS_NOTHING),
    "url": ("select count(*) as value from read_csv('http://127.0.0.1:{port}/x')", OPENS_NOTHING),
    "bucket": ("select count(*) as value from read_parquet('s3://bucket/x.parquet')", OPENS_NOTHING),
    "attach": ("attach '{folder}/made.duckdb' as made", f"{ONE_QUERY}, `select ...`, not ATTACH"),
    "copy": ("copy (select 1) to '{folder}/made.csv'", f"{ONE_QUERY}, `select ...`, not COPY"),
    "install": ("install httpfs", f"{ONE_QUERY}, `select ...`, not LOAD"),
    "load": ("load httpfs", f"{ONE_QUERY}, `select ...`, not LOAD"),
    "set": ("set enable_external_access = true", f"{ONE_QUERY}, `select ...`, not SET"),
    "pragma": ("pragma enable_external_access = true", f"{ONE_QUERY}, `select ...`, not "),
    "several": ("select 1 as value; copy (select 1) to '{folder}/made.csv'", f"{ONE_QUERY}, `select ...`, not 2"),
    "settings": (
        "select 1 as value, value as scheme from duckdb_settings()",
        "table function `duckdb_settings` is not",
    ),
    "views": ("select count(*) as value from duckdb_views", "`duckdb_views` is a table of DuckDB's catalog"),
    "schema": ("select count(*) as value from information_schema.tables", "`information_schema.tables` is a table"),
    "catalog": ("select count(*) as value from system.main.duckdb_tables", "`system.main.duckdb_tables` is a table"),
    "pragmas": ("select count(*) as value from pragma_database_list", "`pragma_database_list` is a table"),
    "show": ("select count(*) as value from (show databases)", "DESCRIBE, SHOW and SUMMARIZE are not allowed"),
    "text of SQL": ("select count(*) as value from query('from duckdb_settings()')", "table function `query` is not"),
    "subquery": (
        "select (select count(*) from DUCKDB_DATABASES()) as value",
        "table function `duckdb_databases` is not",
    ),
    "setting": ("select length(Current_Setting('temp_directory')) as value", "function `current_setting` depends on"),
    "macro": ("select length(pg_get_viewdef(1)) as value", "in `pg_get_viewdef`: table function `duckdb_views` is not"),
    "chance": ("select random() as value", "function `random` depends on the machine, the time or chance"),
    "lambda": ("select list_sum(list_transform([1], lambda x: random())) as value", "function `random` depends on"),
    "rows": ("select count(*) as value from flows using sample 3", "a sample of rows depends on chance"),
    "clock": ("select epoch(now()) as value", "function `now` depends on the machine, the time or chance"),
    "date": ("select year(current_date) as value", "`current_date` depends on the time"),
    "since": ("select epoch(ago(interval 1 day)) as value", "in `ago`: `current_timestamp` depends on the time"),
    "variable": ("select count(*) as value from ATTACKS", "does not run"),
}


@pytest.mark.parametrize("name", ATTACKS)
def test_a_metric_opens_nothing(name: str, study: Path, tmp_path: Path) -> None:
    sql, says = ATTACKS[name]
    duckdb.execute(f"copy (select 1 as value) to '{tmp_path}/private.parquet'")
    before = sorted(path.name for path in tmp_path.rglob("*"))
    with socket.create_server(("127.0.0.1", 0)) as server:
        attack(study, sql.format(folder=tmp_path, port=server.getsockname()[1]))
        with pytest.raises(ScenarioError, match=re.escape(says)) as failure:
            incast.load_study(study)
        server.setblocking(False)
        with pytest.raises(BlockingIOError):
            server.accept()
    assert (failure.value.file, failure.value.line) == (str(study / "claims.toml"), LINE)
    assert failure.value.field == "metric.hosts.sql"
    assert sorted(path.name for path in tmp_path.rglob("*")) == before


@pytest.mark.parametrize(
    "sql",
    [
        "with a as (select * from range(3)) select sum(range) as value from a",
        "select count(*) as value from main.flows, unnest([1, 2])",
        "with recursive t(a) as (select 1 union all select a + 1 from t where a < 9) select max(a) as value from t",
        "select fdiv(split_part('7,2', ',', 1)::int, 2) as value",
        "select coalesce(sum(size_bytes), error('no flow')) as value from flows",
    ],
)
def test_a_metric_computes(sql: str, study: Path) -> None:
    attack(study, sql)
    assert incast.load_study(study).metrics["hosts"].sql == sql


def test_the_command_refuses_such_a_study(study: Path, command: Command) -> None:
    attack(study, "select length(content) as value from read_text('/etc/passwd')")
    done = command("study", "show", study)
    assert (done.returncode, done.stdout) == (2, "")
    assert f"--> {study}/claims.toml:{LINE}:" in done.stderr
    assert OPENS_NOTHING in done.stderr
    assert "root:" not in done.stderr


def test_a_table_of_a_study_opens_nothing(study: Path) -> None:
    file = study / "claims.toml"
    text = file.read_text(encoding="utf-8")
    private = "(select count(*) from read_text('/etc/passwd')) as"
    file.write_text(text.replace("select load, scheme, seed, p95, packets,", f"select {private} x,"), encoding="utf-8")
    with pytest.raises(ScenarioError, match=OPENS_NOTHING) as failure:
        incast.load_study(study)
    assert failure.value.field == "figure[1].table[0].sql"


ENDLESS = "with recursive t(a) as (select 1 union all select a + 1 from t) select count(*) as value from t"


def judged(study: Path, command: Command, sql: str) -> None:
    """Results of a study, whose SQL is then another."""
    assert command("study", "run", study, "--scale", "smoke", "-o", "out", "-q").returncode == 0
    attack(study, sql)


def test_ctrl_c_ends_endless_sql(study: Path, command: Command, start: Start) -> None:
    judged(study, command, ENDLESS)
    process = start("study", "judge", study, "out")
    # Reading of the study takes less.
    wait_until(lambda: processor_s(process.pid) > 4)
    before = time.monotonic()
    assert stop(process, signal.SIGINT) == (130, "error: interrupted; nothing was written\n")
    assert time.monotonic() - before < 10, "without the interruption, PATIENCE"


def test_a_second_signal_does_not_leave_the_query(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_database, "QUERY_S", 0.3)
    signals = iter([KeyboardInterrupt])
    with _database.connect() as connection:

        def interrupt() -> None:
            if signalled := next(signals, None):
                raise signalled
            connection.interrupt()

        signalling: Any = SimpleNamespace(interrupt=interrupt)
        with pytest.raises(_database.TooLongError):
            _database.limited(signalling, lambda: connection.execute(ENDLESS))
        assert connection.execute("select 1").fetchall() == [(1,)], "no query is running"


def test_sql_has_a_limit_of_time(study: Path, command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    judged(study, command, ENDLESS)
    monkeypatch.setattr(_database, "QUERY_S", 0.6)
    with pytest.raises(ScenarioError, match=r"metric `hosts`: the SQL takes longer than 0\.01 minutes") as failure:
        incast.load_study(study).judge(study.parent / "out")
    assert (failure.value.file, failure.value.line) == (str(study / "claims.toml"), LINE)


def test_sql_has_a_limit_of_rows(study: Path, command: Command) -> None:
    judged(study, command, "select range as value from range(1000001)")
    with pytest.raises(ScenarioError, match="metric `hosts`: the SQL gives more than 1,000,000 rows"):
        incast.load_study(study).judge(study.parent / "out")


def test_nested_sql_is_a_query(study: Path) -> None:
    attack(study, f"select {'1 + (' * 40}1{')' * 40} as value")
    assert incast.load_study(study).metrics


def test_sql_that_is_nested_too_deeply_is_refused(study: Path) -> None:
    attack(study, f"select {'1 + (' * 400}1{')' * 400} as value")
    with pytest.raises(ScenarioError, match="nested too deeply"):
        incast.load_study(study)


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> incast.Sweep:
    """A sweep of two runs, in a folder with a name that SQL and patterns would misread."""
    from incast import sweep

    folder = tmp_path_factory.mktemp("it's [a] *")
    write(folder, SMALL)
    file = write(folder, 'scenario = "scenario.toml"\n[[vary]]\npath = "seed"\nvalues = [1, 2]\n', "sweep.toml")
    return sweep.run(sweep.read(file), folder / "out")


def test_a_sweep_reads_its_tables_only(done: incast.Sweep, tmp_path: Path) -> None:
    with done.connect() as connection:
        assert connection.sql("select count(distinct seed) from flows").fetchall() == [(2,)]
        assert connection.sql("select count(*) from runs").fetchall() == [(4,)]
        manifest = next(done.path.glob("runs/*/manifest.json"))
        for sql in (
            f"from read_text({_database.literal(str(manifest))})",
            "from sniff_csv('/etc/passwd')",
            f"copy flows to {_database.literal(str(tmp_path / 'made.csv'))}",
            f"attach {_database.literal(str(tmp_path / 'made.duckdb'))} as made",
            "set enable_external_access = true",
            "set allowed_paths = ['/etc/passwd']",
            "set memory_limit = '1TB'",
            "install httpfs",
            "load httpfs",
        ):
            with pytest.raises(duckdb.Error) as failure:
                connection.execute(sql)
            assert isinstance(failure.value, (duckdb.PermissionException, duckdb.InvalidInputException)), sql
    assert list(tmp_path.iterdir()) == []


def test_names_in_an_index_are_no_sql(tmp_path: Path) -> None:
    from incast.analysis.dataset import open_analysis

    index = tmp_path / "analysis.json"
    kind = "varchar); copy (select 1) to 'made.csv'; create table x (a varchar"
    index.write_text(
        f'{{"format": 1, "title": null, "impossible": null, "types": {{"a": "{kind}"}}, "cells": []}}', encoding="utf-8"
    )
    with pytest.raises(ResultsError, match=r"analysis\.json is damaged"):
        open_analysis(tmp_path)


def test_a_name_that_is_not_utf_8_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ResultsError, match=r"cannot open .*o\\udcffx: the name is not valid UTF-8"):
        _database.connect([tmp_path / "o\udcffx"])
