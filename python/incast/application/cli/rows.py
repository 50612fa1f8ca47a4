"""Finds and prints the rows of `incast application`."""

from __future__ import annotations

import csv
import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, Literal

from incast.application.calibration import EVIDENCE, USUAL, conflict, find
from incast.application.calibration import calibrations as shipped
from incast.application.models import ClosedLoop
from incast.application.replay import REPETITIONS, SEED
from incast.application.slowdown import ApplicationSlowdown, application_slowdown, trace_slowdown
from incast.application.table import COLUMNS, calibration_rows
from incast.charts.look import time
from incast.cli import codes
from incast.cli.listing import wrapped
from incast.cli.stages import Stages
from incast.errors import ApplicationError

Format = Literal["text", "csv", "json"]


@dataclass(frozen=True)
class Asked:
    """The options of `incast application`."""

    calibration: str | None
    applications: Sequence[str] | None
    trace: Path | None
    overhead_s: float
    scheme: str | None
    seed: int | None
    repetitions: int | None

    @property
    def replay(self) -> tuple[int, int]:
        """Seed and number of replays."""
        return (
            SEED if self.seed is None else self.seed,
            REPETITIONS if self.repetitions is None else self.repetitions,
        )

    def check(self) -> None:
        """Raise if an option has no effect."""
        of_calibration = {"--calibration": self.calibration, "--application": self.applications}
        of_replay = {"--seed": self.seed, "--repetitions": self.repetitions}
        for option, value in (of_calibration if self.trace else of_replay).items():
            if value is not None:
                why = "cannot be used together with --trace" if self.trace else "needs --trace"
                raise ApplicationError(f"{option} {why}")


def found(folder: Path, asked: Asked) -> list[ApplicationSlowdown]:
    """The requested rows."""
    asked.check()
    if asked.trace is None:
        calibration = asked.calibration or USUAL
        return application_slowdown(folder, calibration, asked.applications, asked.overhead_s, asked.scheme)
    with Stages() as stages:
        return trace_slowdown(folder, asked.trace, asked.overhead_s, *asked.replay, asked.scheme, stages.update)


def show(rows: list[ApplicationSlowdown], asked: Asked, form: Format) -> None:
    """Print rows, and their warnings on stderr."""
    for warning in dict.fromkeys(row.warning for row in rows if row.warning):
        codes.complain(f"warning: {warning}")
    if form == "csv":
        out = csv.writer(sys.stdout, lineterminator="\n")
        out.writerow(field.name for field in fields(ApplicationSlowdown))
        out.writerows(_flat(row).values() for row in rows)
    elif form == "json":
        print(json.dumps([asdict(row) for row in rows], indent=2))
    else:
        codes.say("\n".join(lines(rows, asked)))


def lines(rows: list[ApplicationSlowdown], asked: Asked) -> Iterator[str]:
    """The rows as text, with their calibration and evidence."""
    if asked.trace is None:
        calibration = find(asked.calibration or USUAL)
        yield from wrapped(f"calibration {calibration.name}: {calibration.about}", 0)
        yield from wrapped(f"source: {calibration.source}", 4)
    else:
        yield "trace {0}, {2} replays with seed {1}".format(asked.trace, *asked.replay)
    yield ""
    table = [["application", "scheme", "faults/s", "mean fetch", "slowdown", "throughput", "evidence"]]
    table += [_cells(row) for row in rows]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    for cells in table:
        padded = zip(cells, widths, range(len(cells)), strict=True)
        yield "  ".join(cell.rjust(width) if 2 <= at <= 5 else cell.ljust(width) for cell, width, at in padded).rstrip()
    yield ""
    flows = ", ".join(dict.fromkeys(label for row in rows for label in row.labels))
    overhead = f" plus {time(asked.overhead_s * 1e12)} of software" if asked.overhead_s else ""
    yield from wrapped(
        "slowdown = run time / run time on an infinitely fast network - 1; a remote access takes as long as a flow "
        f"labelled {flows}{overhead}",
        0,
    )
    for kind in dict.fromkeys(row.evidence for row in rows):
        yield from wrapped(f"{kind}: {EVIDENCE[kind]}", 0)
        bases = {row.application: row.basis for row in rows if row.evidence == kind and row.basis}
        for name, basis in bases.items():
            yield from wrapped(f"{name}: {basis}", 4)
    if asked.trace is None:
        yield ""
        yield from wrapped(conflict(), 0)


def _cells(row: ApplicationSlowdown) -> list[str]:
    error = "" if row.standard_error is None else f" +- {100 * row.standard_error:.2g}"
    loss = "" if row.throughput_loss is None else f"-{100 * row.throughput_loss:.2f} %"
    return [
        row.application,
        row.scheme or "",
        f"{row.exposed_faults_per_s:,.0f}",
        time(row.latency_mean_s * 1e12),
        f"{100 * row.slowdown:.2f}{error} %",
        loss,
        row.evidence,
    ]


def _flat(row: ApplicationSlowdown) -> dict[str, Any]:
    return {**asdict(row), "labels": " ".join(row.labels)}


def show_calibrations(name: str | None, form: Format) -> None:
    """Print the calibrations, or one of them."""
    chosen = shipped() if name is None else {name: find(name)}
    rows = [row for each in chosen.values() for row in calibration_rows(each)]
    if form == "csv":
        out = csv.DictWriter(sys.stdout, list(COLUMNS), lineterminator="\n")
        out.writeheader()
        out.writerows(rows)
        return
    if form == "json":
        print(json.dumps(rows, indent=2))
        return
    for each in chosen.values():
        print(each.name)
        print("\n".join([*wrapped(each.about, 4), *wrapped(f"source: {each.source}", 4)]))
        for one in each.applications:
            worth = f"fitted to {one.fitted_to}" if one.fitted_to else f"assumed: {one.assumed}"
            rate = f"{one.model.exposed_faults_per_s:,.0f} exposed faults per second of compute"
            if isinstance(one.model, ClosedLoop):
                store = one.model
                rate += f": {store.faults_per_operation:g} per operation of {time(store.service_s * 1e12)}"
            print(
                "\n".join([f"\n    {one.name}: {one.about}", *wrapped(f"{rate}; {worth}", 8), *wrapped(one.source, 8)])
            )
        print()
    print("\n".join(wrapped(conflict(), 0)))
