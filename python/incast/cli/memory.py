"""`incast memory`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import App, Parameter

from incast.cli import codes
from incast.cli.memory_inject import EXAMPLES as INJECT_EXAMPLES
from incast.cli.memory_inject import inject
from incast.cli.memory_options import Command, Flag, Local, OneCore, Only, Policy, Threshold, needed
from incast.cli.memory_traffic import EXAMPLES as TRAFFIC_EXAMPLES
from incast.cli.memory_traffic import traffic
from incast.cli.phases import Phases
from incast.memory import Instrument, amounts
from incast.memory import record as recorded

RECORD_EXAMPLES = """
Examples:
  incast memory record -- python3 -c 'x = list(range(2_000_000)); print(sum(x))'
  incast memory record --local 25% --plain -o results/sort -- sort -S 64M numbers.txt
  incast memory record --local 64MiB --policy lru --only memcached -- ./serve.sh
"""
RECORD_EPILOGUE = f"""{RECORD_EXAMPLES}
The folder gets trace.parquet, a row for each page fetched or sent away, and
summary.json. The exit code is the program's own, or 3 if it could not be
instrumented.
"""
EXAMPLES = f"{RECORD_EXAMPLES.rstrip()}\n{INJECT_EXAMPLES.partition('Examples:')[2].lstrip(chr(10))}"

app = App(
    name="memory",
    sort_key=4.8,
    help="Run real programs with part of their memory remote: record what they fetch, and delay it by simulated times.",
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
    """Run a program with part of its memory remote, and record the pages that it fetches.

    Its large anonymous memory is served by userfaultfd, in pages of 4 KiB. Those beyond the local share are kept in a
    store that stands for another host's memory, and fetched when they are accessed. The program is not changed: what
    it reads, prints and ends with is its own. Processes that it starts are recorded as well.

    Parameters
    ----------
    command
        The program and its arguments, after --.
    plain
        Run the program without the instrument first, three times, and keep what that takes in the median: its own
        time, from which traffic is made. Its input is empty in all runs, and only the recorded one prints.
    output
        Folder for the recording; results/NAME-memory for a program NAME if not given.
    overwrite
        Replace the recording if it is there.
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
