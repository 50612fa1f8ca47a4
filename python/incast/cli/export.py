"""`incast export`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Literal

from cyclopts import App, Parameter

from incast import _core
from incast.cli import codes
from incast.cli.command import Overrides
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
EXAMPLES = f"{DOT_EXAMPLES.rstrip()}\n{NS3_EXAMPLES.partition('Examples:')[2].lstrip(chr(10))}"
SHOWN = 5
"""Notices that are printed one by one."""

Output = Annotated[Path, Parameter(name=["--output", "-o"])]
Overwrite = Annotated[bool, Parameter(negative=(), show_default=False)]

app = App(
    name="export",
    sort_key=6,
    help="Export the fabric of a scenario to another program's format.",
    help_format="plaintext",
    help_epilogue=EXAMPLES,
)


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


def write(form: Literal["dot", "ns3"], file: Path, output: Path, overrides: Overrides, overwrite: bool) -> None:
    """Write the fabric in a format, and print the notes about it."""
    with translated():
        notices = _core.Scenario.load(file, overrides or []).write_fabric(form, output, overwrite).splitlines()
    for notice in notices[:SHOWN]:
        codes.tell(notice)
    if len(notices) > SHOWN:
        print(f"and {len(notices) - SHOWN} more like these", file=sys.stderr)
    codes.say(f"wrote {output}")
