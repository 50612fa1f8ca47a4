"""Checks a study's files before anything runs."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from incast import _input, analysis, sweep
from incast._document import Document, join
from incast._limits import LONGEST_TITLE
from incast.analysis import AnalysisPlan
from incast.study import checking_figures, opening, queries
from incast.study.description import MAP, SCALES, Check, Metric, Scale, Selection, StudyTable, Value
from incast.study.expectation import KINDS, tolerance
from incast.study.figures import SEED, VALUE, listed, same
from incast.study.folder import CLAIMS, STUDY, Description
from incast.study.opening import Opened
from incast.study.shared import Shared, ViewError, used
from incast.study.tables import EmptyTables, of_analysis
from incast.sweep.lengths import check_text

TOLERANCE = 'a number in the metric\'s unit, or a part such as "5%"; 0 or more'
"""Allowed values."""
Plans = Mapping[Scale, Mapping[str, sweep.Plan | AnalysisPlan]]
"""Plans of sweeps and analyses, by scale."""


@dataclass(frozen=True)
class Checked:
    """A study with checked files."""

    plans: Plans
    """Plans of sweeps and analyses, by scale."""
    columns: Mapping[str, tuple[str, ...]]
    """The columns of each metric."""
    of_tables: Mapping[str, tuple[str, ...]]
    """The columns of each table."""
    shared: Mapping[str, Shared]
    """Shared SQL by sweep or analysis."""
    known: Mapping[str, Mapping[str, list[Any]]]
    """The values that runs have at any scale, by sweep or analysis and column."""
    opened: tuple[Opened, ...]
    """Open parameters, and where they have an effect."""
    maps: Mapping[str, sweep.Plan]
    """Plans of the sweeps that are part of a map, at one point: the judged setting."""

    def setting(self, parts: Iterable[str]) -> dict[str, Value]:
        """Judged values of the open parameters that some of the sweeps have, by name."""
        names = set(parts)
        return {each.parameter.name: each.parameter.judged for each in self.opened if names & each.fields.keys()}


def check(description: Description) -> Checked:
    """Check a study; raises `ScenarioError` for an error in its files."""
    _scales_and_parts(description)
    plans: Plans = {
        scale: {
            **{
                name: sweep.read(description.part_file(name), scale=scale, keys=False)
                for name in description.study.sweeps
            },
            **{name: analysis.read(description.part_file(name), scale) for name in description.study.analyses},
        }
        for scale in description.study.scale.given()
    }
    claims = _Claims(description, plans)
    columns, of_tables = claims.check(), claims.tables()
    maps = _maps(description)
    schemes = {
        name: {run.scheme for plan in of_scales for run in plan.runs if isinstance(run, sweep.Planned)}
        for name in description.study.sweeps
        for of_scales in [[*(plans[scale][name] for scale in plans), *([maps[name]] if name in maps else [])]]
    }
    return Checked(
        plans, columns, of_tables, claims.shared, claims.known, opening.check(description, schemes, maps), maps
    )


def _maps(description: Description) -> dict[str, sweep.Plan]:
    """The sweeps with a scale of maps; at least one, if the study has it."""
    if description.study.scale.map is None:
        return {}
    files = {name: description.part_file(name) for name in description.study.sweeps}
    found = {
        name: sweep.read(file, scale=MAP, keys=False)
        for name, file in files.items()
        if MAP in Document(file).tree.get("scale", {})
    }
    if not found:
        message = "no sweep is part of a map: none has a [scale.map]"
        raise description.study_document.wrong("scale.map", message, allowed="[scale.map] in the files of some sweeps")
    return found


def _scales_and_parts(description: Description) -> None:
    document = description.study_document
    check_text(document, "title", description.study.title, LONGEST_TITLE)
    if not description.study.scale.given():
        raise document.wrong("scale", "a study has at least one scale", allowed=", ".join(SCALES))
    if not description.study.parts:
        message = "a study has at least one sweep or analysis"
        raise document.wrong("sweeps", message, allowed="names of files, without .toml")
    fields = [f"sweeps[{number}]" for number in range(len(description.study.sweeps))]
    fields += [f"analyses[{number}]" for number in range(len(description.study.analyses))]
    for number, (name, field) in enumerate(zip(description.study.parts, fields, strict=True)):
        if f"{name}.toml" in (STUDY, CLAIMS) or not re.fullmatch(r"\w[\w-]*", name):
            what = "a sweep" if field.startswith("sweeps") else "an analysis"
            message = f"`{name}` is no name for {what}"
            raise document.wrong(field, message, allowed="letters, digits, _ and -, but not `study` or `claims`")
        if name in description.study.parts[:number]:
            raise document.wrong(field, f"`{name}` is named twice")
        if not _input.exists(description.part_file(name)):
            there = sorted(file.stem for file in description.path.glob("*.toml") if file.name not in (STUDY, CLAIMS))
            raise document.wrong(field, f"there is no file {name}.toml in {description.path}", wrong=name, names=there)


class _Claims:
    """Checks claims.toml."""

    def __init__(self, description: Description, plans: Plans) -> None:
        self.description = description
        self.plans = plans
        self.known = {name: self._known(name) for name in description.study.parts}
        """The values that the runs of each sweep or analysis have at any scale, by column."""
        tables = EmptyTables()
        self.databases = {
            name: of_analysis(plan) if isinstance(plan, AnalysisPlan) else tables.database(self.known[name])
            for name, plan in next(iter(plans.values())).items()
        }
        """The tables of each sweep or analysis without rows."""
        self.shared: dict[str, Shared] = {}
        """Shared SQL by sweep or analysis."""

    def check(self) -> dict[str, tuple[str, ...]]:
        """The columns of every metric, if nothing is wrong."""
        self._parts()
        self._views()
        columns = self._metrics()
        claims, document = self.description.claims.claim, self.description.claims_document
        scales = self.description.study.scale.given()
        if not claims:
            raise document.wrong("claim", "a study has at least one claim")
        for number, claim in enumerate(claims):
            field = f"claim[{number}]"
            if claim.id in [other.id for other in claims[:number]]:
                raise document.wrong(f"{field}.id", f"there are two claims `{claim.id}`")
            if claim.from_ not in scales:
                message = f"the study has no scale `{claim.from_}`"
                raise document.wrong(f"{field}.from", message, wrong=claim.from_, names=list(scales))
            if not claim.check:
                raise document.wrong(f"{field}.check", f"claim `{claim.id}` checks nothing: it needs a [[claim.check]]")
            for at in range(len(claim.check)):
                self._check(number, at, columns)
        checking_figures.figures(self.description, columns, self.known)
        return columns

    def _parts(self) -> None:
        """Raise unless every metric and table names a sweep or an analysis of the study."""
        for name, metric in self.description.claims.metric.items():
            self._part(join("metric", name), f"metric `{name}`", metric)
        for at, _, table in self.description.claims.tables():
            self._part(at, f"table `{table.name}`", table)

    def _views(self) -> None:
        """Create the views that metrics and tables use; raise for one that nothing uses."""
        claims, document = self.description.claims, self.description.claims_document
        asked: list[Metric | StudyTable] = [*claims.metric.values(), *(table for _, _, table in claims.tables())]
        for part, connection in self.databases.items():
            columns = tuple(self.known[part])
            queries_of_part = [one.sql for one in asked if one.part == part]
            self.shared[part] = used(claims.view, queries_of_part, columns, connection)
            try:
                self.shared[part].create(connection)
            except ViewError as error:
                message = f"view `{error.name}`, which `{part}` uses: {error}"
                raise document.wrong(join("view", error.name), message) from None
        for name in claims.view:
            if not any(name in shared.views for shared in self.shared.values()):
                raise document.wrong(join("view", name), f"no metric or table uses view `{name}`")

    def _metrics(self) -> dict[str, tuple[str, ...]]:
        """The columns of every metric."""
        document, found = self.description.claims_document, {}
        for name, metric in self.description.claims.metric.items():
            sql = self.shared[metric.part].text(metric.sql)
            try:
                found[name] = queries.columns(self.databases[metric.part], sql)
            except queries.QueryError as error:
                field = f"{join('metric', name)}.sql"
                raise document.wrong(field, f"metric `{name}`: {error}") from None
        return found

    def tables(self) -> dict[str, tuple[str, ...]]:
        """The columns of every table, if nothing is wrong."""
        document = self.description.claims_document
        found: dict[str, tuple[str, ...]] = {}
        for at, _, table in self.description.claims.tables():
            if not re.fullmatch(r"\w[\w-]*", table.name):
                message = f"`{table.name}` is not a valid name of a table and its file"
                raise document.wrong(f"{at}.name", message, allowed="letters, digits, _ and -")
            if table.name in found:
                raise document.wrong(f"{at}.name", f"there are two tables `{table.name}`")
            sql = self.shared[table.part].text(table.sql)
            try:
                kinds = queries.described(self.databases[table.part], sql, "table")
            except queries.QueryError as error:
                raise document.wrong(f"{at}.sql", f"table `{table.name}`: {error}") from None
            checking_figures.table(self.description, at, table, kinds)
            found[table.name] = tuple(kinds)
        return found

    def _part(self, at: str, one_named: str, one: Metric | StudyTable) -> None:
        """Raise unless a metric or a table names a sweep or an analysis of the study."""
        document = self.description.claims_document
        if (one.sweep is None) == (one.analysis is None):
            raise document.wrong(at, f"{one_named} is of a `sweep` or of an `analysis`")
        for what, named, names in (
            ("sweep", one.sweep, self.description.study.sweeps),
            ("analysis", one.analysis, self.description.study.analyses),
        ):
            if named is not None and named not in names:
                message = f"the study has no {what} `{named}`"
                raise document.wrong(f"{at}.{what}", message, wrong=named, names=names)

    def _check(self, number: int, at: int, columns: Mapping[str, tuple[str, ...]]) -> None:
        document, claim = self.description.claims_document, self.description.claims.claim[number]
        field, check = f"claim[{number}].check[{at}]", claim.check[at]
        written = document.tree["claim"][number]["check"][at]
        if check.metric not in columns:
            message = f"there is no metric `{check.metric}`"
            raise document.wrong(f"{field}.metric", message, wrong=check.metric, names=list(columns))
        for name in ("at", "of", "against"):
            common, own = getattr(claim, name), written.get(name, {})
            for column in common.keys() & own.keys():
                message = f"`{name}` of the claim has chosen `{column}` already"
                raise document.wrong(join(f"{field}.{name}", column), message)
            self._selection(f"claim[{number}].{name}", common, check.metric, columns[check.metric])
            self._selection(f"{field}.{name}", own, check.metric, columns[check.metric])
        for name in check.at.keys() & check.of.keys():
            place = field if name in written.get("of", {}) else f"claim[{number}]"
            raise document.wrong(join(f"{place}.of", name), f"`at` has chosen `{name}` already")
        if check.against and check.against.keys() != check.of.keys():
            message = "`against` chooses other columns than `of`"
            place = field if "against" in written else f"claim[{number}]"
            raise document.wrong(
                f"{place}.against", message, allowed=", ".join(check.of) or "nothing: there is no `of`"
            )
        if check.against and all(listed(check.against[name]) == listed(check.of[name]) for name in check.of):
            place = field if "against" in written else f"claim[{number}]"
            raise document.wrong(f"{place}.against", "`against` chooses the same as `of`: each ratio is 1")
        if check.against and self.description.claims.metric[check.metric].share:
            place = field if "against" in written else f"claim[{number}]"
            message = f"metric `{check.metric}` is a share of 0 and 1 per seed, which no seed can divide"
            raise document.wrong(f"{place}.against", message, allowed="nothing for a share")
        self._expectation(field, check)

    def _selection(self, field: str, selection: Selection, metric: str, columns: tuple[str, ...]) -> None:
        choosable = [name for name in columns if name not in (VALUE, SEED)]
        known = self.known[self.description.claims.metric[metric].part]
        checking_figures.selected(self.description.claims_document, field, selection, metric, choosable, known)

    def _known(self, name: str) -> dict[str, list[Any]]:
        """The values that runs have at any scale, by what is varied, and `scheme`."""
        found: dict[str, list[Any]] = {}
        # The largest scale first: it has the values in their order.
        for plan in reversed(list(self.plans.values())):
            for run in plan[name].runs:
                for column, value in run.choice.items():
                    values = found.setdefault(column, [])
                    if not any(same(value, other) for other in values):
                        values.append(value)
        return found

    def _expectation(self, field: str, check: Check) -> None:
        document = self.description.claims_document
        given = [kind for kind in KINDS if getattr(check, kind) is not None]
        if not given:
            raise document.wrong(field, "the check expects nothing", allowed=f"one of {', '.join(KINDS)}")
        if len(given) > 1:
            message = f"a check has one expectation, not {' and '.join(given)}"
            raise document.wrong(f"{field}.{given[1]}", message, allowed=f"one of {', '.join(KINDS)}")
        bounds = getattr(check, given[0])
        if not all(map(math.isfinite, listed(bounds))):
            raise document.wrong(f"{field}.{given[0]}", f"`{bounds}` is no bound", allowed="finite numbers")
        if check.between is not None and (len(check.between) != 2 or check.between[0] > check.between[1]):
            why = "the lower bound must be first" if len(check.between) == 2 else f"{len(check.between)} bounds, not 2"
            raise document.wrong(f"{field}.between", why, allowed="two numbers, the lower first")
        self._tolerance(field, check)

    def _tolerance(self, field: str, check: Check) -> None:
        document = self.description.claims_document
        if check.about is None:
            if check.tolerance is not None:
                raise document.wrong(f"{field}.tolerance", "a tolerance belongs to `about`")
            return
        if check.tolerance is None:
            raise document.wrong(field, "`about` needs a `tolerance`", allowed=TOLERANCE)
        try:
            tolerance(check.about, check.tolerance)
        except ValueError:
            message = f"`{check.tolerance}` is no tolerance"
            raise document.wrong(f"{field}.tolerance", message, allowed=TOLERANCE) from None
