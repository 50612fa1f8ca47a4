"""Tables in Markdown, and pages of it with texts of others."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from typing import TYPE_CHECKING

from incast._echo import lines

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

SCHEME = re.compile(r"\s*([a-z][a-z0-9+.-]*):", re.IGNORECASE)
ADDRESSES = ("http", "https", "mailto")
"""Schemes of the links that a page keeps."""


def table(heads: Sequence[str], rows: Iterable[Iterable[object]], right: Sequence[bool] = ()) -> Iterator[str]:
    """The lines of a table; `right` has true for columns of numbers."""
    yield row(*heads)
    yield "|" + "".join("---:|" if each else "---|" for each in right or [False] * len(heads))
    yield from (row(*cells) for cells in rows)


def row(*cells: object) -> str:
    """A row of a table: each cell on one line, without bars of its own."""
    return "| " + " | ".join(" ".join(str(cell).split()).replace("|", "\\|") for cell in cells) + " |"


def inert(page: str) -> str:
    """A page without HTML, images from the network and links that run scripts, which texts of others may contain.

    HTML is shown as text, as on the HTML page. Control characters are written as in TOML.
    """
    page = lines(page)
    # Markdown can find further links in HTML that was escaped.
    while (escaped := _escaped(page)) != page:
        page = escaped
    return page


def _escaped(page: str) -> str:
    """The page with the first characters of forbidden parts escaped, everywhere if there is one."""
    tokens = [token for block in _parser().parse(page) for token in (block, *(block.children or ()))]
    if any(_is_html(token) or _runs(token, "autolink") for token in tokens):
        page = re.sub(r"<(?=[A-Za-z/!?])(?!https?://|mailto:|br>)", "&lt;", page)
    if any(token.type == "image" and _address(token, "src") for token in tokens):
        page = page.replace("![", "&#33;[")
    if any(_runs(token, "") for token in tokens):
        page = page.replace("[", "&#91;")
    return page


def _is_html(token: Token) -> bool:
    """True for HTML other than `<br>`, which the cells of incast's own tables contain."""
    return token.type == "html_block" or (token.type == "html_inline" and token.content != "<br>")


def _runs(token: Token, markup: str) -> bool:
    """True for a link, written in this way, to something else than a page or a file."""
    return token.type == "link_open" and token.markup == markup and _address(token, "href") not in (None, *ADDRESSES)


def _address(token: Token, name: str) -> str | None:
    """The scheme of an address; `//` without one; `None` if it is relative."""
    address = str(token.attrs.get(name, ""))
    if found := SCHEME.match(address):
        return found[1].lower()
    return "//" if address.replace("\\", "/").startswith("//") else None


@cache
def _parser() -> MarkdownIt:
    """A parser that finds all links, also those that it would leave out of a page of HTML."""
    from markdown_it import MarkdownIt

    def every_link(url: str) -> bool:  # noqa: ARG001 - the name of the parser
        return True

    parser = MarkdownIt("commonmark").enable("table")
    parser.validateLink = every_link  # type: ignore[method-assign]
    return parser
