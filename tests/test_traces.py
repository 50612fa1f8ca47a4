"""Traces of flows in Parquet files say what the same tables say as CSV."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pyarrow as pa
import pytest
from pyarrow import parquet

import incast
from conftest import Command, write

FLOWS = """
select * from (values (0, 5, 1000000, 0.0, 'bulk'), (1, 5, 2000, 3.5, 'rpc'), (2, 5, 2000, 4.25, null))
    as flows(src, dst, size_bytes, start_us, label)
"""
PAGES = """
select t * 3.1 as time_us, if(t % 2 = 0, 'memory0', 'cpu0') as src, if(t % 2 = 0, 'cpu0', 'memory0') as dst,
    4096 as size_bytes, 'memory' as kind from range(40) as rows(t)
"""
SCENARIO = """\
[fabric.star]
hosts = 16

[[workload]]
{workload}

[scheme.pHost]
transport = "phost"
"""


def table(sql: str, file: Path) -> None:
    """Write what a query gives, as the file's name says."""
    kind = "format parquet" if file.suffix == ".parquet" else "format csv, header"
    duckdb.sql(f"copy ({sql}) to '{file}' ({kind})")


@pytest.mark.parametrize(
    ("sql", "workload"),
    [(FLOWS, 'trace.file = "{file}"'), (PAGES, 'disaggregated = {{ trace = "{file}", duration = "100us" }}')],
)
def test_parquet_and_csv_say_the_same(sql: str, workload: str, tmp_path: Path) -> None:
    flows = []
    for name in ("flows.csv", "flows.parquet"):
        table(sql, tmp_path / name)
        scenario = incast.load(write(tmp_path, SCENARIO.format(workload=workload.format(file=name))))
        flows.append(list(scenario.run(tmp_path / name[-3:]).flows.dicts()))
    assert flows[0] == flows[1]
    assert len(flows[0]) >= 3


def refused(tmp_path: Path, file: str) -> str:
    with pytest.raises(incast.ScenarioError) as caught:
        incast.load(write(tmp_path, SCENARIO.format(workload=f'trace.file = "{file}"'))).check()
    return str(caught.value)


def test_what_is_wrong_in_a_parquet_file_is_told(tmp_path: Path) -> None:
    table(FLOWS.replace("(1, 5,", "(1, 99,"), tmp_path / "host.parquet")
    text = refused(tmp_path, "host.parquet")
    assert "`99` is not possible in row 2 of " in text
    assert "(workload[0].trace.file)" in text
    table(FLOWS.replace("'rpc'", "'a, b'"), tmp_path / "comma.parquet")
    assert "neither a number nor a word" in refused(tmp_path, "comma.parquet")
    whole = (tmp_path / "host.parquet").read_bytes()
    (tmp_path / "cut.parquet").write_bytes(whole[: len(whole) // 2])
    assert "no whole Parquet file" in refused(tmp_path, "cut.parquet")
    (tmp_path / "other.parquet").write_bytes(b"\xff\xfe\x00")
    assert "neither Parquet nor text: not UTF-8 text: byte 0x" in refused(tmp_path, "other.parquet")


@pytest.mark.parametrize(
    ("kind", "named"),
    [
        (pa.duration("ns"), "Duration(ns)"),
        (pa.timestamp("ns"), "Timestamp(ns)"),
        (pa.timestamp("us", "UTC"), 'Timestamp(µs, "UTC")'),
        (pa.time64("ns"), "Time64(ns)"),
    ],
)
def test_times_in_a_parquet_file_are_refused(tmp_path: Path, kind: pa.DataType, named: str) -> None:
    start = pa.array([0, 5000], kind)
    rows = pa.table({"src": [0, 1], "dst": [1, 2], "size_bytes": [1000, 20], "start_us": start})
    parquet.write_table(rows, tmp_path / "late.parquet")
    text = refused(tmp_path, "late.parquet")
    assert f"column start_us: {named} is no number; its unit belongs into its name" in text


def test_other_compression_of_parquet_is_named(tmp_path: Path) -> None:
    rows = pa.table({"src": [0], "dst": [1], "size_bytes": [1000], "start_us": [5]})
    parquet.write_table(rows, tmp_path / "gzip.parquet", compression="gzip")
    text = refused(tmp_path, "gzip.parquet")
    assert "column src is compressed with GZIP; incast reads zstd, snappy and uncompressed columns" in text


def test_a_start_after_the_end_of_time_is_refused_at_its_entry(tmp_path: Path) -> None:
    (tmp_path / "late.csv").write_text("src,dst,size_bytes,start_ps\n0,1,1000,0\n1,2,5,9223372036854775807\n")
    text = refused(tmp_path, "late.csv")
    assert "late.csv:3:7" in text
    assert "a time from the start of the run, 0 or more and below 4000 s" in text


def test_a_collective_runs_the_same_from_its_trace(command: Command, tmp_path: Path) -> None:
    ring = 'ring_all_reduce = { size = "40kB", iterations = 2, compute = "3us" }'
    write(tmp_path, SCENARIO.format(workload=ring), "s.toml")
    for name in ["t.csv", "t.parquet"]:
        assert command("trace", "s.toml", "-o", name).returncode == 0
        write(tmp_path, SCENARIO.format(workload=f'trace.file = "{name}"'), "again.toml")
        original, replayed = (
            [
                flow["finish_ps"]
                for flow in incast.load(tmp_path / file).run(tmp_path / f"{name}-{file[0]}").flows.dicts()
            ]
            for file in ("s.toml", "again.toml")
        )
        assert original == replayed


def test_flows_that_an_end_cancels_are_no_trace(command: Command, tmp_path: Path) -> None:
    ring = 'end = "1ms"\nring_all_reduce = { size = "40kB", iterations = 2 }'
    write(tmp_path, SCENARIO.format(workload=ring), "s.toml")
    done = command("trace", "s.toml", "-o", "t.csv")
    assert (done.returncode, list(tmp_path.glob("t.csv"))) == (2, [])
    assert "cannot be part of a trace" in done.stderr
