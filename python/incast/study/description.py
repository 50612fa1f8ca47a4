"""Fields of a study's files: study.toml and claims.toml."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Literal

Scale = Literal["smoke", "quick", "paper"]
SCALES: tuple[Scale, ...] = ("smoke", "quick", "paper")
"""Scales from the smallest to the size of the publication."""
Origin = Literal["number", "direction", "draft", "ours"]
"""Origin of a claim: a published number, a published direction, text that a draft has commented out, or our own."""
MAP: Literal["map"] = "map"
"""Scale of `incast study map`, in study.toml and sweep files."""
MAP_RANK: Scale = "quick"
"""Scale that a map counts as: claims from a larger scale on are not measured (our choice)."""
Value = str | bool | int | float
"""A value of a column."""
Selection = dict[str, Value | list[Value]]
"""Values by column; a list means any of its values."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ScaleText:
    """A `[scale.NAME]` of study.toml."""

    about: str
    """Runs at this scale, their duration, and the conclusions they allow: a line."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Scales:
    """Scales of a study, at least one."""

    smoke: ScaleText | None = None
    """Checks that everything works, in under a minute."""
    quick: ScaleText | None = None
    """First answer, in about ten minutes on two cores."""
    paper: ScaleText | None = None
    """Size of the publication."""
    map: ScaleText | None = None
    """Runs at one point of a map of the open parameters, only for `incast study map`. A sweep without `[scale.map]` is
    not part of the map.
    """

    def given(self) -> dict[Scale, str]:
        """The given scales with their descriptions, smallest first, without that of maps."""
        texts = {scale: getattr(self, scale) for scale in SCALES}
        return {scale: text.about for scale, text in texts.items() if text is not None}


@dataclass(frozen=True, kw_only=True, slots=True)
class OpenPoint:
    """An `[[open.points]]` of study.toml: values of several fields that belong together."""

    name: str
    """Name of the point."""
    set: dict[str, Any] = field(default_factory=dict)
    """Values by path, as for `--set`; empty to leave the scenario unchanged."""


@dataclass(frozen=True, kw_only=True, slots=True)
class OpenParameter:
    """An `[[open]]` of study.toml: a parameter that the publication leaves open."""

    name: str
    """Short name."""
    why: str
    """Reason for the plausible values: source or physics."""
    judged: Value
    """Value, or name of the point, that the study runs with. The sweeps must have the same value."""
    reason: str
    """Reason for the judged value: nearest the text, a vendor's default, calibrated on a published number, or the
    middle of the range.
    """
    path: str | list[str] | None = None
    """Field of the scenario, as for `--set`, or fields that get the same value. A sweep ignores fields of schemes that
    it does not run.
    """
    range: list[Value] | None = None
    """Least and greatest value: numbers, or quantities such as `"64kB"`. A parameter has one of `range`, `values`,
    `points`.
    """
    log: bool = False
    """If true, points are uniform in the logarithm of the value. Default false: uniform in the value."""
    integer: bool = False
    """If true, values in `range` are whole numbers. Default false."""
    values: list[Value] | None = None
    """Plausible values, all equally likely."""
    points: list[OpenPoint] | None = None
    """Named values of several fields, all equally likely; without `path`."""
    sweeps: list[str] | None = None
    """Sweeps that vary the parameter. Default: all that accept the fields and do not vary one of them already."""


@dataclass(frozen=True, kw_only=True, slots=True)
class StudyFile:
    """A study.toml: description of a study, and its sweeps and analyses."""

    title: str
    """Title, a line of at most 1,000 characters."""
    text: str
    """Compared systems and method: a paragraph or more, in Markdown."""
    source: str
    """Publication of the claims."""
    scale: Scales
    """Scales, as `[scale.smoke]` and so on; each sweep file has a table of the same name with its changes."""
    sweeps: list[str] = field(default_factory=list)
    """Sweeps to run, in order, each with a file NAME.toml."""
    analyses: list[str] = field(default_factory=list)
    """Analyses without simulation, after the sweeps, each with a file NAME.toml."""
    open_: list[OpenParameter] = field(default_factory=list)
    """Parameters that the publication leaves open, for `incast study map`."""

    @property
    def parts(self) -> list[str]:
        """Sweeps, then analyses."""
        return [*self.sweeps, *self.analyses]


@dataclass(frozen=True, kw_only=True, slots=True)
class Metric:
    """A `[metric.NAME]` of claims.toml: a named figure of the results."""

    about: str
    """Meaning of the figure, a line."""
    sql: str
    """One query in DuckDB's SQL: for a sweep over the tables of a results folder, `slowdown`, `runs` and `calibrations`
    (how often applications wait for remote memory); for an analysis over `figures`. `{run}` stands for the columns
    that identify a run: varied parameters (with `seed`, if varied) and `scheme`. Column `value` is the figure, `seed`
    the seed; other columns identify figures.
    """
    sweep: str | None = None
    """Sweep of the tables; or `analysis`."""
    analysis: str | None = None
    """Analysis of the table."""
    unit: str = ""
    """Unit of `value`. Default: a plain number."""
    share: bool = False
    """If true, `value` is 1 or 0 per seed, and the figure is the share of ones with a binomial interval. Default false:
    the mean, with Student's t.
    """

    @property
    def part(self) -> str:
        """The sweep or the analysis."""
        return self.sweep or self.analysis or ""


@dataclass(frozen=True, kw_only=True, slots=True)
class Check:
    """A `[[claim.check]]` of claims.toml: expected figures, with one of `below`, `above`, `between`, `about`."""

    metric: str
    """Metric to check."""
    at: Selection = field(default_factory=dict)
    """Rows with these values of columns; a list means each of them."""
    of: Selection = field(default_factory=dict)
    """Figures to judge: one per combination of these values and the values of every other column."""
    against: Selection = field(default_factory=dict)
    """Divisors of these figures, seed by seed: other values of the columns of `of`, each with each. Default: no
    division.
    """
    below: float | None = None
    """Upper bound, exclusive."""
    above: float | None = None
    """Lower bound, exclusive."""
    between: list[float] | None = None
    """Lower and upper bound, inclusive."""
    about: float | None = None
    """Expected figure, within `tolerance`."""
    tolerance: float | str | None = None
    """Tolerance of `about`: a number in the metric's unit, or a share such as `"5%"`."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Claim:
    """A `[[claim]]` of claims.toml: a published statement and its checks."""

    id: str
    """Short name, such as `E1`; heading of its section in explanations.md."""
    statement: str
    """Claim in your words."""
    source: str
    """Place of the statement in the publication."""
    origin: Origin
    """Published `number`, published `direction`, `draft` (commented-out text of a draft) or `ours`; each is counted
    separately.
    """
    from_: Scale
    """Smallest scale at which it can be judged."""
    check: list[Check]
    """Checks, one or more; the claim holds if all do."""
    at: Selection = field(default_factory=dict)
    """Part of `at` that all checks have in common."""
    of: Selection = field(default_factory=dict)
    """Part of `of` that all checks have in common."""
    against: Selection = field(default_factory=dict)
    """Part of `against` that all checks have in common."""
    exact: bool = False
    """If true, every value must match, not the mean over seeds: for results without noise. Default false."""
    calibration: str | None = None
    """Setting that was chosen to meet the statement, a line: the claim is a calibration, no finding. Default: none."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Published:
    """A `[figure.chart.published]` of claims.toml: values of the publication, drawn as hollow marks next to ours."""

    source: str
    """Place of the values in the publication."""
    rows: list[dict[str, Value]]
    """One value each: `value`, and the columns of `x`, `series` and `panels`. A mark without a series has no colour."""


@dataclass(frozen=True, kw_only=True, slots=True)
class StudyChart:
    """A `[[figure.chart]]` of claims.toml: a chart of a metric, with bars and their intervals over seeds."""

    metric: str
    """Metric to draw; its columns are `value`, `seed`, and those of `x`, `series`, `panels` and `where`."""
    x: str
    """Column along the axis."""
    title: str | None = None
    """Heading if the figure has several charts. Default: the metric's `about`."""
    where: Selection = field(default_factory=dict)
    """Rows with these values of columns; a list means any of them. Default: all rows."""
    series: str = "scheme"
    """Column with a colour per value; for bars, it may be that of `x`. Default `scheme`."""
    panels: str | None = None
    """Column with a panel per value. Default: one panel."""
    columns: int = 2
    """Panels in a row, where they fit. Default 2."""
    x_title: str | None = None
    """Title of the axis of `x`, with the unit. Default: the column's name, if it has numbers."""
    y_title: str | None = None
    """Title of the axis of the values, without the unit. Default: the metric's `about`, if it fits."""
    log: bool = False
    """If true, a logarithmic scale for figures above 0 that differ by orders of magnitude; points replace bars. Default
    false.
    """
    log_x: bool = False
    """If true, a logarithmic scale along `x`, for lines. Default false."""
    lines: bool = False
    """If true, lines join the values of a series along `x`, which must be numbers. Default false."""
    cdf: bool = False
    """If true, a distribution: lines with the values along the horizontal axis, and `x`, a share, upwards. Default
    false.
    """
    published: Published | None = None
    """Published values. Default: none."""


@dataclass(frozen=True, kw_only=True, slots=True)
class TableColumn:
    """A `[figure.table.column.COLUMN]` of claims.toml: heading and unit of a column."""

    title: str = ""
    """Heading. Default: the column's name."""
    unit: str = ""
    """Unit of its figures. Default: a plain number."""


@dataclass(frozen=True, kw_only=True, slots=True)
class StudyTable:
    """A `[[figure.table]]` of claims.toml: a table on the page, in the terminal, claims.md and `tables/NAME.csv`."""

    name: str
    """Name of the table and of its file."""
    sql: str
    """One query in DuckDB's SQL over the tables of a metric; rows keep its order. Columns of `rows` identify rows,
    `seed` the seed; other columns are figures, shown as mean, least and greatest over seeds. NULL leaves a cell empty.
    """
    rows: list[str]
    """Columns that identify rows."""
    title: str | None = None
    """Heading. Default: the title of the figure."""
    about: str | None = None
    """Content of the table, and the source of figures that are not ours: a sentence or two. Default: the figure's."""
    sweep: str | None = None
    """Sweep of the tables; or `analysis`."""
    analysis: str | None = None
    """Analysis of the table."""
    column: dict[str, TableColumn] = field(default_factory=dict)
    """Headings and units by column. Default: names of the query."""

    @property
    def part(self) -> str:
        """The sweep or the analysis."""
        return self.sweep or self.analysis or ""


@dataclass(frozen=True, kw_only=True, slots=True)
class StudyPauses:
    """A `[[figure.pauses]]` of claims.toml: chart of pauses in the first scenario of a sweep, one panel per scheme."""

    sweep: str
    """Sweep of this study."""


@dataclass(frozen=True, kw_only=True, slots=True)
class StudyFigure:
    """A `[[figure]]` of claims.toml: a figure or table of the publication, or one of ours."""

    id: str
    """Number in the publication, such as `8a` or `table-1`, or a short name: letters, digits, `.`, `_` and `-`."""
    title: str
    """Heading."""
    source: str
    """Place in the publication, or `ours`."""
    about: str
    """Content of the figure, and its differences from the published one: a sentence or two."""
    claims: list[str] = field(default_factory=list)
    """Ids of the claims about the figure. The page shows their verdicts with the figure."""
    chart: list[StudyChart] = field(default_factory=list)
    """Charts of metrics."""
    table: list[StudyTable] = field(default_factory=list)
    """Tables."""
    pauses: list[StudyPauses] = field(default_factory=list)
    """Charts of pauses over time."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ClaimsFile:
    """A claims.toml: metrics, claims and figures."""

    claim: list[Claim]
    """Claims, in the order of display."""
    metric: dict[str, Metric]
    """Metrics by name."""
    view: dict[str, str] = field(default_factory=dict)
    """Queries by name, which the SQL of metrics, tables and later views reads like tables. `{run}` as in metrics."""
    figure: list[StudyFigure] = field(default_factory=list)
    """Figures, in the order of the publication; ours after them."""

    def tables(self) -> Iterator[tuple[str, StudyFigure, StudyTable]]:
        """All tables with their paths in the file and their figures."""
        for number, figure in enumerate(self.figure):
            for place, table in enumerate(figure.table):
                yield f"figure[{number}].table[{place}]", figure, table
