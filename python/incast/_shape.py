"""Types of values that were read from a file, by the annotations of their dataclass."""

from __future__ import annotations

import dataclasses
import types
import typing
from collections.abc import Iterable
from functools import cache
from typing import Any, Literal, Union


def check(value: Any, hint: Any, place: str) -> None:
    """Raise `TypeError`, with the place, if a value is not of the type that a hint says.

    Hints are dataclasses, plain types, unions, literals, tuples, lists and tables of these, and `Any`.
    """
    origin, inner = typing.get_origin(hint), typing.get_args(hint)
    if origin in (Union, types.UnionType):
        return _check_union(value, inner, place)
    if origin is Literal:
        return _unless(value in inner, place, value, f"one of {', '.join(map(repr, inner))}")
    if origin in (tuple, list):
        _unless(isinstance(value, (tuple, list)), place, value, "a list")
        return _check_all(((each, inner[0], f"{place}[{number}]") for number, each in enumerate(value)))
    if origin is dict:
        _unless(isinstance(value, dict), place, value, "a table")
        return _check_all(((each, inner[1], f"{place}.{name}") for name, each in value.items()))
    if isinstance(hint, type) and dataclasses.is_dataclass(hint):
        _unless(isinstance(value, hint), place, value, "a table")
        hints = _hints(hint)
        names = [each.name for each in dataclasses.fields(hint)]
        return _check_all((getattr(value, name), hints[name], f"{place}.{name}") for name in names)
    return _check_plain(value, hint, place)


def _check_union(value: Any, choices: tuple[Any, ...], place: str) -> None:
    errors = []
    for choice in choices:
        try:
            return check(value, choice, place)
        except TypeError as error:
            errors.append(error)
    raise errors[0]


def _check_all(parts: Iterable[tuple[Any, Any, str]]) -> None:
    for value, hint, place in parts:
        check(value, hint, place)


def _check_plain(value: Any, hint: Any, place: str) -> None:
    if hint is Any and dataclasses.is_dataclass(value):
        return check(value, type(value), place)
    if hint is Any:
        # Cells and points: what a table of results can hold.
        return _unless(value is None or isinstance(value, (str, int, float)), place, value, "a text or a number")
    if hint in (None, types.NoneType):
        return _unless(value is None, place, value, "null")
    whole = isinstance(value, int) and not isinstance(value, bool)
    fits = {float: whole or isinstance(value, float), int: whole}.get(hint, isinstance(value, hint))
    return _unless(
        fits, place, value, {str: "a text", float: "a number", int: "a whole number"}.get(hint, hint.__name__)
    )


def _unless(holds: bool, place: str, value: Any, expected: str) -> None:
    if not holds:
        raise TypeError(f"{place} must be {expected}, not {str(value)[:40]}")


@cache
def _hints(kind: Any) -> dict[str, Any]:
    return typing.get_type_hints(kind)
