"""The tables of a study."""

from __future__ import annotations

from urllib.parse import quote

from incast.report.html import element, escape, table
from incast.study.tabulating import DrawnTable


def section(tables: list[DrawnTable]) -> str:
    """All tables of studies, each with a link that saves it."""
    return "\n".join(figure(each) for each in tables)


def figure(one: DrawnTable) -> str:
    """A table with its heading, description and notes."""
    numbers = [place for place, right in enumerate(one.numeric) if right]
    save = (
        f'<div class="saves"><a class="save" download="{escape(one.name)}.csv" '
        f'href="data:text/csv;charset=utf-8,{quote(one.csv())}" '
        f'aria-label="Save {escape(one.title)} as CSV">CSV</a></div>'
    )
    parts = [
        f'<figure class="table" id="table-{escape(one.name)}">',
        f'<div class="head"><h3>{escape(one.title)}</h3>{save}</div>',
        element("p", one.about, "about"),
        table(one.headings, one.texts(), "", numbers, label=one.title)
        if one.rows
        else element("p", "None of its runs is finished.", "empty"),
        *(element("p", note, "left-out") for note in one.notes),
    ]
    return "".join([*parts, "</figure>"])
