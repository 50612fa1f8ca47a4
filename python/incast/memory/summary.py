"""Summary of a recording."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from types import UnionType
from typing import Any, get_args, get_origin, get_type_hints

from incast import _database
from incast.charts.look import time
from incast.integrity import sha256
from incast.memory.descriptors import NO_DESCRIPTORS
from incast.memory.permission import describe
from incast.memory.protocol import PAGE, Word
from incast.memory.run import Instrument, Run
from incast.memory.supervised import Ended

QUANTILES = (0.01, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99)
BATCH_GAP_NS = 10_000
"""Longest gap between fetches of a batch (our choice: less than two fetches of a page across a datacenter)."""


MEMORY_LIMIT = "512MB"
"""Memory limit of a database; larger traces use a temporary file (our choice)."""
FEW = 3
"""Most failures that are listed."""


@dataclass(frozen=True)
class Summary:
    """Figures of a recorded run. Shares are fractions of 1; keys of quantiles are their names, such as `0.99`."""

    command: list[str]
    local: str
    """Amount of local memory, as text."""
    policy: str
    threshold_bytes: int
    code: int
    """The exit code; 128 + number for a signal."""
    start_ns: int
    """Start, on the clock CLOCK_MONOTONIC."""
    seconds: float
    """Run time."""
    cpu_s: float
    """CPU time, including the instrument."""
    processes: list[dict[str, Any]]
    """Counters of each process."""
    ended: int
    """Number of processes still running at the end of the program, which were ended."""
    footprint_bytes: int
    """Peak memory of the largest served process."""
    fetches: int
    write_backs: int
    fetches_per_s: float
    interarrival_us: dict[str, float]
    """Times between fetches of all threads: quantiles and mean."""
    batches: dict[str, float]
    """Numbers of fetches in batches, with gaps of at most `batch_gap_us`: quantiles, mean and largest."""
    batch_gap_us: float
    handler_share: float
    """CPU time of the instrument / run time, including polling for faults."""
    waiting_share: float
    """Total time that threads waited for fetches / run time; can exceed 1 with several threads."""
    software_us: float
    """Mean time of the instrument per fetch, from the detection of the fault."""
    one_core: bool
    """True if the program and the instrument shared a core."""
    threads: int
    """Number of threads that waited for fetches."""
    awake: bool
    """True if idle cores were kept from sleeping, which makes fetches faster."""
    plain_s: float | None = None
    """Median run time without the instrument, if measured and with the same exit code."""
    plain_codes: list[int] = field(default_factory=list)
    """Exit codes of the runs without the instrument."""
    failures: list[str] = field(default_factory=list)
    """Messages about processes that could not be instrumented or were aborted by the instrument."""
    other_users: int = 0
    """Number of processes of other users, which were not served."""
    not_heard: int = 0
    """Number of processes that were not served because of missing file descriptors."""
    trace_sha256: str = ""
    """SHA-256 of trace.parquet, in hexadecimal."""

    @property
    def own_fetches_per_s(self) -> float | None:
        """Fetches per second of the program's own time, if measured."""
        return self.fetches / self.plain_s if self.plain_s else None

    @classmethod
    def of(cls, found: dict[str, Any]) -> Summary:
        """From the contents of summary.json; raises `TypeError` or `ValueError` if they are not those of a summary."""
        if not isinstance(found, dict):
            raise TypeError("it is not an object")
        hints = get_type_hints(cls)
        for name, value in found.items():
            if name in hints and not _fits(value, hints[name]):
                raise TypeError(f"`{name}` cannot be {value!r:.80}")
        summary = cls(**found)
        if summary.seconds <= 0:
            raise ValueError(f"`seconds` must be above 0, got {summary.seconds}")
        return summary

    def lines(self) -> Iterator[str]:
        """The summary as text."""
        yield f"program     {self._programs()}: {self.seconds:.3f} s, exit code {self.code}"
        yield f"memory      {size(self.footprint_bytes)} served, local: {self.local}, {self.policy}"
        yield f"fetches     {self.fetches:,}, {self.fetches_per_s:,.0f}/s; {self.write_backs:,} write-backs"
        if (own := self.own_fetches_per_s) is not None:
            yield (
                f"own time    {self.plain_s:.3f} s without the instrument; at this speed {own:,.0f} fetches/s, "
                f"{size(own * PAGE)}/s"
            )
        if self.fetches > 1:
            gaps, batches = self.interarrival_us, self.batches
            yield "gaps        " + ", ".join(
                f"p{100 * float(q):g} {micro(gaps[q])}" for q in ("0.1", "0.5", "0.9", "0.99")
            )
            yield (
                f"batches     mean {batches['mean']:.1f} fetches, p99 {batches['0.99']:.0f}, largest "
                f"{batches['largest']:.0f} (gaps of at most {micro(self.batch_gap_us)})"
            )
            yield (
                f"instrument  {micro(self.software_us)} per fetch; threads waited {100 * self.waiting_share:.1f} % of "
                f"the time; handler: {100 * self.handler_share:.1f} % of a core"
            )
        yield from self.doubts()

    def doubts(self) -> Iterator[str]:
        """Notes and warnings about the figures."""
        if not self.fetches and not self._total("first_accesses"):
            yield (
                f"note: no memory was served: the program has no allocations of {size(self.threshold_bytes)} or more, "
                "or runs programs that do not load the library (static, musl or setuid)"
            )
        elif not self.fetches:
            yield (
                f"note: no fetches: all allocations of {size(self.threshold_bytes)} or more fit into the local memory"
            )
        if self.plain_codes not in ([], [self.code]):
            codes = " and ".join(map(str, self.plain_codes))
            yield (
                f"warning: exit code {codes} without the instrument, but {self.code} with it: the time without the "
                "instrument is not used. The input is empty in all runs"
            )
        for failure in self.failures[:FEW]:
            yield f"warning: {failure}"
        if (more := len(self.failures) - FEW) > 0:
            yield f"warning: {more} more {'process was' if more == 1 else 'processes were'} ended"
        if self.other_users:
            what = "process of another user was" if self.other_users == 1 else "processes of other users were"
            yield f"warning: {self.other_users} {what} not served: incast serves only programs of its own user"
        if self.not_heard:
            yield f"warning: some new processes were not served: {NO_DESCRIPTORS}"
        if count := self._total("unserved_bytes"):
            yield f"note: {size(count)} were not served: the region is full"
        if count := self._total("pinned_pages"):
            yield f"note: {size(count * PAGE)} stayed local: locked or not readable"
        if stalled := self._total("stalled_ns"):
            yield f"warning: the program waited {time(stalled * 1e3)} because its records were read too slowly"
        if lost := self._total("lost_records"):
            yield f"warning: {lost:,} {'record was' if lost == 1 else 'records were'} lost"
        if self.threads == 1 and not self.one_core:
            yield "note: only one thread fetched pages; --one-core reduces the overhead of its fetches"
        if not self.awake and not self.one_core:
            yield (
                "note: idle cores can sleep, which makes fetches slower; /dev/cpu_dma_latency is not writable by this "
                "user"
            )
        if self.ended:
            what = "process was" if self.ended == 1 else "processes were"
            yield f"note: {self.ended} {what} still running at the end of the program and ended"

    def _programs(self) -> str:
        """Names of processes with served memory, and the number of others."""
        had = [each for each in self.processes if each["first_accesses"] or each["fetches"]] or self.processes[:1]
        names = ", ".join(dict.fromkeys(str(process["name"]) for process in had))
        many = f", {len(had)} processes" if len(had) > 1 else ""
        others = len(self.processes) - len(had)
        return names + many + (f" ({others} other{'s' * (others > 1)} without served memory)" if others else "")

    def _total(self, counter: str) -> int:
        return sum(process[counter] for process in self.processes)


def _fits(value: Any, hint: Any) -> bool:
    """True if a value of JSON has a type, with numbers that are finite and 0 or more."""
    origin, inner = get_origin(hint), get_args(hint)
    if hint is Any:
        return True
    if origin is UnionType:
        return any(_fits(value, each) for each in inner)
    if origin is list:
        return isinstance(value, list) and all(_fits(each, inner[0]) for each in value)
    if origin is dict:
        return isinstance(value, dict) and all(_fits(each, inner[1]) for each in value.values())
    if hint in (int, float) and not isinstance(value, bool):
        return isinstance(value, (int, hint)) and 0 <= value < math.inf
    return type(value) is hint


def size(count: float) -> str:
    """Bytes with a unit."""
    for unit, factor in (("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)):
        if count >= factor:
            return f"{count / factor:.4g} {unit}"
    return f"{count:g} B"


def micro(count: float) -> str:
    """Microseconds with a unit."""
    return time(count * 1e6)


def summarised(
    command: Sequence[str], instrument: Instrument, run: Run, trace: Path, plain: Sequence[Ended] = ()
) -> Summary:
    """The figures of a run and its trace, and of runs without the instrument."""
    codes = sorted({each.code for each in plain})
    gaps, batches, software_ns, waited_ns, threads = distributions(trace)
    fetches = run.total(Word.FETCHED)
    return Summary(
        command=list(command),
        local=str(instrument.local),
        policy=instrument.policy,
        threshold_bytes=instrument.threshold_bytes,
        code=run.code,
        start_ns=run.ended.start_ns,
        seconds=run.seconds,
        cpu_s=run.ended.cpu_s,
        processes=[
            {"process": each.ordinal, "pid": each.pid, "name": each.name, **_describe(each.counts)}
            for each in run.processes
        ],
        ended=run.left,
        footprint_bytes=max((process.peak_bytes for process in run.processes), default=0),
        fetches=fetches,
        write_backs=run.total(Word.SENT),
        fetches_per_s=fetches / run.seconds,
        interarrival_us=gaps,
        batches=batches,
        batch_gap_us=BATCH_GAP_NS / 1e3,
        handler_share=run.total(Word.PROCESSOR) / 1e9 / run.seconds,
        waiting_share=waited_ns / 1e9 / run.seconds,
        software_us=software_ns / 1e3,
        one_core=instrument.one_core,
        threads=threads,
        awake=run.awake,
        plain_s=median(each.seconds for each in plain) if codes == [run.code] else None,
        plain_codes=codes,
        failures=[describe(each) for each in run.unserved.failures],
        other_users=run.unserved.other_users,
        not_heard=run.unserved.not_heard,
        trace_sha256=sha256(trace),
    )


COUNTERS = {
    Word.FIRST: "first_accesses",
    Word.FETCHED: "fetches",
    Word.SENT: "write_backs",
    Word.DROPPED: "unchanged",
    Word.MAPPED_AGAIN: "mapped_again",
    Word.GUARDED: "first_writes",
    Word.PEAK: "peak_pages",
    Word.PINNED: "pinned_pages",
    Word.PROCESSOR: "handler_cpu_ns",
    Word.CALLS: "calls",
    Word.UNSERVED: "unserved_bytes",
    Word.STALLED: "stalled_ns",
    Word.LOST: "lost_records",
}
"""Names of a process's counters in summary.json. Pages: first accessed, fetched, written back, dropped because the
remote copy was still valid, mapped again before eviction (lru), first written after a read; peak pages, pages that had
to stay local. Then the handler's CPU time, calls for memory, unserved bytes, waits for the reader of records, lost
records."""


def _describe(counts: dict[Word, int]) -> dict[str, int]:
    return {name: counts[word] for word, name in COUNTERS.items()}


def distributions(trace: Path) -> tuple[dict[str, float], dict[str, float], float, float, int]:
    """Figures of a trace: gaps in us, batch sizes, the instrument's mean time and total waiting in ns, threads."""
    quantiles = ", ".join(str(q) for q in QUANTILES)
    query = f"""
    with fetches as (select * from read_parquet(?) where kind = 'read'),
      gaps as (select *, time_ns - lag(time_ns) over (order by time_ns) as gap from fetches),
      numbered as (
        select *, sum(coalesce(gap > {BATCH_GAP_NS}, false)::int) over (order by time_ns) as batch from gaps),
      batches as (select count(*) as size from numbered group by batch)
    select (select quantile_disc(gap, [{quantiles}]) from gaps), (select avg(gap) from gaps),
      (select quantile_disc(size, [{quantiles}]) from batches), (select avg(size) from batches),
      (select max(size) from batches), (select avg(software_ns) from fetches),
      (select sum(software_ns + achieved_ns) from fetches), (select count(distinct (process, thread)) from fetches)
    """
    scratch = trace.with_name("scratch")
    with _database.connect([trace], memory_limit=MEMORY_LIMIT, scratch=scratch) as connection:
        gaps, gap, sizes, mean, largest, software, waited, threads = connection.execute(query, [str(trace)]).fetchall()[
            0
        ]
    if gap is None:
        return {}, {}, float(software or 0), float(waited or 0), threads
    names = [str(q) for q in QUANTILES]
    of_gaps = dict(zip(names, (value / 1e3 for value in gaps), strict=True)) | {"mean": gap / 1e3}
    of_batches = dict(zip(names, map(float, sizes), strict=True)) | {"mean": float(mean), "largest": float(largest)}
    return of_gaps, of_batches, float(software), float(waited), threads
