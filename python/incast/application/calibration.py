"""Calibrations: named sets of applications, with the rate of remote accesses of each and its source."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from importlib.resources import as_file, files
from typing import Literal

from incast._document import Document
from incast.application import wrong
from incast.application.models import ClosedLoop, Model, Paging

Evidence = Literal["fitted", "assumed", "prediction"]
EVIDENCE: dict[Evidence, str] = {
    "fitted": "fault rate chosen so that the model gives a published figure; agreement with it proves nothing",
    "assumed": "fault rate is our choice; no figure is published",
    "prediction": "not fitted to a published slowdown",
}
"""Evidence for a slowdown."""
USUAL = "seed_draft"
"""The default calibration, of the draft that the study `disaggregation` checks."""


@dataclass(frozen=True)
class Application:
    """An application of a calibration."""

    name: str
    """Its name, as in the workload `disaggregated` if it is there."""
    about: str
    """Its description."""
    model: Model
    """Model of its waits for remote memory."""
    source: str = ""
    """Source of the model's values."""
    fitted_to: str | None = None
    """The published figure that the values were fitted to, if any."""
    assumed: str | None = None
    """The reason for assumed values, if any."""
    class_: str | None = None
    """Its class in the source, if any; the values were fitted to the whole class."""

    @property
    def evidence(self) -> Evidence:
        """Evidence for slowdowns of this application."""
        if self.fitted_to is not None:
            return "fitted"
        return "prediction" if self.assumed is None else "assumed"


@dataclass(frozen=True)
class Calibration:
    """A named set of applications: included in incast, or your own."""

    name: str
    """Its name, shown with every figure."""
    applications: tuple[Application, ...]
    """Its applications."""
    about: str = ""
    """Its description."""
    source: str = ""
    """Source of the published figures."""

    def chosen(self, names: Iterable[str] | None) -> list[Application]:
        """The applications with these names, or all; `ApplicationError` for an unknown name."""
        known = {each.name: each for each in self.applications}
        wanted = list(known if names is None else dict.fromkeys(names))
        for name in wanted:
            if name not in known:
                raise wrong.unknown(f"application of calibration {self.name}", name, known)
        return [known[name] for name in wanted]


def calibrations() -> dict[str, Calibration]:
    """The calibrations included in incast, by name: `seed_draft` and `osdi16_requirement`."""
    return dict(_shipped()[0])


def conflict() -> str:
    """Text about the contradiction between the calibrations."""
    return _shipped()[1]


def find(calibration: str | Calibration) -> Calibration:
    """A calibration by name, or itself; `ApplicationError` for an unknown name."""
    if isinstance(calibration, Calibration):
        return calibration
    known = calibrations()
    if calibration not in known:
        raise wrong.unknown("calibration", calibration, known)
    return known[calibration]


@dataclass(frozen=True, kw_only=True)
class _Entry:
    """Common fields of an application in the file."""

    about: str
    source: str
    fitted_to: str | None = None
    assumed: str | None = None
    class_: str | None = None


@dataclass(frozen=True, kw_only=True)
class _Paging(_Entry):
    """A paging application in the file."""

    faults_per_s: float
    batch: int = 1

    @property
    def model(self) -> Model:
        return Paging(self.faults_per_s, batch=self.batch)


@dataclass(frozen=True, kw_only=True)
class _ClosedLoop(_Entry):
    """A key-value store in the file."""

    faults_per_operation: float
    service_s: float

    @property
    def model(self) -> Model:
        return ClosedLoop(self.faults_per_operation, self.service_s)


@dataclass(frozen=True)
class _Set:
    about: str
    source: str
    paging: dict[str, _Paging]
    closed_loop: dict[str, _ClosedLoop]


@dataclass(frozen=True)
class _File:
    conflict: str
    calibration: dict[str, _Set]


@cache
def _shipped() -> tuple[dict[str, Calibration], str]:
    """The calibrations of the file, and the text about their contradiction."""
    with as_file(files("incast.application") / "calibrations.toml") as path:
        given = Document(path).typed(_File)
    sets = {
        name: Calibration(
            name,
            tuple(
                Application(entry_name, one.about, one.model, _line(one.source), one.fitted_to, one.assumed, one.class_)
                for entry_name, one in (each.paging | each.closed_loop).items()
            ),
            _line(each.about),
            _line(each.source),
        )
        for name, each in given.calibration.items()
    }
    return sets, _line(given.conflict)


def _line(text: str) -> str:
    """A text on one line."""
    return " ".join(text.split())
