"""The reference page of a study's files, made from the classes that they are read into."""

from __future__ import annotations

from collections.abc import Iterator

from fields import table
from incast.study.description import Check, Claim, ClaimsFile, Metric, Scales, ScaleText, StudyChart, StudyFile


def page() -> Iterator[str]:
    """The lines of the page."""
    yield from [
        "# Studies",
        "",
        "A study is a folder of `study.toml`, `claims.toml`, a file `NAME.toml` for each sweep, the scenarios that "
        "these name, and `explanations.md`. How one is written: [studies](../howto/studies.md); how claims are judged, "
        "and why so: [decisions](../design/studies.md).",
        "",
    ]
    for heading, cls in (
        ("study.toml", StudyFile),
        ("study.toml: scale", Scales),
        ("study.toml: scale.NAME", ScaleText),
        ("claims.toml", ClaimsFile),
        ("claims.toml: metric.NAME", Metric),
        ("claims.toml: chart", StudyChart),
        ("claims.toml: claim", Claim),
        ("claims.toml: claim.check", Check),
    ):
        yield from [f"## {heading}", "", (cls.__doc__ or "").strip(), "", *table(cls)]
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
        "| `study.json` | study, scale, version, sweeps; `wall_s`: seconds spent by all runs of the command together; "
        "`cpu_s`: seconds of simulation |",
        "| `NAME/` | the dataset of sweep NAME |",
        "| `claims.json` | every claim with its outcome; every figure with its interval, and its value for each seed; "
        "the bars of every chart |",
        "| `claims.md` | the same for people |",
    ]
