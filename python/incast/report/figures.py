"""The figures of a study: heading, verdicts of their claims, charts and tables."""

from __future__ import annotations

from dataclasses import replace
from urllib.parse import quote

from incast.charts.chart import Chart
from incast.charts.groups import Study, Variation
from incast.charts.pauses import pauses
from incast.charts.study import of_study
from incast.report.claims import chip
from incast.report.html import element, escape, table
from incast.study.drawing_figures import DrawnFigure
from incast.study.tabulating import DrawnTable


def section(study: Study, first: int) -> str:
    """All figures of a study; `first` is the number of its first figure on the page."""
    return "\n".join(article(study, figure, place) for place, figure in enumerate(study.figures, first))


def article(study: Study, figure: DrawnFigure, place: int) -> str:
    """One figure; its charts are drawn in the place with its number."""
    name = escape(figure.id)
    about = {claim["id"]: claim for claim in study.claims}
    chips = "".join(
        f'<li><a href="#claim-{escape(claim)}">{chip(about[claim])}</a></li>'
        for claim in figure.claims
        if claim in about
    )
    verdicts = f'<ol class="verdicts" aria-label="Claims of figure {name}">{chips}</ol>' if chips else ""
    drawn = f'<div class="charts" data-figure="{place}"></div>' if figure.charts or figure.pauses else ""
    return "\n".join(
        [
            f'<article class="figure" id="figure-of-{name}" aria-labelledby="figure-of-{name}-title">',
            f'<h3 id="figure-of-{name}-title"><span class="id">{name}</span> {escape(figure.title)}</h3>',
            element("p", figure.source, "source"),
            element("p", figure.about, "about"),
            verdicts,
            *(tabulated(figure, each) for each in figure.tables),
            drawn,
            "</article>",
        ]
    )


def charts_of(study: Study, figure: DrawnFigure) -> list[Chart]:
    """The charts of a figure, those of pauses first."""
    found = [pauses_of(figure.title, study.first[each.sweep]) for each in figure.pauses if each.sweep in study.first]
    return [*found, *(of_study(f"{figure.id}-{place}", chart) for place, chart in enumerate(figure.charts, 1))]


def pauses_of(title: str, variation: Variation) -> Chart:
    """Chart of PFC pauses in a scenario, with the figure's heading."""
    chart = pauses(variation.source)
    variation.source.close()
    return replace(chart, title=title, about=f"{chart.about} One panel per scheme; seed {variation.source.seed}.")


def tabulated(figure: DrawnFigure, one: DrawnTable) -> str:
    """A table of a figure, without a title or text that equals that of the figure."""
    numbers = [place for place, right in enumerate(one.numeric) if right]
    heading = "" if one.title == figure.title else element("h4", one.title)
    save = (
        f'<div class="saves"><a class="save" download="{escape(one.name)}.csv" '
        f'href="data:text/csv;charset=utf-8,{quote(one.csv())}" '
        f'aria-label="Save {escape(one.title)} as CSV">CSV</a></div>'
    )
    parts = [
        f'<figure class="table" id="table-{escape(one.name)}">',
        f'<div class="head">{heading}{save}</div>',
        "" if one.about == figure.about else element("p", one.about, "about"),
        table(one.headings, one.texts(), "", numbers, label=one.title)
        if one.rows
        else element("p", "None of its runs is finished.", "empty"),
        *(element("p", note, "left-out") for note in one.notes),
    ]
    return "".join([*parts, "</figure>"])
