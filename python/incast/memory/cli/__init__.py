"""`incast memory`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import App, Parameter

from incast.cli import codes
from incast.cli.phases import Phases
from incast.memory import Instrument, amounts
from incast.memory import record as recorded
from incast.memory.cli.inject import EXAMPLES as INJECT_EXAMPLES
from incast.memory.cli.inject import inject
from incast.memory.cli.options import Command, Flag, Local, OneCore, Only, Policy, Threshold, needed
from incast.memory.cli.traffic import EXAMPLES as TRAFFIC_EXAMPLES
from incast.memory.cli.traffic import traffic

RECORD_EXAMPLES = """
Examples:
  incast memory record -- python3 -c 'x = list(range(2_000_000)); print(sum(x))'
  incast memory record --local 25% --plain -o results/sort -- sort -S 64M numbers.txt
  incast memory record --local 64MiB --policy lru --only memcached -- ./serve.sh
"""
RECORD_EPILOGUE = f"""{RECORD_EXAMPLES}
Writes trace.parquet (one row per page fetched or evicted) and summary.json.
The exit code is the program's, or 3 if it could not be instrumented.
"""
EXAMPLES = f"{RECORD_EXAMPLES.rstrip()}\n{INJECT_EXAMPLES.partition('Examples:')[2].lstrip(chr(10))}"

app = App(
    name="memory",
    sort_key=4.8,
    help="Run real programs with part of their memory remote: record page fetches, or delay them by simulated times.",
    help_format="plaintext",
    help_epilogue=EXAMPLES,
)
app.command(inject, help_epilogue=INJECT_EXAMPLES)
app.command(traffic, help_epilogue=TRAFFIC_EXAMPLES)


@app.command(help_epilogue=RECORD_EPILOGUE, sort_key=0)
def record(
    *command: Command,
    local: Local = "25%",
    policy: Policy = "fifo",
    threshold: Threshold = "128KiB",
    one_core: OneCore = False,
    only: Only = None,
    plain: Flag = False,
    output: Annotated[Path | None, Parameter(name=["--output", "-o"])] = None,
    overwrite: Flag = False,
    quiet: Annotated[bool, Parameter(name=["--quiet", "-q"], negative=(), show_default=False)] = False,
) -> int:
    """Run a program with part of its memory remote, and record its page fetches.

    userfaultfd serves the program's large anonymous memory in pages of 4 KiB. A store stands for another host's memory:
    it holds the pages beyond the local share and returns them on access. The program's input, output and exit code stay
    the same. Child processes are recorded too.

    Parameters
    ----------
    command
        The program and its arguments, after --.
    plain
        First run the program three times without instrumentation and keep the median time, from which incast memory
        traffic computes the load. The input is empty in all runs; only the recorded run prints.
    output
        Folder for the recording. Default: results/NAME-memory for a program NAME.
    overwrite
        Replace an existing recording.
    quiet
        Do not print the summary.

    """
    needed(command)
    instrument = Instrument(
        amounts.local(local), policy, amounts.threshold(threshold), one_core=one_core, only=tuple(only or ())
    )
    output = output or Path("results") / f"{Path(command[0]).name}-memory"
    with Phases(quiet=quiet) as phases:
        found = recorded(command, output, instrument, overwrite=overwrite, plain=plain, progress=phases.update)
    if not quiet:
        for line in [*found.summary.lines(), f"written to {found.path}"]:
            codes.tell(line)
    return found.code
