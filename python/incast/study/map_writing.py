"""A map of open parameters as text for the terminal and as a page of Markdown."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from typing import TYPE_CHECKING

from incast._markdown import table
from incast.study.counting import mark
from incast.study.description import SCALES, Value
from incast.study.mapped import RUNS, SIGNIFICANT, MappedClaim, StudyMap
from incast.study.writing import MARGIN, columns, wrapped

if TYPE_CHECKING:
    from incast.study.results import StudyResults

ABOUT = (
    "Verdicts at points, also at the judged setting, are of means over the seeds of the map's runs, without their "
    "intervals: a map shows where a claim holds, not how certain. A parameter decides a claim if its values differ "
    f"between points where the claim holds and others, with p < {SIGNIFICANT:g} (permutations, corrected for the "
    "number of parameters)."
)
"""Meaning of the verdicts and of the deciding parameters."""
FEW = 10
"""Most conflicts that are named (our choice)."""
HEADINGS = ("claim", "holds at", "95 % interval", "judged setting", "decided by")
NUMERIC = (False, True, True, False, False)
"""True for columns of numbers, which are aligned right."""
PARAMETERS = ("open parameter", "plausible", "judged", "reason of the judged setting")
NONE_DECIDES = "none"
UNSURE = "\N{DAGGER}"
"""Mark of claims that the map's runs and the study judge differently at the judged setting."""


def setting(point: dict[str, Value]) -> str:
    """Values of a point: `buffer 64kB, jitter 1us`."""
    return ", ".join(f"{name} {value}" for name, value in point.items())


def cells(claim: MappedClaim) -> tuple[str, ...]:
    """A claim as a row of a table; see `HEADINGS`."""
    interval = "" if claim.low is None or claim.high is None else f"{100 * claim.low:.0f} to {100 * claim.high:.0f} %"
    share = f"{claim.holds} of {claim.points} points" if claim.points else "not measured"
    named = f"{claim.id}{mark(claim.origin, claim.calibration)}"
    return named, share, interval, claim.verdicts[0], decided(claim)


def decided(claim: MappedClaim) -> str:
    """The parameters that decide a claim, with their distances."""
    if not claim.points:
        return claim.reason or ""
    if not claim.influences:
        return "the same verdict at all points"
    found = [each for each in claim.influences if each.name in claim.deciding]
    return ", ".join(f"{each.name} ({each.distance:.2f})" for each in found) or NONE_DECIDES


def findings(found: StudyMap, unsure: Collection[str] = ()) -> Iterator[str]:
    """Sentences about the points at which published statements hold together; `unsure` claims are marked."""
    yield from _together(found, unsure)
    of_map = [each for each in found.claims if each.id in found.together.claims]
    rest = [each for each in of_map if each.id not in unsure]
    if rest and len(rest) < len(of_map):
        points = range(len(found.points))
        hold = sum(all(each.verdicts[point] == "holds" for each in rest) for point in points)
        others = f"the other {len(rest)} hold" if len(rest) > 1 else "the other one holds"
        yield f"Without claims marked {UNSURE}: {others} at {hold or 'none'} of {len(points)} points."


def _together(found: StudyMap, unsure: Collection[str]) -> Iterator[str]:
    together, count = found.together, len(found.points)
    if not together.claims:
        yield "The map measures no published statement."
        return
    whole = f"{len(together.claims)} published statements and calibrations"
    if together.all_hold:
        places = ", ".join(map(place, together.all_hold))
        yield f"All {whole} hold together at {len(together.all_hold)} of {count} points: {places}."
        first = together.all_hold[0]
        yield f"{place(first).capitalize()} has {setting(found.points[first])}."
        return
    yield f"No single setting: at none of {count} points all {whole} hold together."
    at = place(together.best)
    yield (
        f"Most hold at {at}: {together.holds} of {len(together.claims)}, with {setting(found.points[together.best])}. "
        f"Not holding there: {_marked(together.fail, unsure)}."
    )
    if together.nowhere:
        yield f"Hold at no point: {_marked(together.nowhere, unsure)}."
    if together.conflicts:
        named = (tuple(_marked([each], unsure) for each in pair) for pair in together.conflicts[:FEW])
        pairs = "; ".join(f"{one} and {other}" for one, other in named)
        more = f"; {len(together.conflicts) - FEW} more pairs" if len(together.conflicts) > FEW else ""
        yield f"Contradict each other (each holds at some point, never both at the same point): {pairs}{more}."


def _marked(claims: Iterable[str], unsure: Collection[str]) -> str:
    """Claims as a list, with marks."""
    return ", ".join(f"{each}{UNSURE}" if each in unsure else each for each in claims)


def place(number: int) -> str:
    """A point by its number."""
    return f"point {number}" if number else "the judged setting"


def head(found: StudyMap) -> str:
    """Size of a map."""
    points, axes = len(found.points) - 1, len(found.axes)
    return (
        f"{found.study}: {points} point{'' if points == 1 else 's'} in the space of {axes} open "
        f"parameter{'' if axes == 1 else 's'}, and the judged setting"
    )


def scale(found: StudyMap) -> str:
    """Size of the runs at a point; empty for maps of earlier versions."""
    return str(found.manifest.get(RUNS, ""))


def parameters(found: StudyMap) -> list[tuple[str, ...]]:
    """The open parameters as rows of a table; see `PARAMETERS`."""
    return [(axis.name, axis.plausible, str(axis.judged), axis.reason) for axis in found.axes]


def terminal(found: StudyMap) -> Iterator[str]:
    """A map for the terminal."""
    yield head(found)
    if size := scale(found):
        yield from wrapped(f"{MARGIN}runs at each point: {size}", MARGIN * 2)
    for axis in found.axes:
        yield from wrapped(f"{MARGIN}{axis.name}: {axis.plausible}; judged: {axis.judged}", MARGIN * 2)
    yield ""
    yield from columns([HEADINGS, *map(cells, found.claims)], NUMERIC)
    yield ""
    for text in findings(found):
        yield from wrapped(text, MARGIN)
    yield ""
    yield from wrapped(ABOUT, "")


def section(found: StudyMap, study: StudyResults) -> Iterator[str]:
    """A map as a section of the page of a study: claims that it measures, next to the verdicts of the study."""
    yield from ["## Map of open parameters", "", f"{head(found)[len(found.study) + 2 :]}.", ""]
    yield from table(PARAMETERS, parameters(found))
    measured = [each for each in found.claims if each.points]
    verdicts = {claim.id: claim.verdict for claim in study.claims}
    unsure = [each.id for each in measured if each.id in verdicts and each.disagrees(verdicts[each.id])]
    size = f": {size}" if (size := scale(found)) else ""
    smaller = "" if study.scale == SCALES[0] else f", smaller than those of scale {study.scale} above"
    yield from ["", f"The map has runs of its own{smaller}{size}."]
    if unsure:
        yield (
            f"Claims marked {UNSURE} have another verdict in these runs than in the study, with the same judged "
            "setting: the map does not speak about these claims."
        )
    yield ""
    heads = (*HEADINGS[:3], "judged setting, map", "judged setting, study", *HEADINGS[4:])
    rows = (_compared(each, verdicts.get(each.id, ""), each.id in unsure) for each in measured)
    yield from [*table(heads, rows), "", ABOUT]
    others = [each.id for each in found.claims if not each.points]
    if others:
        yield from ["", f"Not part of the map: {', '.join(others)}."]
    yield from ["", *(f"- {text}" for text in findings(found, unsure)), ""]


def _compared(claim: MappedClaim, verdict: str, unsure: bool) -> tuple[str, ...]:
    """A claim as a row of a table, next to the study's verdict."""
    named, share, interval, judged, by = cells(claim)
    return named.replace(claim.id, f"{claim.id}{UNSURE}", 1) if unsure else named, share, interval, judged, verdict, by


def markdown(found: StudyMap) -> str:
    """A map as a page."""
    lines = [f"# {found.manifest['title']}: map of open parameters", "", f"{head(found)}.", ""]
    lines += [f"Runs at each point: {size}.", ""] if (size := scale(found)) else []
    lines += table(PARAMETERS, parameters(found))
    claims = ((*cells(each), each.statement) for each in found.claims)
    lines += ["", "## Claims", "", *table((*HEADINGS, "statement"), claims)]
    lines += ["", ABOUT, "", "## Published statements together", ""]
    lines += [f"- {text}" for text in findings(found)]
    return "\n".join(lines) + "\n"
