"""`incast report`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from incast import _terminal
from incast.cli import codes
from incast.cli.command import command
from incast.sweep.dataset import open_sweep
from incast.sweep.folder import INDEX

EXAMPLES = """
Examples:
  incast report results/quickstart
  incast report results/before results/after -o both.html
  incast report results/load --overwrite
"""


def report(
    folder: Path,
    /,
    *more: Path,
    output: Annotated[Path | None, Parameter(name=["--output", "-o"])] = None,
    overwrite: Annotated[bool, Parameter(negative=(), show_default=False)] = False,
) -> None:
    """Write one HTML page of results: scenario, fabric, slowdowns, distributions, queues, rates, pauses, counters.

    The page is one file and needs no network. Each chart can be saved as SVG or PNG, and its data as CSV.

    Parameters
    ----------
    folder
        Results folder of a run, a sweep or a study.
    more
        More folders, to choose from on the same page.
    output
        Page to write, named *.html. Default: DIR.html next to the first folder.
    overwrite
        Replace an existing page.

    """
    # Imported here: other commands do not need the chart libraries.
    from incast.report import write

    name = folder.resolve().name
    file = output or folder.parent / f"{name}.html"
    console = _terminal.console(stderr=True)
    with console.status("reading the results") as status:
        write(
            [folder, *more],
            file,
            overwrite=overwrite,
            progress=lambda done, count: status.update(f"{done} of {count} scenarios read"),
        )
    codes.warn(_incomplete([folder, *more]))
    codes.say(f"wrote {file} ({file.stat().st_size / 1e6:.1f} MB); open it in a browser")


def _incomplete(folders: Sequence[Path]) -> Iterator[str]:
    """Warnings about sweeps with unfinished runs."""
    for folder in folders:
        if (folder / INDEX).is_file() and (text := open_sweep(folder).incomplete()):
            yield f"{folder}: {text}"


app = command("report", report, EXAMPLES)
