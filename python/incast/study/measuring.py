"""Computes a study's metrics and tables from its runs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING

from incast import sweep
from incast._document import join
from incast.analysis import Analysis, AnalysisPlan
from incast.errors import ScenarioError
from incast.study import queries
from incast.study.checking import Checked
from incast.study.description import Metric, StudyTable
from incast.study.figures import Choice, Measured, PlannedRun, order
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
    asked = [*_of_metrics(description), *_of_tables(description)]
    found = _measured(description, checked, plans, parts, asked)
    return found["metric"], found["table"]


def metrics(
    description: Description, checked: Checked, plans: Mapping[str, sweep.Plan], parts: Mapping[str, sweep.Sweep]
) -> dict[str, Measured]:
    """Ask some sweeps for their metrics."""
    return _measured(description, checked, plans, parts, _of_metrics(description))["metric"]


@dataclass(frozen=True)
class _Asked:
    """A metric or a table."""

    kind: str
    name: str
    field: str
    """Place in claims.toml."""
    query: Metric | StudyTable


def _of_metrics(description: Description) -> list[_Asked]:
    found = description.claims.metric.items()
    return [_Asked("metric", name, join("metric", name), metric) for name, metric in found]


def _of_tables(description: Description) -> list[_Asked]:
    return [_Asked("table", table.name, field, table) for field, _, table in description.claims.tables()]


def _measured(
    description: Description,
    checked: Checked,
    plans: Mapping[str, sweep.Plan | AnalysisPlan],
    parts: Mapping[str, sweep.Sweep | Analysis],
    asked: Sequence[_Asked],
) -> dict[str, dict[str, Measured]]:
    """The rows of what is asked of each part, by kind and name."""
    found: dict[str, dict[str, Measured]] = {"metric": {}, "table": {}}
    columns = {"metric": checked.columns, "table": checked.of_tables}
    for part, plan in plans.items():
        result = parts.get(part)
        runs = planned(plan, result)
        shared = checked.shared[part]
        with _readable(result), result.connect() if result and result.done else nullcontext() as connection:
            if connection:
                _create(description, shared, connection)
            for one in asked:
                if one.query.part == part:
                    sql, named = shared.text(one.query.sql), f"{one.kind} `{one.name}`"
                    rows = _rows(description, connection, one.field, named, sql) if connection else []
                    if one.kind == "metric":
                        # Without `order by`, SQL gives rows in another order each time, and reasons name the first.
                        rows.sort(key=lambda row: [order(value) for value in row.values()])
                    found[one.kind][one.name] = Measured(columns[one.kind][one.name], rows, runs)
    return found


@contextmanager
def _readable(result: sweep.Sweep | Analysis | None) -> Iterator[None]:
    """Blame tables of another version that lack columns, instead of the SQL that reads them."""
    try:
        yield
    except ScenarioError:
        if isinstance(result, sweep.Sweep) and (lacking := result.lacking()):
            raise lacking from None
        raise


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
