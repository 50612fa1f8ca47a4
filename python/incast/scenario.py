"""Scenarios: read, built in Python, checked, shown and run."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from os import PathLike, fspath
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal

from incast import _core, schema
from incast.errors import translated
from incast.progress import Callback, told
from incast.progress_bars import shown
from incast.results import Results
from incast.wiring import Wiring


@dataclass(kw_only=True, repr=False, slots=True)
class Scenario(schema.Scenario):
    """A fabric, a workload and the schemes to compare on them.

    The fields are those of a scenario file, as typed objects of `incast.schema`; quantities are written as in the
    file, `"100Gbps"`, `"200ns"`, `"32MB"`. Fields may be changed at will: a scenario is checked when it is run, and by
    `check`.
    """

    _base: Path = field(init=False, repr=False, compare=False, default=Path())
    """Where the files that the scenario names are looked for."""
    _read: tuple[dict[str, Any], _core.Scenario] | None = field(init=False, repr=False, compare=False, default=None)
    """The tree as it was read and what was read: its errors have lines, as long as nothing is changed."""

    def _core(self) -> _core.Scenario:
        tree = self.to_tree()
        if self._read and self._read[0] == tree:
            return self._read[1]
        with translated():
            core = _core.Scenario.from_json(json.dumps(tree), self._base)
        self._read = tree, core
        return core

    def check(self) -> None:
        """Raise `ScenarioError` if the scenario cannot be run."""
        self.warnings()

    def warnings(self) -> list[str]:
        """What should be checked before the results are trusted."""
        core = self._core()
        with translated():
            return core.warnings()

    def synthetic(self) -> list[str]:
        """What of its traffic stands for measurements that are not public, and is made up."""
        core = self._core()
        with translated():
            told: list[str] = json.loads(core.summary("json"))["synthetic"]
        return told

    def summary(self) -> str:
        """What the scenario amounts to, for people: fabric, flows, schemes, size of the run, warnings."""
        core = self._core()
        with translated():
            return core.summary("text")

    def whole(self, format: Literal["json", "toml"] = "toml") -> str:  # noqa: A002 - as on the command line
        """The scenario with every default filled in, as text."""
        return self._core().whole(format)

    def wiring(self) -> Wiring:
        """The nodes and links of its fabric."""
        core = self._core()
        with translated():
            return Wiring.read(core.fabric())

    def key(self) -> str:
        """A digest of the whole scenario, of the files that it names and of the build of incast.

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
    ) -> Results:
        """Simulate every scheme and return the results.

        Args:
            out: Folder for the results. Without one they live in a temporary folder, as long as the returned object.
            overwrite: Replace a results folder that is there.
            threads: Schemes run at once; the default is one per core. Results do not depend on it.
            columns: Constant columns for every table, to tell this run from others.
            progress: A function called with a `Progress` several times a second; an exception it raises ends the run.
                `True` shows a bar for each scheme, `False` nothing. Default: bars on a terminal and in a notebook.

        Ctrl-C ends a run within a second; nothing is written then.

        """
        core = self._core()
        keep = None
        if out is None:
            keep = TemporaryDirectory(prefix="incast-")
            out = Path(keep.name) / "results"
        added = None if columns is None else json.dumps(dict(columns))
        with shown(progress) as callback, translated():
            return Results(core.run(fspath(out), overwrite, threads, told(callback), added), keep)


def load(path: str | PathLike[str], overrides: Iterable[str] = ()) -> Scenario:
    """Read and check a scenario file; what it leaves out has its default afterwards.

    Args:
        path: A TOML file.
        overrides: Values that overrule the file, written as on the command line: `["switch.buffer=16MB", "seed=7"]`.

    """
    with translated():
        core = _core.Scenario.load(fspath(path), list(overrides))
    scenario = Scenario.from_tree(json.loads(core.whole("json")))
    scenario._base = Path(path).parent
    scenario._read = scenario.to_tree(), core
    return scenario
