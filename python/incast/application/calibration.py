"""Calibrations: named sets of applications, with how often each waits for remote memory and whence that is."""

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
    "fitted": "its faults a second were chosen so that the model gives a published figure: to meet it proves nothing",
    "assumed": "its faults a second are our choice: no figure is published",
    "prediction": "nothing in it was fitted to a published slowdown",
}
"""What a slowdown is worth."""
USUAL = "seed_draft"
"""The calibration if none is named: that of the draft whose claims the study `disaggregation` checks."""


@dataclass(frozen=True)
class Application:
    """An application of a calibration."""

    name: str
    """Its name, as the workload `disaggregated` has it where it has it."""
    about: str
    """What it is."""
    model: Model
    """How it waits for remote memory."""
    source: str = ""
    """Where the values of the model come from."""
    fitted_to: str | None = None
    """The published figure that they were fitted to, if they were."""
    assumed: str | None = None
    """In view of what they were assumed, if they were."""
    class_: str | None = None
    """Its class in the source, where there are classes: that it was fitted to as a whole."""

    @property
    def evidence(self) -> Evidence:
        """What a slowdown of this application is worth."""
        if self.fitted_to is not None:
            return "fitted"
        return "prediction" if self.assumed is None else "assumed"


@dataclass(frozen=True)
class Calibration:
    """A named set of applications: one that comes with incast, or your own."""

    name: str
    """Its name, which stands beside every figure."""
    applications: tuple[Application, ...]
    """Its applications."""
    about: str = ""
    """What its rates are chosen for."""
    source: str = ""
    """Where its targets come from."""

    def chosen(self, names: Iterable[str] | None) -> list[Application]:
        """The applications of these names, or all; `ApplicationError` for a name that it does not have."""
        known = {each.name: each for each in self.applications}
        wanted = list(known if names is None else dict.fromkeys(names))
        for name in wanted:
            if name not in known:
                raise wrong.unknown(f"application in the calibration {self.name} called", name, known)
        return [known[name] for name in wanted]


def calibrations() -> dict[str, Calibration]:
    """The calibrations that come with incast, by name: `seed_draft` and `osdi16_requirement`."""
    return dict(_shipped()[0])


def conflict() -> str:
    """How they contradict each other, in words."""
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
    """What the file has of every application."""

    about: str
    source: str
    fitted_to: str | None = None
    assumed: str | None = None
    class_: str | None = None


@dataclass(frozen=True, kw_only=True)
class _Paging(_Entry):
    """An application that pages, as the file has it."""

    faults_per_s: float
    batch: int = 1

    @property
    def model(self) -> Model:
        return Paging(self.faults_per_s, batch=self.batch)


@dataclass(frozen=True, kw_only=True)
class _ClosedLoop(_Entry):
    """A key-value store, as the file has it."""

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
    """The calibrations of the file, and how they contradict each other."""
    with as_file(files("incast.application") / "calibrations.toml") as path:
        told = Document(path).typed(_File)
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
        for name, each in told.calibration.items()
    }
    return sets, _line(told.conflict)


def _line(text: str) -> str:
    """A text on one line."""
    return " ".join(text.split())
