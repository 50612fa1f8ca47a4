"""Pictures of results, with matplotlib (extra `incast[plot]`).

python -m incast.plot results/quickstart -o slowdown.svg
python -m incast.plot results/quickstart --queues -o queues.svg
"""

from __future__ import annotations

import argparse
from itertools import cycle
from typing import TYPE_CHECKING, Any

import incast

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9")
"""Told apart by colour-blind readers and in print (Okabe and Ito)."""
STYLES = {"p50": (":", 1.2), "p95": ("-", 1.8)}
"""Line style and width of each percentile."""


def slowdown(results: incast.Results, *, tag: str | None = None, bins: int = 20) -> Figure:
    """The slowdown of flows by size, of all or of one tag: the median and the 95th percentile of every scheme."""
    from matplotlib.figure import Figure
    from matplotlib.ticker import LogFormatter

    figure = Figure(figsize=(8, 4), layout="constrained")
    axes = figure.add_subplot()
    rows = list(results.slowdown(tag=tag, bins=bins).dicts())
    for scheme, colour in zip(dict.fromkeys(row["scheme"] for row in rows), cycle(COLOURS), strict=False):
        _draw(axes, [row for row in rows if row["scheme"] == scheme], scheme, colour)
    axes.set_yscale("log")
    axes.yaxis.set_major_formatter("{x:g}")
    axes.yaxis.set_minor_formatter(LogFormatter(minor_thresholds=(1.5, 0.5)))
    axes.set_ylabel("slowdown: completion time / ideal")
    of_tag = f" of {tag}" if tag else ""
    axes.set_xlabel(f"flow size, up to; equally many flows{of_tag} at each tick")
    axes.grid(axis="y", which="both", linewidth=0.4, alpha=0.5)
    axes.spines[["top", "right"]].set_visible(False)
    figure.legend(loc="outside lower center", frameon=False, ncols=4)
    title = results.manifest.get("title")
    if title:
        axes.set_title(title, loc="left", fontsize="medium")
    return figure


def _draw(axes: Axes, rows: list[dict[str, Any]], scheme: str, colour: str) -> None:
    """The lines of one scheme."""
    places = range(len(rows))
    for percentile, (style, width) in STYLES.items():
        values = [row[percentile] for row in rows]
        axes.plot(places, values, style, color=colour, linewidth=width, marker=".", label=f"{scheme} {percentile}")
    axes.set_xticks(places, [size(row["size_max_bytes"]) for row in rows], rotation=45, ha="right")


def queues(results: incast.Results, *, ports: int = 1) -> Figure:
    """The queues over time of the ports whose queues grew longest, one panel for each port.

    Needs `measure.sample_every`. Intervals in which the port was paused are shaded in its scheme's colour.
    """
    from matplotlib.figure import Figure

    samples = list(results.table("queues").dicts())
    if not samples:
        raise ValueError("there are no samples of queues: set measure.sample_every in the scenario")
    peaks: dict[int, int] = {}
    for row in samples:
        peaks[row["port"]] = max(peaks.get(row["port"], 0), row["queue_bytes"])
    longest = sorted(peaks, key=lambda port: (-peaks[port], port))[:ports]
    figure = Figure(figsize=(8, 1.2 + 2.2 * len(longest)), layout="constrained")
    panels = figure.subplots(len(longest), squeeze=False, sharex=True)[:, 0]
    colours = dict(zip(results.manifest["schemes"], cycle(COLOURS), strict=False))
    for port, axes in zip(longest, panels, strict=True):
        for scheme, colour in colours.items():
            mine = [row for row in samples if (row["port"], row["scheme"]) == (port, scheme)]
            times = [row["time_ps"] / 1e6 for row in mine]
            axes.plot(times, [row["queue_bytes"] / 1e3 for row in mine], color=colour, linewidth=1.2, label=scheme)
            for pause in results.pauses.dicts():
                if (pause["port"], pause["scheme"]) == (port, scheme):
                    axes.axvspan(pause["start_ps"] / 1e6, pause["end_ps"] / 1e6, color=colour, alpha=0.15, linewidth=0)
        row = next(row for row in samples if row["port"] == port)
        axes.set_title(f"{row['node_name']} to {row['peer_name']}", loc="left", fontsize="medium")
        axes.set_ylabel("queue (kB)")
        axes.spines[["top", "right"]].set_visible(False)
    panels[-1].set_xlabel("time (us)")
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", frameon=False, ncols=4)
    return figure


def size(count: float) -> str:
    """Bytes as people write them."""
    for unit, factor in (("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        if count >= factor:
            return f"{count / factor:.3g} {unit}"
    return f"{count} B"


def main() -> None:
    """Draw the results folder that is named on the command line."""
    parser = argparse.ArgumentParser(
        prog="python -m incast.plot", description="Draw slowdowns by flow size, or queues."
    )
    parser.add_argument("results", help="results folder")
    parser.add_argument(
        "-o", "--output", help="picture to write: .svg, .png or .pdf (default slowdown.svg, queues.svg)"
    )
    parser.add_argument("--tag", help="slowdowns of flows of this tag only")
    parser.add_argument("--bins", type=int, default=20, help="bins of equally many flows (default 20)")
    parser.add_argument("--queues", action="store_true", help="queues over time instead of slowdowns")
    parser.add_argument("--ports", type=int, default=1, help="how many ports' queues (default 1, the longest)")
    options = parser.parse_args()
    # The same results give the same file: no date, no random names.
    from matplotlib import rc_context

    with rc_context({"svg.hashsalt": "incast"}):
        results = incast.open(options.results)
        if options.queues:
            try:
                figure = queues(results, ports=options.ports)
            except ValueError as error:
                parser.error(str(error))
        else:
            figure = slowdown(results, tag=options.tag, bins=options.bins)
        output = options.output or ("queues.svg" if options.queues else "slowdown.svg")
        figure.savefig(output, dpi=150, metadata={"Date": None} if output.endswith(".svg") else None)
        print(f"wrote {output}")


if __name__ == "__main__":
    main()
