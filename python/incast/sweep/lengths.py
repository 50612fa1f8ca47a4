"""Limits of texts in sweep files: they stand in every row of a dataset, in charts and in messages."""

from __future__ import annotations

from collections.abc import Iterator

from incast._document import Document, join
from incast._limits import LONGEST_NAME, LONGEST_TEXT, LONGEST_TITLE
from incast.sweep.file import Axis, SweepFile


def check(document: Document, file: SweepFile) -> None:
    """Raise `ScenarioError` for the first text that is too long."""
    for field, text, most in _texts(file):
        check_text(document, field, text, most)


def check_text(document: Document, field: str, text: object, most: int) -> None:
    """Raise `ScenarioError` if the value of a field is a text of more characters."""
    if isinstance(text, str) and len(text) > most:
        raise document.wrong(field, f"`{text}` is too long", allowed=f"at most {most:,} characters")


def _texts(file: SweepFile) -> Iterator[tuple[str, object, int]]:
    """Field, value and most characters."""
    yield "title", file.title, LONGEST_TITLE
    for index, axis in enumerate(file.vary):
        yield from _of_axis(axis, f"vary[{index}]")
    for name, scale in file.scale.items():
        for column, values in scale.values.items():
            where = join(join(join("scale", name), "values"), column)
            yield from ((f"{where}[{number}]", value, LONGEST_TEXT) for number, value in enumerate(values))


def _of_axis(axis: Axis, at: str) -> Iterator[tuple[str, object, int]]:
    yield f"{at}.name", axis.name, LONGEST_NAME
    yield f"{at}.path", axis.path, LONGEST_TEXT
    yield from ((f"{at}.values[{number}]", value, LONGEST_TEXT) for number, value in enumerate(axis.values or []))
    yield from (
        (f"{at}.points[{number}].name", point.name, LONGEST_NAME) for number, point in enumerate(axis.points or [])
    )
