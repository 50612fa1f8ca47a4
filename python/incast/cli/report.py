"""`incast report`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter
from rich.console import Console

from incast.cli.command import command

EXAMPLES = """
Examples:
  incast report results/quickstart
  incast report results/before results/after -o both.html
  incast report sweeps/load --overwrite
"""


def report(
    first: Path,
    /,
    *more: Path,
    output: Annotated[Path | None, Parameter(name=["--output", "-o"])] = None,
    overwrite: Annotated[bool, Parameter(negative=(), show_default=False)] = False,
) -> None:
    """Write one HTML page of results: scenario, fabric, slowdowns, distributions, queues, rates, pauses, counters.

    The page is a single file that opens from disk and needs no network; it can be mailed. Every chart on it can be
    saved as SVG or PNG, and its data as CSV.

    Parameters
    ----------
    first
        Results folder of a run, folder of a sweep, or results of a study.
    more
        Others that are shown on the same page, to choose from.
    output
        Page to write, a file whose name ends in .html; DIR.html beside the first folder if not given.
    overwrite
        Replace the page if it is there.

    """
    # The charts' libraries are not read in for other commands.
    from incast.report import write

    folder = first.resolve()
    file = output or first.parent / f"{folder.name}.html"
    console = Console(stderr=True)
    with console.status("reading the results") as status:
        write(
            [first, *more],
            file,
            overwrite=overwrite,
            progress=lambda done, count: status.update(f"{done} of {count} scenarios read"),
        )
    print(f"wrote {file} ({file.stat().st_size / 1e6:.1f} MB); open it in a browser")


app = command("report", report, EXAMPLES)
