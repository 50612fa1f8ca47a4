"""A recording in figures."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

from incast.charts.look import time
from incast.memory.descriptors import NO_DESCRIPTORS
from incast.memory.permission import told
from incast.memory.protocol import PAGE, Word
from incast.memory.run import Instrument, Run
from incast.memory.supervised import Ended

QUANTILES = (0.01, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99)
BATCH_GAP_NS = 10_000
"""Fetches that follow each other within this are a batch (our choice: below what a page takes across a datacenter
twice)."""


MEMORY_LIMIT = "512MB"
"""What a database keeps in memory of a trace; what is more goes to a file beside it (our choice)."""
FEW = 3
"""Failures that are told one by one."""


@dataclass(frozen=True)
class Summary:
    """What a program did, in figures. A share is of 1; quantiles are by their name, such as `0.99`."""

    command: list[str]
    local: str
    """How much memory was local, in words."""
    policy: str
    threshold_bytes: int
    code: int
    """The exit code; 128 and its number for a signal."""
    start_ns: int
    """When it was started, on the clock CLOCK_MONOTONIC."""
    seconds: float
    """From start to end."""
    cpu_s: float
    """Processor time, the instrument's included."""
    processes: list[dict[str, Any]]
    """Each process's counters."""
    ended: int
    """Processes that were left when the program ended, and were ended."""
    footprint_bytes: int
    """The most memory of the largest process that was served."""
    fetches: int
    write_backs: int
    fetches_per_s: float
    interarrival_us: dict[str, float]
    """Times between fetches, whichever thread waits: quantiles, and their mean."""
    batches: dict[str, float]
    """How many fetches follow each other within `batch_gap_us`: quantiles, mean and largest."""
    batch_gap_us: float
    handler_share: float
    """Processor time of the instrument over run time, with what it spends on looking for the next fault."""
    waiting_share: float
    """Time that threads waited for fetches over run time; above 1 where several waited."""
    software_us: float
    """What the instrument took for a fetch, in the mean, from when it saw the fault."""
    one_core: bool
    """Whether the program and the instrument shared a core."""
    threads: int
    """Threads that waited for fetches."""
    awake: bool
    """Whether idle cores were kept from sleeping, which makes fetches faster."""
    plain_s: float | None = None
    """What runs without the instrument took in the median, if there were any and they ended as this one did."""
    plain_codes: list[int] = field(default_factory=list)
    """The exit codes of those runs; the same for signals."""
    failures: list[str] = field(default_factory=list)
    """What happened to processes that could not be instrumented, or that the instrument has ended, and why."""
    other_users: int = 0
    """Processes of other users, which were not served."""
    not_heard: int = 0
    """Processes that were not served for want of file descriptors, until none was accepted any more."""

    @property
    def own_fetches_per_s(self) -> float | None:
        """Fetches a second of the program's own time, if a plain run has measured it."""
        return self.fetches / self.plain_s if self.plain_s else None

    @classmethod
    def of(cls, found: dict[str, Any]) -> Summary:
        """As summary.json has it."""
        return cls(**found)

    def lines(self) -> Iterator[str]:
        """The summary for people."""
        yield f"program     {self._programs()}: {self.seconds:.3f} s, exit code {self.code}"
        yield f"memory      {size(self.footprint_bytes)} served, local: {self.local}, {self.policy}"
        yield f"fetches     {self.fetches:,}, {self.fetches_per_s:,.0f} a second; {self.write_backs:,} write-backs"
        if (own := self.own_fetches_per_s) is not None:
            yield (
                f"own         {self.plain_s:.3f} s without the instrument: {own:,.0f} fetches a second of that, "
                f"{size(own * PAGE)}/s"
            )
        if self.fetches > 1:
            gaps, batches = self.interarrival_us, self.batches
            yield "gaps        " + ", ".join(
                f"p{100 * float(q):g} {micro(gaps[q])}" for q in ("0.1", "0.5", "0.9", "0.99")
            )
            yield (
                f"batches     {batches['mean']:.1f} fetches in the mean, p99 {batches['0.99']:.0f}, largest "
                f"{batches['largest']:.0f} (within {micro(self.batch_gap_us)} of each other)"
            )
            yield (
                f"instrument  {micro(self.software_us)} a fetch; threads waited for {100 * self.waiting_share:.1f} "
                f"% of the time, and the handler took {100 * self.handler_share:.1f} % of a core"
            )
        yield from self.doubts()

    def doubts(self) -> Iterator[str]:
        """What is to be said of figures that mean less than they seem."""
        if not self.fetches and not self._total("first_accesses"):
            yield (
                f"note: no memory was served: the program has no allocations of {size(self.threshold_bytes)} and more, "
                "or runs as others into which nothing can be preloaded (static, musl or setuid ones)"
            )
        elif not self.fetches:
            yield (
                f"note: nothing was fetched: what the program has in allocations of {size(self.threshold_bytes)} and "
                "more fits into its local memory"
            )
        if self.plain_codes not in ([], [self.code]):
            codes = " and ".join(map(str, self.plain_codes))
            yield (
                f"warning: the program ended with {codes} without the instrument and with {self.code} with it: what it "
                "took without is not used. Its input is empty in all runs"
            )
        for failure in self.failures[:FEW]:
            yield f"warning: {failure}"
        if (more := len(self.failures) - FEW) > 0:
            yield f"warning: {more} more {'process was' if more == 1 else 'processes were'} ended"
        if self.other_users:
            what = (
                "process runs as another user, and was"
                if self.other_users == 1
                else "processes run as other users, and were"
            )
            yield f"warning: {self.other_users} {what} not served: only programs of the user who runs incast are"
        if self.not_heard:
            yield f"warning: from some time on no process that was started was served: {NO_DESCRIPTORS}"
        if count := self._total("unserved_bytes"):
            yield f"note: {size(count)} were not served: there was no room for them"
        if count := self._total("pinned_pages"):
            yield f"note: {size(count * PAGE)} had to stay local: they are locked, or cannot be read"
        if stalled := self._total("stalled_ns"):
            yield f"warning: the program stood still for {time(stalled * 1e3)} as its records could not be read in time"
        if lost := self._total("lost_records"):
            yield f"warning: {lost:,} records were lost"
        if self.threads == 1 and not self.one_core:
            yield "note: one thread fetched; with --one-core its fetches take less of the instrument's time"
        if not self.awake and not self.one_core:
            yield (
                "note: idle cores were not kept from sleeping (/dev/cpu_dma_latency is not yours): fetches take longer "
                "than they need"
            )
        if self.ended:
            what = "process was" if self.ended == 1 else "processes were"
            yield f"note: {self.ended} {what} left when the program ended, and ended then"

    def _programs(self) -> str:
        """Whose memory was served; a script may have started many processes beside, which had none to serve."""
        had = [each for each in self.processes if each["first_accesses"] or each["fetches"]] or self.processes[:1]
        names = ", ".join(dict.fromkeys(str(process["name"]) for process in had))
        many = f", {len(had)} processes" if len(had) > 1 else ""
        others = len(self.processes) - len(had)
        return names + many + (f" ({others} other{'s' * (others > 1)} had nothing to serve)" if others else "")

    def _total(self, counter: str) -> int:
        return sum(process[counter] for process in self.processes)


def size(count: float) -> str:
    """Bytes as people write them."""
    for unit, factor in (("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)):
        if count >= factor:
            return f"{count / factor:.4g} {unit}"
    return f"{count:g} B"


def micro(count: float) -> str:
    """Microseconds as people write them."""
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
            {"process": each.ordinal, "pid": each.pid, "name": each.name, **_told(each.counts)}
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
        failures=[told(each) for each in run.unserved.failures],
        other_users=run.unserved.other_users,
        not_heard=run.unserved.not_heard,
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
"""What summary.json calls the counters of a process: pages accessed for the first time, fetched, sent away, dropped
as the remote content was still right, mapped again before they became remote (policy lru), written for the first
time after they had been fetched to be read; the most pages at a time, and those that had to stay local; the
handler's processor time; calls for memory; what was not served; waiting for the reader of records, and records lost."""


def _told(counts: dict[Word, int]) -> dict[str, int]:
    return {name: counts[word] for word, name in COUNTERS.items()}


def distributions(trace: Path) -> tuple[dict[str, float], dict[str, float], float, float, int]:
    """Of a trace's fetches: gaps in us, sizes of batches, the instrument's mean time and all waiting in ns, threads."""
    import duckdb

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
    with duckdb.connect() as connection:
        connection.execute(f"SET enable_progress_bar = false; SET memory_limit = '{MEMORY_LIMIT}'")
        connection.execute("SET temp_directory = $1", [str(scratch)])
        gaps, gap, sizes, mean, largest, software, waited, threads = connection.execute(query, [str(trace)]).fetchall()[
            0
        ]
    if gap is None:
        return {}, {}, float(software or 0), float(waited or 0), threads
    names = [str(q) for q in QUANTILES]
    of_gaps = dict(zip(names, (value / 1e3 for value in gaps), strict=True)) | {"mean": gap / 1e3}
    of_batches = dict(zip(names, map(float, sizes), strict=True)) | {"mean": float(mean), "largest": float(largest)}
    return of_gaps, of_batches, float(software), float(waited), threads
