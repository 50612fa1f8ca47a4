"""A map of open parameters as text for the terminal and as a page of Markdown."""

from __future__ import annotations

from collections.abc import Iterator

from incast._markdown import table
from incast.study.counting import mark
from incast.study.description import Value
from incast.study.mapped import SIGNIFICANT, MappedClaim, StudyMap
from incast.study.writing import MARGIN, columns, wrapped

ABOUT = (
    "Verdicts at points are of means over seeds, without their intervals: a map shows where a claim holds, not how "
    f"certain. A parameter decides a claim if its values differ between points where the claim holds and others, with "
    f"p < {SIGNIFICANT:g} (permutations, corrected for the number of parameters)."
)
"""Meaning of the verdicts and of the deciding parameters."""
FEW = 10
"""Most conflicts that are named (our choice)."""
HEADINGS = ("claim", "holds at", "95 % interval", "judged setting", "decided by")
NUMERIC = (False, True, True, False, False)
"""True for columns of numbers, which are aligned right."""
PARAMETERS = ("open parameter", "plausible", "judged", "reason of the judged setting")
NONE_DECIDES = "none"


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


def findings(found: StudyMap) -> Iterator[str]:
    """Sentences about the points at which published statements hold together."""
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
        f"Not holding there: {', '.join(together.fail)}."
    )
    if together.nowhere:
        yield f"Hold at no point: {', '.join(together.nowhere)}."
    if together.conflicts:
        pairs = "; ".join(f"{one} and {other}" for one, other in together.conflicts[:FEW])
        more = f"; {len(together.conflicts) - FEW} more pairs" if len(together.conflicts) > FEW else ""
        yield f"Contradict each other (each holds at some point, never both at the same point): {pairs}{more}."


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


def parameters(found: StudyMap) -> list[tuple[str, ...]]:
    """The open parameters as rows of a table; see `PARAMETERS`."""
    return [(axis.name, axis.plausible, str(axis.judged), axis.reason) for axis in found.axes]


def terminal(found: StudyMap) -> Iterator[str]:
    """A map for the terminal."""
    yield head(found)
    for axis in found.axes:
        yield from wrapped(f"{MARGIN}{axis.name}: {axis.plausible}; judged: {axis.judged}", MARGIN * 2)
    yield ""
    yield from columns([HEADINGS, *map(cells, found.claims)], NUMERIC)
    yield ""
    for text in findings(found):
        yield from wrapped(text, MARGIN)
    yield ""
    yield from wrapped(ABOUT, "")


def section(found: StudyMap) -> Iterator[str]:
    """A map as a section of the page of a study: claims that it measures."""
    yield from ["## Map of open parameters", "", f"{head(found)[len(found.study) + 2 :]}.", ""]
    yield from table(PARAMETERS, parameters(found))
    measured = [each for each in found.claims if each.points]
    yield from ["", *table(HEADINGS, map(cells, measured)), "", ABOUT]
    others = [each.id for each in found.claims if not each.points]
    if others:
        yield from ["", f"Not part of the map: {', '.join(others)}."]
    yield from ["", *(f"- {text}" for text in findings(found)), ""]


def markdown(found: StudyMap) -> str:
    """A map as a page."""
    lines = [f"# {found.manifest['title']}: map of open parameters", "", f"{head(found)}.", ""]
    lines += table(PARAMETERS, parameters(found))
    claims = ((*cells(each), each.statement) for each in found.claims)
    lines += ["", "## Claims", "", *table((*HEADINGS, "statement"), claims)]
    lines += ["", ABOUT, "", "## Published statements together", ""]
    lines += [f"- {text}" for text in findings(found)]
    return "\n".join(lines) + "\n"
