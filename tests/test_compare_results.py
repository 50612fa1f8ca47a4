"""Results against results: identical runs, the first difference of others, flows paired by number or by key."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest

import incast
from conftest import SMALL, Command, write
from incast import _markdown

SCENARIO = """
seed = 1
[fabric.star]
hosts = 6
[[workload]]
trace.file = "flows.csv"
[scheme.HPCC]
control = "hpcc"
[scheme.DCQCN]
control = "dcqcn"
"""
FLOWS = """\
src,dst,size_bytes,start_us
0,5,1200000,31
1,5,1200000,31
2,4,50000,40
3,4,400000,400
"""


def run(folder: Path, flows: str = FLOWS, *overrides: str) -> incast.Results:
    """The results of a list of flows."""
    folder.mkdir()
    write(folder, flows, "flows.csv")
    return incast.load(write(folder, SCENARIO), overrides).run(folder / "results")


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> incast.Results:
    """A run under two schemes."""
    return run(tmp_path_factory.mktemp("compare") / "base")


def times(results: incast.Results, scheme: str, column: str = "fct_ps") -> list[int]:
    """A column of a scheme's flows, by number."""
    return [row[column] for row in results.flows.dicts() if row["scheme"] == scheme]


def test_the_only_flow_is_in_the_singular(command: Command, tmp_path: Path) -> None:
    text = SMALL.split("[[workload]]")[0] + "[[workload]]\nlist = [{ src = 1, dst = 3, size = '10kB' }]\n"
    for name in ("one", "again"):
        incast.load(write(tmp_path, text + "[scheme.HPCC]\ncontrol = 'hpcc'\n")).run(tmp_path / name)
    done = command("compare", "one", "again", "--scheme", "HPCC")
    assert done.stdout.startswith("identical: the only flow finishes at the same time\n")
    assert ["10,000", "B", "1"] in [line.split()[:3] for line in done.stdout.splitlines()]


def test_the_same_run_is_identical(base: incast.Results, command: Command, tmp_path: Path) -> None:
    again = run(tmp_path / "again")
    found = incast.compare(again, base, scheme="DCQCN")
    assert found.first is None
    assert (found.summary.matched, found.summary.identical, found.summary.differing) == (4, 4, 0)
    done = command("compare", again.path, base.path, "--scheme", "DCQCN")
    assert done.returncode == 0, done.stderr
    first, sides, *_ = done.stdout.splitlines()
    assert first == "identical: all 4 flows finish at the same time"
    assert sides == f"results: DCQCN in {again.path}; reference: DCQCN in {base.path}"


def test_two_schemes_of_a_run(base: incast.Results, command: Command) -> None:
    """The first difference is the earliest completion that only one of the two has."""
    ours, theirs, starts = (times(base, "HPCC"), times(base, "DCQCN"), times(base, "HPCC", "start_ps"))
    differing = [flow for flow in range(4) if ours[flow] != theirs[flow]]
    at = {flow: starts[flow] + min(ours[flow], theirs[flow]) for flow in differing}
    earliest = min(at, key=lambda flow: at[flow])
    found = incast.compare(base, scheme="HPCC", with_scheme="DCQCN")
    assert found.first is not None
    assert (found.first.flow, found.first.at_ns * 1000) == (earliest, at[earliest])
    assert found.summary.differing == len(differing) > 0
    changes = sorted(abs(100 * (ours[flow] / theirs[flow] - 1)) for flow in differing)
    assert found.summary.median_differing == pytest.approx(changes[len(changes) // 2])
    done = command("compare", base.path, "--scheme", "HPCC", "--with", "DCQCN")
    row = [*base.flows.dicts()][earliest]
    assert done.stdout.startswith(f"first difference: flow {earliest} ({row['src_name']} -> {row['dst_name']}, ")
    assert f"; {100 * len(differing) / 4:.3g} % of flows differ; " in done.stdout.splitlines()[0]


def test_flows_are_paired_by_key_where_their_numbers_differ(base: incast.Results, tmp_path: Path) -> None:
    """One flow more, before the others: it changes nothing, but all numbers move by one."""
    more = run(tmp_path / "more", FLOWS.replace("0,5", "5,0,1000,0\n0,5", 1))
    found = incast.compare(more, base, scheme="HPCC")
    assert (found.summary.matched, found.summary.identical) == (4, 4)
    (alone,) = found.unmatched("results")
    assert (alone.flow, alone.src, alone.why) == (0, 5, "not in the reference")
    assert [flow for (flow,) in found.connection.sql("SELECT flow - line FROM flows").fetchall()] == [1] * 4


def test_a_flow_that_completes_on_one_side_differs(base: incast.Results, tmp_path: Path) -> None:
    """Stopped early: two flows are there but not done; one that starts later is on neither side done in itself."""
    ends = sorted(times(base, "HPCC", "finish_ps"))
    cut = run(tmp_path / "cut", FLOWS, f"simulation.horizon={(ends[0] + ends[1]) // 2}ps")
    found = incast.compare(cut, base, scheme="HPCC")
    assert (found.summary.matched, found.summary.identical, found.summary.differing) == (1, 1, 3)
    assert {flow.why for flow in found.unmatched("reference")} == {"did not complete in the results"}
    assert found.first is not None
    twice = incast.compare(cut, cut.path, scheme="HPCC", with_scheme="DCQCN")
    assert twice.summary.unfinished == 3
    other = incast.compare(base, cut, scheme="HPCC")
    assert {flow.why for flow in other.unmatched("results")} == {"did not complete in the reference"}


def test_other_starts_are_a_difference(base: incast.Results, tmp_path: Path) -> None:
    """Paired by number, as hosts and sizes are the same."""
    later = run(tmp_path / "later", FLOWS.replace(",400000,400", ",400000,500"))
    found = incast.compare(later, base, scheme="HPCC")
    assert found.first is not None
    assert (found.first.flow, found.first.at_ns) == (3, 400_000)
    assert found.summary.differing == 1


def test_formats(base: incast.Results, command: Command) -> None:
    arguments = ("compare", base.path, "--scheme", "HPCC", "--with", "DCQCN", "--format")
    tree = json.loads(command(*arguments, "json").stdout)
    assert (tree["scheme"], tree["reference_scheme"]) == ("HPCC", "DCQCN")
    rows = list(csv.DictReader(io.StringIO(command(*arguments, "csv", "--table", "flows").stdout)))
    assert [int(row["line"]) for row in rows if row["flow"] != row["line"]] == []
    first = next(row for row in rows if int(row["flow"]) == tree["first_difference"]["flow"])
    assert first["src_name"] == tree["first_difference"]["src_name"]
    assert command(*arguments, "markdown").stdout.startswith("first difference: flow ")


def test_bins_are_those_of_the_results(tmp_path: Path, command: Command) -> None:
    """Sizes are not split, and the largest flow counts: with its own ideal times, one side is the table of the run."""
    sizes = [*range(1000, 22_000, 500), *[50_000] * 30, *[60_000] * 3, 900_000]
    lines = [f"{each % 5},5,{size},{each * 5},{'few' if each % 4 else 'many'}" for each, size in enumerate(sizes)]
    results = run(tmp_path / "labels", "src,dst,size_bytes,start_us,label\n" + "\n".join(lines))
    for label in ("all", "few"):
        found = incast.compare(results, scheme="HPCC", with_scheme="DCQCN", label=label)
        got = [(each.flows, each.size_min_bytes, each.size_max_bytes, each.reference.p50, each.reference.p99)
               for each in found.bins]  # fmt: skip
        assert got == [
            (row["flows"], row["size_min_bytes"], row["size_max_bytes"], row["p50"], row["p99"])
            for row in results.slowdown(label=label).dicts()
            if row["scheme"] == "DCQCN"
        ]
        assert sum(row[0] for row in got) == found.summary.matched
        assert max(row[2] for row in got) == 900_000
    done = command("compare", results.path, "--scheme", "HPCC", "--with", "DCQCN", "--label", "fw")
    assert (done.returncode, done.stdout) == (2, "")
    assert "has no flows labelled `fw`, only many, few; did you mean `few`?" in done.stderr


def test_columns_have_the_names_of_the_sides(base: incast.Results, command: Command, tmp_path: Path) -> None:
    later = run(tmp_path / "later", FLOWS.replace(",400000,400", ",400000,500"))
    done = command("compare", base.path, "--scheme", "HPCC", "--with", "DCQCN")
    heads = [line.split() for line in done.stdout.splitlines() if line.startswith("slowdown ")]
    assert heads[0] == ["slowdown", "DCQCN", "HPCC", "difference", "(%)"]
    assert "flows: 4 completed on both sides, 0 only in DCQCN, 0 only in HPCC\n" in done.stdout
    assert "slowdown = completion time / ideal time of the same side, at least 1\n" in done.stdout
    # Folders of one name have their paths.
    names = incast.compare(later, base, scheme="HPCC").names
    assert names == {"reference": str(base.path), "results": str(later.path)}
    again = later.path.rename(tmp_path / "again")
    assert incast.compare(again, base, scheme="HPCC").names == {"reference": "results", "results": "again"}


def test_a_single_scheme_needs_other_results(command: Command, tmp_path: Path) -> None:
    write(tmp_path, FLOWS, "flows.csv")
    incast.load(write(tmp_path, SCENARIO.partition("[scheme.DCQCN]")[0])).run(tmp_path / "alone")
    done = command("compare", "alone")
    assert (done.returncode, done.stdout) == (2, "")
    assert "has only the scheme HPCC; name other results" in done.stderr


def test_nothing_in_common(base: incast.Results, command: Command, tmp_path: Path) -> None:
    for name, flows, says in (
        ("hosts", "src,dst,size_bytes,start_us\n4,3,10,0\n", "no flow has the same hosts"),
        ("sizes", "src,dst,size_bytes,start_us\n0,5,10,0\n", "not the same sizes"),
        ("starts", "src,dst,size_bytes,start_us\n0,5,1200000,0\n", "start at other times"),
    ):
        done = command("compare", run(tmp_path / name, flows).path, base.path, "--scheme", "HPCC")
        assert (done.returncode, done.stdout) == (2, "")
        assert says in done.stderr


def test_tables_of_pages_escape_bars_in_names() -> None:
    rows = [("a|b", 1), ("two\nlines", 2.5)]
    assert list(_markdown.table(("name", "size"), rows, (False, True))) == [
        "| name | size |",
        "|---|---:|",
        r"| a\|b | 1 |",
        "| two lines | 2.5 |",
    ]
