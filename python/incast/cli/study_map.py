"""`incast study map`."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

import incast
from incast import _terminal
from incast._echo import shell
from incast.cli import codes
from incast.cli.command import WORKERS, whole
from incast.cli.ends import keeping
from incast.cli.phases import Phases
from incast.cli.study_ends import UnfinishedStudy, complaints
from incast.cli.study_live import StudyLive
from incast.study import map_writing, mapped
from incast.study.mapping import POINTS, MapPlan
from incast.sweep.dataset import Run

EXAMPLES = """
Examples:
  incast study map hpcc
  incast study map hpcc --points 128 --jobs 8
  incast study judge hpcc results/hpcc-quick --map results/hpcc-map
"""


def map_(
    study: str,
    /,
    *,
    points: Annotated[int, whole(1)] = POINTS,
    output: Annotated[Path | None, Parameter(name=["--output", "-o"])] = None,
    jobs: Annotated[int | None, whole(1, WORKERS)] = None,
    ray: str | None = None,
    overwrite: Annotated[bool, Parameter(negative=(), show_default=False)] = False,
    quiet: Annotated[bool, Parameter(name=["--quiet", "-q"], negative=(), show_default=False)] = False,
) -> int:
    """Check a study's claims at points of the space of its open parameters.

    Open parameters are those that the publication does not give. The map shows the share of their space in which each
    claim holds, and whether all published statements hold together at one point. The same command resumes an
    interrupted map; a larger --points extends it.

    Parameters
    ----------
    study
        Name of a study (see incast study list), or folder of your own.
    points
        Number of points, next to the setting that the study runs with.
    output
        Folder for the map. Default: results/NAME-map.
    jobs
        Parallel simulations. Default: one per core. Results do not depend on it.
    ray
        Address of a Ray cluster to simulate on, such as 10.0.0.1:6379 (extra incast[ray]).
    overwrite
        Remove existing results of a study from the folder and start again.
    quiet
        Print only errors and warnings.

    """
    with Phases("reading the study", quiet=quiet):
        chosen = incast.load_study(study)
        planned, out = chosen.plan_map(points), chosen.map_folder(output)
    console = _terminal.console(stderr=True)
    if not quiet:
        runs = sum(len(plan.runs) for plan in planned.sweeps.values())
        text = f"{chosen.name}: {points} points and the judged setting, {runs} runs; {chosen.map_about}"
        console.print(text, soft_wrap=True, highlight=False)
    with keeping(partial(UnfinishedStudy, out)), StudyLive(console, list(planned.sweeps), quiet=quiet) as live:
        found = chosen.map(out, points=planned, jobs=jobs, ray=ray, overwrite=overwrite, progress=live.update)
    if not quiet:
        codes.say("\n".join(map_writing.terminal(found)))
        codes.say(f"\nmap in {found.path}: {mapped.TABLE}, {mapped.CONTENT}")
        codes.say(f"page with charts: {found.path / mapped.PAGE}")
    help_ = f"`incast report {shell(found.path / 'SWEEP')}` shows each warning of a sweep, with its advice"
    return complaints(found.sweeps, help_, lambda run: f"{_points(planned, run)}: {run.label}")


def _points(planned: MapPlan, run: Run) -> str:
    """The points that have a run."""
    numbers = [
        number for number, plans in enumerate(planned.of_points) if any(run.key in plan.keys for plan in plans.values())
    ]
    return ", ".join(map(map_writing.place, numbers))
