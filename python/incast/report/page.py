"""The page: its sections, its data and its scripts in one text."""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib.resources import files
from typing import Any

from incast import _core
from incast.charts import look
from incast.charts.groups import Material
from incast.charts.over import FIGURES, spec, written
from incast.findings.words import UNIT
from incast.report import claims, figures, findings, scenario, settings, warnings
from incast.report.data import DIGITS, Packer
from incast.report.html import element, escape, prose, script

DRAWN = 2000
"""Lines of a fabric that are drawn (our choice): more are a blot."""
LIBRARIES = ("vega.min.js", "vega-lite.min.js")
SCRIPTS = ("charts.js", "fabric.js", "links.js", "page.js")
SECTIONS = {
    "deadlocks": ("Deadlocks", "Deadlocks"),
    "tenants": ("Tenants", "Throughput and guarantees of tenants"),
    "iterations": ("Iterations", "Iterations of collectives"),
    "slowdown": ("Slowdown", "Slowdown by flow size"),
    "distributions": ("Distributions", "Distributions"),
    "fabric": ("Fabric", "Fabric"),
    "queues": ("Queues", "Queues over time"),
    "rates": ("Rates", "Throughput of flows over time"),
    "pauses": ("Pauses", "PFC pauses over time"),
}
"""The sections of charts in order: name, link text, title."""
ONLY_WITH = {
    "deadlocks": "deadlocks",
    "tenants": "throughput",
    "iterations": "iterations",
    "queues": "queues",
    "rates": "rates",
    "pauses": "pauses",
}
"""Sections shown only if a table has rows."""
OF_FLOWS = ("slowdown", "distributions")
"""Sections shown only if a flow has a slowdown."""
SAMPLES = ("queues", "rates")
"""Tables of samples, which `measure.sample_every` switches on."""


def page(material: Material, progress: Callable[[int, int], object] | None = None) -> str:
    """The whole page."""
    packer = Packer(
        sum(len(group.variations) for group in material.groups),
        palette=schemes_of(material),
        alone=sum(len(group.variations) == 1 for group in material.groups),
        deadlocks=has(material, "deadlocks"),
    )
    done = 0

    def one_more() -> None:
        nonlocal done
        done += 1
        if progress:
            progress(done, packer.scenarios)

    packer.progress = one_more
    groups = [packer.group(group) for group in material.groups]
    data = {
        "title": material.title,
        "groups": groups,
        "figures": [
            {"id": figure.id, "charts": [packer.chart(chart) for chart in figures.charts_of(study, figure)]}
            for study in material.studies
            for figure in study.figures
        ],
        "specs": packer.specs,
        "fabrics": packer.fabrics,
        "overSpec": spec(),
        "dashes": look.DASHES,
        "overLabels": {name: written(name)[0] for name in FIGURES},
    }
    return whole(material.title, dict(titled(material, groups)), data, footer(packer, material))


def whole(title: str, sections: Mapping[str, tuple[str, str, str]], data: Mapping[str, Any], foot: str) -> str:
    """A page of sections, each with link text, title and HTML."""
    return filled(
        asset("page.html"),
        {
            "version": escape(_core.__version__),
            "title": escape(title),
            "style": asset("page.css"),
            "nav": "".join(f'<a href="#{name}">{escape(word)}</a>' for name, (word, _, _) in sections.items()),
            "sections": "\n".join(
                f'<section id="{name}" aria-labelledby="{name}-title">'
                f'<h2 id="{name}-title">{escape(title)}</h2>{inner}</section>'
                for name, (_, title, inner) in sections.items()
            ),
            "footer": foot,
            "data": script(data),
            "scripts": "\n".join(f"<script>{text}</script>" for text in scripts()),
        },
    )


def titled(material: Material, packed: Sequence[dict[str, Any]]) -> Iterator[tuple[str, tuple[str, str, str]]]:
    """The sections of the page: name, link text, title and HTML."""
    found = None if material.studies else findings.section(material.groups, packed)
    if found is not None:
        yield "findings", ("Findings", "What happened", found)
    differ = settings.section(material.groups)
    if differ is not None and not material.studies:
        yield "settings", ("Settings", "Settings that differ between schemes", differ)
    warned = warnings.section(material.groups)
    if warned is not None:
        yield "warnings", ("Warnings", "Warnings", warned)
    if material.studies:
        yield "claims", ("Claims", "Claims", "\n".join(claims.section(study) for study in material.studies))
    firsts = itertools.accumulate((len(study.figures) for study in material.studies), initial=0)
    drawn = [figures.section(study, first) for study, first in zip(material.studies, firsts, strict=False)]
    if any(drawn):
        yield "figures", ("Figures", "Figures", "\n".join(drawn))
    if any(group.columns for group in material.groups):
        yield "over", ("Sweep", "Sweep", '<div class="titled" data-charts="over"></div>')
    for name, (word, title) in SECTIONS.items():
        if name in ONLY_WITH and not has(material, ONLY_WITH[name]):
            continue
        if name in OF_FLOWS and not has_slowdowns(material):
            continue
        kind = {"distributions": "pair", "deadlocks": "several", "tenants": "several"}.get(name, "single")
        yield name, (word, title, f'<div class="{kind}" data-charts="{name}"></div>')
    yield "scenario", ("Scenario", "Scenario", "\n".join(
        f'<div data-group="{place}"{" hidden" if place else ""}>{scenario.section(group)}'
        f"{findings.provenance(group) if found is None else ''}</div>"
        for place, group in enumerate(material.groups)))  # fmt: skip
    unused = element("p", absent(material), "note") if absent(material) else ""
    yield "counters", ("Counters", "Counters", f'<div class="single" data-charts="counters"></div>{unused}')


def absent(material: Material) -> str:
    """Charts that the page lacks, with the reason; empty if it has all."""
    samples = [name for name in SAMPLES if not has(material, name)]
    lines = [f"Not recorded: {' and '.join(samples)} over time (measure.sample_every)."] if samples else []
    lines += [] if has(material, "pauses") else ["No pauses over time: no port was paused."]
    if not has_slowdowns(material):
        reasons = (one.source.why_no_slowdown(None) for group in material.groups for one in group.variations)
        lines += dict.fromkeys(reasons)
    return " ".join(lines)


def has_slowdowns(material: Material) -> bool:
    """True if a flow of any scenario has a slowdown."""
    return any(one.source.has_slowdowns for group in material.groups for one in group.variations)


def has(material: Material, table: str) -> bool:
    """True if a table of any scenario has rows."""
    return any(one.source.count(table) for group in material.groups for one in group.variations)


def schemes_of(material: Material) -> list[str]:
    """The schemes of all scenarios, once each."""
    return list(dict.fromkeys(name for group in material.groups for name in group.variations[0].source.palette))


def footer(packer: Packer, material: Material) -> str:
    """Omitted data, and the version of incast."""
    lines = [
        f"Figures with decimals are rounded to {DIGITS} digits; the Parquet tables have full precision.",
        f"Written by incast {_core.__version__} from {', '.join(group.name for group in material.groups)}. Charts: "
        "Vega-Lite. The page needs no network.",
    ]
    return "\n".join([*(f"<p>{prose(note)}</p>" for note in packer.notes), *(element("p", line) for line in lines)])


def scripts() -> Iterator[str]:
    """The libraries and the page's own scripts."""
    for name in LIBRARIES:
        yield (files("incast.report") / "vendor" / name).read_text(encoding="utf-8")
    values = {"light": json.dumps(look.LIGHT), "dark": json.dumps(look.DARK), "drawn": str(DRAWN)}
    values |= {"unit": UNIT, "ground": look.GROUND, "ink": look.INK}
    for name in SCRIPTS:
        yield filled(asset(name), values)


def asset(name: str) -> str:
    """A file of the page."""
    return (files("incast.report") / "assets" / name).read_text(encoding="utf-8")


def filled(text: str, values: dict[str, str]) -> str:
    """The text with `{{name}}` replaced; what is put in is not looked at again."""
    return re.sub(r"\{\{(\w+)\}\}", lambda found: values[found[1]], text)
