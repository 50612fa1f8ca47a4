"""Computes a study's metrics and tables from its runs."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import nullcontext
from typing import TYPE_CHECKING

from incast import sweep
from incast._document import join
from incast.analysis import Analysis, AnalysisPlan
from incast.study import queries
from incast.study.checking import Checked
from incast.study.description import Metric, StudyTable
from incast.study.figures import Choice, Measured, PlannedRun
from incast.study.folder import Description
from incast.study.shared import Shared, ViewError

if TYPE_CHECKING:
    import duckdb


def measure(
    description: Description,
    checked: Checked,
    plans: Mapping[str, sweep.Plan | AnalysisPlan],
    parts: Mapping[str, sweep.Sweep | Analysis],
) -> tuple[dict[str, Measured], dict[str, Measured]]:
    """Ask the sweeps and analyses that there are for every metric, and for every table."""
    found: dict[str, dict[str, Measured]] = {"metric": {}, "table": {}}
    metrics = ((join("metric", name), "metric", name, one) for name, one in description.claims.metric.items())
    tables = ((field, "table", one.name, one) for field, _, one in description.claims.tables())
    asked: list[tuple[str, str, str, Metric | StudyTable]] = [*metrics, *tables]
    columns = {"metric": checked.columns, "table": checked.of_tables}
    for part, plan in plans.items():
        result = parts.get(part)
        runs = planned(plan, result)
        shared = checked.shared[part]
        with result.connect() if result is not None and result.done else nullcontext() as connection:
            if connection:
                _create(description, shared, connection)
            for field, kind, name, one in asked:
                if one.part == part:
                    sql = shared.text(one.sql)
                    rows = _rows(description, connection, field, f"{kind} `{name}`", sql) if connection else []
                    found[kind][name] = Measured(columns[kind][name], rows, runs)
    return found["metric"], found["table"]


def _create(description: Description, shared: Shared, connection: duckdb.DuckDBPyConnection) -> None:
    """Create the views of a part."""
    try:
        shared.create(connection)
    except ViewError as error:
        raise description.claims_document.wrong(join("view", error.name), f"view `{error.name}`: {error}") from None


def _rows(
    description: Description, connection: duckdb.DuckDBPyConnection, field: str, named: str, sql: str
) -> list[Choice]:
    """The rows of a metric or a table."""
    try:
        return queries.rows(connection, sql)
    except queries.QueryError as error:
        raise description.claims_document.wrong(f"{field}.sql", f"{named}: {error}") from None


def planned(plan: sweep.Plan | AnalysisPlan, result: sweep.Sweep | Analysis | None) -> list[PlannedRun]:
    """All runs, and which of them have results."""
    if isinstance(result, Analysis):
        return [PlannedRun(cell.choice, cell.done, cell.error) for cell in result.runs]
    if result is None:
        return [PlannedRun(run.choice, False) for run in plan.runs]
    done = {run.key for run in result.done}
    return [PlannedRun(run.choice, run.key in done) for run in result.runs]
