"""Errors for a sweep that is given as a scenario, and for a scenario that is given as a sweep."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from os import PathLike, fspath
from typing import Any, Literal

from incast._document import Document
from incast._echo import shell
from incast.errors import IncastError, ScenarioError

Kind = Literal["scenario", "sweep"]
COMMANDS: dict[Kind, str] = {"scenario": "incast run", "sweep": "incast sweep"}
OF_SCENARIOS = ("fabric", "workload", "scheme")
"""Tables of scenarios that sweeps do not have."""


@contextmanager
def expected(kind: Kind, path: str | PathLike[str]) -> Iterator[None]:
    """Add to an error in a file of the other kind the command for this kind."""
    try:
        yield
    except ScenarioError as error:
        found = _kind(path)
        if found in (None, kind):
            raise
        note = f"the file is a {found}: {COMMANDS[found]} {shell(fspath(path))}"
        raise ScenarioError(f"{error}\n  = {note}", error.diagnostics) from None


def _kind(path: str | PathLike[str]) -> Kind | None:
    """The kind of a TOML file by its fields; `None` for others."""
    try:
        tree: dict[str, Any] = Document(path).tree
    except IncastError:
        return None
    if isinstance(tree.get("scenario"), str):
        return "sweep"
    return "scenario" if any(name in tree for name in OF_SCENARIOS) else None
