"""Results against a reference: identical where they are, different by as much as they are, wrong files refused."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest

import incast
from conftest import ROOT, Command

REFERENCE = Path(__file__).parent / "data" / "incast16_dcqcn_window.fct.txt"
LINES = REFERENCE.read_text().splitlines(keepends=True)
SCHEME = ["--scheme", "DCQCN+w"]


@pytest.fixture(scope="session")
def incast16(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same flows under HPCC and DCQCN+w, in the reference's arithmetic: hosts 0 to 16, switch 17."""
    folder = tmp_path_factory.mktemp("incast16")
    links = "".join(f"{host} 17 100Gbps 1us 0\n" for host in range(17))
    (folder / "topology.txt").write_text(f"18 1 17\n17\n{links}")
    (folder / "flow.txt").write_text("16\n" + "".join(f"{host} 16 3 100 500000 2\n" for host in range(16)))
    incast._core.import_ns3(folder / "topology.txt", folder / "flow.txt", [], folder / "mine.toml")
    incast.load(folder / "mine.toml").run(folder / "results")
    return folder / "results"


def written(folder: Path, lines: list[str]) -> Path:
    """A reference of these lines."""
    file = folder / "fct.txt"
    file.write_text("".join(lines))
    return file


def test_the_same_arithmetic_is_identical(incast16: Path) -> None:
    found = incast.compare(incast16, REFERENCE, scheme="DCQCN+w")
    assert (found.summary.matched, found.summary.identical, found.summary.largest) == (16, 16, 0)
    assert (found.summary.reference_only, found.summary.results_only, found.summary.other_ideals) == (0, 0, 0)
    assert sum(each.flows for each in found.bins) == 15, "the last flow in order of size is left out"
    assert found.whole is not None
    assert found.whole.difference == incast.comparison.Percentiles(0, 0, 0)


def test_percentiles_are_those_of_the_script(incast16: Path) -> None:
    """Recomputed here from the lines: flows of one size, in order of host, without the last; floor(n p)."""
    rows = sorted((int(words[0][2:6], 16), int(words[6]) / int(words[7])) for words in map(str.split, LINES))
    kept = sorted(max(1.0, slowdown) for _, slowdown in rows[:-1])
    found = incast.compare(incast16, REFERENCE, scheme="DCQCN+w")
    assert found.whole is not None
    assert found.whole.reference == incast.comparison.Percentiles(*(kept[int(15 * p)] for p in (0.5, 0.95, 0.99)))
    # Bin i of 20 begins at element floor(15 i / 20): five are empty, the others hold one flow each.
    assert [each.flows for each in found.bins] == [1] * 15
    assert [each.reference.p50 for each in found.bins] == [slowdown for _, slowdown in rows[:-1]]


def test_other_times_differ_by_as_much(incast16: Path, tmp_path: Path) -> None:
    """One flow twice as fast in the reference; the others as they are."""
    words = LINES[3].split()
    slower = int(words[6])
    words[6] = str(slower // 2)
    file = written(tmp_path, [*LINES[:3], " ".join(words) + "\n", *LINES[4:]])
    found = incast.compare(incast16, file, scheme="DCQCN+w")
    assert found.summary.identical == 15
    assert found.summary.largest == pytest.approx(100 * (slower / (slower // 2) - 1))
    (worst,) = found.largest(5)
    assert (worst.line, worst.src, worst.results_ns) == (4, int(words[0][2:6], 16), slower)


def test_slowdowns_are_at_least_one(incast16: Path, tmp_path: Path) -> None:
    halves = [line.rsplit(" ", 2)[0] + " 40000 46080\n" for line in LINES]
    found = incast.compare(incast16, written(tmp_path, halves), scheme="DCQCN+w")
    assert found.whole is not None
    assert found.whole.reference == incast.comparison.Percentiles(1, 1, 1)


def test_node_numbers_in_decimal(incast16: Path, tmp_path: Path) -> None:
    """As ConWeave writes them."""
    lines = [f"{int(line[2:6], 16)} {int(line[11:15], 16)}{line[17:]}" for line in LINES]
    assert lines[0].startswith(f"{int(LINES[0][2:6], 16)} 16 10000 100 ")
    assert incast.compare(incast16, written(tmp_path, lines), scheme="DCQCN+w").summary.identical == 16


def test_starts_may_be_rounded_down(incast16: Path, tmp_path: Path) -> None:
    lines = [line.replace(" 2000000000 ", " 1999999999 ") for line in LINES]
    assert incast.compare(incast16, written(tmp_path, lines), scheme="DCQCN+w").summary.matched == 16
    lines[0] = lines[0].replace(" 1999999999 ", " 1999999998 ")
    found = incast.compare(incast16, written(tmp_path, lines), scheme="DCQCN+w")
    assert (found.summary.matched, found.summary.reference_only, found.summary.results_only) == (15, 1, 1)


def test_flows_of_one_side_are_listed(command: Command, incast16: Path, tmp_path: Path) -> None:
    stranger = LINES[0].replace(" 100 500000 ", " 101 500000 ")
    file = written(tmp_path, [*LINES[2:], stranger])
    done = command("compare", incast16, file, *SCHEME)
    assert done.returncode == 0, done.stderr
    assert "14 completed on both sides, 1 only in the reference, 2 only in the results" in done.stdout
    assert done.stdout.startswith("3 flows are on one side only; all 14 others finish at the same time\n")
    (line,) = [line for line in done.stdout.splitlines() if line.startswith("- line 15: host ")]
    assert line.endswith(" -> host 16, ports 10000 to 101, 500,000 B, start 2000000.000 us: not in the results")
    done = command("compare", incast16, file, *SCHEME, "--format", "csv", "--table", "unmatched")
    assert [row["side"] for row in csv.DictReader(io.StringIO(done.stdout))] == ["reference", "results", "results"]


def test_a_flow_that_did_not_complete(incast16: Path, tmp_path: Path) -> None:
    """It is there, so it is the same flow, but it has no time to compare."""
    scenario = incast16.parent / "mine.toml"
    cut = tmp_path / "cut"
    incast.load(scenario, ["simulation.horizon=2000500us"]).run(cut)
    found = incast.compare(cut, REFERENCE, scheme="DCQCN+w")
    unfinished = [int(line.split()[6]) for line in LINES if int(line.split()[6]) > 500_000]
    assert found.summary.reference_only == len(unfinished) > 0
    assert {flow.why for flow in found.unmatched("reference")} == {"did not complete in the results"}
    rest = incast.compare(cut, written(tmp_path, LINES[:2]), scheme="DCQCN+w")
    assert "did not complete, and is not in the reference" in {flow.why for flow in rest.unmatched("results")}


def test_one_port_only(command: Command, incast16: Path, tmp_path: Path) -> None:
    file = written(tmp_path, [*LINES, LINES[0].replace(" 100 500000 ", " 200 500000 ")])
    assert incast.compare(incast16, file, scheme="DCQCN+w", dport=100).summary.reference_flows == 16
    done = command("compare", incast16, file, *SCHEME, "--dport", "300")
    assert done.returncode == 2
    assert "no flow goes to port 300" in done.stderr
    assert "100, 200" in done.stderr


def test_formats_say_the_same(command: Command, incast16: Path) -> None:
    whole = incast.compare(incast16, REFERENCE, scheme="DCQCN+w").whole
    assert whole is not None
    printed = {kind: command("compare", incast16, REFERENCE, *SCHEME, "--format", kind).stdout for kind in FORMATS}
    tree = json.loads(printed["json"])
    assert tree["whole"]["reference"]["p95"] == whole.reference.p95
    assert tree["largest"] == [], "nothing differs"
    rows = list(csv.DictReader(io.StringIO(printed["csv"])))
    assert float(rows[-1]["reference_p95"]) == whole.reference.p95
    assert len(rows) == len(tree["bins"]) + 1
    for kind in ("text", "markdown"):
        (line,) = [line for line in printed[kind].splitlines() if line.lstrip("| ").startswith("all ")]
        assert f"{whole.reference.p95:.3f}" in line
        assert printed[kind].startswith("identical: all 16 flows finish at the same time\n")


FORMATS = ("text", "csv", "json", "markdown")
WRONG = {
    "another file": (["1099\n"], "fct.txt:1:", "8, one space between them: sip dip"),
    "too few fields": ([*LINES[:2], LINES[2].rsplit(" ", 1)[0] + "\n"], "fct.txt:3:", "has 7 fields"),
    "too many fields": ([*LINES[:2], LINES[2].replace("\n", " 1\n")], "fct.txt:3:", "has 9 fields"),
    "cut off": ([*LINES[:2], LINES[2].rstrip("\n")], "fct.txt:3:", "truncated"),
    "cut off in a field": ([*LINES[:2], LINES[2][:30]], "fct.txt:3:", "truncated"),
    "words": ([LINES[0], LINES[1].replace("500000", "many")], "fct.txt:2:29", "the size is `many`"),
    "a negative time": ([LINES[0], LINES[1].replace(" 46080", " -1")], "fct.txt:2:", "the standalone time is `-1`"),
    "no such port": ([LINES[0].replace(" 100 ", " 65536 ")], "fct.txt:1:25", "the destination port is `65536`"),
    "two ways to write hosts": (
        [LINES[0], "0 16" + LINES[1][17:]],
        "fct.txt:2:1",
        "line 1 writes a host as an address",
    ),
    "an address of no node": ([LINES[0].replace("01 ", "02 ", 1)], "fct.txt:1:1", "0bxxxx01"),
    "twice": ([*LINES, LINES[0]], "fct.txt:17:", "is already in line 1"),
    "blank line": ([LINES[0], "\n"], "fct.txt:2:", "has 0 fields"),
    "empty": ([], "fct.txt", "empty"),
    "other hosts": (
        [line.replace("0b00", "0b01") for line in LINES],
        "",
        "272 in the reference, 16 in the results",
    ),
    "other ports": ([line.replace(" 100 ", " 99 ") for line in LINES], "", "10000 to 99 in the reference"),
    "other sizes": ([line.replace(" 500000 ", " 500001 ") for line in LINES], "", "not the same sizes"),
    "other starts": (
        [line.replace(" 2000000000 ", " 1000 ") for line in LINES],
        "",
        "1999999000 ns later in the results",
    ),
}


@pytest.mark.parametrize(("lines", "place", "says"), WRONG.values(), ids=WRONG.keys())
def test_wrong_reference(
    command: Command, incast16: Path, tmp_path: Path, lines: list[str], place: str, says: str
) -> None:
    done = command("compare", incast16, written(tmp_path, lines), *SCHEME)
    assert done.returncode == 2, done.stdout + done.stderr
    assert place in done.stderr
    assert says in done.stderr
    assert done.stderr.startswith("error: ")
    assert "Traceback" not in done.stderr
    assert done.stdout == ""


def test_wrong_names(command: Command, incast16: Path, tmp_path: Path) -> None:
    for arguments, says in (
        ([incast16, REFERENCE], "2 schemes; choose with --scheme: HPCC, DCQCN+w"),
        ([incast16, REFERENCE, "--scheme", "DCQCN"], "did you mean `DCQCN+w`?"),
        ([incast16, tmp_path / "gone.txt", *SCHEME], "gone.txt: No such file"),
        ([incast16, tmp_path, *SCHEME], "is not a results folder"),
        ([incast16, *SCHEME], "to compare DCQCN+w with, by --with: HPCC\n"),
        ([incast16, incast16, *SCHEME, "--with", "DCQCN+w"], "choose another scheme with --with: HPCC"),
        ([incast16, *SCHEME, "--with", "HPC"], "did you mean `HPCC`?"),
        ([incast16, REFERENCE, *SCHEME, "--with", "HPCC"], "is a file and has no scheme HPCC"),
        ([tmp_path, REFERENCE], "is not a results folder"),
        ([incast16, REFERENCE, *SCHEME, "--by-flow", "-1"], "by-flow"),
    ):
        done = command("compare", *arguments)
        assert done.returncode == 2, done.stdout
        assert says in done.stderr
        assert "Traceback" not in done.stderr


def test_damaged_results(command: Command, incast16: Path, tmp_path: Path) -> None:
    damaged = tmp_path / "damaged"
    damaged.mkdir()
    for file in incast16.iterdir():
        (damaged / file.name).write_bytes(file.read_bytes())
    flows = damaged / "flows.parquet"
    flows.write_bytes(flows.read_bytes()[:1000])
    done = command("compare", damaged, REFERENCE, *SCHEME)
    assert done.returncode == 2
    assert "flows.parquet" in done.stderr
    assert "Traceback" not in done.stderr


def both(scenario: str) -> list[list[int]]:
    """Completion times of one of the smallest scenarios, in ps: in the reference's arithmetic, and exact."""
    file = ROOT / "python" / "incast" / "studies" / "hpcc" / "agreement" / f"{scenario}.toml"
    return [list(incast.load(file, way).run().flows["fct_ps"]) for way in (["profile=ns3"], [])]


def test_the_links_of_the_reference_are_too_fast() -> None:
    """10 MB in frames of 1048 B: done, in its arithmetic, before 100 Gb/s can have carried them; and what that does."""
    theirs, exact = both("wires")
    on_the_wire = 10_000 * 1048 * 80
    assert theirs[0] < on_the_wire < exact[0]
    assert exact[1] > 1.5 * theirs[1], "the short flow that begins when the long one should have 9 us left"


def test_a_paced_flow_has_its_share_of_a_port() -> None:
    """45 Gb/s beside two flows at line rate: a third of the port in either arithmetic."""
    third = 5_000 * 1048 * 80 * 3
    assert [times[2] for times in both("turns")] == pytest.approx([third, third], rel=0.01)
