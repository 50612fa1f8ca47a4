"""PFC frames and queue lengths against files of ns-3, and queue lengths written in its format."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest

import incast
from conftest import Command, write
from incast.comparison import compare_pauses, compare_queues
from test_ns3 import TOPOLOGY

FLOWS = "4\n0 2 3 100 1000000 2\n1 2 3 100 1000000 2\n1 3 3 100 1000000 2\n3 0 3 100 50000 2.00001\n"
EVERY_NS = 100
SCHEME = ["--scheme", "HPCC"]
START_NS = 2_000_000_000
INTERFACES = {(4, 1), (4, 2), (4, 3), (5, 1), (5, 2), (5, 3)}
"""Of the two switches of the topology: one for each of its lines that names the switch."""


@pytest.fixture(scope="module")
def paused(tmp_path_factory: pytest.TempPathFactory) -> incast.Results:
    """Results of ns-3's arithmetic with small buffers and sampled queues."""
    folder = tmp_path_factory.mktemp("ports")
    write(folder, TOPOLOGY.replace("400Gbps", "100Gbps"), "topology.txt")
    write(folder, FLOWS, "flow.txt")
    incast._core.import_ns3(folder / "topology.txt", folder / "flow.txt", [], folder / "mine.toml")
    sampled = [f"measure.sample_every={EVERY_NS}ns", "measure.sample_from=2s", "switch.buffer=300kB"]
    return incast.load(folder / "mine.toml", sampled).run(folder / "results")


def of(results: incast.Results, table: str, scheme: str = "HPCC") -> list[dict[str, Any]]:
    """A scheme's rows of a table."""
    return [row for row in results.table(table).dicts() if row["scheme"] == scheme]


def frames(results: incast.Results) -> list[str]:
    """The lines that ns-3 would log: frames in order of arrival, nodes by number, interfaces from 1."""
    found = []
    for row in of(results, "pauses"):
        kind, node = row["node_name"][0], int(row["node_name"][1:])
        at = (node, int(kind == "s"), row["local_port"] + 1)
        found += [(row["start_ps"] // 1000, *at, 1), (row["end_ps"] // 1000, *at, 0)]
    return [" ".join(map(str, frame)) + "\n" for frame in sorted(found)]


def monitor(results: incast.Results, until_ns: int) -> str:
    """A block of the monitor of `third.cc`, computed as there: each port is looked at every 100 ns."""
    queued = {
        (int(row["node_name"][1:]), row["local_port"] + 1, row["time_ps"] // 1000): row["queue_bytes"]
        for row in of(results, "queues")
    }
    lines = [f"time: {until_ns}\n"]
    for node, interface in sorted(INTERFACES):
        counts: list[int] = []
        for time in range(START_NS, until_ns + 1, EVERY_NS):
            kb = queued.get((node, interface, time), 0) // 1000
            counts += [0] * (kb + 1 - len(counts))
            counts[kb] += 1
        lines.append(" ".join(map(str, [node, interface, *counts])) + "\n")
    return "".join(lines)


def last_ns(results: incast.Results) -> int:
    """Time of the last sample."""
    end = int(results.manifest["schemes"]["HPCC"]["end_ps"]) // 1000
    return START_NS + (end - START_NS) // EVERY_NS * EVERY_NS


def test_the_same_frames_are_identical(paused: incast.Results, command: Command, tmp_path: Path) -> None:
    lines = frames(paused)
    assert len(lines) == 2 * paused.manifest["schemes"]["HPCC"]["counts"]["pauses"] > 0
    write(tmp_path, "".join(lines), "pfc.txt")
    done = command("compare", paused.path, "pfc.txt", *SCHEME)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(f"identical: all {len(lines)} PFC frames arrive at the same time\n")
    found = compare_pauses(paused, tmp_path / "pfc.txt", scheme="HPCC")
    assert found.identical
    assert found.more["frames"].rows == []
    ports = [dict(zip(found.ports.columns, row, strict=True)) for row in found.ports.rows]
    for row in ports:
        mine = [line for line in lines if line.split()[1:4:2] == [str(row["node"]), str(row["interface"])]]
        assert row["reference_pauses"] == row["results_pauses"] == sum(line.endswith(" 1\n") for line in mine)


def test_the_first_frame_that_differs(paused: incast.Results, command: Command, tmp_path: Path) -> None:
    """A frame of the reference 5 ns later, and one that it lacks."""
    lines = frames(paused)
    time, rest = lines[2].split(" ", 1)
    changed = [*lines[:2], f"{int(time) + 5} {rest}", *lines[3:-1]]
    write(tmp_path, "".join(changed), "pfc.txt")
    done = command("compare", paused.path, "pfc.txt", *SCHEME)
    assert done.stdout.startswith("first difference: ")
    assert f" at {int(time) / 1000:.3f} us, only in the results; 1 of {len(lines) - 1} frames" in done.stdout
    done = command("compare", paused.path, "pfc.txt", *SCHEME, "--format", "csv", "--table", "frames")
    rows = list(csv.DictReader(io.StringIO(done.stdout)))
    assert [row["side"] for row in rows] == ["results", "reference", "results"]
    assert [row["line"] for row in rows] == ["", "3", ""]
    tree = json.loads(command("compare", paused.path, "pfc.txt", *SCHEME, "--format", "json").stdout)
    assert (tree["identical"], len(tree["frames"])) == (False, 3)


def test_a_run_without_pauses_has_an_empty_file(paused: incast.Results, command: Command, tmp_path: Path) -> None:
    write(tmp_path, "", "pfc.txt")
    done = command("compare", paused.path, "pfc.txt", *SCHEME)
    assert done.returncode == 2
    assert "choose with --kind: fct, pfc, qlen" in done.stderr
    done = command("compare", paused.path, "pfc.txt", *SCHEME, "--kind", "pfc")
    assert "only in the results; 0 of 0 frames only in the reference" in done.stdout


def test_queue_lengths_are_those_of_the_monitor(paused: incast.Results, command: Command, tmp_path: Path) -> None:
    done = command("export", "qlen", paused.path, *SCHEME, "-o", "qlen.txt", "--every", "100us")
    assert done.returncode == 0, done.stderr
    last = last_ns(paused)
    times = [*range(START_NS, last + 1, 100_000)]
    times += [last] * (last not in times)
    assert len(times) > 2
    assert (tmp_path / "qlen.txt").read_text() == "".join(monitor(paused, time) for time in times)
    done = command("compare", paused.path, "qlen.txt", *SCHEME)
    assert done.stdout.startswith("identical: all 6 ports have the same queue lengths\n")
    done = command("export", "qlen", paused.path, *SCHEME, "-o", "qlen.txt")
    assert done.returncode == 2
    assert "qlen.txt exists already" in done.stderr


def test_queues_are_empty_after_the_last_flow(paused: incast.Results, tmp_path: Path) -> None:
    """The monitor goes on to its own end."""
    end = last_ns(paused) + 1000 * EVERY_NS
    write(tmp_path, monitor(paused, START_NS) + monitor(paused, end), "qlen.txt")
    assert compare_queues(paused, tmp_path / "qlen.txt", scheme="HPCC").identical


def test_the_first_queue_that_differs(paused: incast.Results, command: Command, tmp_path: Path) -> None:
    middle, last = START_NS + 100_000, last_ns(paused)
    blocks = [monitor(paused, middle), monitor(paused, last)]
    node, interface, *counts = blocks[1].splitlines()[3].split()
    assert (node, interface) == ("4", "3")
    more = " ".join([node, interface, str(int(counts[0]) - 1), str(int(counts[1]) + 1), *counts[2:]])
    write(tmp_path, blocks[0] + blocks[1].replace(" ".join([node, interface, *counts]), more), "qlen.txt")
    done = command("compare", paused.path, "qlen.txt", *SCHEME)
    assert done.stdout.startswith("first difference: node 4, interface 3 (s4 -> s5), in the block of 2.0")
    assert "; 1 port of 6 differ in the last block\n" in done.stdout
    done = command("compare", paused.path, "qlen.txt", *SCHEME, "--format", "csv")
    row = next(iter(csv.DictReader(io.StringIO(done.stdout))))
    longest = max(row["queue_bytes"] for row in of(paused, "queues") if row["peer_name"] == "s5") // 1000
    assert (row["node"], row["interface"], row["results_max_kb"]) == ("4", "3", str(longest))


WRONG = {
    "type": ("pfc", "2000000000 4 1 1 2\n", "pfc.txt:1:18", "the type is `2`"),
    "cut off": ("pfc", "2000000000 4 1 1 1", "pfc.txt:1:", "truncated"),
    "fields": ("pfc", "2000000000 4 1 1 1\n2000000000 4\n", "pfc.txt:2:", "has 2 fields"),
    "interface": ("pfc", "2000000000 4 1 9 1\n", "pfc.txt:1:", "no interface 9 of node 4"),
    "line": ("qlen", "time: 2000000000\n4 1 one\n", "qlen.txt:2:", "node interface count"),
    "order": ("qlen", "time: 2000000000\ntime: 2000000000\n", "qlen.txt:2:", "ascending"),
    "twice": ("qlen", "time: 2000000000\n4 1 1\n4 1 1\n", "qlen.txt:3:", "already in this block"),
    "cut": ("qlen", "time: 2000000000\n4 1 1", "qlen.txt:2:", "truncated"),
    "port": ("qlen", "time: 2000000000\n0 1 1\n", "qlen.txt", "no switch 0 with an interface 1"),
}


@pytest.mark.parametrize(("kind", "text", "place", "says"), WRONG.values(), ids=WRONG.keys())
def test_wrong_files(
    paused: incast.Results, command: Command, tmp_path: Path, kind: str, text: str, place: str, says: str
) -> None:
    write(tmp_path, text, f"{kind}.txt")
    done = command("compare", paused.path, f"{kind}.txt", *SCHEME)
    assert (done.returncode, done.stdout) == (2, "")
    assert place in done.stderr
    assert says in done.stderr


def test_wrong_options(paused: incast.Results, results: Path, command: Command, tmp_path: Path) -> None:
    write(tmp_path, "".join(frames(paused)), "pfc.txt")
    write(tmp_path, monitor(paused, START_NS), "qlen.txt")
    for arguments, says in (
        (["compare", paused.path, "pfc.txt", *SCHEME, "--table", "bins"], "choose one of ports, frames"),
        (["compare", paused.path, "pfc.txt", *SCHEME, "--dport", "100"], "--dport has no effect"),
        (["compare", paused.path, *SCHEME, "--with", "DCQCN+w", "--table", "ports"], "bins, flows, unmatched"),
        (["compare", paused.path, "pfc.txt", *SCHEME, "--table", "frames"], "only with --format csv"),
        (
            ["compare", paused.path, *SCHEME, "--with", "HPCC", "--format", "json", "--table", "flows"],
            "only with --format csv",
        ),
        (["compare", results, "qlen.txt", "--scheme", "HPCC"], "measure.sample_every"),
        (["export", "qlen", results, "--scheme", "HPCC", "-o", "q.txt"], "measure.sample_every"),
        (["export", "qlen", paused.path, *SCHEME, "-o", "q.txt", "--every", "often"], "--every is `often`"),
        (["export", "qlen", paused.path, *SCHEME, "-o", "q.txt", "--every", "1ns"], "too many blocks"),
    ):
        done = command(*arguments)
        assert (done.returncode, done.stdout) == (2, ""), arguments
        assert says in done.stderr
    assert not (tmp_path / "q.txt").exists()
