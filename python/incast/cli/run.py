"""`incast run`."""

from __future__ import annotations

import warnings
from functools import partial
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

import incast
from incast import _terminal
from incast._nearest import hint
from incast.alone import NO_JOB, only_job, parts
from incast.cli import codes, summary
from incast.cli.command import SEED, WORKERS, Overrides, command, whole
from incast.cli.ends import keeping
from incast.cli.live import Live
from incast.cli.phases import Phases
from incast.errors import unsaid

FOLDER = Path(incast.__file__).with_name("examples")
"""Scenarios of the package. In a checkout they are links to the files in scenarios/, which a wheel has copies of."""
EXAMPLES = """
Examples:
  incast run --example quickstart
  incast run mine.toml -o results/deep --set switch.buffer=64MB --seed 7
  incast run train.toml --alone
  incast run mine.toml --fingerprint
"""


def run(
    file: Path | None = None,
    /,
    *,
    example: str | None = None,
    output: Annotated[Path | None, Parameter(name=["--output", "-o"])] = None,
    set_: Overrides = None,
    seed: Annotated[int | None, whole(0, SEED)] = None,
    overwrite: Annotated[bool, Parameter(negative=(), show_default=False)] = False,
    quiet: Annotated[bool, Parameter(name=["--quiet", "-q"], negative=(), show_default=False)] = False,
    threads: Annotated[int | None, whole(1, WORKERS)] = None,
    alone: Annotated[bool, Parameter(negative=(), show_default=False)] = False,
    fingerprint: Annotated[bool, Parameter(negative=(), show_default=False)] = False,
) -> int:
    """Simulate a scenario and write its results.

    Prints the slowdowns by flow size for each scheme, findings about the run, and the files that were written.

    Parameters
    ----------
    file
        Scenario, a TOML file.
    example
        Run a scenario of the package instead of a file, such as quickstart. `incast new --list` shows all.
    output
        Folder for the results. Default: results/NAME for NAME.toml.
    seed
        Seed of every random choice; overrides the file.
    overwrite
        Replace an existing results folder.
    quiet
        Print only errors and warnings.
    threads
        Threads for all simulations. Default: `simulation.threads`, or one per core. Schemes run in parallel; with fewer
        schemes than threads, a simulation of 64 nodes or more takes several, while that is faster. Results do not
        depend on it. `incast show` says if one thread simulates a scheme, and why.
    alone
        Simulate each job (collectives of one label) also without the other traffic, and print how much slower its
        iterations are next to it. The results of the job alone are in the folder alone.
    fingerprint
        Print two hashes for each scheme: of all events, and of all packets on wires. Equal runs have equal hashes, on
        any machine and in any version. manifest.json has them too.

    """
    if (file is None) == (example is None):
        codes.complain("give either a scenario file or --example NAME, such as: incast run --example quickstart")
        return codes.BAD_INPUT
    if example is not None and example not in examples():
        codes.complain(f"unknown example `{example}`, allowed: {', '.join(examples())}{hint(example, examples())}")
        return codes.BAD_INPUT
    file = file or FOLDER / f"{example}.toml"
    output = output or Path("results") / file.stem
    overrides = [*(set_ or []), *([] if seed is None else [f"seed={seed}"])]
    overrides += ["measure.fingerprint=true"] if fingerprint else []
    with Phases("preparing fabric, routes and flows", quiet=quiet):
        scenario = incast.load(file, overrides)
        known = scenario.warnings()
        lone = only_job(scenario) if alone else None
    codes.warn(known)
    if lone:
        codes.warn([lone])
    if not quiet:
        for note in scenario.synthetic():
            codes.complain(f"note: synthetic traffic: {note}")
    with Live(_terminal.console(stderr=True), quiet=quiet) as live, warnings.catch_warnings():
        warnings.simplefilter("ignore", incast.IncastWarning)
        results = scenario.run(output, overwrite=overwrite, threads=threads, progress=live.update)
    with keeping(partial(Whole, results.path)):
        codes.warn(unsaid(results.warnings(), known))
        if alone and not lone:
            with keeping(partial(NotAlone, results.path)):
                _simulate_alone(scenario, results, quiet=quiet, threads=threads)
        if not quiet:
            summary.show(results)
        return summary.judge(results)


def _simulate_alone(scenario: incast.Scenario, results: incast.Results, *, quiet: bool, threads: int | None) -> None:
    """Simulate each job of results without the other traffic."""
    jobs = list(parts(scenario, results))
    if not jobs:
        codes.warn([NO_JOB])
    for part, folder in jobs:
        with Live(_terminal.console(stderr=True), quiet=quiet) as live, warnings.catch_warnings():
            warnings.simplefilter("ignore", incast.IncastWarning)
            part.run(folder, threads=threads, progress=live.update)


class Whole(codes.UnfinishedError):
    """A run is finished, but its summary is not printed."""

    def __init__(self, folder: Path, *signal: object) -> None:
        super().__init__(*signal)
        self.folder = folder

    def __str__(self) -> str:
        return f"interrupted; the run is whole in {self.folder}"


class NotAlone(Whole):
    """Not all jobs of a finished run have been simulated alone."""

    def __str__(self) -> str:
        return (
            f"interrupted; the run is whole in {self.folder}, not all jobs have been simulated alone; "
            "repeat the command with --overwrite"
        )


def examples() -> dict[str, str]:
    """Text of every example by name."""
    return {file.stem: file.read_text(encoding="utf-8") for file in sorted(FOLDER.glob("*.toml"))}


app = command("run", run, EXAMPLES)
