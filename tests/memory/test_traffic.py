"""`incast memory traffic`, and what the replay model makes of recordings: both against numbers worked out by hand."""

from __future__ import annotations

import hashlib
import json
import os
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

import duckdb
import pyarrow.parquet
import pytest

import incast
from conftest import Command, write
from incast import application, memory
from incast.memory import delays, summary, traffic
from memory.compiling import Compiled
from memory.running import served

COLUMNS = "time_ns, process, thread, page, kind, achieved_ns, software_ns"
Row = tuple[int, int, int | None, int, str, int | None, int | None]

ROWS: list[Row] = [
    (500, 0, None, 9, "write-back", None, None),
    (1_000, 0, 10, 1, "read", 100, 50),
    (2_000, 0, 10, 2, "read", 70, 80),
    (2_000, 0, None, 1, "write-back", None, None),
    (3_000, 0, 11, 3, "read", 200, 0),
    (3_100, 0, None, 2, "write-back", None, None),
    (4_000, 0, 10, 4, "read", 1, 1),
    (4_000, 1, 10, 4, "read", 5, 5),
    (5_000, 0, 11, 5, "read", 9, 9),
    (6_000, 1, 10, 1_000_000, "read", 5, 5),
    *((6_500 + each, 2, 12, each, "read", 0, 0) for each in range(4)),
    (7_000, 1, None, 4, "write-back", None, None),
]
"""A trace with its rows in order of time."""
LESS_WAITS_NS = [500, 1_000, 1_850, 1_850, 3_000, 3_100, 3_700, 4_000, 4_800, 5_990, 6_500, 6_501, 6_502, 6_503, 6_990]
"""When each row is if the time of a thread stands still as it waits: less what its fetches before took."""
THREAD_OF = [None, 10, 10, 10, 11, 11, 10, 110, 11, 110, 12, 12, 12, 12, 110]
"""Thread whose clock each row has: thread 10 of process 1 is 110; before the first row, no thread has fetched."""
WAITED_NS = {10: 302, 11: 218, 110: 20, 12: 0}
"""Total wait of each thread."""
FETCHED = [0, 0, 1, 1, 0, 0, 2, 0, 1, 1, 0, 1, 2, 3, 1]
"""Fetches of that thread before; of a page sent away, those before the fetch that evicted it."""


def recording(
    folder: Path,
    rows: list[Row],
    seconds: float,
    command: tuple[str, ...] = ("program", "argument"),
    plain_s: float | None = None,
) -> Path:
    """A recording that was made by hand."""
    folder.mkdir()
    values = ", ".join(f"({', '.join('null' if each is None else repr(each) for each in row)})" for row in rows)
    duckdb.connect().query(f"from (values {values}) t ({COLUMNS})").write_parquet(str(folder / "trace.parquet"))
    summary_ = memory.Summary(
        command=list(command),
        local="25 % of the footprint",
        policy="fifo",
        threshold_bytes=131072,
        code=0,
        start_ns=0,
        seconds=seconds,
        cpu_s=seconds,
        processes=[],
        ended=0,
        footprint_bytes=1 << 20,
        fetches=sum(row[4] == "read" for row in rows),
        write_backs=sum(row[4] == "write-back" for row in rows),
        fetches_per_s=1.0,
        interarrival_us={},
        batches={},
        batch_gap_us=10,
        handler_share=0,
        waiting_share=0,
        software_us=0,
        one_core=False,
        threads=1,
        awake=True,
        plain_s=plain_s,
    )
    (folder / "summary.json").write_text(json.dumps(asdict(summary_)))
    return folder


@pytest.fixture
def by_hand(tmp_path: Path) -> Path:
    return recording(tmp_path / "hand-memory", ROWS, 8e-6)


@pytest.fixture
def busy(tmp_path: Path) -> Path:
    """A program that fetches every few microseconds, for 10 ms."""
    times = [each * 4_000 + each * each % 97 for each in range(2_500)]
    rows: list[Row] = [(time, 0, 10, time % 1_009, "read", 30, 10) for time in times]
    rows += [(time, 0, None, time % 1_009, "write-back", None, None) for time in times[::2]]
    return recording(tmp_path / "busy-memory", rows, 1e-2)


def flows(made: memory.Traffic) -> list[tuple[int, str, str, int]]:
    with duckdb.connect() as database:
        found: list[tuple[int, str, str, int]] = database.execute(
            f"from read_parquet('{made.path}/flows.parquet')"
        ).fetchall()
    return found


def left_in(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


@contextmanager
def two_cores() -> Iterator[None]:
    """A database has a thread for each core, and each of them needs memory."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, sorted(before)[:2])
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


# Memory.


@pytest.fixture(scope="module")
def long(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A recording of 600,000 fetches: flows of 120 MB, which are sorted."""
    path = recording(tmp_path_factory.mktemp("long") / "long-memory", ROWS, 3.0)
    rows = (
        "select number * 4000 + number * number % 97 as time_ns, 0 as process, 10 + number % 2 as thread, "
        "number * 7919 % 100003 as page, 'read' as kind, 30 as achieved_ns, 10 as software_ns "
        "from range(600000) t(number)"
    )
    duckdb.connect().query(rows).write_parquet(str(path / "trace.parquet"))
    return path


def test_a_trace_may_be_larger_than_the_memory_that_it_is_given(
    long: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Data that exceed memory go to a file, and nothing else differs."""
    assert summary.MEMORY_LIMIT == "512MB"
    trace = long / "trace.parquet"
    made, figures = memory.write_traffic([long], tmp_path / "made"), summary.distributions(trace)
    monkeypatch.setattr(traffic, "MEMORY_LIMIT", "64MB")
    monkeypatch.setattr(summary, "MEMORY_LIMIT", "64MB")
    with two_cores():
        little = memory.write_traffic([long], tmp_path / "little")
        assert summary.distributions(trace) == figures
    assert little.flows == made.flows == 3_000_000
    sums = f"select count(*), sum(hash(t)) from read_parquet('{tmp_path}/{{}}/flows.parquet') t"
    assert duckdb.execute(sums.format("little")).fetchall() == duckdb.execute(sums.format("made")).fetchall()
    assert left_in(little.path) == {"flows.parquet", "scenario.toml"}
    assert left_in(long) == {"summary.json", "trace.parquet"}


def test_no_more_memory_is_taken_than_is_given(long: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """So little that even what goes to a file does not get through."""
    monkeypatch.setattr(traffic, "MEMORY_LIMIT", "1MB")
    monkeypatch.setattr(summary, "MEMORY_LIMIT", "1MB")
    with pytest.raises(incast.EnvironmentFailure, match="Out of Memory"):
        memory.write_traffic([long], tmp_path / "out")
    assert left_in(tmp_path) == set()
    with pytest.raises(duckdb.OutOfMemoryException):
        summary.distributions(long / "trace.parquet")


# Flows.


def blade(page: int) -> str:
    return f"memory{page * 2654435761 // 65536 % 5}"


def test_pages_are_on_five_blades_nearly_alike() -> None:
    counts = Counter(blade(page) for page in range(10_000))
    assert set(counts) == {f"memory{number}" for number in range(5)}
    assert all(abs(count - 2_000) < 20 for count in counts.values())


@pytest.mark.parametrize(
    ("clock", "times"), [("less-waits", LESS_WAITS_NS), (None, LESS_WAITS_NS), ("wall", [row[0] for row in ROWS])]
)
def test_each_row_is_a_flow_of_each_cpu_blade(by_hand: Path, tmp_path: Path, clock: Any, times: list[int]) -> None:
    made = memory.write_traffic([by_hand], tmp_path / "out", clock=clock)
    assert made.clock == (clock or "less-waits")
    expected = []
    for cpu in range(5):
        for time, (_, _, _, page, kind, _, _) in zip(times, ROWS, strict=True):
            ends = [blade(page), f"cpu{cpu}"]
            expected.append((time, *(ends if kind == "read" else reversed(ends)), 4096))
    found = flows(made)
    assert sorted(found) == sorted(expected)
    assert [flow[0] for flow in found] == sorted(flow[0] for flow in found)
    assert made.flows == 5 * len(ROWS)
    assert made.seconds == pytest.approx(max(times) / 1e9)
    reads = [time for time, row in zip(times, ROWS, strict=True) if row[4] == "read"]
    assert made.fetches_per_s == pytest.approx(10 / (max(reads) - min(reads)) * 1e9)
    # Three samples of pages of 32,768 bits on a link of 40 Gb/s.
    assert made.load == pytest.approx(made.fetches_per_s * 3 * 32_768 / 40e9)
    schema = pyarrow.parquet.read_schema(made.path / "flows.parquet")
    assert schema.names == ["time_ns", "src", "dst", "size_bytes"]
    assert left_in(made.path) == {"flows.parquet", "scenario.toml"}


@pytest.mark.parametrize("fetch_ns", [0, 250])
def test_on_its_own_clock_a_thread_computes_as_long_as_a_plain_run_takes(tmp_path: Path, fetch_ns: int) -> None:
    """The time without waits is scaled to that of a plain run; then each fetch takes the given time."""
    folder = recording(tmp_path / "plain-memory", ROWS, 8e-6, plain_s=4e-6)
    made = memory.write_traffic([folder], tmp_path / "out", fetch=f"{fetch_ns}ns")
    assert made.clock == "own"
    expected = []
    for less, thread, before in zip(LESS_WAITS_NS, THREAD_OF, FETCHED, strict=True):
        computed = 8_000 - WAITED_NS.get(thread or 0, 0)
        expected.append(less * 4_000 / computed + before * fetch_ns)
    found = [flow[0] for flow in flows(made) if "cpu0" in flow]
    assert sorted(found) == pytest.approx(sorted(expected), abs=1)
    # Faster than with what the instrument costs.
    slower = memory.write_traffic([folder], tmp_path / "slower", clock="less-waits")
    assert fetch_ns or made.fetches_per_s > 1.9 * slower.fetches_per_s


@served
def test_a_recorded_program_makes_the_load_of_its_own_speed(
    compiled: Compiled, command: Command, tmp_path: Path
) -> None:
    walker = (compiled("walker"), 4096, 8)
    done = command("memory", "record", "--plain", "--one-core", "-o", "walker", "--", *walker)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("4096 pages") == 1, "the plain run prints nothing"
    summary_ = memory.open_recording(tmp_path / "walker").summary
    assert summary_.plain_s is not None
    assert summary_.plain_s > 0.005, "the program sleeps for so long"
    assert f"own time    {summary_.plain_s:.3f} s without the instrument; at this speed " in done.stderr
    own = memory.write_traffic([tmp_path / "walker"], tmp_path / "own")
    # All that it fetches is fetched while it runs.
    assert own.clock == "own"
    assert own.seconds < summary_.plain_s
    assert own.fetches_per_s > summary_.fetches / summary_.plain_s == summary_.own_fetches_per_s
    done = command("memory", "traffic", "walker", "-o", "out")
    assert f"offered load: {own.load:.3g} of the link of a CPU blade's host" in done.stdout
    assert ("queues and latencies grow until --duration" in done.stderr) == (own.load >= 1)
    done = command("memory", "traffic", "walker", "-o", "waits", "--clock", "less-waits")
    assert "record with --plain to use --clock own" in done.stderr


def test_more_than_a_link_can_carry_is_told(command: Command, tmp_path: Path) -> None:
    rows: list[Row] = [(each * 1_000, 0, 10, each % 97, "read", 30, 10) for each in range(1_000)]
    recording(tmp_path / "fast-memory", rows, 1e-3, plain_s=5e-4)
    done = command("memory", "traffic", "fast-memory", "-o", "fast")
    assert done.returncode == 0, done.stderr
    assert "warning: the offered load is 4.9" in done.stderr
    done = command("memory", "traffic", "fast-memory", "-o", "waiting", "--fetch", "3us")
    assert "offered load: 0.7" in done.stdout
    assert done.stderr == ""


def test_cpu_blades_run_recordings_in_turns(by_hand: Path, busy: Path, tmp_path: Path) -> None:
    made = memory.write_traffic([by_hand, busy], tmp_path / "out")
    ends = Counter(end for flow in flows(made) for end in flow[1:3] if end.startswith("cpu"))
    assert ends == {f"cpu{cpu}": 3_750 if cpu % 2 else len(ROWS) for cpu in range(5)}
    three = memory.write_traffic([busy, by_hand, by_hand], tmp_path / "three")
    ends = Counter(end for flow in flows(three) for end in flow[1:3] if end.startswith("cpu"))
    assert ends == {f"cpu{cpu}": 3_750 if cpu % 3 == 0 else len(ROWS) for cpu in range(5)}


@served
def test_of_a_recorded_program(compiled: Compiled, command: Command, tmp_path: Path) -> None:
    """The whole way: recorded, as traffic, simulated, and injected."""
    walker = (compiled("walker"), 1024, 4)
    done = command("memory", "record", "--local", "25%", "-q", "--", *walker)
    assert done.returncode == 0, done.stderr
    done = command("memory", "traffic", "results/walker-memory", "--nodes", 16, "--duration", "50us")
    assert done.returncode == 0, done.stderr
    rows = memory.open_recording(tmp_path / "results" / "walker-memory").summary
    count = rows.fetches + rows.write_backs
    assert done.stdout.startswith(f"{5 * count:,} flows per system in ")
    assert done.stdout.endswith("wrote results/walker-traffic; next: incast run results/walker-traffic/scenario.toml\n")
    times = {}
    for clock in ("less-waits", "wall"):
        made = memory.write_traffic([tmp_path / "results" / "walker-memory"], tmp_path / clock, clock=clock)
        found = flows(made)
        assert len(found) == 5 * count
        assert {flow[3] for flow in found} == {4096}
        times[clock] = [flow[0] for flow in found]
        assert times[clock] == sorted(times[clock])
        kinds = Counter((flow[1].rstrip("01234"), flow[2].rstrip("01234")) for flow in found)
        assert kinds == {("memory", "cpu"): 5 * rows.fetches, ("cpu", "memory"): 5 * rows.write_backs}
    assert all(0 <= compute <= wall for compute, wall in zip(times["less-waits"], times["wall"], strict=True))
    assert times["less-waits"][-1] < times["wall"][-1]
    done = command("run", "results/walker-traffic/scenario.toml", "-o", "network", "-q")
    assert done.returncode == 0, done.stderr
    run = ("memory", "inject", "--latency", "network", "--repetitions", 1, "--format", "json", "--", *walker)
    done = command(*run)
    assert done.returncode == 0, done.stderr
    kinds_of = [row["kind"] for row in json.loads(done.stdout)]
    assert kinds_of == ["plain", "zero", "delayed", "delayed", "delayed", "delayed"]


# The scenario.


@pytest.mark.parametrize(("scale", "nodes"), [("datacenter", 32), ("rack", 16)])
def test_the_scenario_runs(busy: Path, tmp_path: Path, scale: Any, nodes: int) -> None:
    made = memory.write_traffic([busy], tmp_path / "out", nodes=nodes, scale=scale, samples=2, duration="50us")
    scenario = incast.load(made.scenario)
    tree = scenario.to_tree()
    assert tree["title"] == "Remote memory of busy-memory"
    workload = tree["workload"][0]["disaggregated"]
    assert (workload["scale"], workload["samples"]) == (scale, 2)
    done = scenario.run(tmp_path / "results")
    table = done.flows.to_polars()
    assert set(table["scheme"].cast(str)) == {"pFabric", "pHost", "Fastpass", "TCP"}
    assert set(table["label"].cast(str)) == {"memory"}
    assert set(table["size_bytes"]) == {4096}
    assert max(table["start_ps"]) <= 50_000_000
    assert max(table["src"]) < nodes
    found = delays.parsed(str(tmp_path / "results"))
    assert [each.name.partition(", ")[2] for each in found] == ["pFabric", "pHost", "Fastpass", "TCP"]
    # A page at 40 Gb/s takes 0.8 us, with little else on the way.
    assert all(820 < each.quantile_ns(0) <= each.mean_ns < 20_000 for each in found)


def test_names_and_commands_may_hold_anything(tmp_path: Path) -> None:
    odd = recording(tmp_path / 'a"b\\c', ROWS, 8e-6, ("python3", "-c", "x = 1\nprint(x)\n\x07é"))
    made = memory.write_traffic([odd], tmp_path / "out", nodes=16)
    assert incast.load(made.scenario).to_tree()["title"] == 'Remote memory of a"b\\c'
    assert '#   a"b\\c: python3 -c x = 1 print(x) ?é\n' in made.scenario.read_text(encoding="utf-8")


def test_traffic_is_replaced_if_that_is_wanted(by_hand: Path, tmp_path: Path) -> None:
    memory.write_traffic([by_hand], tmp_path / "out", nodes=16)
    with pytest.raises(incast.ResultsExistError, match="exists already"):
        memory.write_traffic([by_hand], tmp_path / "out", nodes=32)
    assert "leaves = 1\n" in (tmp_path / "out" / "scenario.toml").read_text()
    memory.write_traffic([by_hand], tmp_path / "out", nodes=32, overwrite=True)
    assert "leaves = 2\n" in (tmp_path / "out" / "scenario.toml").read_text()
    with pytest.raises(incast.ResultsExistError, match="never overwritten"):
        memory.write_traffic([by_hand], by_hand, overwrite=True)
    assert memory.open_recording(by_hand).summary.fetches == 11
    assert left_in(tmp_path) == {"hand-memory", "out"}


# Where it cannot be.


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ((), "error: missing recording\n = allowed: folders written by `incast memory record`"),
        (("gone",), "gone is not a recording"),
        ((".",), ". is not a recording"),
        (("hand-memory", "few-memory"), "few-memory: 9 fetches are too few"),
        (("hand-memory", "no-trace"), "no-trace is not a recording"),
        (("hand-memory", "--nodes", "24"), "--nodes cannot be `24`\n = allowed: a multiple of 16: 16 or 32"),
        (("hand-memory", "--nodes", "8"), "error: "),
        (("hand-memory", "--samples", "0"), "error: "),
        (("hand-memory", "--scale", "rak"), "error: "),
        (("hand-memory", "--clock", "cpu"), "error: "),
        (("hand-memory", "--clock", "own"), "hand-memory has no run time without the instrument"),
        (("hand-memory", "--fetch", "3"), "--fetch cannot be `3`\n = allowed: a time such as 3us, or 0"),
        (("hand-memory", "--clock", "wall", "--fetch", "3us"), "--fetch cannot be `3us`\n = allowed: 0 with"),
        (("hand-memory", "same-memory"), "same-memory: all fetches are at the same time"),
        (("hand-memory", "--duration", "5"), "--duration cannot be `5`\n = allowed: a time such as 5ms"),
        (("hand-memory", "--duration", "0us"), "--duration cannot be `0us`"),
        (("hand-memory", "-o", "hand-memory", "--overwrite"), "never overwritten"),
    ],
)
def test_the_command_tells_what_is_wrong(
    command: Command, by_hand: Path, tmp_path: Path, arguments: tuple[str, ...], says: str
) -> None:
    recording(tmp_path / "few-memory", [row for row in ROWS if row[2] != 11], 8e-6)
    recording(tmp_path / "same-memory", [(5_000, 0, 10, each, "read", 0, 0) for each in range(20)], 8e-6)
    (tmp_path / "no-trace").mkdir()
    (tmp_path / "no-trace" / "summary.json").write_bytes((by_hand / "summary.json").read_bytes())
    done = command("memory", "traffic", *arguments)
    assert done.returncode == 2, done.stderr
    assert says in done.stderr
    assert done.stderr.startswith("error: ")
    assert "Traceback" not in done.stderr
    assert done.stdout == ""
    assert left_in(tmp_path) == {"hand-memory", "few-memory", "same-memory", "no-trace"}


@pytest.mark.parametrize(
    "wrong", [{"nodes": 8}, {"nodes": 20}, {"samples": 0}, {"duration": "x"}, {"clock": "compute"}, {"fetch": "x"}]
)
def test_values_that_are_not_possible(by_hand: Path, tmp_path: Path, wrong: dict[str, Any]) -> None:
    with pytest.raises(incast.ApplicationError, match=f"cannot be `{next(iter(wrong.values()))}`"):
        memory.write_traffic([by_hand], tmp_path / "out", **wrong)
    assert left_in(tmp_path) == {"hand-memory"}


# Damaged recordings.


@pytest.mark.parametrize("known", [False, True])
def test_no_flipped_bit_is_a_traceback(by_hand: Path, tmp_path: Path, known: bool) -> None:
    """A recording of incast has the sum of its trace; without it, the database finds what it finds."""
    trace, about = by_hand / "trace.parquet", by_hand / "summary.json"
    whole = trace.read_bytes()
    if known:
        digest = hashlib.sha256(whole).hexdigest()
        about.write_text(json.dumps(json.loads(about.read_text()) | {"trace_sha256": digest}))
    steps = 10 if known else 40
    found = []
    for step in range(steps):
        flipped = bytearray(whole)
        flipped[step * len(whole) // steps] ^= 1 << step % 8
        trace.write_bytes(flipped)
        try:
            memory.write_traffic([by_hand], tmp_path / "out", nodes=16, overwrite=True)
        except incast.ApplicationError as error:
            found.append(str(error))
    refused = [error for error in found if error.startswith(f"{trace} is damaged: ")]
    # Some flips leave a valid trace, such as one with fetches at other times.
    assert len(refused) == steps if known else len(refused) > steps // 4
    assert all(error.startswith(str(by_hand)) for error in found)
    assert left_in(tmp_path) <= {"hand-memory", "out"}


def cut(folder: Path) -> None:
    (folder / "trace.parquet").write_bytes((folder / "trace.parquet").read_bytes()[:100])


def forget_pages(folder: Path) -> None:
    file = str(folder / "trace.parquet")
    duckdb.connect().query(f"select * exclude (page) from '{file}'").write_parquet(file)


def say(text: str) -> Callable[[Path], object]:
    return lambda folder: (folder / "summary.json").write_text(text)


def change(**fields: Any) -> Callable[[Path], object]:
    def to(folder: Path) -> None:
        summary_ = json.loads((folder / "summary.json").read_text())
        (folder / "summary.json").write_text(json.dumps(summary_ | fields))

    return to


@pytest.mark.parametrize(
    ("spoil", "says"),
    [
        (cut, "hand-memory/trace.parquet is damaged: "),
        (forget_pages, 'hand-memory/trace.parquet is damaged: Binder Error: Referenced column "page" not found'),
        (say("{"), "hand-memory/summary.json is damaged: Expecting"),
        (say("[]"), "hand-memory/summary.json is damaged: it is not an object"),
        (say("[" * 100_000), "hand-memory/summary.json is damaged: "),
        (change(fetches="many"), "hand-memory/summary.json is damaged: `fetches` cannot be 'many'"),
        (change(command=[1]), "`command` cannot be [1]"),
        (change(seconds=0), "`seconds` must be above 0"),
        (change(plain_s=-1.0), "`plain_s` cannot be -1.0"),
        (change(more=1), "hand-memory/summary.json is damaged: "),
        (change(trace_sha256="0" * 64), "trace.parquet is damaged: its SHA-256 is not that of summary.json"),
    ],
)
def test_damaged_recordings(
    command: Command, by_hand: Path, tmp_path: Path, spoil: Callable[[Path], object], says: str
) -> None:
    spoil(by_hand)
    done = command("memory", "traffic", by_hand.name, "-o", "out")
    assert (done.returncode, done.stdout) == (2, "")
    assert says in done.stderr
    assert done.stderr.endswith("; record the program again\n")
    if spoil is not forget_pages:
        with pytest.raises(incast.ApplicationError, match="is damaged"):
            memory.recorded_segments(by_hand)
    assert left_in(tmp_path) == {"hand-memory"}


# Segments.

THREADS: list[Row] = [
    (100_000, 0, 10, 1, "read", 1_000, 500),
    (150_000, 0, None, 7, "write-back", None, None),
    (200_000, 0, 11, 2, "read", 0, 400),
    (300_000, 0, 10, 3, "read", 2_000, 600),
]
"""Two threads of a program that takes a millisecond."""


def test_segments_are_what_threads_compute_between_fetches(tmp_path: Path) -> None:
    folder = recording(tmp_path / "two", THREADS, 1e-3)
    found = memory.recorded_segments(folder)
    # Each from the end of a fetch's delay to the next fault, and from the last to the end of the program.
    assert list(found.compute_s * 1e6) == pytest.approx([100, 199, 698, 200, 800])
    assert list(found.fetches) == [1, 1, 0, 1, 0]
    assert (found.threads, found.stages, found.name) == (2, 1, "two")
    assert found.job_s(found.compute_s) == pytest.approx(1e-3)


def test_segments_of_a_window(tmp_path: Path) -> None:
    folder = recording(tmp_path / "two", THREADS, 1e-3)
    found = memory.recorded_segments(folder, (150e-6, 500e-6))
    assert list(found.compute_s * 1e6) == pytest.approx([150, 198, 50, 300])
    assert list(found.fetches) == [1, 0, 1, 0]


@pytest.mark.parametrize(("latency_us", "expected_us"), [(0.0, 1_000), (1.0, 1_001), (5.0, 1_007), (100.0, 1_197)])
def test_a_replay_with_a_constant_latency(tmp_path: Path, latency_us: float, expected_us: float) -> None:
    """The thread with two fetches computes for 997 us, and is the slower one from 3 us on."""
    segments = memory.recorded_segments(recording(tmp_path / "two", THREADS, 1e-3))
    found = application.replay(segments, application.Latencies([latency_us] * 3, "us"), repetitions=2)
    assert found.ideal_s == pytest.approx(1e-3)
    assert found.slowdown == pytest.approx(expected_us / 1_000 - 1, abs=1e-12)


def test_processes_are_threads_of_their_own(tmp_path: Path) -> None:
    rows: list[Row] = [(1_000, 0, 10, 1, "read", 0, 0), (3_000, 1, 10, 1, "read", 500, 0)]
    found = memory.recorded_segments(recording(tmp_path / "two", rows, 5e-6))
    assert list(found.compute_s * 1e6) == pytest.approx([1, 4, 3, 1.5])
    assert found.threads == 2


def test_nothing_was_fetched(tmp_path: Path) -> None:
    folder = recording(tmp_path / "none", [THREADS[1]], 1e-3)
    with pytest.raises(incast.ApplicationError, match="nothing was fetched"):
        memory.recorded_segments(folder)
    folder = recording(tmp_path / "two", THREADS, 1e-3)
    with pytest.raises(incast.ApplicationError, match="nothing was fetched"):
        memory.recorded_segments(folder, (400e-6, 500e-6))
    with pytest.raises(incast.ApplicationError, match="is not a recording"):
        memory.recorded_segments(write(tmp_path, "{}", "summary.json").parent)


@served
def test_a_replay_of_a_recorded_program(compiled: Compiled, tmp_path: Path) -> None:
    """Without latencies a recording takes as long as the program did, and with them so much longer."""
    found = memory.record([str(compiled("walker")), "1024", "4"], tmp_path / "walker")
    segments = memory.recorded_segments(tmp_path / "walker")
    assert int(segments.fetches.sum()) == found.summary.fetches
    replayed = application.replay(segments, application.Latencies([50.0], "us"), repetitions=2)
    assert replayed.ideal_s == pytest.approx(found.summary.seconds, rel=0.01)
    assert replayed.time_s - replayed.ideal_s == pytest.approx(found.summary.fetches * 50e-6, rel=1e-6)
