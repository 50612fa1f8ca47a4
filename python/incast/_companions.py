"""The companions of the simulator: application models, `incast memory`, and the testbed for rules in the Linux kernel.

They use the simulator and share its command. The simulator names them only here, and imports them when they are used.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import duckdb

COMMANDS = (
    (
        "application",
        "incast.application.cli:app",
        4.7,
        "Estimate the slowdown of applications with remote memory on the simulated network.",
    ),
    (
        "memory",
        "incast.memory.cli:app",
        None,
        "Run real programs with part of their memory remote: record page fetches, or delay them by simulated times.",
    ),
)
"""Name, app, place in the list of commands if the app itself has none, and first sentence of its help."""
COST = "incast.testbed.cli:app"
"""App of `incast deadlock cost`."""
ANALYSES = ("incast.testbed.analysis:COST", "incast.memory.analysis:MEMORY")
"""Kinds of analyses for studies."""
TABLES = ("incast.application.table:register",)
"""Functions that add a table to the database of a sweep."""


def imported(name: str) -> Any:
    """Import the attribute of a name, `module:attribute`."""
    module, _, attribute = name.partition(":")
    return getattr(importlib.import_module(module), attribute)


def add_tables(connection: duckdb.DuckDBPyConnection) -> None:
    """Add the companions' tables to the database of a sweep."""
    for name in TABLES:
        imported(name)(connection)
