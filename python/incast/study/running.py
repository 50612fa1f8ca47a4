"""Run of a study: its sweeps and analyses, then its claims, in one folder that can be resumed."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from incast import _markdown, analysis, integrity, sweep
from incast._interval import require
from incast._whole import write_text
from incast.analysis import Analysis, AnalysisPlan
from incast.errors import ResultsError
from incast.study import output, results, sequential, writing
from incast.study.checking import Checked
from incast.study.description import MAP, Scale
from incast.study.drawing_figures import draw_figures
from incast.study.folder import Description
from incast.study.judging import AmbiguousError, claim_outcome, undecided
from incast.study.mapped import StudyMap
from incast.study.measuring import measure
from incast.study.outcome import ClaimOutcome
from incast.study.results import CAP, Claims, StudyResults
from incast.sweep import SweepProgress

Callback = Callable[[str, SweepProgress], object]
"""Called several times a second with the name of the active part and its progress. If it raises, the run ends."""


def run(
    description: Description,
    checked: Checked,
    out: Path,
    scale: Scale,
    *,
    overwrite: bool,
    jobs: int | None,
    ray: str | None,
    progress: Callback | None,
    cap: int | None = None,
) -> StudyResults:
    """Run the unfinished parts of a study, and check its claims."""
    require()
    with output.held(description, out, scale, overwrite) as manifest:
        began = time.monotonic()
        done: dict[str, sweep.Sweep | Analysis] = {}
        plans = dict(checked.plans[scale])
        if cap is not None:
            manifest[CAP] = cap
        try:
            wanted = plans
            while wanted:
                for name, plan in wanted.items():
                    tell = progress and partial(progress, name)
                    if isinstance(plan, AnalysisPlan):
                        done[name] = analysis.run(plan, out / name, tell)
                    else:
                        done[name] = sweep.run(plan, out / name, jobs=jobs, ray=ray, progress=tell)
                plans |= wanted
                wanted = {} if cap is None else _more(description, checked, scale, plans, done, cap)
        finally:
            manifest["wall_s"] = round(manifest["wall_s"] + time.monotonic() - began, 3)
            manifest["date"] = output.today()
            output.keep(out, manifest)
        manifest["cpu_s"] = round(sum(each.cost()[0] for each in done.values() if isinstance(each, sweep.Sweep)), 3)
        return _judged(description, checked, out, manifest, done)


def _more(
    description: Description,
    checked: Checked,
    scale: Scale,
    plans: Mapping[str, sweep.Plan | AnalysisPlan],
    done: Mapping[str, sweep.Sweep | Analysis],
    cap: int,
) -> dict[str, sweep.Plan | AnalysisPlan]:
    """Plans of sweeps with the seeds that undecided figures need; none if all are decided or at the cap."""
    planned = checked.plans[scale]
    measured, _ = measure(description, checked, plans, done)
    looks = {name: sequential.looks(plan, cap) for name, plan in planned.items()}
    claims = description.claims
    found = undecided(claims.claim, claims.metric, measured, scale, looks)
    return {**sequential.extended(planned, plans, found, cap)}


def judge(description: Description, checked: Checked, out: Path, of_map: StudyMap | None = None) -> StudyResults:
    """Check the current claims on existing results; with a map, each claim has its share of the space."""
    require()
    manifest = results.of_study(out, description.name)
    if manifest["scale"] == MAP:
        raise ResultsError(f"{out}: a map of open parameters; `incast study map` checks its claims")
    if manifest["scale"] not in checked.plans:
        raise ResultsError(f"{out}: study {description.name} has no scale {manifest['scale']} any more")
    integrity.verify([out])
    study = description.study
    manifest |= {"source": study.source, "sweeps": study.sweeps, "analyses": study.analyses}
    manifest.setdefault("date", output.written(out))
    there = results.StudyResults(out, manifest, Claims([]))
    return _judged(description, checked, out, manifest, {**there.sweeps, **there.analyses}, of_map)


def _judged(
    description: Description,
    checked: Checked,
    out: Path,
    manifest: dict[str, Any],
    parts: Mapping[str, sweep.Sweep | Analysis],
    of_map: StudyMap | None = None,
) -> StudyResults:
    """Check every claim, and write the verdicts."""
    mapped = {claim.id: claim for claim in of_map.claims} if of_map else {}
    planned = checked.plans[manifest["scale"]]
    measured, tabled = measure(description, checked, planned, parts)
    looks = {name: sequential.looks(plan, manifest.get(CAP)) for name, plan in planned.items()}
    outcomes: list[ClaimOutcome] = []
    for number, claim in enumerate(description.claims.claim):
        explanation = description.explanations.get(claim.id)
        try:
            outcome = claim_outcome(claim, description.claims.metric, measured, manifest["scale"], explanation, looks)
        except AmbiguousError as error:
            raise error.located(description.claims_document, number, claim) from None
        setting = checked.setting(description.claims.metric[check.metric].part for check in claim.check)
        share = mapped[claim.id].share_of_space(outcome.verdict) if claim.id in mapped else None
        outcomes.append(replace(outcome, setting=setting, share_of_space=share))
    manifest["format"] = results.FORMAT
    found = StudyResults(out, manifest, Claims(outcomes), draw_figures(description, checked, measured, tabled))
    output.keep(out, manifest)
    tree = {
        "study": description.name,
        "scale": manifest["scale"],
        CAP: manifest.get(CAP),
        "claims": [claim.to_tree() for claim in outcomes],
        "figures": [figure.to_tree() for figure in found.figures],
    }
    output.keep_tables(out, found.tables)
    write_text(out / results.CLAIMS, json.dumps(tree, indent=2, allow_nan=False) + "\n")
    write_text(out / results.TABLE, _markdown.inert(writing.markdown(found)))
    if any(each.done for each in parts.values() if isinstance(each, sweep.Sweep)):
        # The page draws with libraries that nothing else of a study needs.
        from incast.report.write import write_page

        write_page([out], out / results.PAGE, overwrite=True)
    return found
