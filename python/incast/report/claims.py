"""The claims of a study: expected value, measured value, verdict. All verdicts are shown in the same way."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from markdown_it import MarkdownIt

from incast.charts.groups import Study
from incast.report.html import details, element, escape, prose, table
from incast.report.units import spaced
from incast.study.counting import KINDS, ORIGINS, by_kind, mark
from incast.study.counting import counted as verdicts
from incast.study.outcome import ClaimOutcome

SIGNS = {"holds": "✓", "fails": "✕", "undecided": "?", "not measured": "\N{EN DASH}"}
"""The verdicts, each with a sign next to its colour."""

OPEN = 12
"""Most figures of a claim that are shown unfolded (our choice). Of more, only failing ones are shown."""

# Viewers without the page's content policy would load images from the network.
MARKDOWN = MarkdownIt("commonmark", {"html": False}).enable("table").disable("image")


def section(study: Study) -> str:
    """All claims of a study."""
    scale = study.about.get("scale")
    head = f"{len(study.claims)} claims" + (f" at scale {scale}" if scale else "") + "."
    kinds = by_kind((claim["origin"], claim["calibration"], claim["verdict"]) for claim in study.claims)
    rows = [[name, KINDS[name], verdicts(found)] for name, found in kinds]
    counts = table(["claims", "meaning", "verdicts"], rows, "Verdicts by kind of claim")
    links = "".join(f'<li><a href="#claim-{escape(claim["id"])}">{chip(claim)}</a></li>' for claim in study.claims)
    overview = f'<ol class="verdicts" aria-label="Verdict on each claim">{links}</ol>'
    overview += "".join(element("p", text, "note bad") for text in study.without)
    return (
        element("p", head, "lead")
        + counts
        + overview
        + "\n".join(
            article(claim, [figure.id for figure in study.figures if claim["id"] in figure.claims])
            for claim in study.claims
        )
    )


def article(claim: dict[str, Any], figures: Sequence[str]) -> str:
    """One claim with its checks, its explanation, and links to its figures."""
    name = escape(claim["id"])
    parts = [
        f'<article class="claim {slug(claim["verdict"])}" id="claim-{name}" aria-labelledby="claim-{name}-title">',
        f'<h3 id="claim-{name}-title"><span class="id">{name}</span> {prose(claim["statement"])}</h3>',
        f"<p>{badge(claim['verdict'])} {element('span', ORIGINS[claim['origin']], 'origin')} "
        f"{element('span', claim['source'], 'source')}</p>",
    ]
    if claim["calibration"]:
        parts.append(element("p", f"A calibration, not a finding: {claim['calibration']}.", "calibration"))
    if claim.get("reason"):
        parts.append(element("p", claim["reason"], "reason"))
    if figures:
        links = ", ".join(f'<a href="#figure-of-{escape(each)}">{escape(each)}</a>' for each in figures)
        parts.append(f'<p class="note">Figures: {links}</p>')
    if claim["checks"]:
        parts.append(checks(claim))
    notes = (f"{text[:1].upper()}{text[1:]}." for text in ClaimOutcome.from_tree(claim).spaced())
    parts += (element("p", spaced(note), "note") for note in notes)
    if claim.get("explanation"):
        text = MARKDOWN.render(claim["explanation"])
        taken = element("p", claim["taken"], "note") if claim.get("taken") else ""
        parts.append(f'<div class="explanation"><h4>Explanation</h4>{text}{taken}</div>')
    elif claim["verdict"] == "fails":
        parts.append(element("p", "No explanation yet.", "explanation"))
    return "\n".join([*parts, "</article>"])


def chip(claim: dict[str, Any]) -> str:
    """Id and verdict of a claim."""
    return badge(claim["verdict"], f"{claim['id']} ", mark(claim["origin"], claim["calibration"]))


def badge(verdict: str, before: str = "", after: str = "") -> str:
    """A verdict as a word with a sign, between two texts."""
    sign = f'<span aria-hidden="true">{SIGNS[verdict]}</span>'
    return f'<span class="badge {slug(verdict)}">{sign} {escape(f"{before}{verdict}{after}")}</span>'


def slug(verdict: str) -> str:
    """A verdict as the name of a class."""
    return verdict.replace(" ", "-")


def checks(claim: dict[str, Any]) -> str:
    """The measurements of a claim."""
    found = claim["checks"]
    title = f"Checks of claim {claim['id']}"
    if len(found) <= OPEN:
        return checked(found, title)
    failing = [check for check in found if check["verdict"] == "fails"]
    at_once = checked(failing, f"Checks of claim {claim['id']} that fail") if 0 < len(failing) <= OPEN else ""
    return counted(claim) + at_once + details(f"All {len(found)} figures", checked(found, title))


def checked(found: list[dict[str, Any]], title: str) -> str:
    """A table of figures."""
    rows = []
    for check in found:
        unit = f" {check['unit']}" if check.get("unit") else ""
        interval = ""
        if check.get("low") is not None and check.get("high") is not None:
            interval = f"{check['low']:.4g} to {check['high']:.4g}{unit}"
        value = "" if check.get("value") is None else f"{check['value']:.4g}{unit}"
        verdict = check["verdict"] + (f": {check['reason']}" if check.get("reason") else "")
        rows.append([check["label"], check["expect"], value, interval, check.get("seeds") or "", verdict])
    level = next((check["confidence"] for check in found if check.get("confidence")), 0.95)
    header = ["compared", "expected", "measured", f"{level * 100:g} % interval", "seeds", "verdict"]
    return table(header, rows, title, numbers=(2, 3, 4))


def counted(claim: dict[str, Any]) -> str:
    """Number of figures of a claim by verdict."""
    found = claim["checks"]
    return element("p", f"{len(found)} figures: {verdicts(check['verdict'] for check in found)}.")
