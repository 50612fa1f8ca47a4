"""Tables open in the libraries people use, from memory and from disk, with the same values."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import duckdb
import pandas
import polars
import pyarrow
import pyarrow.parquet
import pytest

import incast
from incast import charts


@pytest.fixture(scope="module")
def flows(results: Path) -> incast.Table:
    """The flows of the small scenario."""
    return incast.open(results).flows


def test_columns_say_what_they_are(results: Path) -> None:
    opened = incast.open(results)
    for name in opened.tables:
        for column in opened.table(name).columns:
            assert column.description, (name, column.name)
            assert column.unit or not column.name.endswith(("_ps", "_bytes", "_bps")), (name, column.name)


def test_polars(flows: incast.Table, results: Path) -> None:
    frame = flows.to_polars()
    assert frame.shape == (len(flows), len(flows.columns))
    assert frame["size_bytes"].to_list() == flows["size_bytes"]
    assert polars.DataFrame(flows).equals(frame)
    assert polars.read_parquet(results / "flows.parquet")["fct_ps"].to_list() == flows["fct_ps"]


def test_pandas(flows: incast.Table, results: Path) -> None:
    frame = flows.to_pandas()
    assert list(frame.columns) == [column.name for column in flows.columns]
    assert frame["size_bytes"].tolist() == flows["size_bytes"]
    assert pandas.read_parquet(results / "flows.parquet")["fct_ps"].tolist() == flows["fct_ps"]


def test_pandas_without_pyarrow(flows: incast.Table, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "pyarrow", None)
    frame = flows.to_pandas()
    assert frame["size_bytes"].tolist() == flows["size_bytes"]


def test_pyarrow(flows: incast.Table, results: Path) -> None:
    table = flows.to_pyarrow()
    assert table.column("size_bytes").to_pylist() == flows["size_bytes"]
    assert table.schema.field("fct_ps").metadata[b"unit"] == b"ps"
    stored = pyarrow.parquet.read_table(results / "flows.parquet")
    assert stored.schema.field("fct_ps").metadata[b"unit"] == b"ps"
    assert pyarrow.table(flows).num_rows == len(flows)


def test_duckdb(flows: incast.Table, results: Path) -> None:
    query = "select scheme, count(*), sum(size_bytes)::bigint from '{}' group by scheme order by scheme"
    stored = select(query.format(results / "flows.parquet"))
    expected = [
        (scheme, len(sizes), sum(sizes))
        for scheme in ("DCQCN", "HPCC")
        for sizes in [[size for name, size in zip(flows["scheme"], flows["size_bytes"], strict=True) if name == scheme]]
    ]
    assert stored == expected
    connection = duckdb.connect()
    connection.register("in_memory", flows.to_pyarrow())
    assert connection.execute("select count(*) from in_memory").fetchall() == [(len(flows),)]


def select(query: str) -> list[tuple[object, ...]]:
    """The rows of a query."""
    return duckdb.connect().execute(query).fetchall()


def test_stream_can_be_taken_twice_and_dropped(flows: incast.Table) -> None:
    for _ in range(3):
        flows.__arrow_c_stream__()
    assert pyarrow.table(flows).equals(pyarrow.table(flows))


def test_stream_outlives_its_table(results: Path) -> None:
    reader = pyarrow.RecordBatchReader.from_stream(incast.open(results).flows)
    assert reader.read_all().num_rows > 0


def test_rows(flows: incast.Table) -> None:
    with pytest.raises(ValueError, match="limit must be 0 or more, got -1"):
        flows.to_csv(limit=-1)
    for read in (lambda: list(flows), lambda: flows[0]):  # type: ignore[call-overload, index]
        with pytest.raises(TypeError, match="indexed by the name of a column, such as 'scheme', not by 0; rows"):
            read()
    rows = list(flows.dicts(limit=2))
    assert len(rows) == 2
    assert set(rows[0]) == {column.name for column in flows.columns}
    assert rows[0]["fct_ps"] == rows[0]["finish_ps"] - rows[0]["start_ps"]
    assert len(list(flows.rows())) == len(flows)
    with pytest.raises(KeyError, match="size_bytes"):
        flows["size"]


def test_written(flows: incast.Table, tmp_path: Path) -> None:
    flows.to_csv(tmp_path / "flows.csv")
    assert polars.read_csv(tmp_path / "flows.csv")["size_bytes"].to_list() == flows["size_bytes"]
    flows.to_json(tmp_path / "flows.json")
    assert len(json.loads((tmp_path / "flows.json").read_text())) == len(flows)


def test_slowdowns_are_those_of_the_flows(results: Path) -> None:
    opened = incast.open(results)
    rows = list(opened.slowdown(bins=4, ideal="exact", label="all").dicts())
    for scheme in ("DCQCN", "HPCC"):
        of_scheme = polars.col("scheme").cast(polars.String) == scheme
        flows = opened.flows.to_polars().filter(of_scheme).sort("size_bytes", "slowdown_exact")
        mine = [row for row in rows if row["scheme"] == scheme]
        assert [row["bin"] for row in mine] == [0, 1, 2, 3]
        assert sum(row["flows"] for row in mine) == len(flows)
        begin = 0
        for row in mine:
            these = flows[begin : begin + row["flows"]]
            begin += row["flows"]
            assert (row["size_min_bytes"], row["size_max_bytes"]) == (these["size_bytes"][0], these["size_bytes"][-1])
            values = sorted(these["slowdown_exact"])
            assert row["p50"] == values[len(values) // 2]
            assert row["p99"] == values[int(len(values) * 0.99)]
            assert row["max"] == values[-1]


def test_slowdowns_of_a_label(results: Path) -> None:
    rows = list(incast.open(results).slowdown(bins=1, label="incast").dicts())
    assert [row["flows"] for row in rows] == [6, 6]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"label": "web"}, r"has no flows labelled `web`, only incast, poisson; all takes all flows$"),
        ({"label": "poison"}, "did you mean `poisson`"),
        ({"bins": 0}, "^bins must be at least 1, got 0$"),
        ({"bins": -1}, "^bins must be at least 1, got -1$"),
        ({"bins": "a"}, "^bins must be a whole number, got 'a'$"),
        ({"ideal": "exakt"}, "^no ideal completion time is named `exakt`, only hpcc, exact; did you mean `exact`?"),
    ],
)
def test_wrong_options_of_slowdowns_are_refused(results: Path, options: dict[str, Any], message: str) -> None:
    opened = incast.open(results)
    with pytest.raises(incast.ResultsError, match=message):
        opened.slowdown(**options)
    if "ideal" not in options:
        with pytest.raises(incast.ResultsError, match=message):
            charts.slowdown(charts.Source([opened]), **options)


def test_there_are_at_most_as_many_bins_as_flows(results: Path) -> None:
    opened = incast.open(results)
    most = list(opened.slowdown(bins=opened.manifest["flows"], label="all").rows())
    assert list(opened.slowdown(bins=10**30, label="all").rows()) == most


def test_names_of_earlier_versions_lead_to_those_of_now(results: Path, flows: incast.Table) -> None:
    with pytest.raises(KeyError, match="`tag` is now `label`"):
        flows["tag"]
    with pytest.raises(KeyError, match="`slowdown_reference` is now `slowdown_hpcc`"):
        flows["slowdown_reference"]
    options: dict[str, Any] = {"tag": "incast"}
    with pytest.raises(TypeError, match="`tag` is now `label`"):
        incast.open(results).slowdown(**options)
    with pytest.raises(TypeError, match="`tag` is now `label`"):
        incast.schema.WorkloadSpec(**options)
    with pytest.raises(TypeError, match="`balance` is now `load_balancing`"):
        incast.schema.NetworkParams.from_tree({"balance": "spray"})


def test_every_flow_is_at_least_ideal(flows: incast.Table) -> None:
    assert min(flows["slowdown_exact"]) >= 1.0


@pytest.mark.parametrize(
    ("call", "library"), [("to_polars", "polars"), ("to_pandas", "pandas"), ("to_pyarrow", "pyarrow")]
)
def test_a_missing_library_is_named_with_what_installs_it(
    flows: incast.Table, monkeypatch: pytest.MonkeyPatch, call: str, library: str
) -> None:
    monkeypatch.setitem(__import__("sys").modules, library, None)
    with pytest.raises(ImportError, match=rf"^this needs {library}: pip install {library}$"):
        getattr(flows, call)()
