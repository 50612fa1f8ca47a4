"""What a study's metrics say of its runs."""

from __future__ import annotations

from collections.abc import Mapping

from incast import sweep
from incast._document import join
from incast.study import queries
from incast.study.checking import SCHEME
from incast.study.figures import Measured, PlannedRun
from incast.study.folder import Description

DONE = "done"
"""The state of a run that has results."""


def measure(
    told: Description, columns: Mapping[str, tuple[str, ...]], sweeps: Mapping[str, sweep.Sweep]
) -> dict[str, Measured]:
    """Ask for every metric of a study; the columns are those that its check found."""
    found = {}
    for name, result in sweeps.items():
        runs = [PlannedRun({**run.columns, SCHEME: run.scheme}, run.state == DONE) for run in result.runs]
        wanted = {metric: each.sql for metric, each in told.claims.metric.items() if each.sweep == name}
        if not any(run.done for run in runs):
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
