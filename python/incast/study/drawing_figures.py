"""The figures of a study: charts, tables and charts of pauses under one heading, with the ids of their claims."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, overload

from incast._nearest import hint
from incast.errors import ResultsError
from incast.study.description import StudyPauses
from incast.study.drawing import DrawnChart, NotNumberError, draw
from incast.study.figures import Measured, NotUniqueError
from incast.study.series import ordered
from incast.study.tabulating import DrawnTable, tabulate

if TYPE_CHECKING:
    from incast.study.checking import Checked
    from incast.study.folder import Description


@dataclass(frozen=True, kw_only=True, slots=True)
class DrawnFigure:
    """A figure of a study as it is kept in claims.json."""

    id: str
    """Number in the publication, or short name."""
    title: str
    source: str
    """Place in the publication, or `ours`."""
    about: str
    claims: tuple[str, ...] = ()
    """Ids of the claims about it."""
    charts: tuple[DrawnChart, ...] = ()
    tables: tuple[DrawnTable, ...] = ()
    pauses: tuple[StudyPauses, ...] = ()
    """Sweeps with a chart of PFC pauses over time."""

    def to_tree(self) -> dict[str, Any]:
        """As in claims.json."""
        return {
            "id": self.id,
            "title": self.title,
            "source": self.source,
            "about": self.about,
            "claims": list(self.claims),
            "charts": [chart.to_tree() for chart in self.charts],
            "tables": [table.to_tree() for table in self.tables],
            "pauses": [each.sweep for each in self.pauses],
        }

    def is_finite(self) -> bool:
        """True if charts can draw all its points."""
        bars = [bar for chart in self.charts for bar in chart.bars]
        values = [*(bar.value for bar in bars), *(mark.value for chart in self.charts for mark in chart.published)]
        ends = [end for bar in bars for end in (bar.low, bar.high) if end is not None]
        return all(map(math.isfinite, (*values, *ends)))

    @classmethod
    def from_tree(cls, tree: dict[str, Any]) -> DrawnFigure:
        """From claims.json."""
        content = {
            "claims": tuple(tree["claims"]),
            "charts": tuple(DrawnChart.from_tree(chart) for chart in tree["charts"]),
            "tables": tuple(DrawnTable.from_tree(table) for table in tree["tables"]),
            "pauses": tuple(StudyPauses(sweep=sweep) for sweep in tree["pauses"]),
        }
        return cls(**{**tree, **content})


class Figures(Sequence[DrawnFigure]):
    """Figures in the order of the study, by number or id: `figures["8a"]`; a series has one place in their orders."""

    def __init__(self, figures: Sequence[DrawnFigure]) -> None:
        """Wrap the figures."""
        self._figures = ordered(figures)

    def __len__(self) -> int:
        return len(self._figures)

    @overload
    def __getitem__(self, which: int | str) -> DrawnFigure: ...
    @overload
    def __getitem__(self, which: slice) -> Figures: ...
    def __getitem__(self, which: int | str | slice) -> DrawnFigure | Figures:
        if isinstance(which, slice):
            return Figures(self._figures[which])
        if isinstance(which, int):
            return self._figures[which]
        for figure in self._figures:
            if figure.id == which:
                return figure
        ids = [figure.id for figure in self._figures]
        there = f"only {', '.join(ids)}" if ids else "the study has none"
        raise ResultsError(f"there is no figure `{which}`, {there}{hint(which, ids)}")

    def __repr__(self) -> str:
        return f"<Figures: {', '.join(figure.id for figure in self._figures)}>"


def draw_figures(
    description: Description,
    checked: Checked,
    metrics: Mapping[str, Measured],
    tables: Mapping[str, Measured],
) -> Figures:
    """The figures of a study, from measured metrics and tables."""
    return Figures(
        [
            DrawnFigure(
                id=figure.id,
                title=figure.title,
                source=figure.source,
                about=figure.about,
                claims=tuple(figure.claims),
                charts=_charts(description, checked, number, metrics),
                tables=_tables(description, number, tables),
                pauses=tuple(figure.pauses),
            )
            for number, figure in enumerate(description.claims.figure)
        ]
    )


def _charts(
    description: Description, checked: Checked, number: int, measured: Mapping[str, Measured]
) -> tuple[DrawnChart, ...]:
    """The charts of a figure."""
    drawn = []
    for place, chart in enumerate(description.claims.figure[number].chart):
        field, metric = f"figure[{number}].chart[{place}]", description.claims.metric[chart.metric]
        try:
            drawn.append(draw(chart, metric, measured[chart.metric], checked.known[metric.part]))
        except NotUniqueError as error:
            message = f"metric `{chart.metric}` has several rows{error}: a column that identifies each row is missing"
            raise description.claims_document.wrong(f"{field}.metric", message) from None
        except NotNumberError as error:
            message = f"lines need numbers along x; column `{chart.x}` of metric `{chart.metric}` has `{error}`"
            raise description.claims_document.wrong(f"{field}.x", message) from None
    return tuple(drawn)


def _tables(description: Description, number: int, measured: Mapping[str, Measured]) -> tuple[DrawnTable, ...]:
    """The tables of a figure."""
    drawn, figure = [], description.claims.figure[number]
    for place, table in enumerate(figure.table):
        try:
            drawn.append(tabulate(table, figure, measured[table.name]))
        except NotUniqueError as error:
            message = (
                f"table `{table.name}` has several rows{error}, of one seed: a column that identifies rows is missing"
            )
            raise description.claims_document.wrong(f"figure[{number}].table[{place}].rows", message) from None
    return tuple(drawn)
