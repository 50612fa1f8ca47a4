"""Scenarios: read them from files or build them in Python, check them, run them."""

from __future__ import annotations

import json
import math
import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from os import PathLike, fspath
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal

from incast import _core, schema
from incast._file_kind import expected
from incast._limits import WORKERS
from incast.alone import NO_JOB, only_job, parts
from incast.errors import IncastWarning, ResultsError, translated, unsaid
from incast.progress import Callback, json_callback
from incast.progress_bars import shown
from incast.results import Results
from incast.wiring import Wiring


@dataclass(kw_only=True, repr=False, slots=True)
class Scenario(schema.Scenario):
    """A fabric, a workload and the schemes to compare.

    The fields are those of a scenario file, as typed objects of `incast.schema`. Quantities are written as in the file:
    `"100Gbps"`, `"200ns"`, `"32MB"`. Fields may be changed; `check` and `run` check the scenario.
    """

    _base: Path = field(init=False, repr=False, compare=False, default=Path())
    """Folder of the files that the scenario names."""
    _read: tuple[str, _core.Scenario] | None = field(init=False, repr=False, compare=False, default=None)
    """The JSON text and the scenario of the core. Errors of an unchanged scenario have lines of its file."""

    def __getstate__(self) -> dict[str, Any]:
        """For copies and processes: without the scenario of the core, which is made again."""
        return {each.name: getattr(self, each.name) for each in fields(self)} | {"_read": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        for name, value in state.items():
            setattr(self, name, value)

    def _core(self) -> _core.Scenario:
        # Not the trees: in Python, 1, 1.0 and True are equal.
        text = json.dumps(self.to_tree())
        if self._read and self._read[0] == text:
            return self._read[1]
        with translated():
            core = _core.Scenario.from_json(text, self._base)
        self._read = text, core
        return core

    def check(self) -> None:
        """Raise `ScenarioError` if the scenario is not valid."""
        core = self._core()
        with translated():
            core.check()

    def warnings(self) -> list[str]:
        """Warnings, to check before trusting the results. `run` issues them as `IncastWarning`."""
        core = self._core()
        with translated():
            return core.warnings()

    def synthetic(self) -> list[str]:
        """Notes about synthetic traffic that stands in for unpublished measurements."""
        return self._core().synthetic()

    def summary(self, format: Literal["json", "text"] = "text") -> str:  # noqa: A002 - as on the command line
        """Summary: fabric, flows, schemes, estimated size of the run, warnings; JSON has the whole scenario too."""
        core = self._core()
        with translated():
            return core.summary(format)

    def whole(self, format: Literal["json", "toml"] = "toml") -> str:  # noqa: A002 - as on the command line
        """The scenario with all defaults, as text."""
        return self._core().whole(format)

    def wiring(self) -> Wiring:
        """Nodes and links of the fabric."""
        core = self._core()
        with translated():
            return Wiring.read(core.fabric())

    def key(self) -> str:
        """A digest of the scenario, the files that it names and the build of incast.

        Runs with equal keys have equal results.
        """
        core = self._core()
        with translated():
            return core.key()

    def run(
        self,
        out: str | PathLike[str] | None = None,
        *,
        overwrite: bool = False,
        threads: int | None = None,
        progress: Callback | bool | None = None,
        columns: Mapping[str, str | float | bool] | None = None,
        alone: bool = False,
    ) -> Results:
        """Simulate every scheme and return the results.

        Issues an `IncastWarning` for each warning of the scenario, and for what only the run showed.

        Args:
            out: Folder for the results. Default: a temporary folder that lives as long as the returned object.
            overwrite: Replace an existing results folder.
            threads: Threads for all simulations. Default: `simulation.threads`, or one per core. Schemes run in
                parallel; with fewer schemes than threads, a simulation of 64 nodes or more takes several, while
                that is faster. Results do not depend on it.
            columns: Constant columns to add to every table, to distinguish runs.
            alone: Simulate each job (collectives of one label) also without the other traffic, for `Results.alone`.
            progress: Function called with a `Progress` several times a second; if it raises an exception, the run ends.
                `True` shows a bar for each scheme, `False` nothing. Default: bars on a terminal and in a notebook.

        Ctrl-C ends a run within a second, and nothing is written.

        Raises:
            ValueError: `threads` is not a whole number from 1 to 65536, or a number in `columns` is not finite or too
                large.
            TypeError: A value in `columns` is no text, number or bool.
            ResultsError: The path `out` has no name, such as `.`.
            ResultsExistError: The folder exists, and `overwrite` is false or it has no results.
            EnvironmentFailure: The results cannot be written.

        """
        if threads is not None and not (isinstance(threads, int) and 1 <= threads <= WORKERS):
            raise ValueError(f"threads must be a whole number from 1 to {WORKERS}, got {threads!r}")
        for name, value in (columns or {}).items():
            _check_column(name, value)
        core = self._core()
        known = self.warnings()
        for text in known:
            warnings.warn(text, IncastWarning, stacklevel=2)
        lone = only_job(self) if alone else None
        if lone:
            warnings.warn(lone, IncastWarning, stacklevel=2)
        keep = None
        if out is None:
            keep = TemporaryDirectory(prefix="incast-")
            out = Path(keep.name) / "results"
        elif Path(out).name in ("", ".."):
            raise ResultsError(f"{Path(out)} cannot become a results folder: it has no name; name a new folder")
        added = None if columns is None else json.dumps(dict(columns))
        with shown(progress) as callback, translated():
            results = Results(core.run(fspath(out), overwrite, threads, json_callback(callback), added), keep)
        for text in unsaid(results.warnings(), known):
            warnings.warn(text, IncastWarning, stacklevel=2)
        if alone and not lone:
            jobs = list(parts(self, results))
            if not jobs:
                warnings.warn(NO_JOB, IncastWarning, stacklevel=2)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", IncastWarning)
                for part, folder in jobs:
                    part.run(folder, threads=threads, progress=progress, columns=columns)
        return results


def _check_column(name: str, value: object) -> None:
    if not isinstance(value, (str, int, float)):
        raise TypeError(f"column {name!r}: a text, a number or a bool is expected, got {value!r}")
    if isinstance(value, int) and not -(2**63) <= value < 2**63:
        raise ValueError(f"column {name!r}: whole numbers must be from -2^63 to 2^63 - 1, got {value}")
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError(f"column {name!r}: a number must be finite, got {value}")


def load(path: str | PathLike[str], overrides: Iterable[str] = ()) -> Scenario:
    """Read and check a scenario file. Missing fields get their defaults.

    Args:
        path: A TOML file.
        overrides: Values that override the file, written as on the command line: `["switch.buffer=16MB", "seed=7"]`.

    Raises:
        TypeError: `overrides` is not a list of texts.
        ScenarioError: The file or an override is not valid.

    """
    overrides = _texts(overrides)
    with expected("scenario", path), translated():
        core = _core.Scenario.load(fspath(path), overrides)
    return of_core(core, Path(path).parent)


def _texts(overrides: Iterable[str]) -> list[str]:
    """Check the type: the letters of a text and the keys of a mapping are not overrides."""
    if not isinstance(overrides, (str, Mapping)):
        overrides = list(overrides)
        if all(isinstance(each, str) for each in overrides):
            return overrides
    raise TypeError(f'overrides must be a list such as ["switch.buffer=16MB", "seed=7"], got {overrides!r}')


def of_core(core: _core.Scenario, base: Path) -> Scenario:
    """A scenario of the core; relative files that it names are in `base`."""
    scenario = Scenario.from_tree(json.loads(core.whole("json")))
    scenario._base = base
    scenario._read = json.dumps(scenario.to_tree()), core
    return scenario
