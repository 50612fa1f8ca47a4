"""Outcome of a study as a page of Markdown with its pictures, to keep in a repository."""

from __future__ import annotations

import itertools
import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from incast import _markdown, plot
from incast._echo import shell
from incast._whole import write_all
from incast.plot_study import NothingToDrawError
from incast.study import map_writing
from incast.study.counting import KINDS, counted, kind
from incast.study.figures import SEED
from incast.study.mapped import StudyMap
from incast.study.outcome import CheckOutcome, ClaimOutcome
from incast.study.results import CAP, StudyResults
from incast.study.writing import NOT_EXPLAINED, interval, measured, spread, table_rows, verdicts_by_kind


def write(found: StudyResults, out: Path, *, overwrite: bool, of_map: StudyMap | None = None) -> list[Path]:
    """Write NAME.md, NAME.claims.json and NAME-FIGURE.svg; returns the files, the page first.

    `of_map`: a map of the study, for a section of the page and each claim's share of the space.

    Raises:
        MissingLibraryError: Matplotlib is not installed.
        ResultsExistError: A file exists and `overwrite` is false.

    """
    pictures = {figure.id: picture for figure in found.figures if (picture := _picture(found, figure.id))}
    drawn = {name: f"{found.study}-{name}.svg" for name in pictures}
    files = {
        f"{found.study}.md": _markdown.inert("\n".join(page(found, drawn, of_map)) + "\n").encode(),
        f"{found.study}.claims.json": claims(found, of_map).encode(),
        **{drawn[name]: picture for name, picture in pictures.items()},
    }
    write_all(out, files, overwrite=overwrite)
    return [out / name for name in files]


def _picture(found: StudyResults, figure: str) -> bytes | None:
    """A figure as SVG; `None` if it is a table, or nothing of it was measured."""
    try:
        return plot.encoded(found.plot(figure, title=""), ".svg", outlines=False)
    except NothingToDrawError:
        return None


def page(found: StudyResults, drawn: Mapping[str, str], of_map: StudyMap | None = None) -> Iterator[str]:
    """The lines of the page; `drawn` has the file of each drawn figure."""
    yield from [f"# {found.manifest['title']}", "", f"Source: {found.manifest['source']}.", ""]
    yield from [*_markdown.table(("kind of claim", "verdicts"), verdicts_by_kind(found.claims)), ""]
    for name in KINDS:
        yield from _verdicts(name, [claim for claim in found.claims if kind(claim.origin, claim.calibration) == name])
    if of_map is not None:
        yield from map_writing.section(of_map, found)
    yield from _figures_of(found, drawn)
    yield from _failures([claim for claim in found.claims if claim.verdict == "fails"])
    yield from ["## Provenance", "", "| | |", "|---|---|"]
    yield from (_markdown.row(name, value) for name, value in provenance(found).items())


def _verdicts(name: str, claims_: Sequence[ClaimOutcome]) -> Iterator[str]:
    """Verdicts on claims of one kind."""
    if claims_:
        heads = ("claim", "verdict", "statement", "measured", "expected")
        rows = ((claim.id, claim.verdict, claim.statement, *_figures(claim)) for claim in claims_)
        yield from [f"## Verdicts: {name}", "", *_markdown.table(heads, rows), ""]


def _figures(claim: ClaimOutcome) -> tuple[str, str]:
    """Measured and expected figures of a claim, by check: a figure with its interval, or the range of several.

    Checks with equal expectations share a line.
    """
    cells = []
    for _, group in itertools.groupby(claim.checks, lambda check: check.check):
        checks = list(group)
        cells.append((_measured(checks), f"{checks[0].metric.replace('_', ' ')} {checks[0].expect}"))
    lines = [(expected, list(alike)) for expected, alike in itertools.groupby(cells, lambda cell: cell[1])]
    figures = "<br>".join("; ".join(measured for measured, _ in alike) for _, alike in lines)
    return figures, "<br>".join(expected for expected, _ in lines)


def _measured(checks: Sequence[CheckOutcome]) -> str:
    """The figures of a check."""
    values = [check.value for check in checks if check.value is not None]
    if not values:
        return checks[0].reason or "not measured"
    if len(checks) == 1:
        return f"{measured(checks[0])} {interval(checks[0])}".strip()
    verdicts = counted(check.verdict for check in checks)
    return f"{spread(values, checks[0].unit)} ({len(checks)} figures: {verdicts})"


def _figures_of(found: StudyResults, drawn: Mapping[str, str]) -> Iterator[str]:
    """Figures and tables in the order of the publication, each with its claims."""
    if found.figures:
        yield from ["## Figures", ""]
    for figure in found.figures:
        yield from [f"### {figure.title}", "", f"{figure.about} (Source: {figure.source}.)", ""]
        if figure.claims:
            yield from [", ".join(f"{name} {found.claims[name].verdict}" for name in figure.claims), ""]
        if figure.id in drawn:
            yield from [f"![{figure.title}]({drawn[figure.id]})", ""]
        charts = (chart for chart in figure.charts if chart.published and chart.published_source)
        sources = dict.fromkeys(chart.published_source for chart in charts)
        yield from (f"Published values (hollow marks): {source}.\n" for source in sources)
        for table in figure.tables:
            yield from [*table_rows(table), ""]


def _failures(failing: Sequence[ClaimOutcome]) -> Iterator[str]:
    """Explanations of claims that fail."""
    if not failing:
        return
    yield from ["## Explanations of the failing claims", ""]
    for claim in failing:
        yield from [f"### {claim.id}: {claim.statement}", "", claim.explanation or f"({NOT_EXPLAINED})", ""]
        if claim.taken:
            yield from [f"*{claim.taken}*", ""]


def provenance(found: StudyResults) -> dict[str, str]:
    """Scale, seeds, version, machines and cost of the results."""
    sweeps = found.sweeps.values()
    machines = sum((sweep.machines() for sweep in sweeps), Counter[str]())
    versions = sum((sweep.versions() for sweep in sweeps), Counter[str]())
    costs = [sweep.cost() for sweep in sweeps]
    cpu, hops = sum(cost[0] for cost in costs), sum(cost[1] for cost in costs)
    seeds = {sweep.path.name: len({run.columns[SEED] for run in sweep.runs if SEED in run.columns}) for sweep in sweeps}
    cap = f" --until-decided --cap {found.manifest[CAP]}" if found.manifest.get(CAP) else ""
    wall = float(found.manifest["wall_s"])
    # Results that an earlier command had already made have CPU time but no duration.
    whole = wall * max((sweep.cores() for sweep in sweeps), default=0) >= cpu
    return {
        "command": f"`incast study run {shell(found.study)} --scale {shell(found.scale)}{cap}`",
        "version": "; ".join(versions),
        "date": found.manifest["date"],
        "runs": f"{sum(len(sweep.done) for sweep in sweeps):,}",
        "seeds": ", ".join(f"{name} {count}" for name, count in seeds.items() if count) or "none",
        "machine": "; ".join(machines),
        "CPU time of simulations": f"{cpu / 3600:.2f} h",
        **({"duration": f"{wall / 3600:.2f} h"} if whole else {}),
        "packet-hops": f"{hops / 1e9:.2f} billion",
    }


def claims(found: StudyResults, of_map: StudyMap | None = None) -> str:
    """Verdicts for programs, a claim per line; a check's label is its metric and series."""
    mapped = {} if of_map is None else {claim.id: claim for claim in of_map.claims}
    head: dict[str, Any] = {"study": found.study, "scale": found.scale, "provenance": provenance(found)}
    text = json.dumps(head, allow_nan=False).removesuffix("}")
    all_claims = (
        replace(one, share_of_space=mapped[one.id].share_of_space(one.verdict)) if one.id in mapped else one
        for one in found.claims
    )
    trees = (_short(claim.to_tree()) for claim in all_claims)
    rows = ",\n".join(json.dumps(tree, allow_nan=False, separators=(",", ":")) for tree in trees)
    return f'{text}, "claims": [\n{rows}\n]}}\n'


def _short(tree: Any) -> Any:
    """Numbers with six significant digits, without labels of checks."""
    if isinstance(tree, float):
        return float(f"{tree:.6g}")
    if isinstance(tree, dict):
        return {name: _short(value) for name, value in tree.items() if name != "label"}
    return [_short(value) for value in tree] if isinstance(tree, (list, tuple)) else tree
