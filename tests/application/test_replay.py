"""Replays of page-fault traces against the closed forms and against sums by hand; traces, right and wrong."""

from __future__ import annotations

import itertools
import math
import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars
import pytest

import incast
from conftest import write
from incast import _echo, application

ALWAYS = application.Latencies([1e-6])
"""A network on which every fetch takes a microsecond."""


def test_a_replay_is_the_sum_it_says() -> None:
    rng = np.random.default_rng(11)
    many = 300
    compute, fetches = rng.exponential(1e-4, many), rng.integers(0, 4, many)
    thread, stage = rng.integers(0, 3, many), rng.integers(0, 2, many)
    latency, overhead = 3e-6, 1e-6

    def job(wait: float) -> float:
        times: dict[tuple[int, int], float] = {}
        for c, b, t, s in zip(compute, fetches, thread, stage, strict=True):
            times[s, t] = times.get((s, t), 0.0) + c + (wait if b else 0.0)
        return sum(max(time for (of, _), time in times.items() if of == s) for s in (0, 1))

    names = np.array(["first", "second"])[stage]
    segments = application.Segments(compute, fetches, thread, names)
    assert (len(segments), segments.threads, segments.stages) == (many, 3, 2)
    found = application.replay(segments, application.Latencies([latency]), overhead_s=overhead, repetitions=2)
    assert found.ideal_s == pytest.approx(job(0.0), rel=1e-12)
    assert found.time_s == pytest.approx(job(latency + overhead), rel=1e-12)
    assert found.slowdown == pytest.approx(job(latency + overhead) / job(0.0) - 1, rel=1e-9)
    assert found.standard_error == pytest.approx(0, abs=1e-12)
    assert segments.faults_per_s == pytest.approx(fetches.sum() / compute.sum())


def test_equal_replays_have_no_standard_error() -> None:
    # Rounding of the mean of three equal times.
    segments = application.Segments([1e-4] * 7, [1] * 7)
    found = application.replay(segments, application.Latencies([3e-6]), overhead_s=1e-6, repetitions=3)
    assert found.standard_error == 0


@pytest.mark.parametrize("b", [1, 4])
def test_a_replay_of_one_thread_is_the_closed_form(b: int) -> None:
    sample = application.Latencies(np.random.default_rng(2).exponential(3e-6, 1_000))
    model = application.Paging(faults_per_s=20_000, batch=b)
    batches = 2_000
    segments = application.Segments([b / 20_000] * batches, [b] * batches)
    assert segments.faults_per_s == pytest.approx(20_000)
    found = application.replay(segments, sample, overhead_s=1e-6, seed=4, repetitions=200)
    expected = model.slowdown(sample, 1e-6)
    assert 0 < found.standard_error < 0.01 * expected
    assert found.slowdown == pytest.approx(expected, abs=5 * found.standard_error)


def test_more_threads_wait_for_more_stragglers() -> None:
    sample = application.Latencies(np.random.default_rng(2).exponential(3e-6, 1_000))
    found = []
    for threads in (1, 2, 4, 8, 16):
        per_thread = 40
        many = threads * per_thread
        stage = np.tile(np.arange(per_thread) // 10, threads)
        segments = application.Segments([1e-5] * many, [1] * many, np.repeat(np.arange(threads), per_thread), stage)
        found.append(application.replay(segments, sample, repetitions=300))
    for fewer, more in itertools.pairwise(found):
        assert more.slowdown - fewer.slowdown > 5 * (fewer.standard_error + more.standard_error)


def test_a_barrier_never_makes_a_job_shorter() -> None:
    columns = ([1.0, 2.0, 3.0, 1.0], [0, 0, 0, 0], [0, 0, 1, 1])
    assert application.replay(application.Segments(*columns), ALWAYS).ideal_s == 4
    assert application.replay(application.Segments(*columns, [0, 1, 0, 1]), ALWAYS).ideal_s == 5


def test_the_same_seed_gives_the_same_figures() -> None:
    sample, segments = application.Latencies([1, 2, 9], "us"), application.Segments([1e-4] * 50, [2] * 50)
    first, second, third = (application.replay(segments, sample, seed=seed).slowdown for seed in (1, 1, 2))
    assert first == second != third


@pytest.mark.parametrize(
    ("columns", "says"),
    [
        (([], []), "at least one segment"),
        (([-1.0], [1]), r"compute_s\[0\]"),
        (([1.0, math.nan], [1, 1]), r"compute_s\[1\]"),
        (([0.0], [1]), "some compute"),
        (([1.0], [1.5]), r"fetches\[0\]"),
        (([1.0], [-1]), "whole numbers"),
        (([1.0], [1, 2]), "1 values, as compute_s has"),
        (([1.0], [1], [0, 1]), "thread"),
        ((["x"], [1]), "columns of numbers"),
    ],
)
def test_segments_that_are_none(columns: tuple[list[float], ...], says: str) -> None:
    with pytest.raises(incast.ApplicationError, match=says):
        application.Segments(*columns)  # type: ignore[arg-type]


def test_a_replay_has_limits() -> None:
    segments = application.Segments([1.0], [1])
    for name, value in (
        ("repetitions", 1),
        ("repetitions", 2.5),
        ("repetitions", 1_000_001),
        ("seed", -1),
        ("overhead_s", -1.0),
    ):
        with pytest.raises(incast.ApplicationError, match=name):
            application.replay(segments, ALWAYS, **{name: value})  # type: ignore[arg-type]


def test_a_replay_reports_its_progress() -> None:
    reported: list[tuple[str, int, int]] = []
    segments = application.Segments([1.0], [1])
    application.trace_slowdown(ALWAYS, segments, repetitions=4, progress=lambda *said: reported.append(said))
    assert reported == [("replays", done, 4) for done in range(4)]
    reported.clear()
    application.trace_slowdown(ALWAYS, segments, repetitions=2_500, progress=lambda *said: reported.append(said))
    # Every third of 2,500: at most 1,000 reports.
    assert reported == [("replays", done, 2_500) for done in range(0, 2_500, 3)]


COMPUTE = "thread,fetches,compute_us,stage\na,1,100,map\na,4,50.5,reduce\n\nb,0,25,map\n"


def test_a_trace_is_read_as_it_stands(tmp_path: Path) -> None:
    from_csv = application.read_trace(write(tmp_path, COMPUTE, "faults.csv"))
    crlf = "\ufeff" + COMPUTE.replace(",", " , ").replace("\n", "\r\n")
    (tmp_path / "crlf.csv").write_bytes(crlf.encode())
    nanoseconds = {
        "stage": [1, 2, 1],
        "compute_ns": [100_000, 50_500, 25_000],
        "fetches": [1, 4, 0],
        "thread": [5, 5, 9],
    }
    polars.DataFrame(nanoseconds).write_parquet(tmp_path / "faults.parquet")
    for read in (
        from_csv,
        application.read_trace(tmp_path / "crlf.csv"),
        application.read_trace(tmp_path / "faults.parquet"),
    ):
        assert read.compute_s.tolist() == [100e-6, 50.5e-6, 25e-6]
        assert read.fetches.tolist() == [1, 4, 0]
        assert (read.threads, read.stages) == (2, 2)
        assert read.job_s(read.compute_s) == pytest.approx(150.5e-6)
    assert from_csv.name == "faults"


def test_compute_is_the_gap_between_times(tmp_path: Path) -> None:
    # Nanoseconds since 1970 are more than a floating-point number holds.
    since = 1_700_000_000_000_000_000
    lines = [f"{thread},1,{since + at},{stage}" for thread, at, stage in
             (("a", 10, 0), ("b", 25, 0), ("a", 13, 0), ("b", 40, 1), ("a", 41, 1), ("b", 43, 1))]  # fmt: skip
    read = application.read_trace(write(tmp_path, "\n".join(["thread,fetches,time_ns,stage", *lines]), "faults.csv"))
    assert [round(seconds * 1e9, 6) for seconds in read.compute_s] == [0, 15, 3, 0, 1, 3]


@dataclass
class Bad:
    """A trace that is wrong, and what has to be said about it."""

    text: str
    line: int | None
    column: int | None
    says: tuple[str, ...]


HEADER = "thread,fetches,compute_us\n"
CASES = {
    "unknown column": Bad("thread,fetchs,compute_us\n0,1,2\n", 1, 8, ("`fetchs`", "did you mean `fetches`")),
    "no unit": Bad("thread,fetches,compute\n0,1,2\n", 1, 16, ("`compute`", "did you mean `compute_", "time_ns")),
    "twice": Bad("thread,fetches,compute_us,thread\n0,1,2,3\n", 1, 27, ("`thread`", "one column of its kind")),
    "two clocks": Bad("thread,fetches,compute_us,time_s\n0,1,2,3\n", 1, 27, ("`time_s`", "one column of its kind")),
    "no fetches": Bad("thread,compute_us\n0,1\n", 1, 1, ("a header with a column fetches",)),
    "no clock": Bad("thread,fetches\n0,1\n", 1, 1, ("a header with a column compute_us or time_us",)),
    "no number": Bad(HEADER + "0,1,2\n0,1, x7\n", 3, 6, ("`x7`", "0 or more")),
    "negative compute": Bad(HEADER + "0,1,-2\n", 2, 5, ("`-2`", "0 or more")),
    "infinite compute": Bad(HEADER + "\n0,1,inf\n", 3, 5, ("`inf`",)),
    "half a fetch": Bad(HEADER + "0,1.5,2\n", 2, 3, ("`1.5`", "a whole number of fetches")),
    "negative fetches": Bad(HEADER + "0,1,2\n0,-1,2\n", 3, 3, ("`-1`",)),
    "the first of two": Bad(HEADER + "0,1,2\n0,1,x\n0,y,2\n", 3, 5, ("`x`",)),
    "no thread": Bad(HEADER + ",1,2\n", 2, 1, ("a number of 0 or more or a name",)),
    "an open quote": Bad(HEADER + '"0,1,1\n0,2,5\n', 2, 1, ('`"0`', "a name, without quotes")),
    "quotes": Bad(HEADER + '0,1,1\n"0",2,5\n', 3, 1, ('`"0"`', "a name, without quotes")),
    "a quote in a stage": Bad('thread,fetches,compute_us,stage\n0,1,1,a"\n', 2, 7, ('`a"`', "without quotes")),
    "negative thread": Bad(HEADER + "-1,1,2\n", 2, 1, ("`-1`", "a number of 0 or more")),
    "endless compute": Bad(HEADER + "0,1,1e308\n0,1,1e308\n", 2, 5, ("`1e308`", "at most 1e18")),
    "a cell too many": Bad(HEADER + "0,1,2,3\n", 2, 1, ("3 cells, as in the header, got 4",)),
    "back in time": Bad("thread,fetches,time_us\n0,1,7\n1,1,3\n0,1,6.5\n", 4, 5, ("`6.5`", "previous row, 7")),
    "no rows": Bad(HEADER, None, None, ("no rows",)),
    "no compute": Bad(HEADER + "0,1,0\n", None, None, ("no compute",)),
    "empty": Bad("", 1, 1, ("a column of a trace",)),
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())
def test_a_trace_that_is_wrong_is_located(tmp_path: Path, case: Bad) -> None:
    file = write(tmp_path, case.text, "faults.csv")
    with pytest.raises(incast.ApplicationError) as raised:
        application.read_trace(file)
    error = raised.value
    for part in (str(file), *case.says):
        assert part in str(error)
    if case.line is not None:
        assert (error.file, error.line, error.diagnostics[0].column) == (str(file), case.line, case.column)
        assert f"--> {file}:{case.line}:{case.column}\n" in str(error)


def test_files_that_are_no_trace(tmp_path: Path) -> None:
    polars.DataFrame({"thread": [1, 1], "fetches": [1, 1], "compute_s": [1.0, None]}).write_parquet(tmp_path / "null")
    with pytest.raises(incast.ApplicationError, match="null:3:5"):
        application.read_trace(tmp_path / "null")
    (tmp_path / "cut").write_bytes((tmp_path / "null").read_bytes()[:200])
    (tmp_path / "binary").write_bytes(b"\xff\xfe\x00")
    for name in ("cut", "binary", "gone", "."):
        with pytest.raises(incast.ApplicationError):
            application.read_trace(tmp_path / name)


def test_a_trace_is_a_regular_file(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(incast.ApplicationError, match="it is a named pipe"):
        application.read_trace(tmp_path / "pipe")


def test_an_error_in_a_trace_is_short(tmp_path: Path) -> None:
    trace = write(tmp_path, f"thread,fetches,compute_us\n1,{'9' * 500_000}\x1b,2\n", "trace.csv")
    with pytest.raises(incast.ApplicationError) as raised:
        application.read_trace(trace)
    assert len(str(raised.value)) < 1_000
    assert not _echo.OF_A_LINE.search(str(raised.value))
