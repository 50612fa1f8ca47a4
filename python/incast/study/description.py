"""Fields of a study's files: study.toml and claims.toml."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

Scale = Literal["smoke", "quick", "paper"]
SCALES: tuple[Scale, ...] = ("smoke", "quick", "paper")
"""Scales from the smallest to the size of the publication."""
Value = str | bool | int | float
"""A value of a column."""
Selection = dict[str, Value | list[Value]]
"""Values by column; a list means any of its values."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ScaleText:
    """A `[scale.NAME]` of study.toml."""

    about: str
    """Description in one line: runs, duration, and strength of the evidence."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Scales:
    """Scales of a study, at least one."""

    smoke: ScaleText | None = None
    """Test that everything works, in under a minute."""
    quick: ScaleText | None = None
    """First answer, in about ten minutes on two cores."""
    paper: ScaleText | None = None
    """The size of the publication."""

    def given(self) -> dict[Scale, str]:
        """The given scales with their descriptions, smallest first."""
        texts = {scale: getattr(self, scale) for scale in SCALES}
        return {scale: text.about for scale, text in texts.items() if text is not None}


@dataclass(frozen=True, kw_only=True, slots=True)
class StudyFile:
    """A study.toml: description of a study, and its sweeps and analyses."""

    title: str
    """Title, in one line."""
    text: str
    """Description of the comparison: one or more paragraphs in Markdown."""
    source: str
    """The publication with the claims."""
    scale: Scales
    """Scales, `[scale.smoke]` and so on. The table of the same name in each sweep file has the changes for the scale.
    """
    sweeps: list[str] = field(default_factory=list)
    """Sweeps to run, in order. For each NAME the folder has a sweep file NAME.toml."""
    analyses: list[str] = field(default_factory=list)
    """Analyses to run after the sweeps: computations or measurements without a simulation, in files NAME.toml."""

    @property
    def parts(self) -> list[str]:
        """Sweeps, then analyses."""
        return [*self.sweeps, *self.analyses]


@dataclass(frozen=True, kw_only=True, slots=True)
class Metric:
    """A `[metric.NAME]` of claims.toml: a named figure of the results."""

    about: str
    """Description of the figure, in one line."""
    sql: str
    """One query in DuckDB's SQL. For a sweep, it queries the tables of a results folder, `slowdown`, `runs` and
    `calibrations` (rates of remote accesses of applications); for an analysis, its table `figures`. Column `value` is
    the figure, `seed` the seed; the other columns identify the figure.
    """
    sweep: str | None = None
    """The sweep to query; give either `sweep` or `analysis`."""
    analysis: str | None = None
    """The analysis to query."""
    unit: str = ""
    """Unit of `value`; empty (the default) for a plain number."""

    @property
    def part(self) -> str:
        """The sweep or the analysis."""
        return self.sweep or self.analysis or ""


@dataclass(frozen=True, kw_only=True, slots=True)
class Check:
    """A `[[claim.check]]` of claims.toml: expected figures, with one of `below`, `above`, `between`, `about`."""

    metric: str
    """The metric to check."""
    at: Selection = field(default_factory=dict)
    """Rows to check: those with these values of columns. With a list, each value is checked."""
    of: Selection = field(default_factory=dict)
    """Figures to check: one for each combination of these values and of the values of all other columns."""
    against: Selection = field(default_factory=dict)
    """Figures to divide by, seed by seed: other values of the columns in `of`, in all combinations. Default: no
    division.
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
    """For `about`: a number in the metric's unit, or a fraction such as `"5%"`."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Claim:
    """A `[[claim]]` of claims.toml: a published statement and its checks."""

    id: str
    """Short name, such as `E1`; also the heading of its section in explanations.md."""
    statement: str
    """The claim in your words."""
    source: str
    """Place of the statement in the publication."""
    from_: Scale
    """Smallest scale at which the claim can be checked: `"smoke"`, `"quick"` or `"paper"`."""
    check: list[Check]
    """One or more checks. The claim holds if all checks hold."""
    exact: bool = False
    """If true, every value must be as expected, not only the mean over seeds; for figures without noise. Default false.
    """
    fitted: str | None = None
    """The part of the study that was fitted to the statement, in one line. The claim is checked as usual and shown as
    "not independent evidence". Default: none.
    """


@dataclass(frozen=True, kw_only=True, slots=True)
class StudyChart:
    """A `[[chart]]` of claims.toml: a chart of a metric, with bars and their intervals over seeds."""

    title: str
    """Heading."""
    metric: str
    """The metric to draw. Its columns must be `value`, `seed`, and those named by `x`, `series` and `panels`."""
    x: str
    """Column on the horizontal axis."""
    series: str = "scheme"
    """Column with one colour per value. Default `scheme`."""
    panels: str | None = None
    """Column with one panel per value. Default: one panel."""
    columns: int = 2
    """Most panels next to each other. Default 2."""
    log: bool = False
    """If true, the scale is logarithmic, with points instead of bars, for figures above 0. Default false."""
    lines: bool = False
    """If true, lines join the values of a series along a numeric `x`. Default false."""


@dataclass(frozen=True, kw_only=True, slots=True)
class TableColumn:
    """A `[table.NAME.column.COLUMN]` of claims.toml: heading and unit of a column."""

    title: str
    """Heading."""
    unit: str = ""
    """Unit of its figures; empty (the default) for a plain number."""


@dataclass(frozen=True, kw_only=True, slots=True)
class StudyTable:
    """A `[table.NAME]` of claims.toml: a table on the page, in the terminal, in claims.md, and in `tables/NAME.csv`."""

    title: str
    """Heading."""
    about: str
    """Description, with the source of figures from elsewhere: one or two sentences."""
    sql: str
    """One query in DuckDB's SQL, on the same tables as for a metric. Rows keep its order. The columns in `rows`
    identify a row, `seed` (optional) the seed. All other columns have figures, shown as mean over seeds with minimum
    and maximum; NULL is shown as empty.
    """
    rows: list[str]
    """Columns that identify a row."""
    sweep: str | None = None
    """The sweep to query; give either `sweep` or `analysis`."""
    analysis: str | None = None
    """The analysis to query."""
    column: dict[str, TableColumn] = field(default_factory=dict)
    """Headings and units by column. Default: names of the query."""

    @property
    def part(self) -> str:
        """The sweep or the analysis."""
        return self.sweep or self.analysis or ""


@dataclass(frozen=True, kw_only=True, slots=True)
class StudyPauses:
    """A `[[pauses]]` of claims.toml: chart of PFC pauses in the first scenario of a sweep, one panel per scheme."""

    title: str
    """Heading."""
    sweep: str
    """A sweep of the study."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ClaimsFile:
    """A claims.toml: metrics, claims, charts and tables."""

    claim: list[Claim]
    """The claims, in order."""
    metric: dict[str, Metric]
    """The metrics by name."""
    chart: list[StudyChart] = field(default_factory=list)
    """Charts of the page, in order."""
    table: dict[str, StudyTable] = field(default_factory=dict)
    """Tables by name, in order; shown before the charts."""
    pauses: list[StudyPauses] = field(default_factory=list)
    """Charts of PFC pauses, shown before the other charts."""
