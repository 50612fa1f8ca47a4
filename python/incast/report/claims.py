"""The claims of a study: expected value, measured value, outcome. All outcomes are shown in the same way."""

from __future__ import annotations

from collections import Counter
from typing import Any

from markdown_it import MarkdownIt

from incast.charts.groups import Study
from incast.report.html import details, element, escape, table

OUTCOMES = {"holds": "✓", "fails": "✕", "not measured": "–"}  # noqa: RUF001 - a dash
"""The outcomes, each with a sign next to its colour."""

OPEN = 12
"""Most figures of a claim that are shown unfolded (our choice). Of more, only failing ones are shown."""


def section(study: Study) -> str:
    """All claims of a study."""
    counts = Counter(claim["outcome"] for claim in study.claims)
    said = ", ".join(f"{counts[outcome]} {plural(outcome, counts[outcome])}" for outcome in OUTCOMES)
    scale = study.about.get("scale")
    head = f"{len(study.claims)} claims" + (f" at scale {scale}" if scale else "") + f": {said}."
    links = "".join(f'<li><a href="#claim-{escape(claim["id"])}">{chip(claim)}</a></li>' for claim in study.claims)
    overview = f'<ol class="outcomes" aria-label="Claims by outcome">{links}</ol>'
    overview += "".join(element("p", text, "note bad") for text in study.without)
    return element("p", head, "lead") + overview + "\n".join(article(claim) for claim in study.claims)


def plural(outcome: str, count: int) -> str:
    """An outcome of so many claims."""
    words = {"holds": ("holds", "hold"), "fails": ("fails", "fail")}
    return words.get(outcome, (outcome, outcome))[count != 1]


def article(claim: dict[str, Any]) -> str:
    """One claim with its checks and its explanation."""
    name = escape(claim["id"])
    parts = [
        f'<article class="claim {slug(claim["outcome"])}" id="claim-{name}" aria-labelledby="claim-{name}-title">',
        f'<h3 id="claim-{name}-title"><span class="id">{name}</span> {escape(claim["statement"])}</h3>',
        f"<p>{badge(claim['outcome'])} {element('span', claim.get('source') or '', 'source')}</p>",
    ]
    if claim.get("fitted"):
        parts.append(element("p", f"Not independent evidence: {claim['fitted']}.", "fitted"))
    if claim.get("reason"):
        parts.append(element("p", claim["reason"], "reason"))
    if claim["checks"]:
        parts.append(checks(claim))
    if claim.get("explanation"):
        text = MarkdownIt("commonmark", {"html": False}).enable("table").render(claim["explanation"])
        taken = element("p", claim["taken"], "note") if claim.get("taken") else ""
        parts.append(f'<div class="explanation"><h4>Explanation</h4>{text}{taken}</div>')
    elif claim["outcome"] == "fails":
        parts.append(element("p", "No explanation yet.", "explanation"))
    return "\n".join([*parts, "</article>"])


def chip(claim: dict[str, Any]) -> str:
    """Id and outcome of a claim."""
    outcome = claim["outcome"]
    sign = f'<span aria-hidden="true">{OUTCOMES.get(outcome, "?")}</span>'
    fitted = ", fitted" if claim.get("fitted") else ""
    return f'<span class="badge {slug(outcome)}">{sign} {escape(claim["id"])} {escape(outcome)}{fitted}</span>'


def badge(outcome: str) -> str:
    """An outcome as a word with a sign."""
    sign = OUTCOMES.get(outcome, "?")
    return f'<span class="badge {slug(outcome)}"><span aria-hidden="true">{sign}</span> {escape(outcome)}</span>'


def slug(outcome: str) -> str:
    """An outcome as the name of a class."""
    return outcome.replace(" ", "-")


def checks(claim: dict[str, Any]) -> str:
    """The measurements of a claim."""
    found = claim["checks"]
    title = f"Checks of claim {claim['id']}"
    if len(found) <= OPEN:
        return checked(found, title)
    failing = [check for check in found if check["outcome"] == "fails"]
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
        outcome = check["outcome"] + (f": {check['reason']}" if check.get("reason") else "")
        rows.append([check["label"], check["expect"], value, interval, check.get("seeds") or "", outcome])
    level = next((check["confidence"] for check in found if check.get("confidence")), 0.95)
    header = ["compared", "expected", "measured", f"{level:.0%} interval", "seeds", "outcome"]
    return table(header, rows, title, numbers=(2, 3, 4))


def counted(claim: dict[str, Any]) -> str:
    """Number of figures of a claim by outcome."""
    counts = Counter(check["outcome"] for check in claim["checks"])
    said = ", ".join(f"{counts[outcome]} {plural(outcome, counts[outcome])}" for outcome in OUTCOMES)
    return element("p", f"{len(claim['checks'])} figures: {said}.")
