"""Runs a program repeatedly with delayed fetches, and measures its slowdown."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from statistics import mean, median
from typing import Literal

from incast import _database
from incast.application import wrong
from incast.errors import ApplicationError, EnvironmentFailure
from incast.memory import program
from incast.memory.cores import Others
from incast.memory.delays import Delays
from incast.memory.descriptors import NO_DESCRIPTORS
from incast.memory.permission import describe
from incast.memory.possible import require
from incast.memory.protocol import Word
from incast.memory.recording import write_trace
from incast.memory.run import Instrument, Run, Session, run_plainly
from incast.memory.supervised import STOPPED

REPETITIONS = 5
"""Default number of runs of each case (our choice)."""
LAST_LINES = 20
"""Last lines of a failed program's output that are shown."""
TICKS_S = 1.0
"""Shortest time for which the machine's counters, with a tick of 10 ms, measure other programs (our choice)."""
CHECKED = ("0.1", "0.5", "0.9", "0.99")
"""Quantiles at which achieved delays are compared with requested ones."""
OFF = 0.05
"""Relative difference from which on a mean or a quantile of delays counts as wrong (our choice)."""

Kind = Literal["plain", "zero", "delayed"]


@dataclass(frozen=True, eq=False)
class Case:
    """A way to run the program."""

    name: str
    kind: Kind
    delays: Delays | None = None


PLAIN = Case("without instrument", "plain")
ZERO = Case("no delay", "zero", Delays.constant(0, "no delay"))


@dataclass(frozen=True)
class Timing:
    """One run."""

    case: Case
    repetition: int
    """From 0."""
    seconds: float
    figure: float | None = None
    """The throughput in the program's output, if requested."""
    fetches: int = 0
    write_backs: int = 0
    asked_s: float = 0.0
    """Sum of the requested delays."""
    achieved_s: float = 0.0
    """Sum of the achieved delays."""
    asked_ns: dict[str, float] = field(default_factory=dict)
    """Quantiles of the requested delays."""
    achieved_ns: dict[str, float] = field(default_factory=dict)
    """Quantiles of the achieved delays."""
    software_s: float = 0.0
    """Sum of the additional time of the instrument for fetches."""
    others_cores: float = 0.0
    """Mean number of cores used by other programs."""


@dataclass(frozen=True)
class Row:
    """A case with its repetitions."""

    case: Case
    timings: tuple[Timing, ...]
    zero: tuple[Timing, ...]
    plain: tuple[Timing, ...]

    @property
    def seconds(self) -> tuple[float, float, float]:
        """Run time: median, shortest, longest."""
        times = [timing.seconds for timing in self.timings]
        return median(times), min(times), max(times)

    @property
    def figures(self) -> tuple[float, float, float] | None:
        """Throughput: median, lowest, highest."""
        found = [timing.figure for timing in self.timings if timing.figure is not None]
        return (median(found), min(found), max(found)) if found else None

    @property
    def slowdown(self) -> float:
        """Median run time / run time without delay - 1, or throughput without delay / throughput - 1."""
        return _cost(self.timings) / _cost(self.zero) - 1

    @property
    def own(self) -> float | None:
        """Added time / the program's own time: the slowdown without overhead of the instrument."""
        return (_cost(self.timings) - _cost(self.zero)) / _cost(self.plain) if self.plain else None

    @property
    def lengthened_s(self) -> float:
        """Median run time - run time without delay, in seconds."""
        return self.seconds[0] - median(timing.seconds for timing in self.zero)

    def mean(self, name: Literal["fetches", "asked_s", "achieved_s", "software_s"]) -> float:
        """Mean of a field of the timings."""
        return mean(float(getattr(timing, name)) for timing in self.timings)

    def asked_ns(self, quantile: str) -> float:
        """A quantile of the requested delays, median over the runs."""
        return median(timing.asked_ns.get(quantile, 0.0) for timing in self.timings)

    def achieved_ns(self, quantile: str) -> float:
        """A quantile of the achieved delays, median over the runs."""
        return median(timing.achieved_ns.get(quantile, 0.0) for timing in self.timings)

    def off(self) -> dict[str, float]:
        """Relative differences of achieved and requested delays of `OFF` or more: `mean`, and quantiles."""
        pairs = {"mean": (self.mean("asked_s"), self.mean("achieved_s"))}
        pairs |= {quantile: (self.asked_ns(quantile), self.achieved_ns(quantile)) for quantile in CHECKED}
        return {
            name: achieved / asked - 1
            for name, (asked, achieved) in pairs.items()
            if asked and abs(achieved / asked - 1) >= OFF
        }


def _cost(timings: Sequence[Timing]) -> float:
    """Median run time, or median of 1 / throughput."""
    return median(timing.seconds if timing.figure is None else 1 / timing.figure for timing in timings)


@dataclass(frozen=True)
class Injection:
    """Measured slowdowns of a program."""

    command: tuple[str, ...]
    instrument: Instrument
    timings: tuple[Timing, ...]

    def rows(self) -> Iterator[Row]:
        """Each case, in order."""
        zero, plain = (tuple(each for each in self.timings if each.case.kind == kind) for kind in ("zero", "plain"))
        for case in dict.fromkeys(timing.case for timing in self.timings):
            yield Row(case, tuple(timing for timing in self.timings if timing.case is case), zero, plain)

    @property
    def others_cores(self) -> float:
        """Mean number of cores used by other programs during all runs; 0 if the runs are too short to measure it."""
        seconds = sum(timing.seconds for timing in self.timings)
        return (
            0.0 if seconds < TICKS_S else sum(timing.others_cores * timing.seconds for timing in self.timings) / seconds
        )

    @property
    def overhead(self) -> float | None:
        """Overhead of the instrument: run time without delay / run time without the instrument - 1, if measured."""
        row = next(self.rows())
        return _cost(row.zero) / _cost(row.plain) - 1 if row.plain else None


def inject(
    command: Sequence[str],
    delays: Sequence[Delays],
    instrument: Instrument | None = None,
    *,
    repetitions: int = REPETITIONS,
    plain: bool = True,
    figure: str | None = None,
    progress: Callable[[int, int, str], object] | None = None,
) -> Injection:
    """Run a program with each of several delays, and without, interleaved.

    Args:
        command: The program and its arguments. Its input is empty, and its output is not shown.
        delays: Delays to try; the run without delay is always included.
        instrument: Settings of the memory server.
        repetitions: Runs of each case, 1 or more.
        plain: Also run it without the instrument, to measure the overhead.
        figure: A regular expression whose group is a number in the output: a throughput, to be compared in place of
            run time.
        progress: Called before each run with the number of runs done, the total, and the case.

    Raises:
        ApplicationError: There is no such program, it cannot be instrumented, it ended with another code than 0, or its
            output has no such number.
        EnvironmentFailure: The machine or the user lacks a requirement, which the message names.

    """
    program.check(command)
    require()
    repetitions = wrong.whole("repetitions", repetitions, "a whole number, 1 or more", 1)
    pattern = _pattern(figure)
    delayed = [Case(each.name, "delayed", each) for each in delays if len(each.sample_ns)]
    cases = [*([PLAIN] if plain else []), ZERO, *delayed]
    timings: list[Timing] = []
    total = repetitions * len(cases)
    for repetition in range(repetitions):
        # Another one first each time: what drifts with time is not always at the same one's cost.
        first = repetition % len(cases)
        for case in cases[first:] + cases[:first]:
            if progress is not None:
                progress(len(timings), total, case.name)
            timings.append(_timed(command, case, repetition, instrument or Instrument(), pattern))
    order = {case: place for place, case in enumerate(cases)}
    timings.sort(key=lambda timing: (order[timing.case], timing.repetition))
    return Injection(tuple(command), instrument or Instrument(), tuple(timings))


def _pattern(figure: str | None) -> re.Pattern[str] | None:
    if figure is None:
        return None
    try:
        pattern = re.compile(figure)
    except re.error as error:
        raise wrong.refused("--throughput", figure, f"a regular expression ({error})") from None
    if pattern.groups != 1:
        raise wrong.refused("--throughput", figure, "a regular expression with one group that matches the number")
    return pattern


def _timed(
    command: Sequence[str], case: Case, repetition: int, instrument: Instrument, pattern: re.Pattern[str] | None
) -> Timing:
    with tempfile.TemporaryDirectory(prefix="incast-memory-") as name, tempfile.TemporaryFile() as output:
        folder, others = Path(name), Others()
        if case.delays is None:
            ended = run_plainly(command, output, one_core=instrument.one_core)
            timing = Timing(case, repetition, ended.seconds, others_cores=others.cores())
        else:
            asked = replace(instrument, delays_ns=case.delays.sample_ns, seed=instrument.seed + repetition)
            run = Session(asked, folder).run(command, quiet=output)
            shared = others.cores()
            _complain(run)
            write_trace(run, folder / "trace.parquet")
            timing = replace(_measured(case, repetition, run, folder / "trace.parquet"), others_cores=shared)
            ended = run.ended
        code = ended.code
        output.seek(0)
        text = output.read().decode("utf-8", "replace")
    if code in STOPPED:
        raise KeyboardInterrupt(*STOPPED[code])
    if code:
        last = "\n".join(text.splitlines()[-LAST_LINES:])
        raise ApplicationError(f"the program ended with exit code {code} in the run {case.name}:\n{last}".rstrip())
    return timing if pattern is None else replace(timing, figure=_figure(text, pattern))


def _complain(run: Run) -> None:
    """Raise if a part of the program was not instrumented or did not run, as its run time is then not valid."""
    unserved = run.unserved
    if unserved.failures:
        raise EnvironmentFailure(describe(unserved.failures[0]))
    if unserved.not_heard:
        raise EnvironmentFailure(f"some of the program's processes were not served: {NO_DESCRIPTORS}")


def _figure(text: str, pattern: re.Pattern[str]) -> float:
    found = pattern.findall(text)
    try:
        value = float(found[-1].replace(",", ""))
    except (IndexError, ValueError):
        last = "\n".join(text.splitlines()[-LAST_LINES:])
        raise ApplicationError(
            f"`{pattern.pattern}` matches no number in the program's output, which ends with\n{last}"
        ) from None
    if value <= 0:
        raise ApplicationError(f"`{pattern.pattern}` matches {value:g}, but a throughput must be above 0")
    return value


def _named(quantiles: Sequence[int] | None) -> dict[str, float]:
    return dict(zip(CHECKED, map(float, quantiles), strict=True)) if quantiles else {}


def _measured(case: Case, repetition: int, run: Run, trace: Path) -> Timing:
    quantiles = ", ".join(CHECKED)
    query = f"""
    select count(*), sum(asked_ns) * 1e-9, sum(achieved_ns) * 1e-9, sum(software_ns) * 1e-9,
      quantile_disc(asked_ns, [{quantiles}]), quantile_disc(achieved_ns, [{quantiles}])
    from read_parquet(?) where kind = 'read'
    """
    with _database.connect([trace]) as connection:
        fetches, asked, achieved, software, drawn, found = connection.execute(query, [str(trace)]).fetchall()[0]
    return Timing(
        case,
        repetition,
        run.seconds,
        None,
        fetches,
        run.total(Word.SENT),
        asked or 0.0,
        achieved or 0.0,
        _named(drawn),
        _named(found),
        software or 0.0,
    )
