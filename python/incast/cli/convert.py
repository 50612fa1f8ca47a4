"""`incast import`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

from cyclopts import App, Parameter

from incast import _core
from incast.errors import translated

EXAMPLES = """
Examples:
  incast import ns3 --topology fat.txt --flows flow.txt -o mine.toml
  incast run mine.toml
"""


app = App(
    name="import",
    sort_key=5,
    help="Make a scenario from the files of another simulator.",
    help_format="plaintext",
    help_epilogue=EXAMPLES,
)


@app.command(help_epilogue=EXAMPLES)
def ns3(
    *,
    topology: Path,
    flows: Path,
    config: Annotated[list[Path] | None, Parameter(negative=(), consume_multiple=False)] = None,
    output: Annotated[Path, Parameter(name=["--output", "-o"])],
    overwrite: Annotated[bool, Parameter(negative=(), show_default=False)] = False,
) -> None:
    """Make a scenario from the files of an ns-3 RDMA simulation (those of the HPCC evaluation and its descendants).

    Parameters
    ----------
    topology
        Topology file: nodes, switches, links.
    flows
        Flow file: who sends what to whom, and when.
    config
        Configuration file; repeatable, each becomes a scheme. Without one HPCC and DCQCN are compared, under that
        simulator's usual parameters.
    output
        Scenario to write; the topology and flow files are read where they lie.
    overwrite
        Replace the scenario if it is there.

    """
    with translated():
        notices = _core.import_ns3(topology, flows, config or [], output, overwrite)
    if notices:
        print(notices, file=sys.stderr)
    print(f"wrote {output}; try: incast run {output}")
