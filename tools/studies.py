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
        "## Results",
        "",
        "| file | holds |",
        "|---|---|",
        "| `study.json` | study, scale, version, sweeps, analyses; `wall_s`: seconds spent by all runs of the command "
        "together; `cpu_s`: seconds of simulation |",
        "| `NAME/` | the dataset of sweep NAME, or of analysis NAME: `analysis.json`, `figures.parquet` |",
        "| `claims.json` | every claim with its outcome; every figure with its interval, and its value for each seed; "
        "the bars of every chart |",
        "| `claims.md` | the same for people |",
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
