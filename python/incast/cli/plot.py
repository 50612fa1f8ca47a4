"""`incast plot`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter
from cyclopts.validators import Number

from incast.charts.kinds import Kind
from incast.cli import codes
from incast.cli.command import command, whole

EXAMPLES = """
Examples:
  incast plot results/quickstart -o slowdown.pdf --label background
  incast plot results/quickstart cdf-fct -o fct.svg
  incast plot results/mine queues -o queues.png --ports 2
  incast plot results/tenants vms -o vms.svg --vms 4
  incast plot results/load slowdown -o high.pdf --where load=0.7 --where seed=1 --percentile p99
  incast plot results/load over -o load.pdf --over load --figure slowdown_p99 --label background
  incast plot --study results/hpcc-quick --figure websearch-30 -o websearch-30.pdf
"""
Name = Literal[Kind, "over"]
Percentile = Literal["p50", "p95", "p99"]
Repeated = Parameter(negative=(), consume_multiple=False)
BINS = 10_000
"""Most bins (our choice: more have no meaning in a chart)."""
AtLeastOne = whole(1)
Width = Parameter(validator=Number(gte=2, lte=100))
Height = Parameter(validator=Number(gt=0, lte=100))


def plot(
    folder: Path | None = None,
    chart: Name = "slowdown",
    /,
    *,
    output: Annotated[Path | None, Parameter(name=["--output", "-o"])] = None,
    overwrite: Annotated[bool, Parameter(negative=(), show_default=False)] = False,
    study: Path | None = None,
    where: Annotated[list[str] | None, Repeated] = None,
    label: str | None = None,
    bins: Annotated[int | None, whole(1, BINS)] = None,
    percentile: Annotated[list[Percentile] | None, Repeated] = None,
    ports: Annotated[int | None, AtLeastOne] = None,
    flows: Annotated[int | None, AtLeastOne] = None,
    vms: Annotated[int | None, AtLeastOne] = None,
    over: str | None = None,
    figure: str | None = None,
    width: Annotated[float | None, Width] = None,
    height: Annotated[float | None, Height] = None,
    title: str | None = None,
) -> None:
    """Draw a chart of results as SVG, PDF or PNG, for a paper. Needs the extra incast[plot].

    The same results give the same file. `incast report` puts all charts on one page.

    Parameters
    ----------
    folder
        Results folder of a run or a sweep; or --study.
    chart
        slowdown: by flow size; a distribution if flows have one size. cdf-fct, cdf-slowdown: distributions. iterations:
        communication and compute time of each iteration of collectives. queues, rates: over time; the scenario needs
        measure.sample_every. pauses: when ports were paused. closing: how pauses spread until the first deadlock of a
        scheme. vms: throughput of tenants' VMs over time. guarantees: share of its guarantee that each VM received.
        over: a figure of each run of a sweep.
    output
        File to write: .svg, .pdf or .png. Default: CHART.svg, or ID.svg of a study's figure.
    overwrite
        Replace an existing file.
    study
        Results folder of a study: draw its figure --figure with published values. `incast study show` lists the ids.
    where
        COLUMN=VALUE that selects the scenario of a sweep, or the runs for over; repeatable.
    label
        For slowdown, distributions and over: only flows with this label; all for the flows of all labels together.
        Default: a panel for each label; for over, all together.
    bins
        For slowdown: number of bins, with about equally many flows. Default: 20.
    percentile
        For slowdown: percentile to draw; repeatable. Default: all three.
    ports
        Number of ports: those with the longest queues (default 4), paused longest (20) or, for closing, paused first
        (24).
    flows
        For rates: number of flows, those with the most samples. Default: 6.
    vms
        For vms: number of VMs, those that received least of their guarantee. Default: 8.
    over
        For over: column on the horizontal axis. Default: the first that varies.
    figure
        For over: figure on the vertical axis: slowdown_p50, slowdown_p95, slowdown_p99 (default), slowdown_mean,
        completed_share, paused_share, marks, drops, peak_queue_bytes, iteration_ps, bus_bps, end_ps. For --study: id of
        the figure.
    width
        Width in inches, at least 2. Default: depends on the chart.
    height
        Height in inches.
    title
        Text above the panels; an empty text for none. Default: title of the scenario or sweep, if it has one.

    """
    from incast.cli import drawing

    asked = drawing.Asked(
        chart, where or [], label, bins, percentile or [], ports, flows, vms, over, figure, width, height, title
    )
    if study is not None:
        file = drawing.write_figure(folder, study, asked, output, overwrite=overwrite)
    else:
        file = drawing.write(folder, asked, output or Path(f"{chart}.svg"), overwrite=overwrite)
    codes.say(f"wrote {file}")


app = command("plot", plot, EXAMPLES)
