"""The reference page of a study's files, made from the classes that they are read into."""

from __future__ import annotations

from collections.abc import Iterator

from fields import table
from incast.analysis.file import AnalysisFile, AnalysisScale
from incast.analysis.kinds import KINDS
from incast.study.description import (
    Check,
    Claim,
    ClaimsFile,
    Metric,
    Scales,
    ScaleText,
    StudyChart,
    StudyFile,
    StudyPauses,
    StudyTable,
    TableColumn,
)


def page() -> Iterator[str]:
    """The lines of the page."""
    yield from [
        "# Studies",
        "",
        "A study is a folder of `study.toml`, `claims.toml`, a file `NAME.toml` for each [sweep](sweeps.md) and each "
        "analysis, the scenarios that these name, and `explanations.md`. How one is written: "
        "[studies](../howto/studies.md); how claims are judged, and why so: [decisions](../design/studies.md).",
        "",
    ]
    for heading, cls in (
        ("study.toml", StudyFile),
        ("study.toml: scale", Scales),
        ("study.toml: scale.NAME", ScaleText),
        ("claims.toml", ClaimsFile),
        ("claims.toml: metric.NAME", Metric),
        ("claims.toml: table.NAME", StudyTable),
        ("claims.toml: table.NAME.column.COLUMN", TableColumn),
        ("claims.toml: chart", StudyChart),
        ("claims.toml: pauses", StudyPauses),
        ("claims.toml: claim", Claim),
        ("claims.toml: claim.check", Check),
    ):
        yield from [f"## {heading}", "", (cls.__doc__ or "").strip(), "", *table(cls)]
    yield from analyses()
    yield from [
        "## explanations.md",
        "",
        "Markdown: what there is to say about a claim, above all why it fails, in a section `## ID` for the claim of "
        'this id. A claim needs none; one that fails without is shown with "no explanation yet".',
        "",
        "Figures in a text stay as they are when the study is run again, perhaps at another scale. So the file may say "
        "of which run they are, in a head between two lines `---`; this is shown beside each explanation. A line "
        "`measured: SCALE, DATE, COMMIT` is for all claims, `measured ID ...: SCALE, DATE, COMMIT` for those that it "
        "names:",
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
        "| file | holds |",
        "|---|---|",
        "| `study.json` | study, scale, version, sweeps, analyses; `wall_s`: seconds spent by all runs of the command "
        "together; `cpu_s`: seconds of simulation |",
        "| `NAME/` | the dataset of sweep NAME, or of analysis NAME: `analysis.json`, `figures.parquet` |",
        "| `claims.json` | every claim with its outcome; every figure with its interval, and its value for each seed; "
        "the bars of every chart; the rows of every table |",
        "| `claims.md` | claims and tables for people |",
        "| `tables/NAME.csv` | table NAME, unrounded: of each figure its mean, and as `_least` and `_greatest` the "
        "range over seeds |",
    ]


def analyses() -> Iterator[str]:
    """What an analysis can be."""
    for heading, cls in (("Analyses: NAME.toml", AnalysisFile), ("Analyses: scale.NAME", AnalysisScale)):
        yield from [f"## {heading}", "", (cls.__doc__ or "").strip(), "", *table(cls)]
    for name, kind in KINDS.items():
        yield from [f"## Analyses: {name}", "", f"{kind.about[:1].upper()}{kind.about[1:]}.", ""]
        yield from table(kind.parameters)
        columns = ", ".join(f"`{column}`" for column in kind.figures)
        yield from [f"Columns of its table, after those that are varied: {columns}.", ""]
