"""`incast import`."""

from __future__ import annotations

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
    config: Path | None = None,
    output: Annotated[Path, Parameter(name=["--output", "-o"])],
) -> None:
    """Make a scenario from the files of an ns-3 RDMA simulation (those of the HPCC evaluation and its descendants).

    Parameters
    ----------
    topology
        Topology file: nodes, switches, links.
    flows
        Flow file: who sends what to whom, and when.
    config
        Configuration file; without it the scheme and the buffers are incast's defaults.
    output
        Scenario to write; the topology and flow files are referred to where they lie.

    """
    with translated():
        notes = _core.import_ns3(topology, flows, config, output)
    if notes:
        print(notes.rstrip("\n"))
    print(f"wrote {output}; try: incast run {output}")
