"""A study: scenarios, the sweeps over them, and the claims that they are run for."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from pathlib import Path

from incast.errors import ScenarioError
from incast.study import folder, running
from incast.study.checking import Plans, check
from incast.study.description import SCALES, Claim, Metric, Scale, StudyTable
from incast.study.results import StudyResults
from incast.study.running import Callback

USUAL: Scale = "quick"
"""The scale where none is named, if the study has it."""


class Study:
    """A study whose files have been read and fit together."""

    def __init__(self, path: Path) -> None:
        """Read the study in a folder; raise `ScenarioError` at what is wrong with it."""
        self._told = folder.read(path)
        self._checked = check(self._told)
        self.name = self._told.name
        """The name of its folder."""
        self.path = path
        """Its folder."""
        self.title = self._told.study.title
        """What it is about, in a line."""
        self.text = self._told.study.text
        """The same at length, in Markdown."""
        self.source = self._told.study.source
        """The publication whose claims are judged."""
        self.scales: dict[Scale, str] = self._told.study.scale.given()
        """What it can be run at, smallest first."""

    def __repr__(self) -> str:
        return f"<Study {self.name}: {len(self.claims)} claims, {', '.join(self.plans)}>"

    @property
    def claims(self) -> Sequence[Claim]:
        """The claims, as claims.toml has them."""
        return self._told.claims.claim

    @property
    def metrics(self) -> dict[str, Metric]:
        """The metrics by name."""
        return self._told.claims.metric

    @property
    def tables(self) -> dict[str, StudyTable]:
        """The tables by name."""
        return self._told.claims.table

    @property
    def sweeps(self) -> Sequence[str]:
        """The names of its sweeps, in the order in which they run."""
        return self._told.study.sweeps

    @property
    def analyses(self) -> Sequence[str]:
        """The names of its analyses, which follow the sweeps."""
        return self._told.study.analyses

    @property
    def plans(self) -> Plans:
        """What is run: by scale and by the name of the sweep or analysis."""
        return self._checked.plans

    def scale(self, named: Scale | None = None) -> Scale:
        """The scale of this name, or the usual one."""
        if named is None:
            return USUAL if USUAL in self.scales else next(iter(self.scales))
        if named not in self.scales:
            raise ScenarioError(f"study {self.name} has no scale `{named}`, only {', '.join(self.scales)}")
        return named

    def folder(self, out: str | PathLike[str] | None = None, scale: Scale | None = None) -> Path:
        """Where results go: to `out`, if that is given."""
        return Path(f"results/{self.name}-{self.scale(scale)}") if out is None else Path(out)

    @staticmethod
    def judged(claim: Claim, scale: Scale) -> bool:
        """Whether a claim is judged at a scale."""
        return SCALES.index(scale) >= SCALES.index(claim.from_)

    def run(
        self,
        out: str | PathLike[str] | None = None,
        *,
        scale: Scale | None = None,
        jobs: int | None = None,
        ray: str | None = None,
        overwrite: bool = False,
        progress: Callback | None = None,
    ) -> StudyResults:
        """Run every sweep and analysis, judge every claim, and return what became of them.

        A folder with results of the same study at the same scale is gone on with: what has run is not run again.

        Args:
            out: Folder for the results; `results/NAME-SCALE` if not given.
            scale: `smoke`, `quick` or `paper`; `quick`, or the smallest one, if not given.
            jobs: Runs at once; one per core if not given.
            ray: Address of a Ray cluster to run on.
            overwrite: Remove results of a study that are there, and begin anew.
            progress: Called several times a second with the name of the sweep or analysis at work and a
                `SweepProgress`; raising ends the run, which can be gone on with.

        """
        chosen, path = self.scale(scale), self.folder(out, scale)
        return running.run(
            self._told, self._checked, path, chosen, overwrite=overwrite, jobs=jobs, ray=ray, progress=progress
        )

    def judge(self, results: str | PathLike[str]) -> StudyResults:
        """Judge the claims as they are now by what was run before."""
        return running.judge(self._told, self._checked, Path(results))


def load_study(name_or_path: str | PathLike[str]) -> Study:
    """A study that comes with incast, by its name, or one of your own, by the path of its folder."""
    return Study(folder.find(name_or_path))
