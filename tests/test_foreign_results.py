"""Results folders of strangers: right checksums, but other columns or values than the simulator writes."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import incast
from conftest import SMALL, Command, write
from incast import _echo, declared
from incast._tables import ARROW_TYPES, TYPES
from incast.results import MOST_FLOWS

READERS = (
    ("results",),
    ("report", "-o", "page.html"),
    ("plot", "cdf-fct", "-o", "cdf.svg"),
    ("compare", "--scheme", "HPCC", "--with", "DCQCN"),
)
"""Commands that read tables; the folder is their first argument."""

SAMPLED = f"""{SMALL}
[[workload]]
label = "job"
[workload.ring_all_reduce]
size = "8kB"

[measure]
sample_every = "1us"
"""


@pytest.fixture
def folder(results: Path, tmp_path: Path) -> Path:
    """A copy of results."""
    return Path(shutil.copytree(results, tmp_path / "R"))


def rewrite(folder: Path, table: str, change: Callable[[pa.Table], pa.Table]) -> None:
    """Replace a table, and its checksum and size in the manifest."""
    file = folder / f"{table}.parquet"
    pq.write_table(change(pq.read_table(file)), file)
    manifest = json.loads((folder / "manifest.json").read_text())
    content = file.read_bytes()
    about = {"sha256": hashlib.sha256(content).hexdigest(), "bytes": len(content)}
    manifest["tables"][table] |= about | {"rows": pq.read_metadata(file).num_rows}
    (folder / "manifest.json").write_text(json.dumps(manifest))


def column(name: str, values: Callable[[pa.Table], pa.Array]) -> Callable[[pa.Table], pa.Table]:
    """A change of one column."""
    return lambda table: table.set_column(table.column_names.index(name), name, values(table))


def constant(name: str, value: Any, kind: Any) -> Callable[[pa.Table], pa.Table]:
    """A change of all values of a column."""
    return column(name, lambda table: pa.array([value] * len(table), kind))


def plain(table: pa.Table) -> pa.Table:
    """The table with text instead of dictionaries, as other programs write it."""
    fields = [pa.field(f.name, pa.string() if pa.types.is_dictionary(f.type) else f.type) for f in table.schema]
    return table.cast(pa.schema(fields))


CASES = {
    "text": (constant("fct_ps", "x", pa.string()), "column fct_ps is VARCHAR, must be BIGINT"),
    "not a number": (constant("fct_ps", float("nan"), pa.float64()), "column fct_ps is DOUBLE, must be BIGINT"),
    "unsigned": (constant("fct_ps", None, pa.uint64()), "column fct_ps is UBIGINT, must be BIGINT"),
    "missing times": (
        constant("fct_ps", None, pa.int64()),
        "column fct_ps must have a value in completed flows, and in no others",
    ),
    "missing starts": (
        constant("start_ps", None, pa.int64()),
        "column start_ps must have a value in completed flows",
    ),
    "negative": (constant("fct_ps", -5, pa.int64()), "column fct_ps has a value below 0"),
    "infinite": (
        constant("slowdown_hpcc", float("nan"), pa.float64()),
        "column slowdown_hpcc has a value that is not a finite number",
    ),
    "huge": (constant("slowdown_hpcc", 1e308, pa.float64()), "column slowdown_hpcc has a value above 1e+19"),
    "missing labels": (
        constant("label", None, pa.dictionary(pa.int32(), pa.string())),
        "column label has missing values",
    ),
    "long labels": (
        constant("label", "x" * 1_000_000, pa.dictionary(pa.int32(), pa.string())),
        "column label has a name of over 2,000 B",
    ),
    "other scheme": (
        constant("scheme", "other\x1b", pa.dictionary(pa.int32(), pa.string())),
        r"column scheme has `other\u001b`, which is no scheme of manifest.json",
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_a_table_has_the_columns_and_values_of_the_simulator(name: str, folder: Path, command: Command) -> None:
    change, why = CASES[name]
    rewrite(folder, "flows", change)
    assert command("results", folder, "--verify").returncode == 0
    for reader, *options in READERS:
        done = command(reader, folder, *options)
        assert done.returncode == 2, (reader, done.stderr)
        assert f"{folder}/flows.parquet is damaged: {why}; run the scenario again" in done.stderr


def test_every_table_is_checked(folder: Path, command: Command) -> None:
    rewrite(folder, "ports", constant("peer_name", 3, pa.int64()))
    done = command("results", folder)
    assert done.returncode == 2
    assert f"{folder}/ports.parquet is damaged: column peer_name is BIGINT, must be VARCHAR; run" in done.stderr


@pytest.mark.parametrize(("table", "missing"), [("ports", "paused_ps"), ("pauses", "scheme")])
def test_a_missing_column_is_named(table: str, missing: str, folder: Path, command: Command) -> None:
    rewrite(folder, table, lambda found: found.drop_columns([missing]))
    done = command("results", folder)
    assert done.returncode == 2
    says = f"error: {folder}/{table}.parquet is damaged: it has no column {missing}; run the scenario again\n"
    assert done.stderr == says
    done = command("results", folder, "--table", table, "--format", "csv")
    assert (done.returncode, done.stdout, done.stderr) == (2, "", says)


@pytest.mark.parametrize(("name", "shown"), [("more\x1b", r"more\u001b"), ("fct_ps", "fct_ps")])
def test_a_column_of_another_program_is_refused(name: str, shown: str, folder: Path, command: Command) -> None:
    rewrite(folder, "flows", lambda found: found.append_column(name, found["fct_ps"]))
    for reader, *options in (*READERS, ("results", "--table", "flows")):
        done = command(reader, folder, *options)
        assert done.returncode == 2, (reader, done.stderr)
        assert f"{folder}/flows.parquet is damaged: column {shown}" in done.stderr, reader
        assert " is not one that incast writes; run the scenario again" in done.stderr, reader
    written_by_another_build(folder)
    if name != "fct_ps":
        assert command("report", folder, "-o", "page.html").returncode == 0


def test_columns_that_a_run_adds_are_shown(tmp_path: Path, command: Command) -> None:
    found = incast.load(write(tmp_path, SMALL)).run(tmp_path / "run", columns={"x\u00e9": 1.5})
    for reader, *options in READERS[:2]:
        assert command(reader, found.path, *options).returncode == 0
    assert "x\u00e9" in command("results", "run", "--table", "flows", "--format", "csv").stdout


def written_by_another_build(folder: Path) -> str:
    """Change the build in the manifest; returns the sentence about it."""
    file = folder / "manifest.json"
    manifest = json.loads(file.read_text())
    here, manifest["build"] = manifest["build"], "0123456789ab"
    file.write_text(json.dumps(manifest))
    version = incast.__version__
    return (
        f"incast {version} (build 0123456789ab) wrote these results, but this is incast {version} (build {here}); "
        "run the scenario again"
    )


@pytest.mark.parametrize("reader", READERS)
def test_columns_that_another_version_did_not_have_are_no_damage(
    reader: tuple[str, ...], folder: Path, command: Command
) -> None:
    missing = ["label", "fct_ps"]
    rewrite(folder, "flows", lambda found: found.drop_columns(missing))
    versions = written_by_another_build(folder)
    done = command(reader[0], folder, *reader[1:])
    assert done.returncode == 2
    assert f"error: {folder}/flows.parquet has no column {', '.join(missing)}: {versions}\n" in done.stderr


def test_damage_of_results_of_another_version(folder: Path, command: Command) -> None:
    rewrite(folder, "flows", constant("fct_ps", -5, pa.int64()))
    versions = written_by_another_build(folder)
    done = command("report", folder, "-o", "page.html")
    assert done.returncode == 2
    assert f"flows.parquet is damaged: column fct_ps has a value below 0; {versions}\n" in done.stderr


def test_a_table_that_another_program_has_written_is_no_damage_but_for_slowdowns(
    folder: Path, command: Command
) -> None:
    rewrite(folder, "flows", plain)
    for reader, *options in READERS[2:]:
        assert command(reader, folder, *options).returncode == 0
    done = command("results", folder)
    assert done.returncode == 2
    assert "flows.parquet is damaged: column scheme is Utf8, must be Dictionary(Int32, Utf8); run" in done.stderr


def test_a_manifest_has_a_scheme(folder: Path, command: Command) -> None:
    manifest = json.loads((folder / "manifest.json").read_text())
    (folder / "manifest.json").write_text(json.dumps({**manifest, "schemes": {}}))
    for reader, *options in READERS:
        done = command(reader, folder, *options)
        assert done.returncode == 2
        assert f"{folder}/manifest.json is damaged: it has no scheme; run the scenario again" in done.stderr


def test_json_of_a_table_has_no_control_character(folder: Path, command: Command) -> None:
    label = 'a\u202e\x1b\\\xad"b'
    rewrite(folder, "flows", constant("label", label, pa.dictionary(pa.int32(), pa.string())))
    done = command("results", folder, "--table", "flows", "--format", "json")
    assert {row["label"] for row in json.loads(done.stdout)} == {label}
    assert not _echo.OF_A_LINE.search(done.stdout)
    done = command("results", folder, "--table", "flows")
    assert r"a\u202e\u001b" in done.stdout


def test_numbers_that_overflow_are_damage(folder: Path, command: Command) -> None:
    rewrite(folder, "flows", constant("start_ps", 2**63 - 1, pa.int64()))
    done = command("compare", folder, "--scheme", "HPCC", "--with", "DCQCN")
    assert done.returncode == 2
    assert f"error: {folder} is damaged: Out of Range Error: Overflow in addition" in done.stderr


def test_flows_of_one_number_are_damage(folder: Path, results: Path, command: Command) -> None:
    rewrite(folder, "flows", constant("flow", 3, pa.uint32()))
    for sides in ((folder, results), (results, folder)):
        done = command("compare", *sides, "--scheme", "HPCC")
        assert done.returncode == 2
        assert f"{folder}/flows.parquet is damaged: flow 3 occurs twice under a scheme; run" in done.stderr


def test_tables_without_the_flows_of_others(tmp_path: Path, command: Command) -> None:
    file = write(tmp_path, SAMPLED)
    assert command("run", file, "-o", "R").returncode == 0
    # Flow 7 of `rates` is not in `flows`, which then is empty.
    for change in (constant("flow", 7, pa.uint32()), lambda found: found.slice(0, 0)):
        rewrite(tmp_path / "R", "flows", change)
        done = command("report", "R", "-o", "page.html", "--overwrite")
        assert done.returncode == 0, done.stderr


def test_a_small_file_has_no_more_flows_than_runs_can_have(folder: Path, command: Command) -> None:
    # Two schemes; a value per flow compresses to almost nothing.
    rewrite(folder, "flows", lambda _: pa.table({"flow": pa.repeat(True, 2 * MOST_FLOWS + 1)}))
    assert (folder / "flows.parquet").stat().st_size < 10_000_000
    for reader, *options in READERS:
        done = command(reader, folder, *options)
        assert done.returncode == 2
        why = "it has 67,108,863 rows, but a scheme at most 33,554,431 flows; run the scenario again"
        assert f"{folder}/flows.parquet is damaged: {why}" in done.stderr


def test_the_types_are_those_of_the_tables(results: Path) -> None:
    for name, table in declared.tables().items():
        file = results / f"{name}.parquet"
        if file.exists():
            described = duckdb.execute("describe from read_parquet(?)", [str(file)]).fetchall()
            assert {row[0]: row[1] for row in described} == {
                column.name: TYPES[column.kind] for column in table.columns.values()
            }
    assert ARROW_TYPES.keys() == TYPES.keys()
