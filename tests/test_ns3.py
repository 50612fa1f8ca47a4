"""Files of ns-3 RDMA simulations: read as they are, refused with the line that is wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

import incast
from conftest import Command

# Two switches (ids 4 and 5), two hosts on each.
TOPOLOGY = """\
6 2 5
4 5
0 4 100Gbps 1us 0
1 4 100Gbps 1us 0
2 5 100Gbps 1us 0
3 5 100Gbps 1us 0
4 5 400Gbps 1us 0
"""
# src dst priority dport bytes start
FLOWS = """\
3
0 2 3 100 100000 2
1 2 3 100 100000 2
3 0 3 100 50000 2.00001
"""


def files(folder: Path, topology: str = TOPOLOGY, flows: str = FLOWS) -> list[object]:
    """The options that name the two files."""
    (folder / "topology.txt").write_text(topology)
    (folder / "flow.txt").write_text(flows)
    return ["--topology", "topology.txt", "--flows", "flow.txt", "-o", "mine.toml"]


def test_import_and_run(command: Command, tmp_path: Path) -> None:
    done = command("import", "ns3", *files(tmp_path))
    assert done.returncode == 0, done.stderr
    assert "incast run mine.toml" in done.stdout
    done = command("run", "mine.toml", "--quiet")
    assert done.returncode == 0, done.stderr
    flows = incast.open(tmp_path / "results" / "mine").flows
    assert sorted(set(flows["size_bytes"])) == [50_000, 100_000]


WRONG = {
    "truncated topology": (TOPOLOGY.rsplit("4 5 400", 1)[0], FLOWS, "topology.txt", "5"),
    "no such node": (TOPOLOGY.replace("3 5 100", "3 9 100"), FLOWS, "topology.txt", "9"),
    "a rate in no unit": (TOPOLOGY.replace("400Gbps", "400Gpbs"), FLOWS, "topology.txt", "400Gpbs"),
    "empty topology": ("", FLOWS, "topology.txt", ""),
    "truncated flows": (TOPOLOGY, FLOWS.replace("3\n", "4\n", 1), "flow.txt", "4"),
    "flow to a switch": (TOPOLOGY, FLOWS.replace("0 2 3", "0 4 3"), "flow.txt", "4"),
    "flow to itself": (TOPOLOGY, FLOWS.replace("0 2 3", "2 2 3"), "flow.txt", "2"),
    "zero-size flow": (TOPOLOGY, FLOWS.replace("50000", "0"), "flow.txt", "4"),
    "priority out of range": (TOPOLOGY, FLOWS.replace("3 0 3", "3 0 9"), "flow.txt", "9"),
    "words for numbers": (TOPOLOGY, FLOWS.replace("50000", "many"), "flow.txt", "many"),
}


@pytest.mark.parametrize(("topology", "flows", "file", "says"), WRONG.values(), ids=WRONG.keys())
def test_wrong_files(command: Command, tmp_path: Path, topology: str, flows: str, file: str, says: str) -> None:
    done = command("import", "ns3", *files(tmp_path, topology, flows))
    assert done.returncode == 2, done.stdout + done.stderr
    assert file in done.stderr
    assert says in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "mine.toml").exists()


def test_rows_that_the_headers_do_not_count(command: Command, tmp_path: Path) -> None:
    # The authors' own examples have such rows.
    more = files(
        tmp_path, TOPOLOGY + "0 9 100Gbps 1us 0\n", FLOWS.replace("3\n", "2\n", 1) + "\nPlease order the flows!\n"
    )
    done = command("import", "ns3", *more)
    assert done.returncode == 0, done.stderr
    assert "topology.txt:8: warning: not read from here on: the header has 5 links" in done.stderr
    assert "flow.txt:4: warning: not read from here on: the header has 2 flows" in done.stderr
    done = command("run", "mine.toml")
    assert done.returncode == 0, done.stderr
    assert "flow.txt:4: not read from here on" in done.stderr
    assert len(incast.open(tmp_path / "results" / "mine").flows) == 2 * 2, "two schemes"


DATA = Path(__file__).parent / "data" / "ns3"


@pytest.mark.parametrize("case", sorted(path.name for path in DATA.iterdir()))
def test_the_same_times_as_the_authors_simulator(command: Command, tmp_path: Path, case: str) -> None:
    given = {name: DATA / case / f"{name}.txt" for name in ("topology", "flow", "config", "fct", "pfc")}
    inputs = ["--topology", given["topology"], "--flows", given["flow"], "--config", given["config"]]
    done = command("import", "ns3", *inputs, "-o", "mine.toml")
    assert done.returncode == 0, done.stderr
    done = command("run", "mine.toml", "--quiet")
    assert done.returncode == 0, done.stderr
    for file in (given["fct"], given["pfc"]):
        if file.exists():
            done = command("compare", "results/mine", file)
            assert done.stdout.startswith("identical"), done.stdout + done.stderr
    alone = [int(line.split()[7]) for line in given["fct"].read_text().splitlines()]
    assert sorted(alone) == sorted(
        time // 1000 for time in incast.open(tmp_path / "results" / "mine").flows["ideal_hpcc_ps"]
    )


def test_files_that_are_not_there(command: Command, tmp_path: Path) -> None:
    options = files(tmp_path)
    (tmp_path / "flow.txt").unlink()
    done = command("import", "ns3", *options)
    assert (done.returncode, done.stderr) == (2, "error: cannot read flow.txt: No such file or directory\n")
    assert not (tmp_path / "mine.toml").exists()
    done = command("import", "ns3", *files(tmp_path)[:-1], "none/mine.toml")
    assert "error: cannot write none/mine.toml: No such file or directory\n" in done.stderr
    done = command("run", "none.toml")
    assert (done.returncode, done.stderr) == (2, "error: cannot read none.toml: No such file or directory\n")


def test_errors_in_a_configuration_show_the_line(command: Command, tmp_path: Path) -> None:
    (tmp_path / "config.txt").write_text("ENABLE_QCN 1\nCC_MODE 99\nLINK_DOWN a\n")
    done = command("import", "ns3", *files(tmp_path), "--config", "config.txt")
    assert done.returncode == 2
    mode, down = done.stderr.rstrip().split("\n\n")
    assert mode.splitlines() == [
        "error: CC_MODE is `99`",
        "  --> config.txt:2:9",
        "  |",
        "2 | CC_MODE 99",
        "  |         ^^",
        "  = allowed: 1 (DCQCN), 3 (HPCC), 7 (TIMELY), 8 (DCTCP) or 10 (HPCC-PINT)",
    ]
    assert down.splitlines()[3] == "3 | LINK_DOWN a"


def test_scenario_is_not_replaced(command: Command, tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text("precious")
    done = command("import", "ns3", *files(tmp_path))
    assert done.returncode == 2
    assert "mine.toml" in done.stderr
    assert (tmp_path / "mine.toml").read_text() == "precious"
