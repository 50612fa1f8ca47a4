"""`incast run`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter
from rich.console import Console

import incast
from incast.cli import codes, summary
from incast.cli.live import Live

Overrides = Annotated[
    list[str] | None,
    Parameter(name="--set", negative=(), consume_multiple=False, help="PATH=VALUE that overrides a field; repeatable."),
]


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

    Prints the slowdowns by flow size for each scheme, and the files that were written.

    Parameters
    ----------
    file
        Scenario, a TOML file.
    output
        Folder for the results. Default: results/NAME for NAME.toml.
    seed
        Seed of every random choice; overrides the file.
    overwrite
        Replace an existing results folder.
    quiet
        Print only errors and warnings.
    threads
        Schemes simulated in parallel. Default: one per core. Results do not depend on it.
    fingerprint
        Print two hashes for each scheme: of all events, and of all packets on wires. Equal runs have equal hashes, on
        any machine and in any version. manifest.json has them too.

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
