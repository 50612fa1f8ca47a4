"""The reference page of study files, from the classes that they are read into."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

from fields import table, texts_of
from incast.analysis.file import AnalysisFile, AnalysisScale
from incast.analysis.kinds import kinds
from incast.study.description import (
    Check,
    Claim,
    ClaimsFile,
    Metric,
    OpenParameter,
    OpenPoint,
    Published,
    Scales,
    ScaleText,
    StudyChart,
    StudyFigure,
    StudyFile,
    StudyPauses,
    StudyTable,
    TableColumn,
)


def page() -> Iterator[str]:
    """The lines of the page."""
    yield from [
        "# Study files",
        "",
        "A study is a folder of `study.toml`, `claims.toml`, a file `NAME.toml` for each [sweep](sweeps.md) and "
        "analysis, "
        "their scenarios, and `explanations.md`. [How to write one](../howto/studies.md); "
        "[how claims are judged](../design/studies.md).",
        "",
    ]
    for heading, cls in (
        ("study.toml", StudyFile),
        ("study.toml: scale", Scales),
        ("study.toml: scale.NAME", ScaleText),
        ("study.toml: open", OpenParameter),
        ("study.toml: open.points", OpenPoint),
        ("claims.toml", ClaimsFile),
        ("claims.toml: metric.NAME", Metric),
        ("claims.toml: claim", Claim),
        ("claims.toml: claim.check", Check),
        ("claims.toml: figure", StudyFigure),
        ("claims.toml: figure.chart", StudyChart),
        ("claims.toml: figure.chart.published", Published),
        ("claims.toml: figure.table", StudyTable),
        ("claims.toml: figure.table.column.COLUMN", TableColumn),
        ("claims.toml: figure.pauses", StudyPauses),
    ):
        yield from [f"## {heading}", "", *table(cls)]
    yield from analyses()
    yield from [
        "## explanations.md",
        "",
        "Markdown with a section `## ID` for each claim that needs an explanation, above all those that fail "
        "(without one: "
        '"no explanation yet"). A head between two lines `---` says which run the figures in the texts are of; a line '
        "without ids is for all claims:",
        "",
        "```text",
        "---",
        "measured: quick, 2026-01-31, 0123abc",
        "measured E3 E4: paper, 2026-02-01, 4567def",
        "---",
        "```",
        "",
        "## Results",
        "",
        "| file | content |",
        "|---|---|",
        "| `study.json` | study, scale, version, sweeps, analyses; `wall_s`: seconds of all runs of the command; "
        "`cpu_s`: "
        "seconds of simulation |",
        "| `NAME/` | dataset of sweep NAME, or of analysis NAME: `analysis.json`, `figures.parquet` |",
        "| `claims.json` | claims with verdicts, intervals and values per seed, setting of open parameters and "
        "`share_of_space` with the map's verdict at the judged setting, and `disagrees` if that is another (if judged "
        "with `--map`); figures with values "
        "of charts and rows of tables |",
        "| `claims.md` | claims and tables as text |",
        "| `tables/NAME.csv` | table NAME, unrounded: the mean of each figure, and its range over seeds (`_least`, "
        "`_greatest`) |",
        "",
        "A [map](../howto/studies.md#map-the-open-parameters) has `study.json`, the datasets `NAME/` with the runs of "
        "all points, and:",
        "",
        "| file | content |",
        "|---|---|",
        "| `map.json` | open parameters; points; verdict and figures of each claim at each point; share of the space "
        "and deciding parameters of each claim; points at which all published statements hold |",
        "| `map.md` | the same as tables |",
        "| `map.html` | page with charts |",
    ]


def analyses() -> Iterator[str]:
    """The files and the kinds of analyses."""
    for heading, cls in (("Analyses: NAME.toml", AnalysisFile), ("Analyses: scale.NAME", AnalysisScale)):
        yield from [f"## {heading}", "", *table(cls)]
    common: dict[type, list[str]] = {}
    for kind in kinds().values():
        for base in kind.parameters.__mro__[1:-1]:
            common.setdefault(base, []).append(kind.parameters.__name__)
    shared = [base for base, users in common.items() if len(users) > 1]
    names = {name for base in shared for name in texts_of(base)}
    users = [name for name, kind in kinds().items() if any(issubclass(kind.parameters, base) for base in shared)]
    yield from ["## Analyses: common parameters", "", f"Of {', '.join(f'`{name}`' for name in users)}:", ""]
    yield from table(max(shared, key=lambda base: len(base.__mro__)))
    for name, kind in kinds().items():
        yield from [f"## Analyses: {name}", "", f"{kind.about[:1].upper()}{kind.about[1:]}.", ""]
        own = [field.name for field in dataclasses.fields(kind.parameters)]
        if name in users:
            own = [field for field in own if field not in names]
        if own:
            yield from table(kind.parameters, only=own)
        yield from [f"Result columns: {', '.join(f'`{column}`' for column in kind.figures)}.", ""]
