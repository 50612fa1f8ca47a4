"""Sweeps: what is run, what the dataset holds of it, what they refuse."""

from __future__ import annotations

import json
import re
import shutil
from collections import Counter
from pathlib import Path
from typing import Any

import duckdb
import pyarrow.parquet
import pytest

import incast
from conftest import RING, SMALL, Command, write
from incast import ResultsError, ScenarioError, sweep
from incast.cli.sweep_live import status
from incast.sweep import Activity, SweepProgress
from incast.sweep.columns import of_slowdown
from incast.sweep.dataset import tables
from incast.sweep.execute import Pulse
from incast.sweep.warned import counted

HEAD = 'scenario = "scenario.toml"\n'
SEEDS = '[[vary]]\npath = "seed"\nvalues = [1, 2]\n'
LOADS = '[[vary]]\npath = "workload[1].poisson.load"\nvalues = [0.2, 0.4]\n'
POINTS = """\
[[vary]]
name = "buffer"
points = [
    { name = "as it is" },
    { name = "small", set = { "switch.buffer" = "1MB", "ecn.kmin" = "20kB" } },
]
"""


def planned(folder: Path, text: str, **options: Any) -> sweep.Plan:
    """A sweep over the small scenario."""
    write(folder, SMALL)
    return sweep.read(write(folder, HEAD + text, "sweep.toml"), **options)


def query(text: str) -> duckdb.DuckDBPyRelation:
    found = duckdb.sql(text)
    assert found is not None
    return found


def cells(plan: sweep.Plan) -> list[tuple[object, ...]]:
    return [(*run.columns.values(), run.scheme) for run in plan.runs]


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> sweep.Sweep:
    """A sweep over numbers and points."""
    folder = tmp_path_factory.mktemp("sweep")
    return sweep.run(planned(folder, 'title = "both"\n' + LOADS + POINTS), folder / "out")


def test_product(tmp_path: Path) -> None:
    plan = planned(tmp_path, LOADS + SEEDS)
    assert plan.columns == ("load", "seed")
    assert cells(plan) == [(load, seed, s) for load in (0.2, 0.4) for seed in (1, 2) for s in ("DCQCN", "HPCC")]
    tree = json.loads(plan.runs[-1].tree)
    assert (tree["seed"], tree["workload"][1]["poisson"]["load"], list(tree["scheme"])) == (2, 0.4, ["HPCC"])
    assert len(plan.keys) == 8


def test_a_column_is_not_named_value_or_bytes(tmp_path: Path) -> None:
    plan = planned(tmp_path, '[[vary]]\npath = "switch.pfc_mode.dynamic.alpha.value"\nvalues = [0.125, 1]\n')
    assert plan.columns == ("alpha",)
    plan = planned(tmp_path, '[[vary]]\npath = "switch.headroom.bytes"\nvalues = ["20kB", "30kB"]\n')
    assert plan.columns == ("headroom",)


def test_points_set_several_fields(tmp_path: Path) -> None:
    first, second = (json.loads(run.tree) for run in planned(tmp_path, POINTS).runs[::2])
    assert (second["switch"]["buffer"], second["ecn"]["kmin"]) == ("1MB", "20kB")
    assert "switch" not in first


def test_without_axes_every_scheme_is_a_run(tmp_path: Path) -> None:
    assert cells(planned(tmp_path, "")) == [("DCQCN",), ("HPCC",)]


def test_runs_with_rdma_and_with_other_transports_have_one_ideal_time(tmp_path: Path) -> None:
    write(tmp_path, SMALL + '[scheme.TCP]\ntransport = "tcp"\n')
    file = write(tmp_path, HEAD + SEEDS + "[scale.rdma]\nschemes = ['DCQCN', 'HPCC']\n", "sweep.toml")
    for scale, ideal in ((None, "exact"), ("rdma", "hpcc")):
        trees = (json.loads(run.tree) for run in sweep.read(file, scale=scale).runs)
        assert {tree["measure"]["ideal"] for tree in trees} == {ideal}


def test_skip_and_schemes(tmp_path: Path) -> None:
    skip = "skip = [{ load = 0.2, seed = 1 }, { load = 0.4, seed = [1, 2], scheme = 'HPCC' }]\n"
    assert cells(planned(tmp_path, skip + LOADS + SEEDS)) == [
        (0.2, 2, "DCQCN"),
        (0.2, 2, "HPCC"),
        (0.4, 1, "DCQCN"),
        (0.4, 2, "DCQCN"),
    ]
    assert cells(planned(tmp_path, 'schemes = ["HPCC"]\n' + SEEDS)) == [(1, "HPCC"), (2, "HPCC")]


def test_scale(tmp_path: Path) -> None:
    scale = """
[scale.smoke]
set = { "workload[0].incast.size" = "8kB" }
values = { load = [0.1], buffer = ["small"] }
schemes = ["HPCC"]
"""
    plan = planned(tmp_path, '[set]\n"workload[0].incast.size" = "16kB"\n' + LOADS + POINTS + scale, scale="smoke")
    assert cells(plan) == [(0.1, "small", "HPCC")]
    assert json.loads(plan.runs[0].tree)["workload"][0]["incast"]["size"] == "8kB"


def test_skip_and_set_at_other_scales(tmp_path: Path) -> None:
    """The file's `skip` has values of a scale; its `set` is the value of one of two points."""
    text = 'skip = [{ seed = 7 }]\nset = { "ecn.kmin" = "9kB" }\n' + SEEDS + POINTS
    scale = "[scale.smoke]\nskip = [{ seed = 1 }]\nvalues = { seed = [1, 7, 8], buffer = ['small'] }\n"
    assert len(planned(tmp_path, text + scale).runs) == 8
    assert cells(planned(tmp_path, text + scale, scale="smoke")) == [(8, "small", "DCQCN"), (8, "small", "HPCC")]


def test_kinds_of_columns(tmp_path: Path) -> None:
    plan = planned(tmp_path, '[[vary]]\nname = "kmin"\npath = "ecn.kmin"\nvalues = ["100kB", 200000]\n')
    assert [run.columns["kmin"] for run in plan.runs[::2]] == ["100kB", "200000"]
    skip = "skip = [{ kmin = 200000 }]\n"
    plan = planned(tmp_path, f'{skip}[[vary]]\nname = "kmin"\npath = "ecn.kmin"\nvalues = ["100kB", 200000]\n')
    assert [run.columns["kmin"] for run in plan.runs] == ["100kB", "100kB"]
    plan = planned(tmp_path, LOADS.replace("0.4]", "1]"))
    assert [type(run.columns["load"]) for run in plan.runs] == [float] * 4


@pytest.mark.parametrize("path", ["seed", " seed", '"seed"', "'seed'"])
def test_a_field_is_varied_once_whatever_the_spelling(tmp_path: Path, path: str) -> None:
    with pytest.raises(ScenarioError, match="is varied by the axis `seed`"):
        planned(tmp_path, SEEDS, overrides=[f"{path} = 5"])
    other = f"[[vary]]\nname = 'other'\npath = {json.dumps(path)}\nvalues = [3, 4]\n"
    with pytest.raises(ScenarioError, match="is already varied by the axis `seed`"):
        planned(tmp_path, SEEDS + other)
    size = "[[vary]]\npath = 'workload[0].incast.size'\nvalues = ['8kB']\n"
    with pytest.raises(ScenarioError, match="is already varied by the axis `size`"):
        planned(tmp_path, size + size.replace("[0]", "[00]").replace("path", "name = 'other'\npath"))


def test_keys_tell_runs_apart_and_nothing_else(tmp_path: Path) -> None:
    before = planned(tmp_path, SEEDS).keys
    assert planned(tmp_path, 'title = "another"\n' + SEEDS).keys == before
    assert planned(tmp_path, SEEDS.replace("[1, 2]", "[2, 3]")).keys & before
    assert not planned(tmp_path, SEEDS, overrides=["switch.buffer=1MB"]).keys & before
    renamed = SEEDS.replace("path", 'name = "sample"\npath')
    assert not planned(tmp_path, renamed).keys & before, "the columns of their tables differ"


def test_every_table_has_the_columns(done: sweep.Sweep) -> None:
    assert len(done.done) == 8
    for table in (name for name, condition in tables().items() if condition is None):
        for run, file in zip(done.done, done.files(table), strict=True):
            schema = pyarrow.parquet.read_schema(file)
            assert schema.names[-2:] == ["load", "buffer"], table
            assert str(schema.field("load").type) == "double"
            content = pyarrow.parquet.read_table(file)
            for name, value in run.columns.items():
                assert set(content[name].to_pylist()) <= {value}
    assert tuple(pyarrow.parquet.read_schema(done.files("slowdown")[0]).names[:-2]) == tuple(of_slowdown())


def test_a_run_is_what_the_scenario_alone_gives(done: sweep.Sweep, tmp_path: Path) -> None:
    run = next(run for run in done.runs if run.columns == {"load": 0.4, "buffer": "small"} and run.scheme == "HPCC")
    values = ["workload[1].poisson.load=0.4", "switch.buffer=1MB", "ecn.kmin=20kB"]
    alone = incast.load(write(tmp_path, SMALL), values).run(tmp_path / "alone")
    ours = [row for row in alone.flows.dicts() if row["scheme"] == "HPCC"]
    assert [row | run.columns for row in ours] == list(done.results(run).flows.dicts())
    assert done.results(run.key).path == done.results(run).path
    with pytest.raises(ResultsError, match=f"has no finished run `{run.key[:-1]}`; did you mean `{run.key}`"):
        done.results(run.key[:-1])


def test_dataset(done: sweep.Sweep, command: Command) -> None:
    with done.connect() as connection:
        rows = connection.sql("select load, buffer, scheme, count(*) from flows group by all").fetchall()
        assert len(rows) == 8
        (names,) = connection.sql("select array_agg(distinct buffer order by buffer) from slowdown").fetchall()
        assert names == (["as it is", "small"],)
    assert (
        done.table("runs").filter("state = 'done' and stop = 'finished' and completed = flows").count("run").fetchall()
    )
    assert len(done.table("flows").limit(3).fetchall()) == 3
    written = query(f"from '{done.path}/runs.parquet'")
    assert written.columns[:6] == ["run", "load", "buffer", "scheme", "state", "error"]
    assert written.fetchall() == done.table("runs").fetchall()
    cpu, hops = done.cost()
    assert cpu > 0
    assert hops == sum(row[0] for row in done.table("runs").select("packet_hops").fetchall())
    assert (done.title, done.columns, done.failed) == ("both", ("load", "buffer"), ())
    assert command("results", done.path / "runs" / done.runs[0].key).returncode == 0


def test_what_is_there_is_kept(tmp_path: Path) -> None:
    first = sweep.run(planned(tmp_path, SEEDS), tmp_path / "out")
    before = stamps(first)
    seen: list[tuple[int, int, int]] = []

    def note(progress: SweepProgress) -> None:
        seen.append((progress.runs, progress.kept, progress.done))

    more = sweep.run(planned(tmp_path, SEEDS.replace("2]", "2, 3]")), tmp_path / "out", progress=note)
    assert len(more.done) == 6
    assert stamps(more).items() >= before.items()
    assert seen[-1] == (6, 4, 2)
    fewer = sweep.run(planned(tmp_path, SEEDS.replace("1, 2", "3")), tmp_path / "out")
    assert len(fewer.done) == 2
    assert query(f"select distinct seed from '{tmp_path}/out/runs/*/flows.parquet'").fetchall() == [(3,)]
    assert stamps(sweep.run(planned(tmp_path, SEEDS), tmp_path / "out")) == before, "set aside, not done again"


def stamps(done: sweep.Sweep) -> dict[str, tuple[int, int]]:
    """Fields that change if a run is repeated."""
    files = ((run.key, done.path / "runs" / run.key / "flows.parquet") for run in done.done)
    return {key: (file.stat().st_ino, file.stat().st_mtime_ns) for key, file in files}


def test_progress(tmp_path: Path) -> None:
    seen: list[float] = []
    active: Counter[int] = Counter()

    def note(progress: SweepProgress) -> None:
        seen.append(progress.fraction)
        active[len(progress.active)] += 1
        assert progress.ended + len(progress.active) <= progress.runs

    sweep.run(planned(tmp_path, LOADS), tmp_path / "out", jobs=2, progress=note)
    assert max(active) <= 2
    assert min(seen) >= 0
    assert seen[-1] == 1.0


def test_a_run_that_fails_stops_no_other(command: Command, tmp_path: Path) -> None:
    write(tmp_path, SMALL)
    # Each value is possible; two of them are not possible together.
    hosts = '[[vary]]\npath = "fabric.star.hosts"\nvalues = [8, 4]\n'
    fan_in = '[[vary]]\npath = "workload[0].incast.fan_in"\nvalues = [3, 6]\n'
    write(tmp_path, HEAD + hosts + fan_in, "sweep.toml")
    ended = command("sweep", "sweep.toml", "-o", "out", "--jobs", "1")
    assert ended.returncode == 1
    assert re.search("error: hosts=4, fan_in=6, DCQCN; hosts=4, fan_in=6, HPCC: .*`6` is not possible", ended.stderr)
    assert "6 of 8 runs" in ended.stdout
    found = incast.open_sweep(tmp_path / "out")
    assert [run.state for run in found.runs] == ["done"] * 6 + ["failed"] * 2
    assert all("`6` is not possible" in str(run.error) for run in found.failed)
    rows = query(f"select state, error, flows from '{tmp_path}/out/runs.parquet'").fetchall()
    assert [row[0] for row in rows] == [run.state for run in found.runs]
    assert [row[2] is None for row in rows] == [row[1] is not None for row in rows] == [False] * 6 + [True] * 2
    before = stamps(found)
    assert command("sweep", "sweep.toml", "-o", "out").returncode == 1, "it is tried again"
    assert stamps(incast.open_sweep(tmp_path / "out")) == before


def test_a_deadlock_is_a_result_that_is_told(command: Command, tmp_path: Path) -> None:
    write(tmp_path, RING)
    write(tmp_path, HEAD, "sweep.toml")
    ended = command("sweep", "sweep.toml", "-o", "out")
    assert ended.returncode == 1
    assert "deadlock" in ended.stderr
    assert len(incast.open_sweep(tmp_path / "out").done) == 1


def test_a_file_that_changes_meanwhile(tmp_path: Path) -> None:
    write(tmp_path, "src,dst,size_bytes,start_us\n0,1,20000,0\n", "t.csv")
    write(tmp_path, SMALL + '\n[[workload]]\ntrace = { file = "t.csv" }\n')
    plan = sweep.read(write(tmp_path, HEAD, "sweep.toml"))
    write(tmp_path, "src,dst,size_bytes,start_us\n0,1,30000,0\n", "t.csv")
    changed = sweep.run(plan, tmp_path / "out").failed
    assert len(changed) == 2, "their keys would stand for another file"
    assert "t.csv" in str(changed[0].error)


def test_what_is_said(command: Command, tmp_path: Path) -> None:
    planned(tmp_path, SEEDS)
    said = command("sweep", "sweep.toml", "-o", "out")
    assert said.returncode == 0
    assert "100%, 4/4 runs" in said.stderr
    assert "4 of 4 runs in out" in said.stdout
    assert "columns: seed, scheme" in said.stdout
    quiet = command("sweep", "sweep.toml", "-o", "out", "--quiet")
    assert (quiet.returncode, quiet.stdout, quiet.stderr) == (0, "", "")


def test_warnings_of_runs_are_counted(command: Command, tmp_path: Path) -> None:
    write(tmp_path, SMALL + '[packets]\npayload = "50B"\n')
    write(tmp_path, HEAD + SEEDS, "sweep.toml")
    said = command("sweep", "sweep.toml", "-o", "out", "--quiet")
    assert said.returncode == 0
    advice = 'packets of 50 B are far smaller than in any network; write `payload = "1kB"`'
    assert said.stderr == f"warning: 4 of 4 runs: packets.payload: {advice}\n"
    html = sweep.open_sweep(tmp_path / "out")._repr_html_()
    assert "<p><b>Warning:</b> 4 of 4 runs: packets.payload: packets of 50 B" in html


def test_a_sweep_warns_of_events_after_the_end_of_runs(command: Command, tmp_path: Path) -> None:
    write(tmp_path, SMALL + '[network]\nfailure = [{ link = ["h0", "s0"], at = "9ms" }]\n')
    write(tmp_path, HEAD + SEEDS, "sweep.toml")
    said = command("sweep", "sweep.toml", "-o", "out", "--quiet")
    event = "network.failure[0].at: the failure of link h0-s0 at 9 ms never happened: the run ended at "
    assert said.stderr.startswith(f"warning: 4 of 4 runs: {event}")


def test_warnings_that_differ_in_numbers_are_one() -> None:
    """Each kind of warning is one line with its number of runs; indices and names are no numbers."""
    runs = [
        ["workload[0]: mean of 74 flows is 0.61 times", "workload[1]: mean of 9 flows is 2 times"],
        ["workload[0]: mean of 134 flows is 0.51 times"],
        ["leaf1: too slow"],
    ]
    assert counted(runs) == {
        "workload[0]: mean of 74 flows is 0.61 times (numbers of one run)": 2,
        "leaf1: too slow": 1,
        "workload[1]: mean of 9 flows is 2 times": 1,
    }
    assert counted([["leaf1: too slow"], ["leaf2: too slow"]]) == {"leaf1: too slow": 1, "leaf2: too slow": 1}


def test_progress_in_words() -> None:
    now = SweepProgress(
        runs=10, kept=3, done=2, failed=1, work=100.0, work_done=40.0, packet_hops=30_000_000, started=0.0
    )
    now.active["a"] = Activity("seed=1, HPCC", 20.0, 0.0, Pulse(0.5, 10_000_000))
    assert now.fraction == 0.5
    assert now.left_s(20.0) == 20.0
    assert status(now, 20.0) == "6/10 runs, 3 from an earlier command, 1 failed, 2.0 M packet-hops/s, 0:20 left"


def test_plan_is_shown(command: Command, tmp_path: Path) -> None:
    plan = planned(tmp_path, LOADS + POINTS)
    shown = command("sweep", "sweep.toml", "--plan")
    assert shown.returncode == 0, shown.stderr
    assert "8 runs of scenario.toml" in shown.stdout
    assert "load (workload[1].poisson.load): 0.2, 0.4" in shown.stdout
    assert all(f"{run.key}  {run.label}" in shown.stdout for run in plan.runs)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["scenario.toml", "sweep.toml"]


def test_an_axis_over_a_field_that_a_scheme_overrides(command: Command, tmp_path: Path) -> None:
    write(tmp_path, SMALL + "ecn.kmin = '50kB'\nswitch.buffer = '2MB'\n")  # of HPCC, the last scheme
    sweep_file = write(tmp_path, HEAD + SEEDS + axis("path = 'switch.buffer'\nvalues = ['4MB', '6MB']"), "sweep.toml")
    overridden = "warning: axis `buffer` has no effect on scheme HPCC, which overrides `switch.buffer`; leave out its "
    done = command("sweep", "sweep.toml", "--plan")
    assert (done.returncode, done.stderr) == (0, f"{overridden}repeated runs with `skip`\n")
    buffers = {json.loads(run.tree)["scheme"]["HPCC"]["switch"]["buffer"] for run in sweep.read(sweep_file).runs[1::2]}
    assert buffers == {"2MB"}
    own = axis("name = 'own'\npath = 'scheme.HPCC.switch.buffer'\nvalues = ['1MB', '3MB']")
    write(tmp_path, sweep_file.read_text() + own, "sweep.toml")
    other = "warning: axis `own` has no effect on scheme DCQCN; leave out its repeated runs with `skip`\n"
    assert command("sweep", "sweep.toml", "--plan").stderr == f"{overridden}repeated runs with `skip`\n{other}"
    skip = "skip = [{ buffer = '6MB', scheme = 'HPCC' }, { own = '3MB', scheme = 'DCQCN' }]\n"
    write(tmp_path, skip + sweep_file.read_text(), "sweep.toml")
    assert command("sweep", "sweep.toml", "--plan").stderr == ""


def axis(text: str) -> str:
    return f"[[vary]]\n{text}\n"


BAD = {
    "unknown field": (LOADS.replace(".load", ".laod"), "workload[1].poisson.laod", ("laod", "`load`")),
    "value out of range": (LOADS.replace("0.4", "-0.4"), "values", ("-0.4", "load")),
    "not of this kind": (SEEDS.replace("[1, 2]", '[1, "two"]'), "values", ("two", "seed")),
    "unknown key": (SEEDS.replace("path", "pth"), "pth", ("pth", "path")),
    "two axes of one name": (SEEDS + SEEDS.replace("[1, 2]", "[3]"), "[[vary]]", ("two axes", "`seed`")),
    "names that differ in case": (SEEDS + axis('name = "Seed"\npoints = [{ name = "a" }]'), None, ("`Seed`",)),
    "two axes over one field": (SEEDS + axis('name = "s"\npath = "seed"\nvalues = [3]'), None, ("`seed`",)),
    "points over a varied field": (
        SEEDS + axis('name = "s"\npoints = [{ name = "a", set = { seed = 3 } }]'),
        "name = ",
        ("`seed`",),
    ),
    "column that is there": (axis('path = "workload[0].priority"\nvalues = [1]'), "[[vary]]", ("priority", "flows")),
    "column of slowdown": (axis('name = "P99"\npath = "seed"\nvalues = [1]'), "[[vary]]", ("`P99`", "slowdown")),
    "no values": (axis('path = "seed"'), "[[vary]]", ("values", "seed")),
    "values and points": (axis('path = "seed"\nvalues = [1]\npoints = []'), "[[vary]]", ("points",)),
    "twice the same": (SEEDS.replace("[1, 2]", "[1, 1]"), "[[vary]]", ("`1`", "twice")),
    "a list as value": (SEEDS.replace("[1, 2]", "[[1]]"), "values", ("a list",)),
    "unknown scheme": ('schemes = ["HPC"]\n', "schemes", ("HPC", "HPCC")),
    "scheme twice": ('schemes = ["HPCC", "HPCC"]\n', "schemes", ("HPCC", "twice")),
    "no scheme": ("schemes = []\n", "schemes", ("empty",)),
    "unknown column to skip": ("skip = [{ sed = 1 }]\n" + SEEDS, "skip", ("sed", "seed")),
    "unknown value to skip": (
        "skip = [{ seed = 1 }, { seed = [2, 3] }]\n" + SEEDS,
        "skip",
        ("the axis `seed` has no value `3`", "(skip[1].seed)", "= allowed: 1, 2"),
    ),
    "unknown scheme to skip": (
        "skip = [{ scheme = 'hpcc' }]\n" + SEEDS,
        "skip",
        ("unknown scheme `hpcc`", "(skip[0].scheme)", "did you mean `HPCC`?"),
    ),
    "set of a varied field": ("set = { seed = 5 }\n" + SEEDS, "set", ("`seed` is varied by the axis `seed`",)),
    "set of a field of all points": (
        'set = { "ecn.kmin" = "9kB" }\n' + POINTS.replace('is" }', 'is", set = { ecn = { kmin = "30kB" } } }'),
        "set",
        ("`ecn.kmin` is varied by the axis `buffer`",),
    ),
    "all skipped": ("skip = [{}]\n" + SEEDS, None, ("no runs",)),
    "bad TOML": ("[[vary\n", "[[vary", ("]",)),
    "no file": ("", "gone.toml", ("cannot read gone.toml: No such file",)),
    "a device": ("", "/dev/zero", ("cannot read /dev/zero: it is a character device",)),
    "empty name": (axis('name = ""\npath = "seed"\nvalues = [1]'), "name", ("the name is empty",)),
    "long name": (
        axis(f'name = "{"n" * 201}"\npath = "seed"\nvalues = [1]'),
        "name",
        ("nnn… (201 characters)` is too long", "= allowed: at most 200 characters"),
    ),
    "long name of a point": (
        axis(f'name = "a"\npoints = [{{ name = "{"n" * 201}" }}]'),
        "points",
        ("(201 characters)` is too long", "(vary[0].points[0].name)", "= allowed: at most 200 characters"),
    ),
    "long path": (
        axis(f'path = "{"p" * 100_000}"\nvalues = [1]'),
        "path",
        ("(100000 characters)` is too long", "= allowed: at most 4,096 characters"),
    ),
    "long value": (
        axis(f'path = "title"\nvalues = ["a", "{"b" * 4097}"]'),
        "values",
        ("(4097 characters)` is too long", "(vary[0].values[1])", "= allowed: at most 4,096 characters"),
    ),
    "long value of a scale": (
        SEEDS + f'[scale.smoke.values]\nseed = ["{"b" * 4097}"]\n',
        "seed = ",
        ("(4097 characters)` is too long", "(scale.smoke.values.seed[0])"),
    ),
    "long title": (
        f'title = "{"t" * 1001}"\n' + SEEDS,
        "title",
        ("(1001 characters)` is too long", "= allowed: at most 1,000 characters"),
    ),
    "too many runs": (
        # Four axes of 100 values. The first three have exactly the most combinations.
        "".join(axis(f'path = "workload[{at}].x"\nname = "n{at}"\nvalues = {[*range(100)]}') for at in range(4)),
        "[[vary]]",
        ("the axes have 100,000,000 combinations of values", "= allowed: at most 100,000"),
    ),
}
NO_SCENARIO = {"no file": "gone.toml", "a device": "/dev/zero"}
"""Cases without the usual scenario, with the one that they name."""


def test_the_longest_names_and_texts_of_a_sweep(tmp_path: Path) -> None:
    write(tmp_path, SMALL)
    long = axis(f'name = "{"n" * 200}"\npath = "title"\nvalues = ["{"v" * 1000}"]')
    plan = sweep.read(write(tmp_path, f'{HEAD}title = "{"t" * 1000}"\n{long}', "sweep.toml"))
    assert (plan.columns, len(plan.runs)) == (("n" * 200,), 2)


@pytest.mark.parametrize("case", BAD)
def test_bad_file(command: Command, tmp_path: Path, case: str) -> None:
    text, at, says = BAD[case]
    text = (f'scenario = "{NO_SCENARIO[case]}"\n' if case in NO_SCENARIO else HEAD) + text
    write(tmp_path, SMALL)
    write(tmp_path, text, "sweep.toml")
    message = refused(command, tmp_path, "sweep.toml", "-o", "out")
    assert all(part in message for part in says), message
    assert len(message) < 2_000
    if at is not None:
        lines = [number for number, line in enumerate(text.splitlines(), 1) if at in line]
        found = re.search(r"--> sweep\.toml:(\d+):\d+", message)
        assert found, message
        assert int(found[1]) in lines, message


def refused(command: Command, folder: Path, *arguments: str) -> str:
    """The message about bad input; nothing is written."""
    before = sorted(folder.rglob("*"))
    ended = command("sweep", *arguments)
    assert ended.returncode == 2, ended.stderr
    assert ended.stderr.startswith("error: ")
    assert "Traceback" not in ended.stderr
    assert sorted(folder.rglob("*")) == before
    return ended.stderr


def test_an_error_in_a_field_of_the_scenario_names_the_varied_values(command: Command, tmp_path: Path) -> None:
    """8 headrooms of 200 kB do not fit into 1 MB; without the axes, everything fits."""
    write(tmp_path, SMALL + '[switch]\nbuffer = "1MB"\n')
    axis = '[[vary]]\npath = "switch.headroom.bytes"\nvalues = ["20kB", "200kB"]\n'
    write(tmp_path, HEAD + SEEDS + axis, "sweep.toml")
    done = command("sweep", "sweep.toml")
    assert done.returncode == 2
    assert "scenario.toml:24:10 (switch.buffer)" in done.stderr
    assert done.stderr.endswith('\n   = in the run with seed = 1, headroom = "200kB"\n')
    write(tmp_path, SMALL + '[switch]\nbuffer = "3kB"\n')
    done = command("sweep", "sweep.toml")
    assert done.returncode == 2
    assert "in the run with" not in done.stderr


def test_bad_scale(command: Command, tmp_path: Path) -> None:
    scales = '[scale.smoke]\nvalues = { buffer = ["smal"] }\n[scale.quick]\nvalues = { sed = [1] }\n'
    planned(tmp_path, POINTS + SEEDS + scales)
    message = refused(command, tmp_path, "sweep.toml", "--scale", "smok")
    assert "unknown scale `smok`" in message
    assert "`smoke`" in message
    message = refused(command, tmp_path, "sweep.toml", "--scale", "smoke")
    assert "unknown point `smal`" in message
    assert "`small`" in message
    message = refused(command, tmp_path, "sweep.toml", "--scale", "quick")
    assert "unknown axis `sed`" in message
    assert "`seed`" in message
    planned(tmp_path, SEEDS)
    assert "the file has no scales" in refused(command, tmp_path, "sweep.toml", "--scale", "smoke")


def test_bad_arguments(command: Command, tmp_path: Path) -> None:
    plan = planned(tmp_path, SEEDS)
    assert "--jobs" in refused(command, tmp_path, "sweep.toml", "--jobs", "0")
    assert "gone.toml" in refused(command, tmp_path, "gone.toml")
    assert "the axis `seed`" in refused(command, tmp_path, "sweep.toml", "--set", "seed=3"), "columns would be wrong"
    assert "bufer" in refused(command, tmp_path, "sweep.toml", "--set", "switch.bufer=1MB")
    with pytest.raises(ValueError, match="jobs must be a whole number, 1 or more, got 0"):
        sweep.run(plan, tmp_path / "out", jobs=0)


@pytest.mark.parametrize("text", [None, "src,dst,size_bytes,start_us\n0,9,20000,0\n"])
def test_a_bad_trace_is_told_before_anything_is_run(command: Command, tmp_path: Path, text: str | None) -> None:
    write(tmp_path, SMALL + '\n[[workload]]\ntrace = { file = "there.csv" }\n')
    write(tmp_path, "src,dst,size_bytes,start_us\n0,1,20000,0\n", "there.csv")
    values = '[[vary]]\nname = "trace"\npath = "workload[2].trace.file"\nvalues = ["there.csv", "bad.csv"]\n'
    if text is not None:
        write(tmp_path, text, "bad.csv")
    write(tmp_path, HEAD + values, "sweep.toml")
    message = refused(command, tmp_path, "sweep.toml", "-o", "out")
    assert "bad.csv" in message


def test_folders_of_something_else(command: Command, tmp_path: Path, results: Path) -> None:
    planned(tmp_path, SEEDS)
    (tmp_path / "mine").mkdir()
    write(tmp_path / "mine", "precious", "file")
    shutil.copytree(results, tmp_path / "results")
    for name in ("mine", "results", "scenario.toml"):
        assert "never overwritten" in refused(command, tmp_path, "sweep.toml", "-o", name)


def test_datasets_that_are_none(done: sweep.Sweep, tmp_path: Path, command: Command) -> None:
    with pytest.raises(ResultsError, match="no such folder"):
        incast.open_sweep(tmp_path / "gone")
    with pytest.raises(ResultsError, match=r"no sweep\.json"):
        incast.open_sweep(tmp_path)
    with pytest.raises(ResultsError, match="flows"):
        done.table("flow")
    copy = tmp_path / "copy"
    shutil.copytree(done.path, copy)
    cut = incast.open_sweep(copy).files("ports")[3]
    cut.write_bytes(cut.read_bytes()[:-100])
    with pytest.raises(ResultsError, match=re.escape(str(cut))):
        incast.open_sweep(copy).connect()
    cut.unlink()
    with pytest.raises(ResultsError, match=re.escape(str(cut))):
        incast.open_sweep(copy).table("flows")
    (cut.parent / "manifest.json").write_text("{", encoding="utf-8")
    with pytest.raises(ResultsError, match=re.escape(str(cut.parent / "manifest.json"))):
        incast.open_sweep(copy).cost()
    index = json.loads((copy / "sweep.json").read_text(encoding="utf-8"))
    (copy / "sweep.json").write_text(json.dumps(index | {"format": 2, "incast": "9.9"}), encoding="utf-8")
    with pytest.raises(ResultsError, match=r"layout 2, written by incast 9\.9"):
        incast.open_sweep(copy)
    planned(tmp_path, LOADS)
    assert "layout 2" in refused(command, tmp_path, "sweep.toml", "-o", "copy")
    first, *others = index["columns"]
    run, *rest = index["runs"]
    changed = (
        {"runs": [{"key": "x"}]},
        {"title": 5},
        {"columns": [first | {"values": 5}, *others]},
        {"runs": [run | {"scheme": [None]}, *rest]},
        {"runs": [run | {"columns": {"other": 1}}, *rest]},
    )
    for broken in ("{", "[]", json.dumps({"format": 1}), *(json.dumps(index | change) for change in changed)):
        (copy / "sweep.json").write_text(broken, encoding="utf-8")
        with pytest.raises(ResultsError, match="damaged"):
            incast.open_sweep(copy)


def test_nothing_is_finished(tmp_path: Path) -> None:
    def stop(_: SweepProgress) -> None:
        raise ScenarioError("enough")

    with pytest.raises(ScenarioError, match="enough"):
        sweep.run(planned(tmp_path, SEEDS), tmp_path / "out", jobs=1, progress=stop)
    none = incast.open_sweep(tmp_path / "out")
    for read in (none.connect, none.figures):
        with pytest.raises(ResultsError, match="none of the 4 runs of this sweep is finished"):
            read()
