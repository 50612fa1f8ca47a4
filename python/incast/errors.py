"""Exceptions."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from incast import _core


@dataclass(frozen=True)
class Diagnostic:
    """One error in the input, with its place."""

    message: str
    """The error, with the bad value."""
    field: str | None = None
    """The parameter as a dotted path, such as `switch.buffer`."""
    file: str | None = None
    """The file; `--set` for a value from the command line."""
    line: int | None = None
    """The line, from 1."""
    column: int | None = None
    """The column in characters, from 1."""
    allowed: str | None = None
    """The allowed values."""
    nearest: str | None = None
    """The valid name closest to the bad one."""


class IncastError(Exception):
    """Base of all errors of incast, with a readable text."""

    diagnostics: tuple[Diagnostic, ...]
    """The single errors, with their places."""

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
    """A scenario, a file that it names, or a file to import is not valid."""


class ResultsError(IncastError):
    """A folder is not a results folder, is damaged, or lacks a table."""


class DamagedError(ResultsError):
    """Files of a results folder are damaged."""


class ComparisonError(IncastError):
    """Results cannot be compared with a file: the file is not valid, or they have no common flow."""


class ApplicationError(IncastError):
    """A parameter, a trace of page faults, a recording or the flows are not valid for an application."""


class ResultsExistError(IncastError):
    """An output exists already, and `overwrite` is not set."""

    option: str = "--output"
    """The command's option for the output."""


class EnvironmentFailure(IncastError):
    """A failure of the environment: folder not writable, disk full, library not installed."""


class MissingLibraryError(EnvironmentFailure, ImportError):
    """An optional library is not installed."""


class InternalError(IncastError):
    """An internal error of incast; please report it with the scenario."""


class IncastWarning(UserWarning):
    """Something that should be checked before the results of a run are trusted.

    `Scenario.run` issues it, so the filters of the module `warnings` apply.
    """


_PLACE = re.compile(r"\((?:[^()]*/)?([^()/]+:\d+)\)")
"""File, with its folder, and line."""


def unsaid(warnings: Iterable[str], known: Iterable[str]) -> list[str]:
    """The warnings of results that the scenario did not have. Results name its file without the folder."""
    said = {_PLACE.sub(r"(\1)", text) for text in known}
    return [text for text in warnings if text not in said]


_KINDS: dict[str, type[IncastError]] = {
    "scenario": ScenarioError,
    "results": ResultsError,
    "damaged": DamagedError,
    "exists": ResultsExistError,
    "environment": EnvironmentFailure,
    "internal": InternalError,
}


_OS_ERROR = re.compile(r"(?<=[a-z]) \(os error \d+\)")
"""Number of an error of the operating system, which Rust writes after its text."""


@contextmanager
def translated() -> Iterator[None]:
    """Raise failures of the core as the exceptions of this module."""
    try:
        yield
    except _core.Fault as fault:
        kind, text, diagnostics = fault.args
        if kind == "interrupted":
            raise KeyboardInterrupt from None
        found = tuple(Diagnostic(**each) for each in json.loads(_OS_ERROR.sub("", diagnostics)))
        raise _KINDS.get(kind, IncastError)(_OS_ERROR.sub("", text), found) from None
