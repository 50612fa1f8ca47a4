"""The calibrations as a table, to join with flows in the SQL of sweeps and studies.

select scheme, application, exposed_faults_per_s * avg(fct_ps) / 1e12 as slowdown
from flows, calibrations where label = 'memory' and calibration = 'seed_draft' group by all
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from incast.application.calibration import Application, Calibration, calibrations
from incast.application.models import ClosedLoop

if TYPE_CHECKING:
    import duckdb

COLUMNS = {
    "calibration": "varchar",
    "application": "varchar",
    "class": "varchar",
    "kind": "varchar",
    "exposed_faults_per_s": "double",
    "batch": "integer",
    "faults_per_operation": "double",
    "service_s": "double",
    "evidence": "varchar",
    "fitted_to": "varchar",
    "assumed": "varchar",
    "source": "varchar",
}
"""The columns, as DuckDB types. `kind` is paging, or closed_loop: with faults_per_operation and service_s."""


def calibration_rows(chosen: Calibration | None = None) -> list[dict[str, Any]]:
    """The applications of a calibration, or of all included ones, as dictionaries."""
    sets = calibrations().values() if chosen is None else [chosen]
    return [_row(each, application) for each in sets for application in each.applications]


def register(connection: duckdb.DuckDBPyConnection) -> None:
    """Make the table `calibrations` in a database."""
    connection.execute(f"create table calibrations ({', '.join(f'{name} {kind}' for name, kind in COLUMNS.items())})")
    rows = [[row[name] for name in COLUMNS] for row in calibration_rows()]
    connection.executemany(f"insert into calibrations values ({', '.join('?' * len(COLUMNS))})", rows)


def _row(calibration: Calibration, application: Application) -> dict[str, Any]:
    model = application.model
    store = model if isinstance(model, ClosedLoop) else None
    return {
        "calibration": calibration.name,
        "application": application.name,
        "class": application.class_,
        "kind": model.kind,
        "exposed_faults_per_s": model.exposed_faults_per_s,
        "batch": model.batch,
        "faults_per_operation": store and store.faults_per_operation,
        "service_s": store and store.service_s,
        "evidence": application.evidence,
        "fitted_to": application.fitted_to,
        "assumed": application.assumed,
        "source": application.source,
    }
