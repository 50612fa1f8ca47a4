"""`incast sweep`."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from incast import _terminal
from incast import sweep as sweeps
from incast._database import literal
from incast._echo import shell
from incast.cli import codes
from incast.cli.command import WORKERS, Overrides, command, whole
from incast.cli.ends import keeping
from incast.cli.phases import Phases
from incast.cli.sweep_live import SweepLive
from incast.errors import ResultsError
from incast.sweep.effect import without_effect
from incast.sweep.text import of_unfinished

EXAMPLES = """
Examples:
  incast sweep load.toml
  incast sweep load.toml -o results/load --jobs 2
  incast sweep load.toml --ray 127.0.0.1:6379
  incast sweep load.toml --plan

A sweep file:
  scenario = "mine.toml"
  [[vary]]
  path = "workload[0].poisson.load"
  values = [0.3, 0.5, 0.7]
  [[vary]]
  path = "seed"
  values = [1, 2, 3]
"""
SHOWN = 20
"""Most runs that --plan lists."""
NAMED = 4
"""Most runs named for one error."""
WARNED = 5
"""Most warnings printed for a sweep."""


def sweep(
    file: Path,
    /,
    *,
    output: Annotated[Path | None, Parameter(name=["--output", "-o"])] = None,
    set_: Overrides = None,
    scale: str | None = None,
    jobs: Annotated[int | None, whole(1, WORKERS)] = None,
    ray: str | None = None,
    plan: Annotated[bool, Parameter(negative=(), show_default=False)] = False,
    quiet: Annotated[bool, Parameter(name=["--quiet", "-q"], negative=(), show_default=False)] = False,
) -> int:
    """Run a scenario many times with varied parameters, into one dataset.

    Each variation runs under each scheme. The same command resumes an interrupted or killed sweep: finished runs are
    not repeated. A failed run does not stop the others.

    Parameters
    ----------
    file
        Sweep, a TOML file: a scenario and the fields to vary.
    output
        Folder for the dataset; an existing sweep is resumed. Default: results/NAME for NAME.toml.
    scale
        Use the table [scale.NAME] of the sweep.
    jobs
        Parallel runs. Default: one per core, of the cluster with --ray. Results do not depend on it.
    ray
        Address of a Ray cluster to run on, such as 127.0.0.1:6379.
    plan
        List the runs without running them.
    quiet
        No progress, only errors and warnings.

    """
    with Phases("checking all values", quiet=quiet):
        planned = sweeps.read(file, scale=scale, overrides=set_ or [], check=True)
    codes.warn(without_effect(planned))
    if plan:
        _show(planned)
        return codes.OK
    output = output or Path("results") / file.stem
    with keeping(partial(Unfinished, output)):
        with SweepLive(_terminal.console(stderr=True), quiet=quiet) as live:
            done = sweeps.run(planned, output, jobs=jobs, ray=ray, progress=live.update)
        return report(done, quiet=quiet)


class Unfinished(codes.UnfinishedError):
    """A sweep was interrupted; finished runs are kept."""

    def __init__(self, folder: Path, *signal: object) -> None:
        super().__init__(*signal)
        self.folder = folder

    def __str__(self) -> str:
        try:
            found = sweeps.open_sweep(self.folder)
        except ResultsError:
            return f"interrupted; no finished runs in {self.folder}"
        return (
            f"interrupted; {len(found.done)} of {len(found.runs)} runs are finished and kept in {self.folder}; "
            "repeat the command to resume"
        )


def report(done: sweeps.Sweep, *, quiet: bool = False) -> int:
    """Print the summary of a sweep; returns the exit code."""
    code = codes.OK
    for error, labels in by_text((run.label, run.error or "") for run in done.failed).items():
        codes.complain(f"{named(labels)}: {error}")
        code = codes.ENDED_BADLY
    if not done.done:
        codes.complain("no run finished")
        return codes.ENDED_BADLY
    for why, labels in by_text(done.ended_badly()).items():
        codes.complain(f"{named(labels)}: {why}")
        code = codes.ENDED_BADLY
    codes.warn(warned(done))
    codes.warn(unfinished(done))
    if not quiet:
        cpu, hops = done.cost()
        speed = f", {hops / cpu / 1e6:.1f} M packet-hops per CPU second" if cpu > 0.05 else ""
        codes.say(
            f"{len(done.done)} of {len(done.runs)} runs in {done.path}: {cpu:,.1f} CPU seconds of simulation{speed}"
        )
        codes.say(f"columns: {', '.join((*done.columns, 'scheme'))}")
        flows, slowdowns = (f"{done.path}/runs/*/{table}.parquet" for table in ("flows", "slowdown"))
        codes.say(f"  polars.read_parquet({json.dumps(flows, ensure_ascii=False)})")
        codes.say(f"  duckdb.sql({json.dumps(f'from {literal(slowdowns)}', ensure_ascii=False)})")
    return code


def warned(done: sweeps.Sweep) -> Iterator[str]:
    """The warnings of most runs, each with the number of its runs, and the number of other warnings."""
    found = done.warnings()
    runs = len(done.done)
    for text, count in list(found.items())[:WARNED]:
        yield f"{count:,} of {runs:,} {'run' if runs == 1 else 'runs'}: {text}"
    if len(found) > WARNED:
        yield f"{len(found) - WARNED:,} more warnings of runs; `incast report {shell(done.path)}` shows all"


def unfinished(done: sweeps.Sweep) -> Iterator[str]:
    """A warning of runs with unfinished flows, for each reason to stop."""
    for why, counts in done.unfinished().items():
        yield f"{of_unfinished(counts, len(done.done), why)}; percentiles omit them"


def by_text(pairs: Iterable[tuple[str, str]]) -> dict[str, list[str]]:
    """Labels of runs by message: often many runs have the same."""
    found: dict[str, list[str]] = {}
    for label, text in pairs:
        found.setdefault(text, []).append(label)
    return found


def named(labels: list[str]) -> str:
    """The first labels, and the number of others."""
    more = f" and {len(labels) - NAMED} more" if len(labels) > NAMED else ""
    return f"{'; '.join(labels[:NAMED])}{more}"


def _show(plan: sweeps.Plan) -> None:
    codes.say(f"{len(plan.runs)} {'run' if len(plan.runs) == 1 else 'runs'} of {plan.scenario}")
    for name in plan.columns:
        values = dict.fromkeys(str(run.columns[name]) for run in plan.runs)
        codes.say(f"  {name} ({plan.paths[name] or 'several fields'}): {', '.join(values)}")
    codes.say(f"  scheme: {', '.join(dict.fromkeys(run.scheme for run in plan.runs))}")
    for run in plan.runs[:SHOWN]:
        codes.say(f"{run.key}  {run.label}")
    if len(plan.runs) > SHOWN:
        print(f"... and {len(plan.runs) - SHOWN} more")


app = command("sweep", sweep, EXAMPLES)
