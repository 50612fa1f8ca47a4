"""`incast application`."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, Literal, cast

from cyclopts import Parameter
from cyclopts.validators import Number

from incast.application.latencies import PER_SECOND, Unit
from incast.cli import applications
from incast.cli.command import command
from incast.errors import ApplicationError

EXAMPLES = """
Examples:
  incast application --list
  incast application results/wordcount
  incast application results/wordcount --application wordcount --overhead 1us
  incast application results/wordcount --calibration osdi16_requirement
  incast application results/wordcount --trace faults.csv --repetitions 1000

A trace has a row for each time that a thread waits:
  thread,fetches,compute_us
  0,1,38.5
  1,4,112
with times of the faults, time_us, in place of compute if you have these, and
a column stage if threads wait for each other. --seed and --repetitions are of
its replay.

What it says is worth as much as its rate of faults, and each line says what
that is: fitted to a published figure, so that agreement with it is no
evidence; assumed; or a prediction.
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
    seed: Annotated[int | None, Parameter(validator=Number(gte=0))] = None,
    repetitions: Annotated[int | None, Parameter(validator=Number(gte=2))] = None,
    format: Literal["text", "csv", "json"] = "text",  # noqa: A002 - the name of the option
    list_: Annotated[bool, Parameter(name="--list", negative=(), show_default=False)] = False,
) -> None:
    """Say what applications lose whose memory is reached over the network that was simulated.

    Each access to remote memory takes as long as a memory flow: one with the label memory, or one that ends in -memory.
    Disk and network flows delay nothing. How often an application waits for one is a calibration, or a trace of page
    faults.

    Parameters
    ----------
    folder
        Results folder, as written by incast run.
    calibration
        Set of applications; seed_draft if not given. --list names them all.
    application
        Application of the calibration; repeatable; all if not given.
    trace
        Trace of page faults, a CSV or Parquet file, to be replayed in place of a calibration. Needs the extra
        incast[numpy].
    overhead
        Software overhead of each access, such as 1.5us.
    scheme
        Scheme; all if not given.
    seed
        Seed of the latencies that a replay draws; 1 if not given.
    repetitions
        How often the trace is replayed; 100 if not given.
    format
        text to read, csv or json for programs.
    list_
        Say which calibrations there are, with what every rate was fitted to, and which contradict each other.

    """
    if list_:
        applications.show_calibrations(calibration, format)
        return
    if folder is None:
        raise ApplicationError("a results folder is needed, such as: incast application results/mine; or --list")
    asked = applications.Asked(calibration, application, trace, seconds(overhead), scheme, seed, repetitions)
    applications.show(applications.found(folder, asked), asked, format)


def seconds(text: str) -> float:
    """A time as scenarios write it, in seconds."""
    written = re.fullmatch(r"([0-9]+\.?[0-9]*|\.[0-9]+)(s|ms|us|ns|ps)", text)
    if written is None:
        raise ApplicationError(
            f"error: `{text}` is not possible for --overhead\n = allowed: a time of 0 or more, such as 200ns or 1.5us"
        )
    return float(written[1]) / PER_SECOND[cast(Unit, written[2])]


app = command("application", application, EXAMPLES)
