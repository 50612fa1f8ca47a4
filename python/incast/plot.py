"""Pictures of results, with matplotlib (extra `incast[plot]`).

python -m incast.plot results/quickstart -o slowdown.svg
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

import incast

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9")
"""Told apart by colour-blind readers and in print (Okabe and Ito)."""
STYLES = {"p50": (":", 1.2), "p99": ("-", 1.8)}


def slowdown(results: incast.Results) -> Figure:
    """The slowdown of flows by size: the 99th percentile and the median of every scheme."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 4), layout="constrained")
    axes = figure.add_subplot()
    rows = list(results.slowdown().dicts())
    for scheme, colour in zip(dict.fromkeys(row["scheme"] for row in rows), COLOURS * len(rows), strict=False):
        _draw(axes, [row for row in rows if row["scheme"] == scheme and row["flows"]], scheme, colour)
    axes.set_yscale("log")
    axes.set_ylabel("slowdown: completion time / alone on the path")
    axes.set_xlabel("flow size, up to (one tick for each tenth of the flows)")
    axes.grid(axis="y", which="both", linewidth=0.4, alpha=0.5)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False, ncols=2)
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
    axes.set_xticks(places, [size(row["size_to_bytes"]) for row in rows])


def size(count: int) -> str:
    """Bytes as people write them."""
    for unit, factor in (("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        if count >= factor:
            return f"{count / factor:.3g} {unit}"
    return f"{count} B"


def main() -> None:
    """Draw the results folder that is named on the command line."""
    parser = argparse.ArgumentParser(prog="python -m incast.plot", description=slowdown.__doc__)
    parser.add_argument("results", help="results folder")
    parser.add_argument("-o", "--output", default="slowdown.svg", help="picture to write: .svg, .png or .pdf")
    options = parser.parse_args()
    # The same results give the same file: no date, no random names.
    from matplotlib import rc_context

    with rc_context({"svg.hashsalt": "incast", "svg.fonttype": "none"}):
        metadata = {"Date": None} if options.output.endswith(".svg") else None
        slowdown(incast.open(options.results)).savefig(options.output, dpi=150, metadata=metadata)


if __name__ == "__main__":
    main()
