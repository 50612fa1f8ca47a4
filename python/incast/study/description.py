"""What a study's files say: study.toml and claims.toml, field by field."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

Scale = Literal["smoke", "quick", "paper"]
SCALES: tuple[Scale, ...] = ("smoke", "quick", "paper")
"""From the smallest to the size of the publication."""
Value = str | bool | int | float
"""Of a column."""
Selection = dict[str, Value | list[Value]]
"""Values by column; a list stands for any of them."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ScaleText:
    """A `[scale.NAME]` of study.toml."""

    about: str
    """What runs at this scale, how long it takes, and what can be said by it: a line."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Scales:
    """How large a study can be run; it has at least one of these."""

    smoke: ScaleText | None = None
    """To see that everything works, in under a minute."""
    quick: ScaleText | None = None
    """For a first answer, in about ten minutes on two cores."""
    paper: ScaleText | None = None
    """The size of the publication."""

    def given(self) -> dict[Scale, str]:
        """The scales that there are, smallest first, with what they are."""
        texts = {scale: getattr(self, scale) for scale in SCALES}
        return {scale: text.about for scale, text in texts.items() if text is not None}


@dataclass(frozen=True, kw_only=True, slots=True)
class StudyFile:
    """A study.toml: what is studied, and what has to be run for it."""

    title: str
    """What it is about, in a line."""
    text: str
    """What is compared, and how: a paragraph or more, in Markdown."""
    source: str
    """The publication whose claims are judged."""
    scale: Scales
    """How large it can be run, `[scale.smoke]` and so on; the table of the same name in each sweep file says what that
    changes.
    """
    sweeps: list[str] = field(default_factory=list)
    """The sweeps to run, in order: for each NAME the folder holds a sweep file NAME.toml."""
    analyses: list[str] = field(default_factory=list)
    """What is computed or measured without a simulation, after the sweeps, likewise."""

    @property
    def parts(self) -> list[str]:
        """Sweeps, then analyses."""
        return [*self.sweeps, *self.analyses]


@dataclass(frozen=True, kw_only=True, slots=True)
class Metric:
    """A `[metric.NAME]` of claims.toml: a named figure of the results."""

    about: str
    """What the figure says, in a line."""
    sql: str
    """One query, in DuckDB's SQL. Of a sweep: over the tables of a results folder, `slowdown`, `runs` and
    `calibrations` (how often applications wait for remote memory); of an analysis: over its table `figures`. Its column
    `value` is the figure, `seed` the seed; every other column tells figures apart.
    """
    sweep: str | None = None
    """The sweep whose tables it is computed from; or else `analysis`."""
    analysis: str | None = None
    """The analysis whose table it is computed from."""
    unit: str = ""
    """Unit of `value`; empty (the default) for a plain number."""

    @property
    def part(self) -> str:
        """The sweep or the analysis."""
        return self.sweep or self.analysis or ""


@dataclass(frozen=True, kw_only=True, slots=True)
class Check:
    """A `[[claim.check]]` of claims.toml: what figures a claim expects. One of `below`, `above`, `between`, `about`."""

    metric: str
    """The metric that is looked at."""
    at: Selection = field(default_factory=dict)
    """Where it is looked at: rows with these values of columns. With a list of values, at each of them."""
    of: Selection = field(default_factory=dict)
    """Whose figures are judged: one for each combination of these values and of the values of every other column."""
    against: Selection = field(default_factory=dict)
    """The figures they are divided by, seed by seed: other values of the columns of `of`, each with each. Without it
    the figures are judged as they are.
    """
    below: float | None = None
    """The figure is expected to be below this."""
    above: float | None = None
    """The figure is expected to be above this."""
    between: list[float] | None = None
    """The figure is expected to be from the first to the second of two numbers."""
    about: float | None = None
    """The figure is expected to differ from this by no more than `tolerance`."""
    tolerance: float | str | None = None
    """Of `about`: a number in the metric's unit, or a part of it such as `"5%"`."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Claim:
    """A `[[claim]]` of claims.toml: a published statement, and how to tell whether it holds here."""

    id: str
    """A short name, such as `E1`. The section of explanations.md with this heading belongs to it."""
    statement: str
    """What is claimed, in your words."""
    source: str
    """Where it is stated."""
    from_: Scale
    """The smallest scale at which it can be judged: `"smoke"`, `"quick"` or `"paper"`."""
    check: list[Check]
    """What has to be so, one or more: the claim holds if every check holds."""
    exact: bool = False
    """Whether every single value has to be as expected, rather than the mean over seeds: for what has no noise. Default
    false.
    """
    fitted: str | None = None
    """What was fitted to the statement itself, a line. The claim is judged like any other, but wherever it is shown it
    is said to be no independent evidence, and why. Default: nothing was.
    """


@dataclass(frozen=True, kw_only=True, slots=True)
class StudyChart:
    """A `[[chart]]` of claims.toml: a metric as a picture on the page; bars with their intervals over seeds."""

    title: str
    """Its heading."""
    metric: str
    """The metric that is drawn. Its columns are `value`, `seed`, and those that `x`, `series` and `panels` name."""
    x: str
    """The column whose values are beside each other."""
    series: str = "scheme"
    """The column whose values have a colour each. Default `scheme`."""
    panels: str | None = None
    """The column whose values have a panel each. Default: one panel."""
    columns: int = 2
    """How many panels are beside each other, where there is room; 1: they are above each other. Default 2."""
    log: bool = False
    """Whether the scale is logarithmic, for figures above 0 that differ by orders of magnitude: points in place of
    bars. Default false."""
    lines: bool = False
    """Whether values of a series are joined by a line, along `x`, whose values are numbers then. Default false."""


@dataclass(frozen=True, kw_only=True, slots=True)
class TableColumn:
    """A `[table.NAME.column.COLUMN]` of claims.toml: how a column of the query is shown."""

    title: str
    """Its heading."""
    unit: str = ""
    """Unit of its figures; empty (the default) for a plain number."""


@dataclass(frozen=True, kw_only=True, slots=True)
class StudyTable:
    """A `[table.NAME]` of claims.toml: rows on the page, in the terminal, in claims.md, and in `tables/NAME.csv`."""

    title: str
    """Its heading."""
    about: str
    """What stands in it, and where what is not ours comes from: a sentence or two."""
    sql: str
    """One query, in DuckDB's SQL, over the tables that a metric's has. Rows keep its order. Columns that `rows` names
    tell rows apart; `seed`, if there is one, tells seeds apart; every other column has figures, of which the mean over
    seeds is shown, and the least and the greatest. A figure that is NULL is left empty.
    """
    rows: list[str]
    """Columns that tell rows apart."""
    sweep: str | None = None
    """The sweep whose tables it is computed from; or else `analysis`."""
    analysis: str | None = None
    """The analysis whose table it is computed from."""
    column: dict[str, TableColumn] = field(default_factory=dict)
    """Headings and units by column. Default: columns are called as in the query."""

    @property
    def part(self) -> str:
        """The sweep or the analysis."""
        return self.sweep or self.analysis or ""


@dataclass(frozen=True, kw_only=True, slots=True)
class StudyPauses:
    """A `[[pauses]]` of claims.toml: when ports were paused in a sweep's first scenario, a panel for each scheme."""

    title: str
    """Its heading."""
    sweep: str
    """The sweep, one of the study's."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ClaimsFile:
    """A claims.toml: metrics, and the claims that are judged by them."""

    claim: list[Claim]
    """The claims, in the order in which they are shown."""
    metric: dict[str, Metric]
    """The metrics by name."""
    chart: list[StudyChart] = field(default_factory=list)
    """What the page draws beside the claims, in this order."""
    table: dict[str, StudyTable] = field(default_factory=dict)
    """Tables that stand before the charts, by name, in this order."""
    pauses: list[StudyPauses] = field(default_factory=list)
    """Pauses over time that the page draws before those, schemes above each other."""
