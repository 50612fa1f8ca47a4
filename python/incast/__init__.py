"""incast: a packet-level simulator of datacenter networks.

import incast

scenario = incast.load("scenarios/quickstart.toml")
results = scenario.run(out="results/quickstart")
results.slowdown().to_polars()
"""

from incast import schema
from incast._core import __version__
from incast.comparison import Comparison, compare
from incast.errors import (
    ApplicationError,
    ComparisonError,
    Diagnostic,
    EnvironmentFailure,
    IncastError,
    InternalError,
    ResultsError,
    ResultsExistError,
    ScenarioError,
)
from incast.fairness import jain
from incast.progress import Progress, SchemeProgress
from incast.results import Results
from incast.results import open_results as open  # noqa: A004 - incast.open reads like open()
from incast.scenario import Scenario, load
from incast.study import Study, StudyResults, load_study, open_study
from incast.sweep import Sweep, open_sweep
from incast.table import Column, Table

__all__ = [
    "ApplicationError",
    "Column",
    "Comparison",
    "ComparisonError",
    "Diagnostic",
    "EnvironmentFailure",
    "IncastError",
    "InternalError",
    "Progress",
    "Results",
    "ResultsError",
    "ResultsExistError",
    "Scenario",
    "ScenarioError",
    "SchemeProgress",
    "Study",
    "StudyResults",
    "Sweep",
    "Table",
    "__version__",
    "compare",
    "jain",
    "load",
    "load_study",
    "open",
    "open_study",
    "open_sweep",
    "schema",
]
