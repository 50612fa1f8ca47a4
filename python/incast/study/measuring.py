"""What a study's metrics say of its runs."""

from __future__ import annotations

from collections.abc import Mapping

from incast import sweep
from incast._document import join
from incast.study import queries
from incast.study.checking import SCHEME
from incast.study.figures import Measured, PlannedRun
from incast.study.folder import Description


def measure(
    told: Description,
    columns: Mapping[str, tuple[str, ...]],
    plans: Mapping[str, sweep.Plan],
    sweeps: Mapping[str, sweep.Sweep],
) -> dict[str, Measured]:
    """Ask the sweeps that there are for every metric; columns and plans are those that the study's check found."""
    found = {}
    for name, plan in plans.items():
        result = sweeps.get(name)
        done = {run.key for run in result.done} if result else set()
        runs = [PlannedRun({**run.columns, SCHEME: run.scheme}, run.key in done) for run in (result or plan).runs]
        wanted = {metric: each.sql for metric, each in told.claims.metric.items() if each.sweep == name}
        if result is None or not done:
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
