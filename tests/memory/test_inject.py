"""`incast memory inject`: fetches take the requested time, and the slowdown is printed."""

from __future__ import annotations

import csv
import io
import json
import math
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from statistics import median

import pytest

import incast
from conftest import PATIENCE, Command, Start, processor_s, wait_until, write
from incast import application, memory
from incast.memory import cores, delays
from incast.memory.injection import PLAIN, ZERO, Case, Injection, Timing
from memory.compiling import Compiled
from memory.running import LISTS, record, rows, running_in, served

SIMULATED = """\
[fabric.star]
hosts = 12
rate = "40Gbps"

[[workload]]
label = "memory"
poisson = { load = 0.3, sizes = "4096B", duration = "100us", hosts = "0-5" }

[[workload]]
label = "disk"
list = [{ src = 6, dst = 7, size = "1MB" }]

[scheme.DCQCN]
control = "dcqcn"

[scheme.HPCC]
control = "hpcc"
"""


@pytest.fixture(scope="module")
def network(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Results with memory flows, and others."""
    folder = tmp_path_factory.mktemp("network")
    return incast.load(write(folder, SIMULATED)).run(folder / "results").path


def one(text: str) -> memory.Delays:
    """The only delays that a text names."""
    (found,) = delays.parsed(text)
    return found


# Delays become what was asked for.


@served
def test_a_constant_delay_is_in_each_fetch(compiled: Compiled, tmp_path: Path) -> None:
    """And in the run time. How close to what was asked for: benches/memory.py, on a machine without other work."""
    pages, rounds, delay_ns = 2048, 4, 10_000
    found, _ = record(tmp_path, [compiled("walker"), pages, rounds], delays_ns=[delay_ns], one_core=True)
    fetches = found.summary.fetches
    assert fetches == pytest.approx(pages * rounds, rel=1e-3)
    reads = "from trace where kind = 'read'"
    assert rows(found, f"select count(*), min(asked_ns), max(asked_ns) {reads}") == [(fetches, delay_ns, delay_ns)]
    ((shortest, total_s),) = rows(found, f"select min(achieved_ns), sum(achieved_ns) * 1e-9 {reads}")
    assert delay_ns <= shortest < 1.2 * delay_ns, "whatever else the machine does, one is undisturbed"
    assert fetches * delay_ns * 1e-9 <= total_s < found.summary.seconds, "the program waits for each in turn"


@served
def test_no_fetch_is_delayed_by_less_than_was_asked(compiled: Compiled, tmp_path: Path) -> None:
    sample = one("uniform(5us,15us)").sample_ns
    found, _ = record(tmp_path, [compiled("walker"), 2048, 2], delays_ns=sample, seed=3)
    fetches = found.summary.fetches
    ((count, least, mean, low, high),) = rows(
        found,
        "select count(*), min(achieved_ns - asked_ns::bigint), avg(asked_ns), min(asked_ns), max(asked_ns) from trace "
        "where kind = 'read'",
    )
    assert count == fetches > 4000
    assert least >= 0
    # Five standard deviations of the mean of as many draws.
    assert mean == pytest.approx(10_000, abs=5 * 10_000 / math.sqrt(12 * fetches))
    assert 5_000 <= low < 5_100
    assert 14_900 < high <= 15_000


@served
def test_a_seed_says_which_delays(compiled: Compiled, tmp_path: Path) -> None:
    drawn = []
    for name, seed in (("first", 3), ("second", 3), ("third", 4)):
        found, _ = record(
            tmp_path, [compiled("walker"), 256, 2], delays_ns=[1, 200, 4000], seed=seed, local=memory.Bytes(1 << 19)
        )
        drawn.append(rows(found, "select asked_ns from trace where kind = 'read' limit 100"))
        found.path.rename(tmp_path / name)
    assert drawn[0] == drawn[1] != drawn[2]
    assert {(1,), (200,), (4000,)} == set(drawn[0])


@served
def test_delays_of_several_threads_are_waited_for_together(compiled: Compiled, tmp_path: Path) -> None:
    """Faults are seen while fetches before them are waited for: one after the other they would be a delay apart."""
    found, printed = record(tmp_path, [compiled("checker"), 4, 32, 30, 1], delays_ns=[1_000_000])
    assert printed == "every byte was right\n"
    gaps = "select time_ns - lag(time_ns) over (order by time_ns) as gap from trace where kind = 'read'"
    ((near, count),) = rows(found, f"select count(*) filter (gap < 900_000), count(*) from ({gaps})")
    assert count > 100
    assert near > 10, "one after the other, none would be"


def test_what_others_take_of_the_cores() -> None:
    with subprocess.Popen([sys.executable, "-c", "while True: pass"]) as busy:
        began, others = time.monotonic(), cores.Others()
        before = processor_s(busy.pid)
        wait_until(lambda: processor_s(busy.pid) > before + 1)
        cores_, seconds = others.cores(), time.monotonic() - began
        busy.kill()
    # It is not waited for, so it is an other. The machine counts in ticks.
    assert cores_ * seconds > 0.5
    assert cores_ < len(os.sched_getaffinity(0)) + 0.5


# Which delays there are.


@pytest.mark.parametrize(
    ("text", "mean_us", "quantiles_us"),
    [
        ("3us", 3, {0.0: 3, 0.5: 3, 1.0: 3}),
        ("1.5us", 1.5, {0.5: 1.5}),
        ("250ns", 0.25, {0.5: 0.25}),
        ("2ms", 2000, {0.5: 2000}),
        ("uniform(1us,5us)", 3, {0.0: 1, 0.25: 2, 0.5: 3, 0.99: 4.96, 1.0: 5}),
        ("uniform(1us, 5us)", 3, {0.5: 3}),
        ("uniform(2us,2us)", 2, {0.0: 2, 1.0: 2}),
        ("exponential(3us)", 3, {0.5: 3 * math.log(2), 0.9: 3 * math.log(10), 0.99: 3 * math.log(100)}),
        # Of mean 3: exp(mu + sigma^2 / 2), with the median exp(mu).
        ("lognormal(3us,1.5)", 3, {0.5: 3 * math.exp(-1.125), 0.975: 3 * math.exp(-1.125 + 1.5 * 1.959964)}),
    ],
)
def test_a_distribution_has_its_mean_and_quantiles(text: str, mean_us: float, quantiles_us: dict[float, float]) -> None:
    found = one(text)
    assert found.name == text
    assert found.mean_ns == pytest.approx(1e3 * mean_us, rel=2e-3)
    assert list(found.sample_ns) == sorted(found.sample_ns)
    for p, value_us in quantiles_us.items():
        assert found.quantile_ns(p) == pytest.approx(1e3 * value_us, rel=2e-3, abs=1)


def test_no_delay_is_none() -> None:
    for text in ("0", "0us", "0.2ns"):
        assert (list(one(text).sample_ns), one(text).mean_ns, one(text).quantile_ns(0.5)) == ([], 0, 0)


def test_a_file_of_latencies(tmp_path: Path) -> None:
    found = one(str(write(tmp_path, "2us\n\n 1500ns\n10us  \n", "measured.txt")))
    assert (found.name, list(found.sample_ns)) == ("measured.txt", [1_500, 2_000, 10_000])
    assert found.mean_ns == 4_500


def test_of_more_latencies_than_are_kept_there_are_as_many_quantiles() -> None:
    found = memory.Delays.of(application.Latencies(range(1, 1_000_001), "ns"), "many")
    assert len(found.sample_ns) == delays.SAMPLE
    assert found.mean_ns == pytest.approx(500_000, rel=1e-3)
    for p in (0.01, 0.5, 0.99):
        assert found.quantile_ns(p) == pytest.approx(1e6 * p, rel=2e-3)


def test_a_results_folder_has_a_case_for_each_scheme(network: Path) -> None:
    found = delays.parsed(str(network))
    assert [each.name for each in found] == ["results, DCQCN", "results, HPCC"]
    for each, scheme in zip(found, ("DCQCN", "HPCC"), strict=True):
        expected = application.Latencies.of(network, scheme)
        assert list(each.sample_ns) == [round(value * 1e9) for value in expected.values_s]
        assert each.mean_ns == pytest.approx(expected.mean() * 1e9, abs=0.5)
        assert each.quantile_ns(0.99) == round(expected.quantile(0.99) * 1e9)
        assert each.note is None
    (chosen,) = delays.parsed(str(network), "HPCC", ["memory"])
    assert list(chosen.sample_ns) == list(found[1].sample_ns)
    with pytest.raises(incast.ApplicationError, match="did you mean `HPCC`"):
        delays.parsed(str(network), "HPPC")
    with pytest.raises(incast.ApplicationError, match="unknown label of memory flows"):
        delays.parsed(str(network), None, ["disk"])


def test_results_without_memory_flows(command: Command, results: Path) -> None:
    done = command("memory", "inject", "--latency", results, "--", "true")
    assert done.returncode == 2
    assert "its labels are incast, poisson" in done.stderr


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("5", "a time such as 3us"),
        ("-5us", "a time such as 3us"),
        ("gone", "--latency cannot be `gone`"),
        ("5s", "delays from 0 to 4.29 s"),
        ("uniform(1us,5s)", "delays from 0 to 4.29 s"),
        ("uniform(5us,1us)", "a lower end that is at most the upper end"),
        ("uniform(1us)", "uniform(1us,5us)"),
        ("uniform(1us,2us,3us)", "uniform(1us,5us)"),
        ("exponential(3)", "exponential(3us)"),
        ("lognormal(3us)", "lognormal(3us,1.5)"),
        ("lognormal(3us,-1)", "lognormal(3us,1.5)"),
        ("lognormal(3us,x)", "lognormal(3us,1.5)"),
        ("lognormal(3us,nan)", "lognormal(3us,1.5)"),
        ("lognormal(0us,1)", "lognormal(3us,1.5)"),
        ("lognormal(3us,3.1)", "a sigma above 0, at most 3"),
        ("lognormal(3us,1e308)", "a sigma above 0, at most 3"),
        ("lognormal(4s,3)", "delays from 0 to 4.29 s"),
        ("lognormal(9999999999999999999s,1)", "delays from 0 to 4.29 s"),
        ("exponential(1s)", "delays from 0 to 4.29 s"),
        ("exponential(nan)", "exponential(3us)"),
        (f"{10**19}s", "a time such as 3us"),
        ("uniform(0us,9999999999999999999s)", "delays from 0 to 4.29 s"),
        ("gauss(3us,1us)", "a time such as 3us"),
    ],
)
def test_delays_that_are_none(text: str, says: str) -> None:
    with pytest.raises(incast.ApplicationError) as raised:
        delays.parsed(text)
    assert says in str(raised.value)
    assert text in str(raised.value)


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"1us\n2\n", "measured.txt:2:1"),
        (b"1us 2us\n", "one latency with its unit, such as 2.5us"),
        (b"\n\n", "empty file"),
        (b"\xff\xfe\x00", "not UTF-8 text: byte 0xff"),
    ],
)
def test_a_file_that_holds_no_latencies(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: bytes, says: str
) -> None:
    (tmp_path / "measured.txt").write_bytes(content)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(incast.ApplicationError) as raised:
        delays.parsed("measured.txt")
    assert says in str(raised.value)


# What a program loses.


def timings(case: Case, seconds: list[float], **more: float) -> list[Timing]:
    return [Timing(case, number, each, **more) for number, each in enumerate(seconds)]  # type: ignore[arg-type]


def test_slowdowns_are_of_medians() -> None:
    delayed = Case("5us", "delayed", one("5us"))
    found = Injection(
        ("program",),
        memory.Instrument(),
        (
            *timings(PLAIN, [2.0, 1.0, 9.0]),
            *timings(ZERO, [2.5, 2.4, 3.0], fetches=10, software_s=0.2),
            *timings(delayed, [4.0, 3.0, 2.9], fetches=20, asked_s=0.5, achieved_s=0.6),
        ),
    )
    plain, zero, row = found.rows()
    assert [each.case.name for each in (plain, zero, row)] == ["without instrument", "no delay", "5us"]
    assert found.overhead == pytest.approx(2.5 / 2.0 - 1)
    assert row.seconds == (3.0, 2.9, 4.0)
    assert row.slowdown == pytest.approx(3.0 / 2.5 - 1)
    assert row.own == pytest.approx((3.0 - 2.5) / 2.0)
    assert row.lengthened_s == pytest.approx(0.5)
    assert (row.mean("fetches"), row.mean("asked_s")) == (20, 0.5)
    assert zero.mean("software_s") == pytest.approx(0.2)
    without = Injection(("program",), memory.Instrument(), found.timings[3:])
    assert without.overhead is None
    assert [each.own for each in without.rows()] == [None, None]


def test_throughput_takes_the_place_of_run_time() -> None:
    delayed = Case("5us", "delayed", one("5us"))
    found = Injection(
        ("load",),
        memory.Instrument(),
        (*timings(PLAIN, [9.0], figure=1000), *timings(ZERO, [9.0], figure=800), *timings(delayed, [9.0], figure=500)),
    )
    *_, row = found.rows()
    assert found.overhead == pytest.approx(0.25)
    assert row.slowdown == pytest.approx(0.6)
    assert row.own == pytest.approx((1 / 500 - 1 / 800) * 1000)
    assert row.figures == (500, 500, 500)


@served
def test_cases_take_turns() -> None:
    calls: list[tuple[int, int, str]] = []
    found = memory.inject(
        ["true"], [one("5us"), one("0"), one("9us")], repetitions=5, progress=lambda *each: calls.append(each)
    )
    names = ["without instrument", "no delay", "5us", "9us"]
    turns = [name for first in (0, 1, 2, 3, 0) for name in names[first:] + names[:first]]
    assert calls == [(number, 20, name) for number, name in enumerate(turns)]
    assert [(timing.case.name, timing.repetition) for timing in found.timings] == [
        (name, repetition) for name in names for repetition in range(5)
    ]


@served
def test_figures_of_every_run(command: Command, compiled: Compiled, network: Path, tmp_path: Path) -> None:
    walker = (compiled("walker"), 512, 2)
    options = ("--latency", network, "--latency", "20us", "--repetitions", 3, "--local", "512KiB", "--policy", "lru")
    done = command("memory", "inject", *options, "--format", "json", "-o", "runs.csv", "--", *walker)
    assert done.returncode == 0, done.stderr
    cases = {row["case"]: row for row in json.loads(done.stdout)}
    names = ["without instrument", "no delay", "results, DCQCN", "results, HPCC", "20us"]
    assert list(cases) == names
    assert [row["kind"] for row in cases.values()] == ["plain", "zero", "delayed", "delayed", "delayed"]
    runs = list(csv.DictReader(io.StringIO((tmp_path / "runs.csv").read_text(encoding="utf-8"))))
    assert [run["case"] for run in runs] == [name for name in names for _ in range(3)]
    seconds = {name: median(float(run["seconds"]) for run in runs if run["case"] == name) for name in names}
    for name, row in cases.items():
        assert row["seconds"] == seconds[name]
        own = [run for run in runs if run["case"] == name]
        assert row["longest_s"] == max(float(run["seconds"]) for run in own)
        if name == "without instrument":
            assert {run["fetches"] for run in own} == {"0"}
            continue
        assert row["fetches"] == pytest.approx(1024, rel=0.1)
        asked = {"no delay": 0, "20us": 20e-6}.get(name)
        if asked is None:
            asked = application.Latencies.of(network, name.partition(", ")[2]).mean()
            # A tenth of the mean is beyond five standard deviations of this many draws.
            assert row["asked_s"] / row["fetches"] == pytest.approx(asked, rel=0.1)
        else:
            assert row["asked_s"] == pytest.approx(asked * row["fetches"], rel=1e-9)
        assert row["achieved_s"] >= row["asked_s"]
        assert row["software_s"] > 0
        assert all(float(run["achieved_p50_ns"]) <= float(run["achieved_p99_ns"]) for run in own)
    assert cases["20us"]["slowdown"] == pytest.approx(seconds["20us"] / seconds["no delay"] - 1, rel=1e-9)
    assert cases["no delay"]["slowdown"] is None
    # Each repetition draws anew.
    assert len({run["asked_s"] for run in runs if run["case"] == "results, HPCC"}) == 3


@served
def test_a_table_for_people(command: Command, compiled: Compiled) -> None:
    walker = (compiled("walker"), 512, 2)
    run = ("memory", "inject", "--latency", "20us", "--latency", "1ns", "--repetitions", 1)
    done = command(*run, "--", *walker)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0] == " ".join(map(str, walker))
    assert lines[1].startswith("local: 25 % of the footprint, fifo; 1 run of each")
    assert [line.split("  ")[0] for line in lines[3:8]] == ["", "without instrument", "no delay", "20us", "1ns"]
    assert "instrumentation costs " in done.stdout
    assert re.search(r"20us: p50 20 us asked, [\d.]+ [mu]?s ", done.stdout)
    # A nanosecond is over before anybody can look.
    of_1ns = done.stdout.partition("1ns: p50 1 ns asked")[2]
    assert "warning: delays are off by +" in of_1ns
    for where in ("in the mean", "at p10", "at p50", "at p90", "at p99"):
        assert f"% {where}" in " ".join(of_1ns.split())
    done = command(*run, "--no-plain", "--", *walker)
    assert "instrumentation costs" not in done.stdout
    assert "without instrument" not in done.stdout


@served
def test_csv_to_read(command: Command) -> None:
    done = command("memory", "inject", "--latency", "1us", "--repetitions", 2, "--format", "csv", "--", "true")
    assert done.returncode == 0, done.stderr
    found = list(csv.DictReader(io.StringIO(done.stdout)))
    assert [(row["kind"], row["repetition"]) for row in found] == [
        (kind, number) for kind in ("plain", "zero", "delayed") for number in ("0", "1")
    ]


@served
def test_delays_of_nothing(command: Command) -> None:
    options = ("--latency", "5us", "--latency", "uniform(0,0)", "--repetitions", 1)
    done = command("memory", "inject", *options, "--", "true")
    assert done.returncode == 0, done.stderr
    assert "5us: no fetches, so no delays" in done.stdout
    done = command("memory", "inject", *options, "--", sys.executable, "-c", LISTS)
    assert "uniform(0,0): p50 0 asked" in done.stdout
    assert "warning: delays" not in done.stdout.partition("uniform(0,0): p50")[2]


@served
def test_fetches_that_did_not_complete_are_told(command: Command, tmp_path: Path) -> None:
    flows = '[{ src = 0, dst = 1, size = "4kB" }, { src = 2, dst = 3, size = "9MB" }]'
    head, _, tail = SIMULATED.partition("[[workload]]")
    text = f'{head}[[workload]]\nlabel = "memory"\nlist = {flows}\n[scheme{tail.partition("[scheme")[2]}'
    folder = incast.load(write(tmp_path, text + '\n[simulation]\nhorizon = "50us"\n')).run(tmp_path / "cut").path
    done = command("memory", "inject", "--latency", folder, "--scheme", "HPCC", "--repetitions", 1, "--", "true")
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("warning: ") == done.stderr.count("1 of 2 memory flows did not complete") == 1


# Throughput.

TWICE = """
echo 'warm-up 3 ops/s'
if [ -n "$INCAST_MEMORY" ]; then echo '800 ops/s'; else echo '1,000 ops/s'; fi
"""
"""Does less under the instrument."""


@served
def test_throughput_of_a_server(command: Command) -> None:
    run = ("memory", "inject", "--latency", "5us", "--throughput", "([0-9.,]+) ops/s", "--repetitions", 2)
    done = command(*run, "--format", "json", "--", "sh", "-c", TWICE)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert [row["throughput"] for row in found] == [1000, 800, 800], "the last number is taken"
    assert [row["slowdown"] for row in found] == [None, None, 0]
    done = command(*run, "--", "sh", "-c", TWICE)
    assert "instrumentation costs +25.0 % of the program's own time" in done.stdout
    assert "throughput without delay / throughput with delay" in " ".join(done.stdout.split())


@served
@pytest.mark.parametrize(
    ("pattern", "says"),
    [
        ("ops/s", "one group that matches the number"),
        ("([0-9]+) (ops)", "one group that matches the number"),
        ("([0-9", "a regular expression"),
        ("([0-9]+) requests", "matches no number in the program's output, which ends with\nwarm-up 3 ops/s"),
        ("(ops)", "matches no number"),
        ("([0-9]+)-?", "matches 0, but a throughput must be above 0"),
    ],
)
def test_a_throughput_that_is_none(pattern: str, says: str) -> None:
    with pytest.raises(incast.ApplicationError) as raised:
        memory.inject(["sh", "-c", "echo 'warm-up 3 ops/s'; echo 0"], [one("5us")], repetitions=1, figure=pattern)
    assert says in str(raised.value)


STALLS = """
"$0" 96 1 & p=$!
while kill -STOP $p; do sleep 0.05; kill -CONT $p; sleep 0.05; done 2> stderr
wait
"""
"""A program that stands still for longer than a fetch takes, again and again, as when others have its core."""


@served
def test_a_handler_that_stands_still_shows_in_the_longest_delays(command: Command, compiled: Compiled) -> None:
    run = ("memory", "inject", "--latency", "10ms", "--repetitions", 1, "--no-plain", "--only", "walker")
    done = command(*run, "--", "bash", "-c", STALLS, compiled("walker"))
    assert done.returncode == 0, done.stderr
    shown = " ".join(done.stdout.partition("10ms: p50 10 ms asked")[2].split())
    assert "% at p99" in shown


def test_delays_are_held_against_those_drawn_at_each_quantile() -> None:
    right = {"0.1": 1e3, "0.5": 2e3, "0.9": 3e3, "0.99": 1e4}
    case = Case("5us", "delayed", one("5us"))
    for achieved, expected in (
        (right, {}),
        (right | {"0.99": 2e4}, {"0.99": 1.0}),
        (right | {"0.1": 1.1e3, "0.9": 3.1e3}, {"0.1": 0.1}),
        (right | {"0.5": 1.8e3}, {"0.5": -0.1}),
    ):
        found = timings(case, [1.0], asked_s=1.0, achieved_s=1.02, asked_ns=right, achieved_ns=achieved)  # type: ignore[arg-type]
        (row,) = Injection(("program",), memory.Instrument(), tuple(found)).rows()
        assert row.off() == pytest.approx(expected)
    found = timings(case, [1.0], asked_s=1.0, achieved_s=1.06)
    (row,) = Injection(("program",), memory.Instrument(), tuple(found)).rows()
    assert row.off() == pytest.approx({"mean": 0.06})


# Where it cannot be.


@served
def test_a_program_that_fails(command: Command, tmp_path: Path) -> None:
    program = 'echo first; seq 30; echo oops >&2; [ -z "$INCAST_MEMORY" ] || exit 7'
    done = command("memory", "inject", "--latency", "5us", "-o", "runs.csv", "--", "sh", "-c", program)
    assert done.returncode == 2
    assert "error: the program ended with exit code 7 in the run no delay:\n12\n" in done.stderr
    assert done.stderr.endswith("30\noops\n")
    assert done.stdout == ""
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("--latency", "5us"), "missing program to run"),
        (("--", "true"), "latency"),
        (("--latency", "5us", "--", "tru"), "did you mean `true`"),
        (("--latency", "5us", "--repetitions", "0", "--", "true"), "repetitions"),
        (("--latency", "5us", "--seed", "-1", "--", "true"), "seed"),
        (("--latency", "5us", "--local", "0%", "--", "true"), "--local"),
        (("--latency", "5us", "--policy", "rule", "--", "true"), "policy"),
        (("--latency", "5", "--", "true"), "a time such as 3us"),
        (("--latency", "5us", "-o", "there", "--", "true"), "there exists already; use --overwrite to replace it"),
        (("--latency", "5us", "-o", ".", "--overwrite", "--", "true"), "is a folder and is never overwritten"),
    ],
)
def test_the_command_tells_what_is_wrong(
    command: Command, tmp_path: Path, arguments: tuple[str, ...], says: str
) -> None:
    (tmp_path / "there").write_text("mine")
    done = command("memory", "inject", *arguments)
    assert done.returncode == 2, done.stderr
    assert says in done.stderr.replace("SEED", "seed").replace("--LATENCY", "latency")
    assert done.stderr.startswith("error: ")
    assert "Traceback" not in done.stderr
    assert done.stdout == ""
    assert [path.read_text() for path in tmp_path.iterdir()] == ["mine"]


@served
def test_figures_are_replaced_if_that_is_wanted(command: Command, tmp_path: Path) -> None:
    (tmp_path / "runs.csv").write_text("old")
    run = ("memory", "inject", "--latency", "5us", "--repetitions", 1, "-o", "runs.csv", "--overwrite", "--", "true")
    assert command(*run).returncode == 0
    assert (tmp_path / "runs.csv").read_text().startswith("case,kind,repetition,seconds,")
    assert [path.name for path in tmp_path.iterdir()] == ["runs.csv"]


@served
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_it_can_be_ended(start: Start, tmp_path: Path, number: signal.Signals) -> None:
    run = ("memory", "inject", "--latency", "5us", "--no-plain", "-o", "runs.csv")
    process = start(*run, "--", "sh", "-c", f"touch {tmp_path}/ready; exec sleep 100")
    wait_until((tmp_path / "ready").exists)
    process.send_signal(number)
    printed, errors = process.communicate(timeout=PATIENCE)
    assert (process.returncode, printed) == (128 + number, ""), errors
    assert errors == "error: interrupted; nothing was written\n"
    assert [path.name for path in tmp_path.iterdir()] == ["ready"]
    assert running_in(tmp_path) == []


@served
def test_one_core(tmp_path: Path) -> None:
    before = os.sched_getaffinity(0)
    program: list[object] = [sys.executable, "-c", "import os; print(os.sched_getaffinity(0))"]
    for one_core, allowed in ((True, {max(before)}), (False, before)):
        found, printed = record(tmp_path, program, one_core=one_core)
        assert printed == f"{allowed}\n"
        assert found.summary.one_core is one_core
        found.path.rename(tmp_path / f"{one_core}")
        assert os.sched_getaffinity(0) == before
