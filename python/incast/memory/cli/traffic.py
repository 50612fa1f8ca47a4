"""`incast memory traffic`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

from incast._echo import shell
from incast.cli import codes
from incast.cli.command import whole
from incast.cli.phases import Phases
from incast.memory.cli.options import Flag
from incast.memory.traffic import DURATION, NODES, SAMPLES, write_traffic

FULL = 1.0
"""Offered load from which on a link is overloaded."""
EXAMPLES = """
Examples:
  incast memory traffic results/sort-memory -o results/sort-traffic
  incast run results/sort-traffic/scenario.toml -o results/sort-network
  incast memory inject --latency results/sort-network -- sort -S 64M numbers.txt

  incast memory traffic results/sort-memory results/rank-memory --nodes 64 --scale rack -o both
"""


def traffic(
    *recordings: Annotated[Path, Parameter(name="RECORDING")],
    nodes: Annotated[int, whole(16)] = NODES,
    scale: Literal["datacenter", "rack"] = "datacenter",
    samples: Annotated[int, whole(1, 1000)] = SAMPLES,
    duration: str = DURATION,
    clock: Literal["own", "less-waits", "wall"] | None = None,
    fetch: str = "0",
    output: Annotated[Path | None, Parameter(name=["--output", "-o"])] = None,
    overwrite: Flag = False,
) -> None:
    """Turn recordings into a scenario in which such programs fill a datacenter, as in the study of Gao et al.

    A system has 5 CPU, 5 memory and 3 disk blades. Each CPU blade runs a recorded program with its pages spread over
    all five memory blades. Systems fill the fabric. Gaps between the flows of a pair of blades are drawn from the
    recorded gaps, three times, as a host stands for three units. Disks send nothing: recordings have no disk traffic.

    Parameters
    ----------
    recordings
        Folders written by incast memory record; CPU blades run them in turn.
    nodes
        Hosts of the fabric, in racks of 16.
    scale
        datacenter: the blades of a system are anywhere. rack: they are in one rack.
    samples
        Draws for each pair of blades.
    duration
        Time during which flows start.
    clock
        own: the program's own time, without fetches and instrumentation; needs a recording made with --plain, and is
        the default for it. less-waits: recorded time without waits for pages, with the other overhead of
        instrumentation; default for other recordings. wall: recorded time.
    fetch
        Duration of each fetch on that clock, such as 2.9us. Default: 0, as on an infinitely fast network.
    output
        Folder for the scenario and its flows. Default: results/NAME-traffic for the first recording NAME.
    overwrite
        Replace an existing folder.

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
    codes.say(
        f"{made.flows:,} flows per system in {made.seconds:.3f} s (clock: {made.clock}); mean rate of a CPU blade: "
        f"{made.fetches_per_s:,.0f} fetches/s\noffered load: {made.load:.3g} of the link of a CPU blade's host, with "
        f"{samples} samples of each pair\nwrote {made.path}; next: incast run {shell(made.scenario)}"
    )
    if made.load >= FULL:
        codes.complain(
            f"warning: the offered load is {made.load:.3g} of a host's link rate: queues and latencies grow until "
            "--duration. A real program waits for its pages and fetches less; set the duration of a fetch with --fetch"
        )
    if made.clock == "less-waits":
        codes.complain(
            "note: these times include overhead of instrumentation, so the load is lower than the program's own; "
            "record with --plain to use --clock own"
        )
