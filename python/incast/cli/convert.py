"""`incast import`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import App, Parameter

from incast import _core
from incast._echo import shell
from incast.cli import codes, ns3_files, sonic
from incast.errors import translated

NS3_EXAMPLES = """
Examples:
  incast import ns3 --topology fat.txt --flows flow.txt -o mine.toml
  incast run mine.toml
"""
EXAMPLES = NS3_EXAMPLES.rstrip() + sonic.IMPORT_EXAMPLES.partition("Examples:")[2]

app = App(
    name="import",
    sort_key=5,
    help="Convert another simulator's files, or the configuration of a SONiC switch, to a scenario or its sections.",
    help_format="plaintext",
    help_epilogue=EXAMPLES,
)


app.command(sonic.read, name="sonic", help_epilogue=sonic.IMPORT_EXAMPLES)


@app.command(help_epilogue=NS3_EXAMPLES)
def ns3(
    *,
    topology: Path,
    flows: Path,
    config: Annotated[list[Path] | None, Parameter(negative=(), consume_multiple=False)] = None,
    output: Annotated[Path, Parameter(name=["--output", "-o"])],
    overwrite: Annotated[bool, Parameter(negative=(), show_default=False)] = False,
) -> None:
    """Convert the files of an ns-3 RDMA simulation (HPCC authors' ns-3 and its descendants) to a scenario.

    Parameters
    ----------
    topology
        Topology file: nodes, switches, links.
    flows
        Flow file: source, destination, size and start of each flow.
    config
        Configuration file; repeatable, one scheme per file. Default: HPCC and DCQCN with that simulator's usual
        parameters.
    output
        Scenario to write. It refers to the topology and flow files, which must stay where they are.
    overwrite
        Replace an existing scenario.

    """
    configs = config or []
    ns3_files.check((topology, flows, *configs), output)
    with ns3_files.with_lines(configs), translated():
        notices = _core.import_ns3(topology, flows, configs, output, overwrite)
    if notices:
        codes.tell(notices)
    codes.say(f"wrote {output}; try: incast run {shell(output)}")
