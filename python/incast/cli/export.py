"""`incast export`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Literal

from cyclopts import App, Parameter

from incast import _core
from incast._whole import refuse_if_there, write_whole
from incast.cli import codes, sonic
from incast.cli.command import Overrides, Overwrite
from incast.errors import translated

DOT_EXAMPLES = """
Examples:
  incast export dot scenarios/quickstart.toml -o fabric.dot
  dot -Tsvg fabric.dot -o fabric.svg
"""
NS3_EXAMPLES = """
Examples:
  incast export ns3 scenarios/quickstart.toml -o topology.txt
"""
QLEN_EXAMPLES = """
Examples:
  incast export qlen results/imported --scheme HPCC -o qlen.txt
"""
EXAMPLES = (
    DOT_EXAMPLES.rstrip()
    + "".join(
        examples.partition("Examples:")[2].rstrip() for examples in (NS3_EXAMPLES, QLEN_EXAMPLES, sonic.EXPORT_EXAMPLES)
    )
    + "\n"
)
SHOWN = 5
"""Notices that are printed one by one."""

Output = Annotated[Path, Parameter(name=["--output", "-o"])]

app = App(
    name="export",
    sort_key=6,
    help="Export fabric or switch settings of a scenario, or queue lengths of results, to another program's format.",
    help_format="plaintext",
    help_epilogue=EXAMPLES,
)


app.command(sonic.sonic_buffers, help_epilogue=sonic.EXPORT_EXAMPLES)


@app.command(help_epilogue=DOT_EXAMPLES)
def dot(file: Path, /, *, output: Output, set_: Overrides = None, overwrite: Overwrite = False) -> None:
    """Export the fabric as a Graphviz graph: one rank for each tier, links with their rates.

    Parameters
    ----------
    file
        Scenario, a TOML file.
    output
        File to write.
    overwrite
        Replace an existing file.

    """
    write("dot", file, output, set_, overwrite)


@app.command(help_epilogue=NS3_EXAMPLES)
def ns3(file: Path, /, *, output: Output, set_: Overrides = None, overwrite: Overwrite = False) -> None:
    """Export the fabric as a topology file for ns-3 RDMA simulations (HPCC authors' ns-3 and its descendants).

    Nodes keep their numbers and lose their names. A note reports where ns-3 behaves differently (parallel links).

    Parameters
    ----------
    file
        Scenario, a TOML file.
    output
        File to write.
    overwrite
        Replace an existing file.

    """
    write("ns3", file, output, set_, overwrite)


@app.command(help_epilogue=QLEN_EXAMPLES)
def qlen(
    folder: Path,
    /,
    *,
    output: Output,
    scheme: str | None = None,
    every: str = "100ms",
    overwrite: Overwrite = False,
) -> None:
    """Export sampled queue lengths in the format of ns-3's queue monitor (QLEN_MON_FILE of the HPCC authors' ns-3).

    A block has a line `time: NANOSECONDS`, then `node interface c0 c1 ...` for each switch port. ck is the number of
    samples so far with a queue of k kB, rounded down. ns-3 samples every 100 ns: measure.sample_every = "100ns".

    Parameters
    ----------
    folder
        Results folder of a run with measure.sample_every.
    output
        File to write.
    scheme
        Scheme to export; required if the results have several.
    every
        Blocks are at multiples of this time, and at the last sample. Default: that of ns-3.
    overwrite
        Replace an existing file.

    """
    from incast._quantity import picoseconds
    from incast.comparison import match, queues
    from incast.errors import ResultsError
    from incast.results import open_results

    refuse_if_there(output, overwrite=overwrite)
    interval = picoseconds(every)
    if not interval:
        raise ResultsError(f"--every is `{every}`; allowed: a time above 0 with its unit, such as 100ms")
    results = open_results(folder)
    chosen = match.chosen(results, scheme)
    when = queues.sampling(results, chosen)
    times = queues.block_times(when, interval)
    lines = "".join(queues.written(queues.lengths(results, chosen, when, times)))
    write_whole(output, lines.encode("ascii"), overwrite=overwrite)
    codes.say(f"wrote {output}")


def write(form: Literal["dot", "ns3"], file: Path, output: Path, overrides: Overrides, overwrite: bool) -> None:
    """Write the fabric in a format, and print the notes about it."""
    refuse_if_there(output, overwrite=overwrite)
    with translated():
        notices = _core.Scenario.load(file, overrides or []).write_fabric(form, output, overwrite).splitlines()
    for notice in notices[:SHOWN]:
        codes.tell(notice)
    if len(notices) > SHOWN:
        print(f"and {len(notices) - SHOWN} more like these", file=sys.stderr)
    codes.say(f"wrote {output}")
