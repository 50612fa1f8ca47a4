"""incast: a packet-level simulator of datacenter networks.

import incast

scenario = incast.load("scenarios/quickstart.toml")
results = scenario.run(out="results/quickstart")
results.slowdown().to_polars()
"""

from __future__ import annotations

import importlib

TYPE_CHECKING = False  # as in `typing`, which takes long to import
if TYPE_CHECKING:
    from typing import Any

    from incast import schema
    from incast._core import __version__
    from incast.comparison.compare import compare
    from incast.comparison.comparison import Comparison
    from incast.errors import (
        ApplicationError,
        ComparisonError,
        Diagnostic,
        EnvironmentFailure,
        IncastError,
        IncastWarning,
        InternalError,
        MissingLibraryError,
        ResultsError,
        ResultsExistError,
        ScenarioError,
    )
    from incast.fairness import jain
    from incast.progress import Progress, SchemeProgress
    from incast.results import Results
    from incast.results import open_results as open  # noqa: A004 - incast.open reads like open()
    from incast.scenario import Scenario, load
    from incast.study import Study, StudyMap, StudyResults, load_study, open_map, open_study
    from incast.sweep import Sweep, open_sweep
    from incast.table import Column, Table

_LAZY = {
    **dict.fromkeys(
        (
            "ApplicationError",
            "ComparisonError",
            "Diagnostic",
            "EnvironmentFailure",
            "IncastError",
            "IncastWarning",
            "InternalError",
            "MissingLibraryError",
            "ResultsError",
            "ResultsExistError",
            "ScenarioError",
        ),
        "errors",
    ),
    "__version__": "_core",
    "Column": "table",
    "Comparison": "comparison",
    "Progress": "progress",
    "Results": "results",
    "Scenario": "scenario",
    "SchemeProgress": "progress",
    "Study": "study",
    "StudyMap": "study",
    "StudyResults": "study",
    "Sweep": "sweep",
    "Table": "table",
    "compare": "comparison",
    "jain": "fairness",
    "load": "scenario",
    "load_study": "study",
    "open": "results:open_results",
    "open_map": "study",
    "open_study": "study",
    "open_sweep": "sweep",
}
"""Modules of the names, imported when they are first used: all of them take a second, and most programs use two. The
command handles signals before it imports the core."""

__all__ = [
    "ApplicationError",
    "Column",
    "Comparison",
    "ComparisonError",
    "Diagnostic",
    "EnvironmentFailure",
    "IncastError",
    "IncastWarning",
    "InternalError",
    "MissingLibraryError",
    "Progress",
    "Results",
    "ResultsError",
    "ResultsExistError",
    "Scenario",
    "ScenarioError",
    "SchemeProgress",
    "Study",
    "StudyMap",
    "StudyResults",
    "Sweep",
    "Table",
    "__version__",
    "compare",
    "jain",
    "load",
    "load_study",
    "open",
    "open_map",
    "open_study",
    "open_sweep",
    "schema",
]


def __getattr__(name: str) -> Any:
    """Import what is behind a name of the package when it is first used."""
    if name in _LAZY:
        module, _, attribute = _LAZY[name].partition(":")
        found = getattr(importlib.import_module(f"incast.{module}"), attribute or name)
    else:
        try:
            found = importlib.import_module(f"incast.{name}")
        except ModuleNotFoundError as error:
            if error.name != f"incast.{name}":
                raise
            raise AttributeError(f"module `incast` has no attribute `{name}`{_instead(name)}") from None
    globals()[name] = found
    return found


def _instead(name: str) -> str:
    """The end of a message: what to write in place of an unknown name; empty if nothing is close."""
    if name in ("run", "simulate"):
        return "; write `incast.load(FILE).run()`"
    from incast._nearest import hint

    return hint(name, __all__)


def __dir__() -> list[str]:
    """The names of the package, imported or not."""
    return __all__
