"""Pieces of HTML. Whatever comes from a scenario is escaped."""

from __future__ import annotations

import html
import json
from collections.abc import Collection, Iterable, Sequence

from incast.findings.words import bound

MEDIUM, LONG = 24, 60
"""Characters of cells that get their width even if the table must scroll."""


def escape(text: object) -> str:
    """Text that stands in HTML, also within quotes."""
    return html.escape(str(text), quote=True)


def element(name: str, text: object, kind: str = "") -> str:
    """An element with text in it."""
    given = f' class="{escape(kind)}"' if kind else ""
    return f"<{name}{given}>{escape(text)}</{name}>"


def prose(text: str) -> str:
    """HTML of a text, with what is between backticks as code."""
    return "".join(
        f"<code>{escape(part)}</code>" if place % 2 else escape(bound(part))
        for place, part in enumerate(text.split("`"))
    )


def details(summary: str, inner: str) -> str:
    """Something that opens; `inner` is HTML."""
    return f"<details><summary>{escape(summary)}</summary>{inner}</details>"


def table(
    header: Sequence[str],
    rows: Iterable[Sequence[object]],
    caption: str,
    numbers: Collection[int] = (),
    kind: str = "",
    label: str = "",
) -> str:
    """A table of text that scrolls by itself where it is too wide; columns in `numbers` are set right.

    `label` names it to those who do not see it, where it has no caption.
    """

    def cell(name: str, column: int, text: object, scope: str = "") -> str:
        length = len(str(text))
        width = "long" if length > LONG else "medium" if length > MEDIUM else ""
        kind = "number" if column in numbers else width
        given = f' class="{kind}"' if kind else ""
        return f"<{name}{scope}{given}>{escape(text)}</{name}>"

    lines = []
    for row in rows:
        first = cell("th", 0, row[0], ' scope="row"')
        lines.append(f"<tr>{first}{''.join(cell('td', place, text) for place, text in enumerate(row[1:], 1))}</tr>")
    head = "".join(cell("th", place, text, ' scope="col"') for place, text in enumerate(header))
    head = f"<thead><tr>{head}</tr></thead>" if any(header) else ""
    given = f' class="{escape(kind)}"' if kind else ""
    return (
        f'<div class="scrolls" tabindex="0" role="region" aria-label="{escape(caption or label)}"><table{given}>'
        f"{element('caption', caption) if caption else ''}{head}<tbody>{''.join(lines)}</tbody></table></div>"
    )


def script(data: object) -> str:
    """JSON that can stand in a script element: nothing in it ends the element."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")
