"""`incast application`."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, Literal, cast

from cyclopts import Parameter

from incast.application.cli import rows
from incast.application.latencies import PER_SECOND, Unit
from incast.application.replay import MOST_REPETITIONS
from incast.cli.command import SEED, command, whole
from incast.errors import ApplicationError

EXAMPLES = """
Examples:
  incast application --list
  incast application results/wordcount
  incast application results/wordcount --application wordcount --overhead 1us
  incast application results/wordcount --calibration osdi16_requirement
  incast application results/wordcount --trace faults.csv --repetitions 1000

A trace has a row for each wait of a thread:
  thread,fetches,compute_us
  0,1,38.5
  1,4,112
The column time_us (time of the fault) may replace compute_us. A column stage
is needed if threads wait for each other. --seed and --repetitions apply to
the replay of a trace.

A result is only as good as its fault rate. Each line names the evidence:
fitted to a published figure (agreement with that figure proves nothing),
assumed, or prediction.
"""


def application(
    folder: Path | None = None,
    /,
    *,
    calibration: str | None = None,
    application: Annotated[list[str] | None, Parameter(negative=(), consume_multiple=False)] = None,
    trace: Path | None = None,
    overhead: str = "0ns",
    scheme: str | None = None,
    seed: Annotated[int | None, whole(0, SEED)] = None,
    repetitions: Annotated[int | None, whole(2, MOST_REPETITIONS)] = None,
    format: Literal["text", "csv", "json"] = "text",  # noqa: A002 - the name of the option
    list_: Annotated[bool, Parameter(name="--list", negative=(), show_default=False)] = False,
) -> None:
    """Estimate the slowdown of applications with remote memory on the simulated network.

    Each remote access takes as long as a memory flow: a flow labelled memory or *-memory. Other flows do not delay the
    application. The rate of accesses comes from a calibration or from a trace of page faults.

    Parameters
    ----------
    folder
        Results folder, as written by incast run.
    calibration
        Set of applications; --list shows all. Default: seed_draft.
    application
        Application of the calibration; repeatable. Default: all.
    trace
        Trace of page faults (CSV or Parquet) to replay in place of a calibration. Needs the extra incast[application].
    overhead
        Software overhead of each access, such as 1.5us.
    scheme
        Scheme. Default: all.
    seed
        Seed of the latencies drawn in a replay. Default: 1.
    repetitions
        Number of replays, at most 1,000,000. Default: 100.
    format
        Output format.
    list_
        List the calibrations, the source of each rate, and contradictions between them.

    """
    if list_:
        rows.show_calibrations(calibration, format)
        return
    if folder is None:
        raise ApplicationError("missing results folder; example: incast application results/mine, or use --list")
    asked = rows.Asked(calibration, application, trace, seconds(overhead), scheme, seed, repetitions)
    rows.show(rows.found(folder, asked), asked, format)


def seconds(text: str) -> float:
    """A time as scenarios write it, in seconds."""
    written = re.fullmatch(r"([0-9]+\.?[0-9]*|\.[0-9]+)(s|ms|us|ns|ps)", text)
    if written is None:
        raise ApplicationError(
            f"error: --overhead cannot be `{text}`\n = allowed: a time of 0 or more, such as 200ns or 1.5us"
        )
    return float(written[1]) / PER_SECOND[cast(Unit, written[2])]


app = command("application", application, EXAMPLES)
