"""Checks the figures of a claims.toml: their charts, tables and charts of pauses."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from incast._document import join
from incast.study import queries
from incast.study.description import Selection, StudyChart, StudyFigure, StudyTable, Value
from incast.study.figures import SEED, VALUE, listed, same
from incast.study.folder import Description

NAME = r"[\w.-]*\w"
"""Names of figures."""

Known = Mapping[str, list[Any]]
"""The values that runs have at any scale, by column."""


def figures(description: Description, columns: Mapping[str, tuple[str, ...]], known: Mapping[str, Known]) -> None:
    """Raise for an error in a figure; `columns` of each metric, `known` values of each sweep and analysis."""
    document, claims = description.claims_document, description.claims
    ids = [claim.id for claim in claims.claim]
    for number, figure in enumerate(claims.figure):
        at = f"figure[{number}]"
        if not re.fullmatch(NAME, figure.id):
            message = f"`{figure.id}` is not a valid name of a figure"
            raise document.wrong(f"{at}.id", message, allowed="letters, digits, `.`, `_` and `-`")
        if figure.id in [other.id for other in claims.figure[:number]]:
            raise document.wrong(f"{at}.id", f"there are two figures `{figure.id}`")
        for place, claim in enumerate(figure.claims):
            if claim not in ids:
                raise document.wrong(f"{at}.claims[{place}]", f"there is no claim `{claim}`", wrong=claim, names=ids)
        _content(description, at, figure)
        for place, chart in enumerate(figure.chart):
            _Chart(description, f"{at}.chart[{place}]", chart, columns, known).check()


def _content(description: Description, at: str, figure: StudyFigure) -> None:
    """Raise unless a figure has something to show, with pauses of sweeps of the study."""
    document, sweeps = description.claims_document, description.study.sweeps
    if not (figure.chart or figure.table or figure.pauses):
        allowed = "one or more of [[figure.chart]], [[figure.table]], [[figure.pauses]]"
        raise document.wrong(at, f"figure `{figure.id}` is empty", allowed=allowed)
    for place, pauses in enumerate(figure.pauses):
        if pauses.sweep not in sweeps:
            field, message = f"{at}.pauses[{place}].sweep", f"the study has no sweep `{pauses.sweep}`"
            raise document.wrong(field, message, wrong=pauses.sweep, names=sweeps)


class _Chart:
    """Checks a chart."""

    def __init__(
        self,
        description: Description,
        field: str,
        chart: StudyChart,
        columns: Mapping[str, tuple[str, ...]],
        known: Mapping[str, Known],
    ) -> None:
        self.document = description.claims_document
        self.field = field
        self.chart = chart
        if chart.metric not in columns:
            message = f"there is no metric `{chart.metric}`"
            raise self.document.wrong(f"{field}.metric", message, wrong=chart.metric, names=list(columns))
        self.drawable = [name for name in columns[chart.metric] if name not in (VALUE, SEED)]
        self.known = known[description.claims.metric[chart.metric].part]

    def check(self) -> None:
        """Raise for an error."""
        chart, document, field = self.chart, self.document, self.field
        if chart.columns < 1:
            message = f"`columns` cannot be {chart.columns}"
            raise document.wrong(f"{field}.columns", message, allowed="1 or more")
        if chart.lines and chart.cdf:
            raise document.wrong(f"{field}.lines", "`lines` and `cdf` cannot be used together")
        if chart.log_x and not chart.lines:
            raise document.wrong(f"{field}.log_x", "`log_x` needs `lines`")
        self.selection(f"{field}.where", chart.where)
        axes = self.axes()
        for name in self.drawable:
            if name not in axes:
                message = f"metric `{chart.metric}` has a column `{name}` that the chart does not draw"
                allowed = "each column of the metric as x, series or panels, or with values in `where`"
                raise document.wrong(field, message, allowed=allowed)
        if chart.published:
            self.published(
                chart.published.rows, [name for name in axes if name in (chart.x, chart.series, chart.panels)]
            )

    def axes(self) -> dict[str, str]:
        """The use of each column."""
        chart = self.chart
        axes = {name: "where" for name, chosen in chart.where.items() if not isinstance(chosen, list)}
        used: dict[str, str] = {}
        for axis, name in (("x", chart.x), ("series", chart.series), ("panels", chart.panels)):
            if name is None:
                continue
            if name not in self.drawable:
                message = f"metric `{chart.metric}` has no column `{name}` to draw by"
                raise self.document.wrong(f"{self.field}.{axis}", message, wrong=name, names=self.drawable)
            if name in used and not (axis == "series" and not (chart.lines or chart.cdf)):
                raise self.document.wrong(f"{self.field}.{axis}", f"`{name}` is {used[name]} already")
            used.setdefault(name, axis)
        return axes | used

    def published(self, rows: list[dict[str, Value]], needed: list[str]) -> None:
        """Raise unless published rows have a value, and known values of columns of the chart."""
        field = f"{self.field}.published.rows"
        if not rows:
            raise self.document.wrong(field, "no published value", allowed="one or more rows")
        for place, row in enumerate(rows):
            at = f"{field}[{place}]"
            for name in row:
                if name not in (*needed, VALUE):
                    message = f"the chart has no column `{name}`"
                    raise self.document.wrong(join(at, name), message, wrong=name, names=[*needed, VALUE])
            for name in (*needed, VALUE):
                if name not in row and name != self.chart.series:
                    raise self.document.wrong(at, f"the row has no `{name}`", allowed=", ".join([*needed, VALUE]))
            if not isinstance(row[VALUE], (int, float)) or isinstance(row[VALUE], bool):
                raise self.document.wrong(join(at, VALUE), f"`{row[VALUE]}` is no value", allowed="a number")
            self.selection(at, {name: value for name, value in row.items() if name != VALUE})

    def selection(self, field: str, selection: Selection) -> None:
        """Raise for a column that the metric does not have, or for values that no run has."""
        selected(self.document, field, selection, self.chart.metric, self.drawable, self.known)


def selected(document: Any, field: str, selection: Selection, metric: str, columns: list[str], known: Known) -> None:
    """Raise for a column that a metric does not have, or for values that no run has."""
    for name, chosen in selection.items():
        if name not in columns:
            message = f"metric `{metric}` has no column `{name}` to choose by"
            raise document.wrong(join(field, name), message, wrong=name, names=columns)
        values = listed(chosen)
        if not values:
            raise document.wrong(join(field, name), "no value is chosen", allowed="one or more values")
        for number, value in enumerate(values):
            place = join(field, name) + (f"[{number}]" if isinstance(chosen, list) else "")
            if any(same(value, other) for other in values[:number]):
                raise document.wrong(place, f"{name} `{value}` is chosen twice")
            if name in known and not any(same(value, other) for other in known[name]):
                names, message = list(map(str, known[name])), f"no run has {name} `{value}`, at any scale"
                if isinstance(value, str) and value in names:
                    raise document.wrong(
                        place, f"{message}: its values are numbers", allowed=f"{value}, without quotes"
                    )
                raise document.wrong(place, message, wrong=str(value), names=names)


def table(description: Description, at: str, one: StudyTable, kinds: Mapping[str, Any]) -> None:
    """Raise unless a table's columns are those of its query, and its figures numbers."""
    document, names = description.claims_document, [each for each in kinds if each != SEED]
    if not one.rows:
        raise document.wrong(f"{at}.rows", "the list is empty: nothing identifies the rows", allowed=", ".join(names))
    for number, row in enumerate(one.rows):
        if row not in names:
            message = f"the SQL of table `{one.name}` gives no column `{row}` to identify rows"
            raise document.wrong(f"{at}.rows[{number}]", message, wrong=row, names=names)
    for column in one.column:
        if column not in names:
            message = f"the SQL of table `{one.name}` gives no column `{column}`"
            raise document.wrong(join(f"{at}.column", column), message, wrong=column, names=names)
    numbers = [each for each in names if each not in one.rows]
    if not numbers:
        raise document.wrong(f"{at}.sql", f"table `{one.name}` has no figures, only columns that identify rows")
    for column in numbers:
        if not queries.is_number(kinds[column]):
            message = f"column `{column}` of table `{one.name}` has no numbers but {kinds[column]}"
            raise document.wrong(f"{at}.sql", message, allowed="numbers, or a column that `rows` names")
