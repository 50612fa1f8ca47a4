"""Page of a map: shares of the space, deciding parameters, and points at which published statements hold together."""

from __future__ import annotations

from incast import _core
from incast._whole import write_text
from incast.charts.space import of_claim
from incast.report.claims import badge
from incast.report.data import DIGITS, Json, Packer
from incast.report.html import element, table
from incast.report.page import whole
from incast.study import map_writing
from incast.study.mapped import PAGE, StudyMap


def write(found: StudyMap) -> None:
    """Write the page of a map into its folder."""
    write_text(found.path / PAGE, page(found))


def page(found: StudyMap) -> str:
    """The whole page."""
    title = f"{found.manifest['title']}: map of open parameters"
    drawn = [claim for claim in found.claims if claim.influences]
    packer = Packer(0)
    charts = [packer.chart(of_claim(found, claim)) for claim in drawn]
    figures = [{"id": claim.id, "charts": [chart]} for claim, chart in zip(drawn, charts, strict=True)]
    sections = {
        "together": ("Together", "Published statements together", _together(found)),
        "claims": ("Claims", "Share of the space in which each claim holds", _claims(found)),
        "parameters": ("Parameters", "Open parameters", _parameters(found)),
    }
    if charts:
        sections["figures"] = ("Charts", "Points by verdict", "".join(map(_figure, range(len(charts)), charts)))
    data = {"title": title, "groups": [], "figures": figures, "specs": packer.specs}
    lines = [
        f"Figures with decimals are rounded to {DIGITS} digits; map.json has full precision.",
        f"Written by incast {_core.__version__}. Charts: Vega-Lite. The page needs no network.",
    ]
    return whole(title, sections, data, "\n".join(element("p", line) for line in lines))


def _figure(place: int, chart: Json) -> str:
    """Heading of a claim's chart, which is drawn in the place with its number."""
    heading = element("h3", chart["title"])
    return f'<article class="figure">{heading}<div class="charts" data-figure="{place}"></div></article>'


def _together(found: StudyMap) -> str:
    return "".join(element("p", text) for text in map_writing.findings(found))


def _claims(found: StudyMap) -> str:
    rows = [(*map_writing.cells(claim), claim.statement) for claim in found.claims]
    size = f" Runs at each point: {size}." if (size := map_writing.scale(found)) else ""
    lead = element("p", f"{map_writing.head(found)}.{size}", "lead")
    judged = "".join(f"<li>{badge(claim.verdicts[0], f'{claim.id} ')}</li>" for claim in found.claims)
    overview = f'<ol class="verdicts" aria-label="Verdicts at the judged setting">{judged}</ol>'
    numbers = [number for number, numeric in enumerate(map_writing.NUMERIC) if numeric]
    shares = table((*map_writing.HEADINGS, "statement"), rows, "Claims by share of the space", numbers)
    return lead + overview + shares + element("p", map_writing.ABOUT, "note")


def _parameters(found: StudyMap) -> str:
    rows = [(*row, axis.why) for row, axis in zip(map_writing.parameters(found), found.axes, strict=True)]
    return table((*map_writing.PARAMETERS, "reason of the range"), rows, "Open parameters of the publication")
