"""`incast memory traffic`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter
from cyclopts.validators import Number

from incast.cli import codes
from incast.cli.memory_options import Flag
from incast.cli.phases import Phases
from incast.memory.traffic import DURATION, NODES, SAMPLES, write_traffic

FULL = 1.0
"""From which offered load on a link is overloaded."""
EXAMPLES = """
Examples:
  incast memory traffic results/sort-memory -o results/sort-traffic
  incast run results/sort-traffic/scenario.toml -o results/sort-network
  incast memory inject --latency results/sort-network -- sort -S 64M numbers.txt

  incast memory traffic results/sort-memory results/rank-memory --nodes 64 --scale rack -o both
"""


def traffic(
    *recordings: Annotated[Path, Parameter(name="RECORDING")],
    nodes: Annotated[int, Parameter(validator=Number(gte=16))] = NODES,
    scale: Literal["datacenter", "rack"] = "datacenter",
    samples: Annotated[int, Parameter(validator=Number(gte=1, lte=1000))] = SAMPLES,
    duration: str = DURATION,
    clock: Literal["own", "less-waits", "wall"] | None = None,
    fetch: str = "0",
    output: Annotated[Path | None, Parameter(name=["--output", "-o"])] = None,
    overwrite: Flag = False,
) -> None:
    """Turn recordings into traffic: a scenario in which such programs fill a datacenter, as in the study of Gao et al.

    A system has 5 CPU, 5 memory and 3 disk blades; each CPU blade runs a recorded program, with its pages on all
    five memory blades. Systems fill the fabric. Gaps between the flows of each pair of blades are drawn from those
    recorded, three times over as a host stands for three units. Disks are silent: nothing was recorded of them.

    Parameters
    ----------
    recordings
        Folders that incast memory record has written; CPU blades run them in turns.
    nodes
        Hosts of the fabric, in racks of 16.
    scale
        datacenter: the blades of a system are anywhere. rack: they are in one rack.
    samples
        How often each pair of blades is drawn.
    duration
        How long flows start.
    clock
        own: the program's own time, as if its fetches and the instrument cost nothing; its recording needs a plain run
        (record --plain), and has this clock then if nothing is said. less-waits: a thread's time stands still while it
        waits for a page, and what else the instrument costs stays; for other recordings. wall: as it was recorded.
    fetch
        How long each fetch takes on that clock, such as 2.9us; nothing if not given, as on an infinitely fast network.
    output
        Folder for the scenario and its flows; results/NAME-traffic for the first recording NAME if not given.
    overwrite
        Replace it if it is there.

    """
    output = (
        output or Path("results") / f"{recordings[0].name.removesuffix('-memory') if recordings else 'memory'}-traffic"
    )
    with Phases() as phases:
        made = write_traffic(
            recordings,
            output,
            nodes=nodes,
            scale=scale,
            samples=samples,
            duration=duration,
            clock=clock,
            fetch=fetch,
            overwrite=overwrite,
            progress=phases.update,
        )
    print(
        f"{made.flows:,} flows of a system over {made.seconds:.3f} s (clock: {made.clock}), {made.fetches_per_s:,.0f} "
        f"fetches a second of a CPU blade in the mean\noffered load: {made.load:.3g} of the link of a CPU blade's "
        f"host, {samples} samples of each pair together\nwritten to {made.path}; next: incast run {made.scenario}"
    )
    if made.load >= FULL:
        codes.complain(
            f"warning: a host's link cannot carry {made.load:.3g} of its rate: queues grow for as long as flows start, "
            "and latencies with --duration. A program waits for its pages and fetches less: --fetch says how long each "
            "takes"
        )
    if made.clock == "less-waits":
        codes.complain(
            "note: what the instrument costs beside waiting is in these times, so the load is lower than the program's "
            "own; record with --plain for --clock own"
        )
