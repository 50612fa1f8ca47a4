"""Tables in Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence


def table(heads: Sequence[str], rows: Iterable[Iterable[object]], right: Sequence[bool] = ()) -> Iterator[str]:
    """The lines of a table; `right` has true for columns of numbers."""
    yield row(*heads)
    yield "|" + "".join("---:|" if each else "---|" for each in right or [False] * len(heads))
    yield from (row(*cells) for cells in rows)


def row(*cells: object) -> str:
    """A row of a table: each cell on one line, without bars of its own."""
    return "| " + " | ".join(" ".join(str(cell).split()).replace("|", "\\|") for cell in cells) + " |"
