"""`incast memory inject`."""

from __future__ import annotations

import csv
import io
import json
import os
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

from cyclopts import Parameter
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from incast import _terminal
from incast._whole import refuse_if_there, write_whole
from incast.charts.look import time
from incast.cli import codes
from incast.cli.command import SEED, whole
from incast.cli.listing import wrapped
from incast.memory import amounts
from incast.memory.cli.options import Command, Flag, Local, OneCore, Only, Policy, Threshold, needed
from incast.memory.delays import parsed
from incast.memory.injection import CHECKED, REPETITIONS, Injection, Row, Timing
from incast.memory.injection import inject as injected
from incast.memory.run import Instrument

EXAMPLES = """
Examples:
  incast memory inject --latency 3us --latency 10us -- python3 -c 'print(sum(list(range(10**6))))'
  incast memory inject --latency 'exponential(3us)' --latency results/network -- sort big.txt
  incast memory inject --latency 5us --throughput '([0-9.]+) ops/s' --only memcached -- ./load.sh

Each fetch from remote memory waits for a time drawn from --latency. The
program also runs without delay, and without instrumentation.
"""
PRINTED = ("0.5", "0.99")
"""Quantiles of delays that are printed."""
SHARED = 0.1
"""Share of the cores used by other work above which a warning is printed (our choice)."""


def inject(
    *command: Command,
    latency: Annotated[list[str], Parameter(negative=(), consume_multiple=False)],
    scheme: str | None = None,
    label: Annotated[list[str] | None, Parameter(negative=(), consume_multiple=False)] = None,
    repetitions: Annotated[int, whole(1)] = REPETITIONS,
    throughput: str | None = None,
    plain: Annotated[bool, Parameter(negative="--no-plain")] = True,
    local: Local = "25%",
    policy: Policy = "fifo",
    threshold: Threshold = "128KiB",
    one_core: OneCore = False,
    only: Only = None,
    seed: Annotated[int, whole(0, SEED)] = 1,
    format: Literal["text", "csv", "json"] = "text",  # noqa: A002 - the name of the option
    output: Annotated[Path | None, Parameter(name=["--output", "-o"])] = None,
    overwrite: Flag = False,
    quiet: Annotated[bool, Parameter(name=["--quiet", "-q"], negative=(), show_default=False)] = False,
) -> None:
    """Run a program with delayed fetches from remote memory, and measure its slowdown.

    Each fetch is held back, by busy waiting, for a time drawn from the latencies. Fetches of several threads wait in
    parallel. The program's input is empty; its output is not shown.

    Parameters
    ----------
    command
        The program and its arguments, after --.
    latency
        Duration of a fetch: a time such as 3us; a results folder (completion times of its memory flows, for each
        scheme); a file with one latency per line; or uniform(1us,5us), exponential(3us), lognormal(3us,1.5).
        Repeatable.
    scheme
        Scheme of a results folder. Default: all.
    label
        Label of the memory flows in a results folder; repeatable. Default: all.
    repetitions
        Runs of each case, interleaved.
    throughput
        For servers: regular expression with one group that matches a number in the load generator's output, to be
        compared in place of run time.
    plain
        Also run the program without instrumentation, to measure the overhead.
    seed
        Seed of the drawn latencies; each repetition has another.
    format
        Output format.
    output
        CSV file for the figures of each run.
    overwrite
        Replace an existing file.
    quiet
        No progress.

    """
    needed(command)
    if output is not None:
        refuse_if_there(output, overwrite=overwrite)
    delays = [each for text in latency for each in parsed(text, scheme, label)]
    for each in delays:
        if each.note:
            codes.complain(f"warning: {each.note}")
    instrument = Instrument(
        amounts.local(local), policy, amounts.threshold(threshold), seed=seed, one_core=one_core, only=tuple(only or ())
    )
    with _Runs(quiet=quiet) as runs:
        found = injected(
            command,
            delays,
            instrument,
            repetitions=repetitions,
            plain=plain,
            figure=throughput,
            progress=runs.update,
        )
    if output is not None:
        write_whole(output, _csv(found).encode(), overwrite=overwrite)
    if format == "csv":
        sys.stdout.write(_csv(found))
    elif format == "json":
        print(json.dumps([_flat(row) for row in found.rows()], indent=2))
    else:
        print("\n".join(_lines(found)))


class _Runs:
    """Progress over runs, in a terminal."""

    def __init__(self, *, quiet: bool) -> None:
        console = _terminal.console(stderr=True)
        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TextColumn("runs"))
        times = (TimeElapsedColumn(), TextColumn("left"), TimeRemainingColumn())
        self._progress = Progress(
            *columns, *times, console=console, transient=True, disable=quiet or not console.is_terminal
        )
        self._task = self._progress.add_task("", total=None)

    def __enter__(self) -> _Runs:
        self._progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._progress.stop()

    def update(self, done: int, total: int, name: str) -> None:
        self._progress.update(self._task, completed=done, total=total, description=name)


def _lines(found: Injection) -> Iterator[str]:
    """The results as text."""
    rows = list(found.rows())
    servers = rows[0].figures is not None
    yield f"{' '.join(found.command)}"
    repetitions = len(rows[0].timings)
    how = f"local: {found.instrument.local}, {found.instrument.policy}"
    runs = "1 run" if repetitions == 1 else f"{repetitions} runs"
    yield f"{how}; {runs} of each case: median, shortest .. longest"
    yield ""
    head = [
        "",
        "throughput" if servers else "run time",
        "range",
        "slowdown",
        "own",
        "fetches",
        "asked",
        "achieved",
        "longer by",
        "delays",
    ]
    table = [head, *(_cells(row) for row in rows)]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    for cells in table:
        columns = zip(cells, widths, range(len(cells)), strict=True)
        yield "  ".join(cell.ljust(width) if at == 0 else cell.rjust(width) for cell, width, at in columns).rstrip()
    yield ""
    what = "throughput without delay / throughput with delay" if servers else "run time / run time without delay"
    yield from wrapped(
        f"slowdown = {what} - 1; asked, achieved: mean delay of a fetch; delays: sum of the delays of all threads", 0
    )
    if found.overhead is not None:
        yield from wrapped(
            f"instrumentation costs {100 * found.overhead:+.1f} % of the program's own time{_of_each(rows)}; slowdowns "
            "compare instrumented runs; own: the same delays relative to the program's own time",
            0,
        )
    yield ""
    yield from _checked(rows)
    if found.others_cores > SHARED * (cores := len(os.sched_getaffinity(0))):
        yield from wrapped(
            f"warning: other work used {found.others_cores:.2g} of the {cores} cores; on an idle machine, run times "
            "are shorter and vary less",
            0,
        )


def _of_each(rows: Sequence[Row]) -> str:
    """Overhead of instrumentation per fetch, and the part that serves the page."""
    plain, zero = rows[:2]
    fetches = zero.mean("fetches")
    if not fetches:
        return ""
    serving = time(zero.mean("software_s") / fetches * 1e12)
    longer = zero.seconds[0] - plain.seconds[0]
    if zero.figures or longer <= 0:
        return f", and {serving} to serve each of {fetches:,.0f} fetches"
    return f", {time(longer / fetches * 1e12)} for each of {fetches:,.0f} fetches ({serving} to serve the page)"


def _cells(row: Row) -> list[str]:
    middle, low, high = row.figures or row.seconds
    if row.figures is None:
        cells = [row.case.name, f"{middle:.3f} s", f"{low:.3f} .. {high:.3f}"]
    else:
        cells = [row.case.name, f"{middle:,.0f}", f"{low:,.0f} .. {high:,.0f}"]
    fetches = row.mean("fetches")
    if row.case.kind != "delayed":
        return [*cells, "", "", f"{fetches:,.0f}" if row.case.kind == "zero" else "", "", "", "", ""]
    own = "" if row.own is None else f"{100 * row.own:+.2f} %"
    cells += [f"{100 * row.slowdown:+.2f} %", own, f"{fetches:,.0f}"]
    each = [time(row.mean(name) / fetches * 1e12) if fetches else "" for name in ("asked_s", "achieved_s")]
    return [*cells, *each, f"{row.lengthened_s:+.3f} s", f"{row.mean('achieved_s'):.3f} s"]


def _checked(rows: list[Row]) -> Iterator[str]:
    """Compares the achieved delays with the requested ones."""
    for row in rows:
        delays, fetches = row.case.delays, row.mean("fetches")
        if row.case.kind != "delayed" or delays is None:
            continue
        if not fetches:
            yield f"{delays.name}: no fetches, so no delays"
            continue
        pairs = [
            f"p{100 * float(q):g} {time(row.asked_ns(q) * 1e3)} asked, {time(row.achieved_ns(q) * 1e3)} achieved"
            for q in PRINTED
        ]
        yield f"{delays.name}: " + "; ".join(pairs)
        if off := row.off():
            errors = ", ".join(
                f"{100 * share:+.1f} % " + ("in the mean" if name == "mean" else f"at p{100 * float(name):g}")
                for name, share in off.items()
            )
            yield from wrapped(f"warning: delays are off by {errors}: are the machine's cores busy with other work?", 4)


def _csv(found: Injection) -> str:
    rows = [_run(timing) for timing in found.timings]
    out = io.StringIO()
    writer = csv.DictWriter(out, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue()


def _run(timing: Timing) -> dict[str, Any]:
    asked = {f"asked_p{100 * float(q):g}_ns": timing.asked_ns.get(q) for q in CHECKED}
    achieved = {f"achieved_p{100 * float(q):g}_ns": timing.achieved_ns.get(q) for q in CHECKED}
    return {
        "case": timing.case.name,
        "kind": timing.case.kind,
        "repetition": timing.repetition,
        "seconds": timing.seconds,
        "throughput": timing.figure,
        "fetches": timing.fetches,
        "write_backs": timing.write_backs,
        "asked_s": timing.asked_s,
        "achieved_s": timing.achieved_s,
        **asked,
        **achieved,
        "software_s": timing.software_s,
        "others_cores": timing.others_cores,
    }


def _flat(row: Row) -> dict[str, Any]:
    middle, low, high = row.seconds
    return {
        "case": row.case.name,
        "kind": row.case.kind,
        "seconds": middle,
        "shortest_s": low,
        "longest_s": high,
        "throughput": row.figures[0] if row.figures else None,
        "slowdown": row.slowdown if row.case.kind == "delayed" else None,
        "own": row.own if row.case.kind == "delayed" else None,
        "fetches": row.mean("fetches"),
        "asked_s": row.mean("asked_s"),
        "achieved_s": row.mean("achieved_s"),
        "software_s": row.mean("software_s"),
    }
