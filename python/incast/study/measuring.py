"""What a study's metrics say of its runs."""

from __future__ import annotations

from collections.abc import Mapping

from incast import sweep
from incast._document import join
from incast.analysis import Analysis, AnalysisPlan
from incast.study import queries
from incast.study.figures import Measured, PlannedRun
from incast.study.folder import Description


def measure(
    told: Description,
    columns: Mapping[str, tuple[str, ...]],
    plans: Mapping[str, sweep.Plan | AnalysisPlan],
    parts: Mapping[str, sweep.Sweep | Analysis],
) -> dict[str, Measured]:
    """Ask the sweeps and analyses that there are for every metric; columns and plans are as the study's check found."""
    found = {}
    for name, plan in plans.items():
        result = parts.get(name)
        runs = planned(plan, result)
        wanted = {metric: each.sql for metric, each in told.claims.metric.items() if each.part == name}
        if result is None or not result.done:
            found.update({metric: Measured(columns[metric], [], runs) for metric in wanted})
            continue
        with result.connect() as connection:
            for metric, sql in wanted.items():
                try:
                    rows = queries.rows(connection, sql)
                except queries.QueryError as error:
                    field = f"{join('metric', metric)}.sql"
                    raise told.claims_document.wrong(field, f"metric `{metric}`: {error}") from None
                found[metric] = Measured(columns[metric], rows, runs)
    return found


def planned(plan: sweep.Plan | AnalysisPlan, result: sweep.Sweep | Analysis | None) -> list[PlannedRun]:
    """All runs, and which of them have results."""
    if isinstance(result, Analysis):
        return [PlannedRun(cell.choice, cell.done, cell.error) for cell in result.runs]
    done = {run.key for run in result.done} if result else set()
    return [PlannedRun(run.choice, run.key in done) for run in (result or plan).runs]
