"""A study: scenarios, sweeps over them, and claims to check."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

from incast.errors import ScenarioError
from incast.study import folder, mapping, running, sequential
from incast.study.checking import Plans, check
from incast.study.description import MAP, SCALES, Claim, Metric, OpenParameter, Scale, StudyFigure, StudyTable
from incast.study.mapped import StudyMap, open_map
from incast.study.mapping import MapPlan
from incast.study.results import StudyResults
from incast.study.running import Callback

if TYPE_CHECKING:
    import duckdb

USUAL: Scale = "quick"
"""The default scale, if the study has it."""


class Study:
    """A study with checked files."""

    def __init__(self, path: Path) -> None:
        """Read the study in a folder; raise `ScenarioError` for an error in its files."""
        self._description = folder.read(path)
        self._checked = check(self._description)
        self.name = self._description.name
        """The name of its folder."""
        self.path = path
        """Its folder."""
        self.title = self._description.study.title
        """Title, in one line."""
        self.text = self._description.study.text
        """Description in Markdown."""
        self.source = self._description.study.source
        """The publication with the claims."""
        self.scales: dict[Scale, str] = self._description.study.scale.given()
        """Its scales with their descriptions, smallest first."""
        self.map_about = self._description.study.scale.map and self._description.study.scale.map.about
        """Description of its size for maps; `None` if it has none."""

    def __repr__(self) -> str:
        return f"<Study {self.name}: {len(self.claims)} claims, {', '.join(self.plans)}>"

    @property
    def claims(self) -> Sequence[Claim]:
        """The claims in claims.toml."""
        return self._description.claims.claim

    @cached_property
    def metrics(self) -> dict[str, Metric]:
        """The metrics by name; their SQL names the columns of a run in place of `{run}`."""
        shared = self._checked.shared
        return {
            name: replace(metric, sql=shared[metric.part].text(metric.sql))
            for name, metric in self._description.claims.metric.items()
        }

    @cached_property
    def tables(self) -> dict[str, StudyTable]:
        """The tables by name, with SQL as in `metrics`."""
        shared = self._checked.shared
        return {
            table.name: replace(
                table,
                sql=shared[table.part].text(table.sql),
                title=figure.title if table.title is None else table.title,
                about=figure.about if table.about is None else table.about,
            )
            for _, figure, table in self._description.claims.tables()
        }

    @property
    def figures(self) -> Sequence[StudyFigure]:
        """The figures in claims.toml."""
        return self._description.claims.figure

    def create_views(self, connection: duckdb.DuckDBPyConnection, part: str) -> None:
        """Create the views that metrics use, in a connection to results of the sweep or analysis `part`."""
        self._checked.shared[part].create(connection)

    @property
    def views(self) -> dict[str, dict[str, str]]:
        """SQL of the views, in order, by sweep or analysis and name."""
        return {
            part: {name: shared.text(sql) for name, sql in shared.views.items()}
            for part, shared in self._checked.shared.items()
            if shared.views
        }

    @property
    def sweeps(self) -> Sequence[str]:
        """The names of its sweeps, in order."""
        return self._description.study.sweeps

    @property
    def analyses(self) -> Sequence[str]:
        """The names of its analyses, which run after the sweeps."""
        return self._description.study.analyses

    @property
    def plans(self) -> Plans:
        """Plans by scale and by the name of the sweep or analysis."""
        return self._checked.plans

    def scale(self, named: Scale | None = None) -> Scale:
        """The named scale, or the default."""
        if named is None:
            return USUAL if USUAL in self.scales else next(iter(self.scales))
        if named not in self.scales:
            raise ScenarioError(f"study {self.name} has no scale `{named}`, only {', '.join(self.scales)}")
        return named

    def folder(self, out: str | PathLike[str] | None = None, scale: Scale | None = None) -> Path:
        """Folder for the results. Default: `results/NAME-SCALE`."""
        return Path(f"results/{self.name}-{self.scale(scale)}") if out is None else Path(out)

    @staticmethod
    def judged(claim: Claim, scale: Scale) -> bool:
        """True if a claim is checked at a scale."""
        return SCALES.index(scale) >= SCALES.index(claim.from_)

    def run(
        self,
        out: str | PathLike[str] | None = None,
        *,
        scale: Scale | None = None,
        jobs: int | None = None,
        ray: str | None = None,
        overwrite: bool = False,
        until_decided: bool = False,
        cap: int = sequential.CAP,
        progress: Callback | None = None,
    ) -> StudyResults:
        """Run every sweep and analysis, check every claim, and return the verdicts.

        Existing results of the same study at the same scale are resumed: finished runs are not repeated.

        Args:
            out: Folder for the results. Default: `results/NAME-SCALE`.
            scale: `smoke`, `quick` or `paper`. Default: `quick`, or the smallest one.
            jobs: Parallel runs. Default: one per core.
            ray: Address of a Ray cluster to run on.
            until_decided: Add seeds to undecided figures until their claims are decided. Intervals are then wider: they
                hold at all looks together.
            cap: Most seeds of a figure with `until_decided`.
            overwrite: Remove existing results of a study and start again.
            progress: Called several times a second with the name of the active sweep or analysis and a
                `SweepProgress`. If it raises an exception, the run ends and can be resumed.

        """
        chosen, path = self.scale(scale), self.folder(out, scale)
        if until_decided and not any(sequential.looks(plan, cap) for plan in self.plans[chosen].values()):
            raise ScenarioError(
                f"study {self.name} at scale {chosen}: no sweep has 2 to {cap - 1} seeds, so none gets more"
            )
        return running.run(
            self._description,
            self._checked,
            path,
            chosen,
            overwrite=overwrite,
            jobs=jobs,
            ray=ray,
            progress=progress,
            cap=cap if until_decided else None,
        )

    def judge(self, results: str | PathLike[str], of_map: str | PathLike[str] | None = None) -> StudyResults:
        """Check the current claims on existing results.

        Args:
            results: Folder of the results.
            of_map: Folder of a map of the same study. Each claim then has its share of the space.

        """
        found = None if of_map is None else open_map(of_map, self.name)
        return running.judge(self._description, self._checked, Path(results), found)

    @property
    def open_parameters(self) -> Sequence[OpenParameter]:
        """The parameters that the publication leaves open."""
        return [each.parameter for each in self._checked.opened]

    def plan_map(self, points: int = mapping.POINTS) -> MapPlan:
        """The runs of a map with so many points, next to the judged setting."""
        return mapping.plan(self._description, self._checked, points)

    def map(
        self,
        out: str | PathLike[str] | None = None,
        *,
        points: int | MapPlan = mapping.POINTS,
        jobs: int | None = None,
        ray: str | None = None,
        overwrite: bool = False,
        progress: Callback | None = None,
    ) -> StudyMap:
        """Run the sweeps at points of the space of open parameters, and check every claim at each point.

        An existing map of the same study is resumed: finished runs are not repeated. More points keep the earlier ones.

        Args:
            out: Folder for the map. Default: `results/NAME-map`.
            points: Number of points next to the judged setting, or the plan of `plan_map`.
            jobs: Parallel runs. Default: one per core.
            ray: Address of a Ray cluster to run on.
            overwrite: Remove existing results of a study and start again.
            progress: Called several times a second with the name of the active sweep and a `SweepProgress`. If it
                raises an exception, the map ends and can be resumed.

        """
        return mapping.run(
            self._description,
            self._checked,
            self.plan_map(points) if isinstance(points, int) else points,
            self.map_folder(out),
            overwrite=overwrite,
            jobs=jobs,
            ray=ray,
            progress=progress,
        )

    def map_folder(self, out: str | PathLike[str] | None = None) -> Path:
        """Folder for a map. Default: `results/NAME-map`."""
        return Path(f"results/{self.name}-{MAP}") if out is None else Path(out)


def load_study(name_or_path: str | PathLike[str]) -> Study:
    """Load a study included in incast by its name, or your own by the path of its folder."""
    return Study(folder.find(name_or_path))
