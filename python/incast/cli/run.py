"""`incast run`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter
from rich.console import Console

import incast
from incast.cli import codes, summary
from incast.cli.command import Overrides, command
from incast.cli.live import Live

EXAMPLES = """
Examples:
  incast run scenarios/quickstart.toml
  incast run mine.toml -o results/deep --set switch.buffer=64MB --seed 7
  incast run mine.toml --fingerprint
"""


def run(
    file: Path,
    /,
    *,
    output: Annotated[Path | None, Parameter(name=["--output", "-o"])] = None,
    set_: Overrides = None,
    seed: int | None = None,
    overwrite: Annotated[bool, Parameter(negative=(), show_default=False)] = False,
    quiet: Annotated[bool, Parameter(name=["--quiet", "-q"], negative=(), show_default=False)] = False,
    threads: int | None = None,
    fingerprint: Annotated[bool, Parameter(negative=(), show_default=False)] = False,
) -> int:
    """Simulate a scenario and write its results.

    Prints the slowdown of flows by size, schemes side by side, and where the results lie.

    Parameters
    ----------
    file
        Scenario, a TOML file.
    output
        Folder for the results; results/NAME for NAME.toml if not given.
    seed
        Seed of every random choice; overrules the file.
    overwrite
        Replace the results folder if it is there.
    quiet
        No progress and no tables, only what went wrong.
    threads
        Schemes simulated at once; one per core if not given. Results do not depend on it.
    fingerprint
        Print two numbers for each scheme, which are equal where two runs are equal: on another machine, in another
        version. The first is of every event, the second of every packet on a wire. manifest.json has them too.

    """
    output = output or Path("results") / file.stem
    overrides = [*(set_ or []), *([] if seed is None else [f"seed={seed}"])]
    overrides += ["measure.fingerprint=true"] if fingerprint else []
    scenario = incast.load(file, overrides)
    for warning in scenario.warnings():
        codes.complain(f"warning: {warning}")
    if not quiet:
        for told in scenario.synthetic():
            codes.complain(f"note: synthetic traffic: {told}")
    with Live(Console(stderr=True), quiet=quiet) as live:
        results = scenario.run(output, overwrite=overwrite, threads=threads, progress=live.update)
    if not quiet:
        summary.show(results)
    return summary.judge(results)


app = command("run", run, EXAMPLES)
