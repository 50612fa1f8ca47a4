"""Scenarios: read, built in Python, checked, shown and run."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from os import PathLike, fspath
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal

from incast import _core, schema
from incast.errors import translated
from incast.progress import Callback, told
from incast.results import Results


@dataclass(kw_only=True, repr=False, slots=True)
class Scenario(schema.Scenario):
    """A fabric, a workload and the schemes to compare on them.

    The fields are those of a scenario file, as typed objects of `incast.schema`; quantities are written as in the
    file, `"100Gbps"`, `"200ns"`, `"32MB"`. Fields may be changed at will: a scenario is checked when it is run, and by
    `check`.
    """

    _base: Path = field(init=False, repr=False, compare=False, default=Path())
    """Where the files that the scenario names are looked for."""
    _name: str = field(init=False, repr=False, compare=False, default="scenario")
    """What to call it in errors."""

    def _core(self) -> _core.Scenario:
        with translated():
            return _core.Scenario.from_json(json.dumps(self.to_tree()), self._base, self._name)

    def check(self) -> None:
        """Raise `ScenarioError` if the scenario cannot be run."""
        self._core()

    def show(self, format: Literal["text", "json", "toml"] = "text") -> str:  # noqa: A002 - as on the command line
        """The scenario with every default filled in."""
        core = self._core()
        with translated():
            return core.show(format)

    def run(
        self,
        out: str | PathLike[str] | None = None,
        *,
        overwrite: bool = False,
        threads: int | None = None,
        progress: Callback | None = None,
    ) -> Results:
        """Simulate every scheme and return the results.

        Args:
            out: Folder for the results. Without one they live in a temporary folder, as long as the returned object.
            overwrite: Replace a results folder that is there.
            threads: Schemes run at once; the default is one per core. Results do not depend on it.
            progress: Called with a `Progress` several times a second; an exception it raises ends the run.

        Ctrl-C ends a run within a second; nothing is written then.

        """
        core = self._core()
        keep = None
        if out is None:
            keep = TemporaryDirectory(prefix="incast-")
            out = Path(keep.name) / "results"
        with translated():
            return Results(core.run(fspath(out), overwrite, threads, told(progress)), keep)


def load(path: str | PathLike[str], overrides: Iterable[str] = ()) -> Scenario:
    """Read and check a scenario file.

    Args:
        path: A TOML file.
        overrides: Values that overrule the file, written as on the command line: `["switch.buffer=16MB", "seed=7"]`.

    """
    with translated():
        core = _core.Scenario.load(fspath(path), list(overrides))
    tree: dict[str, Any] = json.loads(core.tree())
    scenario = Scenario.from_tree(tree)
    scenario._base, scenario._name = Path(path).parent, fspath(path)
    return scenario
