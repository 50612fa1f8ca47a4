"""`incast plot`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter
from cyclopts.validators import Number

EXAMPLES = """
Examples:
  incast plot results/quickstart -o slowdown.pdf --label background
  incast plot results/quickstart cdf-fct -o fct.svg
  incast plot results/mine queues -o queues.png --ports 2
  incast plot results/tenants vms -o vms.svg --vms 4
  incast plot sweeps/load slowdown -o high.pdf --where load=0.7 --where seed=1 --percentile p99
  incast plot sweeps/load over -o load.pdf --over load --figure slowdown_p99
"""
Name = Literal[
    "slowdown", "cdf-fct", "cdf-slowdown", "queues", "rates", "pauses", "closing", "vms", "guarantees", "over"
]
Percentile = Literal["p50", "p95", "p99"]
Figure = Literal[
    "slowdown_p50",
    "slowdown_p95",
    "slowdown_p99",
    "slowdown_mean",
    "completed_share",
    "paused_share",
    "marks",
    "drops",
    "peak_queue_bytes",
    "end_ps",
]
Repeated = Parameter(negative=(), consume_multiple=False)
AtLeastOne = Parameter(validator=Number(gte=1))
Inches = Parameter(validator=Number(gt=0, lte=100))


def plot(
    folder: Path,
    chart: Name = "slowdown",
    /,
    *,
    output: Annotated[Path | None, Parameter(name=["--output", "-o"])] = None,
    overwrite: Annotated[bool, Parameter(negative=(), show_default=False)] = False,
    where: Annotated[list[str] | None, Repeated] = None,
    label: str | None = None,
    bins: Annotated[int | None, AtLeastOne] = None,
    percentile: Annotated[list[Percentile] | None, Repeated] = None,
    ports: Annotated[int | None, AtLeastOne] = None,
    flows: Annotated[int | None, AtLeastOne] = None,
    vms: Annotated[int | None, AtLeastOne] = None,
    over: str | None = None,
    figure: Figure | None = None,
    width: Annotated[float | None, Inches] = None,
    height: Annotated[float | None, Inches] = None,
    title: str | None = None,
) -> None:
    """Draw a chart of results into a file for a paper: SVG, PDF or PNG. Needs the extra incast[plot].

    The same results give the same file. `incast report` has every chart on one page.

    Parameters
    ----------
    folder
        Results folder of a run, or folder of a sweep.
    chart
        What to draw: slowdown by flow size; cdf-fct and cdf-slowdown, distributions; queues and rates over time, for
        which the scenario needs measure.sample_every; pauses, when ports were paused; closing, how pauses spread until
        the first deadlock of a scheme closed; vms, what VMs of tenants received over time, and guarantees, what all of
        them got of what they were promised; over, a figure of every run of a sweep.
    output
        File to write; its ending, .svg, .pdf or .png, says how. CHART.svg if not given.
    overwrite
        Replace the file if it is there.
    where
        COLUMN=VALUE that chooses the scenario of a sweep; repeatable. With over, the runs that are taken.
    label
        Slowdowns and distributions of flows of this label only; all for those of all labels together. A panel for each
        label if not given.
    bins
        Bins of equally many flows, for slowdown; 20 if not given.
    percentile
        Percentile that is drawn, for slowdown; repeatable; all three if not given.
    ports
        How many ports are drawn: those with the longest queues (4 if not given), paused longest (20), or, for closing,
        paused first (24).
    flows
        How many flows' rates are drawn: those with the most samples (6 if not given).
    vms
        How many VMs' throughput is drawn: those that got least of their guarantee (8 if not given).
    over
        Column along the horizontal axis, for over; the first that varies if not given.
    figure
        What is drawn of every run, for over; slowdown_p99 if not given.
    width
        Inches; each chart has its own if not given.
    height
        Inches.
    title
        Text above the panels; an empty one for none. The title of the scenario or sweep if not given.

    """
    from incast.cli import drawing

    asked = drawing.Asked(
        chart, where or [], label, bins, percentile or [], ports, flows, vms, over, figure, width, height, title
    )
    print(f"wrote {drawing.write(folder, asked, output or Path(f'{chart}.svg'), overwrite=overwrite)}")
