"""Run of a map: a study's sweeps at points of the space of its open parameters, and its claims at each point."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from incast import _core, _markdown, sweep
from incast._interval import require
from incast._whole import write_text
from incast.errors import ScenarioError, translated
from incast.study import deciding, map_writing, mapped, measuring, output, space
from incast.study.checking import Checked
from incast.study.description import MAP, MAP_RANK, SCALES, Claim
from incast.study.figures import SEED, Measured, NotUniqueError, figures
from incast.study.folder import Description
from incast.study.judging import AmbiguousError, estimated, together
from incast.study.mapped import Axis, MappedClaim, MappedFigure, StudyMap
from incast.study.opening import Opened
from incast.study.outcome import CheckOutcome
from incast.study.space import Point
from incast.sweep import SweepProgress

POINTS = 32
"""Default number of points: a share has an interval of at most 18 percentage points to each side."""
Callback = Callable[[str, SweepProgress], object]
"""Called several times a second with the name of the active sweep and its progress. If it raises, the map ends."""


@dataclass(frozen=True)
class MapPlan:
    """A planned map."""

    points: tuple[Point, ...]
    """The judged setting, then the sampled points."""
    of_points: tuple[Mapping[str, sweep.Plan], ...]
    """Plans by sweep, at each point."""

    @property
    def sweeps(self) -> dict[str, sweep.Plan]:
        """A plan of each sweep with the runs of all points; those that several points share are there once."""
        return {
            name: replace(plan, runs=tuple({run.key: run for at in self.of_points for run in at[name].runs}.values()))
            for name, plan in self.of_points[0].items()
        }


def plan(description: Description, checked: Checked, count: int) -> MapPlan:
    """Plan a map of the judged setting and `count` points; raises `ScenarioError` for a point that is not valid."""
    require()
    document = description.study_document
    if not checked.opened:
        message = f"study {description.name} declares no open parameters, so there is nothing to map"
        raise document.wrong("", message, allowed="[[open]] in study.toml")
    if not checked.maps:
        message = f"study {description.name} has no size for maps"
        raise document.wrong("scale", message, allowed="[scale.map] in study.toml and in the files of some sweeps")
    parameters = [each.parameter for each in checked.opened]
    points = [space.judged(parameters), *space.sampled(parameters, count)]
    planned: dict[tuple[str, ...], sweep.Plan] = {}
    of_points: list[Mapping[str, sweep.Plan]] = [checked.maps]
    for number, point in enumerate(points[1:], 1):
        plans = {}
        for name in checked.maps:
            overrides = [text for each in checked.opened for text in each.overrides(name, point[each.parameter.name])]
            key = (name, *overrides)
            if key not in planned:
                used = {
                    each.parameter.name: point[each.parameter.name] for each in checked.opened if name in each.fields
                }
                where = f"sweep {name} at point {number} of the map ({map_writing.setting(used)})"
                planned[key] = _planned(description.part_file(name), overrides, where)
            plans[name] = planned[key]
        of_points.append(plans)
    return MapPlan(tuple(points), tuple(of_points))


def _planned(file: Path, overrides: Sequence[str], where: str) -> sweep.Plan:
    """The runs of a sweep at a point; its first scenario is built, which finds values that do not fit together."""
    try:
        found = sweep.read(file, scale=MAP, overrides=overrides, keys=False)
        with translated():
            _core.Scenario.from_json(found.runs[0].tree, found.runs[0].base).warnings()
    except ScenarioError as error:
        text = str(error).removeprefix("error: ")
        raise ScenarioError(f"error: {where}: {text}", error.diagnostics) from None
    return found


def run(
    description: Description,
    checked: Checked,
    planned: MapPlan,
    out: Path,
    *,
    overwrite: bool,
    jobs: int | None,
    ray: str | None,
    progress: Callback | None,
) -> StudyMap:
    """Run the unfinished runs of a map, and check the claims at every point."""
    with output.held(description, out, MAP, overwrite) as manifest:
        began = time.monotonic()
        manifest |= {"sweeps": list(checked.maps), "analyses": [], "points": len(planned.points) - 1}
        done: dict[str, sweep.Sweep] = {}
        try:
            for name, one in planned.sweeps.items():
                tell = progress and partial(progress, name)
                done[name] = sweep.run(one, out / name, jobs=jobs, ray=ray, progress=tell)
        finally:
            manifest["wall_s"] = round(manifest["wall_s"] + time.monotonic() - began, 3)
            output.keep(out, manifest)
        manifest["cpu_s"] = round(sum(each.cost()[0] for each in done.values()), 3)
        manifest[mapped.RUNS] = _size(description, checked)
        output.keep(out, manifest)
        claims = _claims(description, checked, planned, done)
        axes = [_axis(each) for each in checked.opened]
        found = StudyMap(out, manifest, axes, planned.points, claims, deciding.together(claims, len(planned.points)))
        write_text(out / mapped.CONTENT, json.dumps(found.to_tree(), indent=2, allow_nan=False) + "\n")
        write_text(out / mapped.TABLE, _markdown.inert(map_writing.markdown(found)))
        # The page draws with libraries that nothing else of a study needs.
        from incast.report.map import write

        write(found)
        return found


def _size(description: Description, checked: Checked) -> str:
    """Size of the runs at a point in words: the study's own, with the number of seeds."""
    about = description.study.scale.map.about if description.study.scale.map else ""
    counts = (len({run.columns[SEED] for run in plan.runs if SEED in run.columns}) for plan in checked.maps.values())
    seeds = sorted({count for count in counts if count})
    if not seeds or "seed" in about:
        return about
    count = f"{seeds[0]} to {seeds[-1]} seeds" if len(seeds) > 1 else f"{seeds[0]} seed{'' if seeds[0] == 1 else 's'}"
    return f"{count}; {about}" if about else count


def _axis(opened: Opened) -> Axis:
    one = opened.parameter
    return Axis(
        name=one.name,
        judged=one.judged,
        why=one.why,
        reason=one.reason,
        plausible=space.plausible(one),
        ordered=space.ordered(one),
        kind=space.kind(one),
        log=one.log,
        choices=tuple(space.choices(one)),
        sweeps=tuple(opened.fields),
    )


def _claims(
    description: Description, checked: Checked, planned: MapPlan, done: Mapping[str, sweep.Sweep]
) -> list[MappedClaim]:
    """All claims at all points."""
    seen: list[list[_Seen]] = []
    known: dict[tuple[frozenset[str], ...], list[_Seen]] = {}
    for plans in planned.of_points:
        runs = tuple(one.keys for one in plans.values())
        if runs not in known:
            parts = {name: done[name].only(one.keys) for name, one in plans.items()}
            measured = measuring.metrics(description, checked, plans, parts)
            known[runs] = [
                _seen(description, number, claim, measured) for number, claim in enumerate(description.claims.claim)
            ]
        seen.append(known[runs])
    return [
        _mapped(description, checked, planned.points, claim, [at[number] for at in seen])
        for number, claim in enumerate(description.claims.claim)
    ]


_Seen = list[CheckOutcome]
"""Figures of a claim at a point."""


def _seen(description: Description, number: int, claim: Claim, measured: Mapping[str, Measured]) -> _Seen:
    """The figures of a claim at a point; none if a metric is not part of the map or the scale is too small."""
    found: _Seen = []
    for place, check in enumerate(claim.check):
        if check.metric not in measured or SCALES.index(MAP_RANK) < SCALES.index(claim.from_):
            return []
        try:
            of_check = list(figures(check, measured[check.metric]))
        except NotUniqueError as error:
            ambiguous = AmbiguousError(place, str(error))
            raise ambiguous.located(description.claims_document, number, claim) from None
        unit = description.claims.metric[check.metric].unit
        found += (estimated(check, figure, place, unit, claim.exact) for figure in of_check)
    return found


def _mapped(
    description: Description, checked: Checked, points: Sequence[Point], claim: Claim, seen: Sequence[_Seen]
) -> MappedClaim:
    """A claim with its verdicts at all points, and the parameters that decide them."""
    sweeps = {description.claims.metric[check.metric].part for check in claim.check}
    outcomes = [together(checks) if checks else ("not measured", _outside(checked, claim, sweeps)) for checks in seen]
    verdicts = tuple(verdict for verdict, _ in outcomes)
    sampled = [number for number in range(1, len(points)) if verdicts[number] != "not measured"]
    holds = [verdicts[number] == "holds" for number in sampled]
    low, high = deciding.wilson(sum(holds), len(holds))
    parameters = [each.parameter for each in checked.opened if sweeps & each.fields.keys()]
    labels = dict.fromkeys((check.label, check.expect) for checks in seen for check in checks)
    values = [{(check.label, check.expect): check.value for check in checks} for checks in seen]
    return MappedClaim(
        id=claim.id,
        statement=claim.statement,
        origin=claim.origin,
        calibration=claim.calibration,
        verdicts=verdicts,
        reason=next((reason for verdict, reason in outcomes if verdict == "not measured"), None),
        holds=sum(holds),
        points=len(holds),
        low=low,
        high=high,
        influences=deciding.influences(parameters, [points[number] for number in sampled], holds),
        figures=tuple(
            MappedFigure(label=label, expect=expect, values=tuple(at.get((label, expect)) for at in values))
            for label, expect in labels
        ),
    )


def _outside(checked: Checked, claim: Claim, parts: set[str]) -> str:
    """Reason why a map does not measure a claim."""
    if SCALES.index(MAP_RANK) < SCALES.index(claim.from_):
        return f"needs scale {claim.from_}"
    outside = sorted(parts - checked.maps.keys())
    return f"{', '.join(outside)} {'is' if len(outside) == 1 else 'are'} not part of the map"
