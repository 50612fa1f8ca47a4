"""What can go wrong, as exceptions."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from incast import _core


@dataclass(frozen=True)
class Diagnostic:
    """One thing that is wrong with what incast was given, and where."""

    message: str
    """What is wrong, naming the bad value."""
    field: str | None = None
    """The parameter meant, as a dotted path such as `switch.buffer`."""
    file: str | None = None
    """The file it stands in; `--set` for a value from the command line."""
    line: int | None = None
    """Its line, from 1."""
    column: int | None = None
    """Its column in characters, from 1."""
    allowed: str | None = None
    """What would be allowed."""
    nearest: str | None = None
    """The valid name closest to the one written."""


class IncastError(Exception):
    """Anything incast reports; its text is meant to be read by people."""

    diagnostics: tuple[Diagnostic, ...]
    """The same, item by item."""

    def __init__(self, text: str, diagnostics: tuple[Diagnostic, ...] = ()) -> None:
        super().__init__(text)
        self.diagnostics = diagnostics

    def _first(self) -> Diagnostic:
        return self.diagnostics[0] if self.diagnostics else Diagnostic(str(self))

    @property
    def file(self) -> str | None:
        """The file of the first diagnostic."""
        return self._first().file

    @property
    def line(self) -> int | None:
        """The line of the first diagnostic, from 1."""
        return self._first().line

    @property
    def field(self) -> str | None:
        """The parameter of the first diagnostic, as a dotted path."""
        return self._first().field


class ScenarioError(IncastError):
    """A scenario, or a file it needs or was to be made from, is wrong."""


class ResultsError(IncastError):
    """A folder is not a results folder, or has no such table."""


class ComparisonError(IncastError):
    """Results cannot be compared with a file: it is not what it should be, or they have nothing in common."""


class ApplicationError(IncastError):
    """What an application loses cannot be said: a parameter, a trace of page faults or the flows are not as needed."""


class ResultsExistError(IncastError):
    """The results folder is there already and was not to be overwritten."""

    option: str = "--output"
    """The option of the command that names another place."""


class EnvironmentFailure(IncastError):
    """The machine cannot do it: a folder that cannot be written, a full disk."""


class InternalError(IncastError):
    """incast itself failed; please report it with the scenario."""


_KINDS: dict[str, type[IncastError]] = {
    "scenario": ScenarioError,
    "results": ResultsError,
    "exists": ResultsExistError,
    "environment": EnvironmentFailure,
    "internal": InternalError,
}


@contextmanager
def translated() -> Iterator[None]:
    """Raise failures of the core as the exceptions of this module."""
    try:
        yield
    except _core.Fault as fault:
        kind, text, diagnostics = fault.args
        if kind == "interrupted":
            raise KeyboardInterrupt from None
        found = tuple(Diagnostic(**each) for each in json.loads(diagnostics))
        raise _KINDS.get(kind, IncastError)(text, found) from None
