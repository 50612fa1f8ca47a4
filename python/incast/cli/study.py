"""`incast study`."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal

from cyclopts import App, Parameter

import incast
from incast import _input, _terminal
from incast._echo import shell
from incast.cli import codes
from incast.cli.command import WORKERS, whole
from incast.cli.ends import keeping
from incast.cli.listing import wrapped
from incast.cli.phases import Phases
from incast.cli.study_ends import UnfinishedStudy, complaints
from incast.cli.study_live import StudyLive
from incast.cli.study_map import EXAMPLES as MAP_EXAMPLES
from incast.cli.study_map import map_
from incast.study import Study, StudyResults, folder, map_writing, open_map, open_study, results, space, writing
from incast.study.counting import ORIGINS
from incast.study.description import MAP, Claim, Scale
from incast.study.expectation import Expectation
from incast.study.figures import named
from incast.study.sequential import CAP

LIST_EXAMPLES = """
Examples:
  incast study list
"""
RUN_EXAMPLES = """
Examples:
  incast study run hpcc --scale smoke
  incast study run hpcc --scale paper -o results/hpcc --jobs 8
  incast study run ./mine --until-decided --cap 12
"""
SHOW_EXAMPLES = """
Examples:
  incast study show hpcc
  incast study show results/hpcc-quick
  incast study show results/hpcc-quick --figures
"""
JUDGE_EXAMPLES = """
Examples:
  incast study judge ./mine results/mine-quick
  incast study judge ./mine results/mine-quick --map results/mine-map
"""
EXPORT_EXAMPLES = """
Examples:
  incast study export results/hpcc-paper -o docs/evaluations
"""
EPILOGUE = """
A study's folder:
  study.toml        title, source, sweeps, analyses and scales
  NAME.toml         a sweep, an analysis, or a scenario of one
  claims.toml       metrics in SQL, and claims checked with them
  explanations.md   explanations of claims, one section `## ID` each

Examples:
  incast study list
  incast study show hpcc
  incast study run hpcc --scale smoke
"""

Format = Annotated[Literal["text", "json"], Parameter(show_default=False)]

app = App(
    name="study",
    sort_key=3,
    help="Rerun a published evaluation and check its claims against the measurements.",
    help_format="plaintext",
    help_epilogue=EPILOGUE,
)


@app.command(name="list", help_epilogue=LIST_EXAMPLES)
def list_(*, format: Format = "text") -> None:  # noqa: A002 - the name of the option
    """List the studies that come with incast.

    Parameters
    ----------
    format
        Output format.

    """
    found = {name: folder.head(path)[0] for name, path in folder.shipped().items()}
    if format == "json":
        content = {
            name: {"title": one.title, "source": one.source, "scales": one.scale.given()} for name, one in found.items()
        }
        _print_json(content)
        return
    for name, one in found.items():
        print(name)
        for text in (one.title, f"source: {one.source}", f"scales: {', '.join(one.scale.given())}"):
            print("\n".join(wrapped(text, 4)))
    print("\nincast study show NAME: its runs and claims; incast study run NAME: run it")


@app.command(help_epilogue=RUN_EXAMPLES)
def run(
    study: str,
    /,
    *,
    scale: Scale | None = None,
    output: Annotated[Path | None, Parameter(name=["--output", "-o"])] = None,
    jobs: Annotated[int | None, whole(1, WORKERS)] = None,
    ray: str | None = None,
    until_decided: Annotated[bool, Parameter(negative=(), show_default=False)] = False,
    cap: Annotated[int | None, whole(3)] = None,
    overwrite: Annotated[bool, Parameter(negative=(), show_default=False)] = False,
    quiet: Annotated[bool, Parameter(name=["--quiet", "-q"], negative=(), show_default=False)] = False,
) -> int:
    """Run a study's sweeps and analyses, and check its claims.

    The same command resumes an interrupted study: finished simulations are kept. Claims that fail are results; the exit
    code is 1 only if simulations failed.

    Parameters
    ----------
    study
        Name of a study (see incast study list), or folder of your own.
    scale
        Size: smoke to test that it works, quick for a first answer, paper for the size of the publication. Default:
        quick, or the smallest scale of the study.
    output
        Folder for the results. Default: results/NAME-SCALE.
    jobs
        Parallel simulations. Default: one per core. Results do not depend on it.
    ray
        Address of a Ray cluster to simulate on, such as 10.0.0.1:6379 (extra incast[ray]).
    until_decided
        Add seeds to undecided figures until their claims are decided. Intervals are wider: all looks hold together.
    cap
        Most seeds of a figure with --until-decided. Default: 20.
    overwrite
        Remove existing results of a study from the folder and start again.
    quiet
        Print only errors and warnings.

    """
    if cap is not None and not until_decided:
        raise incast.ScenarioError("--cap has no effect without --until-decided")
    with Phases("reading the study", quiet=quiet):
        chosen = incast.load_study(study)
    out = chosen.folder(output, scale)
    console, size = _terminal.console(stderr=True), chosen.scale(scale)
    if not quiet:
        runs = sum(len(plan.runs) for plan in chosen.plans[size].values())
        console.print(
            f"{chosen.name} at scale {size}: {runs} runs; {chosen.scales[size]}", soft_wrap=True, highlight=False
        )
    with keeping(partial(UnfinishedStudy, out)):
        with StudyLive(console, chosen.sweeps, chosen.analyses, quiet=quiet) as live:
            found = chosen.run(
                out,
                scale=scale,
                jobs=jobs,
                ray=ray,
                until_decided=until_decided,
                cap=cap or CAP,
                overwrite=overwrite,
                progress=live.update,
            )
        return _printed(found, quiet=quiet)


@app.command(help_epilogue=JUDGE_EXAMPLES)
def judge(
    study: str,
    directory: Path,
    /,
    *,
    of_map: Annotated[Path | None, Parameter(name="--map")] = None,
    quiet: Annotated[bool, Parameter(name=["--quiet", "-q"], negative=(), show_default=False)] = False,
) -> int:
    """Check a study's claims again on existing results, without simulating.

    Use it after changing claims, or before all runs are finished.

    Parameters
    ----------
    study
        Name of a study (see incast study list), or folder of your own.
    directory
        Results of the study.
    of_map
        Folder of a map of the study, from incast study map: adds the share of the space in which each claim holds.
    quiet
        Print only errors and warnings.

    """
    with Phases("judging claims and drawing figures", quiet=quiet):
        judged = incast.load_study(study).judge(directory, of_map)
    return _printed(judged, quiet=quiet)


def _printed(found: StudyResults, *, quiet: bool) -> int:
    """Print the verdicts on the claims; returns the exit code."""
    if not quiet:
        _print(found)
        codes.say(f"claims in {found.path}: {results.TABLE}, {results.CLAIMS}")
        if (found.path / results.PAGE).is_file():
            codes.say(f"page with all charts: {found.path / results.PAGE}")
        parts = [each.path for each in found.sweeps.values()] + [each.path for each in found.analyses.values()]
        codes.say(f"tables in {', '.join(map(str, parts))}")
        if found.tables:
            codes.say(f"tables of the study as CSV: {found.path / results.TABLES}")
        codes.say(f"all figures: incast study show {shell(found.path)} --figures")
    code = complaints(found.sweeps, f"each warning, with its advice, is on the page {found.path / results.PAGE}")
    for name, analysis in found.analyses.items():
        if analysis.impossible:
            codes.complain(f"warning: analysis {name} was skipped: {analysis.impossible}")
        for cell in analysis.failed:
            codes.complain(f"{name}, {cell.label}: {cell.error}")
            code = codes.ENDED_BADLY
    return code


app.command(map_, name="map", help_epilogue=MAP_EXAMPLES)


@app.command(help_epilogue=SHOW_EXAMPLES)
def show(
    study: str,
    directory: Path | None = None,
    /,
    *,
    figures: Annotated[bool, Parameter(negative=(), show_default=False)] = False,
    format: Format = "text",  # noqa: A002 - the name of the option
) -> None:
    """Show a study's runs, open parameters, claims and figures, or the verdicts in its results or its map.

    Parameters
    ----------
    study
        Name of a study (see incast study list), folder of your own, or results or map of a study.
    directory
        Results or map of that study, to show the verdict on each claim.
    figures
        For results: print every figure. By default, figures of a check with the same verdict share a line.
    format
        Output format.

    """
    if directory is None and not _input.exists(Path(study) / results.MANIFEST):
        chosen = incast.load_study(study)
        if format == "json":
            _print_json(tree(chosen))
        else:
            codes.say("\n".join(description(chosen)))
        return
    where, name = (study, None) if directory is None else (directory, folder.name(folder.find(study)))
    if results.of_study(Path(where), name)["scale"] == MAP:
        of_map = open_map(where, name)
        if format == "json":
            _print_json(of_map.to_tree())
        else:
            codes.say("\n".join(map_writing.terminal(of_map)))
        return
    found = open_study(where, name)
    if format == "json":
        _print_json([claim.to_tree() for claim in found.claims])
        return
    _print(found, figures=figures)


@app.command(help_epilogue=EXPORT_EXAMPLES)
def export(
    directory: Path,
    /,
    *,
    output: Annotated[Path, Parameter(name=["--output", "-o"])],
    of_map: Annotated[Path | None, Parameter(name="--map")] = None,
    overwrite: Annotated[bool, Parameter(negative=(), show_default=False)] = False,
) -> None:
    """Write the outcome of a study as Markdown with SVG figures, for a repository or a website.

    Writes NAME.md (verdicts, figures, explanations, provenance), NAME.claims.json (every judged figure) and
    NAME-FIGURE.svg. Needs the extra incast[plot].

    Parameters
    ----------
    directory
        Results of a study.
    output
        Folder to write into; other files in it stay.
    of_map
        Folder of a map of the study, from incast study map: adds a section with where each claim holds.
    overwrite
        Replace files of an earlier export.

    """
    # Drawing needs libraries that nothing else of a study needs.
    from incast.study import evaluation

    with Phases("drawing figures"):
        found = open_study(directory)
        mapped = None if of_map is None else open_map(of_map, found.study)
        written = evaluation.write(found, output, overwrite=overwrite, of_map=mapped)
    for file in written:
        codes.say(str(file))


def _print_json(content: Any) -> None:
    print(json.dumps(content, indent=2))


def _print(found: StudyResults, *, figures: bool = False) -> None:
    """Prints every claim, and their number by kind and verdict."""
    codes.say("\n".join(writing.terminal(found.claims, figures=figures)))
    if any(writing.interval(check) for claim in found.claims for check in claim.checks):
        print(f"{writing.LEGEND}\n")
    if found.tables:
        codes.say("\n".join(writing.tables(found.tables)))
    codes.say("\n".join(writing.summary(found)))


def description(chosen: Study) -> Iterator[str]:
    """The runs and claims of a study."""
    yield from [f"{chosen.name}: {chosen.title}", f"source: {chosen.source}", "", *wrapped(chosen.text, 0), ""]
    for scale, about in chosen.scales.items():
        runs = ", ".join(f"{name} {len(plan.runs)}" for name, plan in chosen.plans[scale].items())
        judged = sum(chosen.judged(claim, scale) for claim in chosen.claims)
        yield from wrapped(f"{scale}: {about}", 0)
        yield f"    runs: {runs}; claims checked: {judged} of {len(chosen.claims)}"
    if chosen.map_about:
        yield from wrapped(f"map: {chosen.map_about}", 0)
    if chosen.open_parameters:
        yield "\nopen parameters, which the publication does not give"
    for parameter in chosen.open_parameters:
        yield from wrapped(f"{parameter.name}: {space.plausible(parameter)} ({parameter.why})", 4)
        yield from wrapped(f"judged: {parameter.judged} ({parameter.reason})", 8)
    for claim in chosen.claims:
        yield ""
        yield from wrapped(f"{claim.id}  {claim.statement}", 0)
        yield from wrapped(f"source: {claim.source}; {ORIGINS[claim.origin]}; checked from scale {claim.from_} on", 4)
        if claim.calibration:
            yield from wrapped(f"calibration, not a finding: {claim.calibration}", 4)
        for text in expectations(chosen, claim):
            yield from wrapped(text, 4)
    yield "\nmetrics"
    for name, metric in chosen.metrics.items():
        yield from wrapped(f"{name}{f' ({metric.unit})' if metric.unit else ''}: {metric.about}", 4)

    if chosen.figures:
        yield "\nfigures"
    for figure in chosen.figures:
        yield from wrapped(f"{figure.id}: {figure.title} ({figure.source})", 4)


def expectations(chosen: Study, claim: Claim) -> Iterator[str]:
    """The expectation of each check of a claim."""
    for check in claim.check:
        metric = chosen.metrics[check.metric]
        whose = f" of {named(check.of)}" if check.of else ""
        whose += f" / {named(check.against)}" if check.against else ""
        where = f" at {named(check.at)}" if check.at else ""
        yield f"{check.metric}{whose}{where}: {Expectation.of(check).text(metric.unit)}"


def tree(chosen: Study) -> dict[str, Any]:
    """The same for programs."""
    return {
        "study": chosen.name,
        "title": chosen.title,
        "text": chosen.text,
        "source": chosen.source,
        "scales": {
            scale: {"about": about, "runs": {name: len(plan.runs) for name, plan in chosen.plans[scale].items()}}
            for scale, about in chosen.scales.items()
        },
        "map": chosen.map_about,
        "open": [asdict(parameter) for parameter in chosen.open_parameters],
        "views": chosen.views,
        "metrics": {name: asdict(metric) for name, metric in chosen.metrics.items()},
        "tables": {name: asdict(table) for name, table in chosen.tables.items()},
        "figures": [
            {"id": figure.id, "title": figure.title, "source": figure.source, "claims": figure.claims}
            for figure in chosen.figures
        ],
        "claims": [
            {
                "id": claim.id,
                "statement": claim.statement,
                "source": claim.source,
                "origin": claim.origin,
                "calibration": claim.calibration,
                "from": claim.from_,
                "checks": list(expectations(chosen, claim)),
            }
            for claim in chosen.claims
        ],
    }
