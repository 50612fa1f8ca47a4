"""Base of the generated classes of a scenario: conversion to and from the tree of a scenario file."""

from __future__ import annotations

import dataclasses
import math
import types
import typing
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from os import PathLike, fspath
from typing import Any, ClassVar, Literal, Self, Union

from incast._echo import word
from incast._limits import DEEPEST, LARGEST
from incast._nearest import check_keywords
from incast.errors import Diagnostic, ScenarioError

LONGEST_NUMBER = 200
"""Bits of the longest whole number that a message shows."""
DEEPEST_SHOWN = 12
"""Fields and items of a path that a message shows."""


@dataclasses.dataclass(kw_only=True, repr=False, slots=True)
class Tree:
    """A table of a scenario file. A field that is `None` is not written and takes its default."""

    _names: ClassVar[Mapping[str, str]] = {}
    """Names in the file that are not valid Python names."""
    _tag: ClassVar[str | None] = None
    """Name of the table inside an outer table: `{ tag = { ... } }`."""

    def __new__(cls, *_: Any, **given: Any) -> Self:
        """Name the new field where one of an earlier version is given."""
        check_keywords(cls.__name__, given, (field.name for field in dataclasses.fields(cls)))
        return object.__new__(cls)

    def __repr__(self) -> str:
        given = ((field.name, getattr(self, field.name)) for field in _fields(type(self)))
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in given if value is not None)})"

    def to_tree(self) -> dict[str, Any]:
        """The table as in a file: names and values, without the fields that are `None`.

        Raises:
            ScenarioError: No scenario file can hold a value.

        """
        try:
            return self._to_tree(0)
        except _WrongValueError as error:
            path = _path(error.path)
            text = str(error)
            raise ScenarioError(f"{path}: {text}", (Diagnostic(text, field=path),)) from None

    def _to_tree(self, depth: int) -> dict[str, Any]:
        tree: dict[str, Any] = {}
        for field in _fields(type(self)):
            value = getattr(self, field.name)
            if value is not None:
                name = self._names.get(field.name, field.name)
                with _inside(name):
                    tree[name] = _plain(value, depth + 1)
        return tree

    @classmethod
    def from_tree(cls, tree: Mapping[str, Any]) -> Self:
        """The class from a table of a file. Only names are checked."""
        names = {cls._names.get(field.name, field.name): field.name for field in _fields(cls)}
        unknown = [name for name in tree if name not in names]
        check_keywords(cls.__name__, unknown, names)
        if unknown:
            raise TypeError(f"{cls.__name__} has no field {unknown[0]!r}, only {', '.join(names)}")
        hints = _hints(cls)
        return cls(**{names[name]: _typed(value, hints[names[name]]) for name, value in tree.items()})


def _fields(cls: type[Tree]) -> list[dataclasses.Field[Any]]:
    """The fields that are part of a scenario file; others of a subclass are not given to `__init__`."""
    return [field for field in dataclasses.fields(cls) if field.init]


def _plain(value: Any, depth: int) -> Any:
    """A value as it stands in a tree, inside as many others as `depth` says."""
    if depth > DEEPEST:
        raise _WrongValueError(
            f"expected at most {DEEPEST} tables and lists within each other; does it contain itself?"
        )
    if isinstance(value, Tree):
        if not value._tag:
            return value._to_tree(depth)
        with _inside(value._tag):
            return {value._tag: value._to_tree(depth)}
    if value is None or isinstance(value, (bool, int, float, str)):
        _check(value)
        return value
    if isinstance(value, PathLike):
        return fspath(value)
    if isinstance(value, Mapping):
        tree = {}
        for name, item in value.items():
            _check(name)
            with _inside(str(name)):
                tree[name] = _plain(item, depth + 1)
        return tree
    # Numbers and arrays of numpy, without needing it.
    if callable(convert := getattr(value, "tolist", None)):
        return _plain(convert(), depth + 1)
    if isinstance(value, Sequence) and not isinstance(value, (bytes, bytearray, memoryview)):
        items = []
        for number, item in enumerate(value):
            with _inside(number):
                items.append(_plain(item, depth + 1))
        return items
    raise _WrongValueError(f"expected a number, a text, a sequence or a table, got {type(value).__name__}")


def _check(value: object) -> None:
    """Raise for a number or a text that no file can hold."""
    if isinstance(value, float) and not math.isfinite(value):
        raise _WrongValueError(f"expected a finite number, got {value}")
    if isinstance(value, int) and not -LARGEST - 1 <= value <= LARGEST:
        got = value if value.bit_length() <= LONGEST_NUMBER else f"a number of {value.bit_length()} bits"
        raise _WrongValueError(f"expected a whole number from {-LARGEST - 1} to {LARGEST}, got {got}")
    if isinstance(value, str) and not value.isascii():
        try:
            value.encode()
        except UnicodeEncodeError:
            raise _WrongValueError(f"expected text that UTF-8 can hold, got {word(ascii(value))}") from None


def _path(places: Sequence[str | int]) -> str:
    """Places as in messages: `workload[0].incast.size`."""
    shown, more = places[:DEEPEST_SHOWN], "..." if len(places) > DEEPEST_SHOWN else ""
    text = "".join(f"[{place}]" if isinstance(place, int) else f".{place}" for place in shown)
    return text.removeprefix(".") + more


class _WrongValueError(Exception):
    """A value that no scenario file can hold; the path to it grows on the way out."""

    path: tuple[str | int, ...] = ()


@contextmanager
def _inside(place: str | int) -> Iterator[None]:
    """Put a field or the number of an item before the path of an error."""
    try:
        yield
    except _WrongValueError as error:
        error.path = (place, *error.path)
        raise


_HINTS: dict[type, dict[str, Any]] = {}


def _hints(cls: type[Tree]) -> dict[str, Any]:
    if cls not in _HINTS:
        _HINTS[cls] = typing.get_type_hints(cls)
    return _HINTS[cls]


def _typed(value: Any, hint: Any) -> Any:
    """A value of a tree as the hint says; as it is where the hint says nothing of tables."""
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin in (Union, types.UnionType):
        if isinstance(value, Mapping):
            for choice in arguments:
                if _fits(value, choice):
                    return _typed(value, choice)
        elif isinstance(value, list):
            choice = next((each for each in arguments if typing.get_origin(each) is list), Any)
            return _typed(value, choice)
        return value
    if isinstance(value, list) and origin is list:
        return [_typed(item, arguments[0]) for item in value]
    if isinstance(value, Mapping):
        if origin is dict:
            return {name: _typed(item, arguments[1]) for name, item in value.items()}
        if isinstance(hint, type) and issubclass(hint, Tree):
            return hint.from_tree(value[hint._tag] if hint._tag else value)
    return value


def _fits(tree: Mapping[str, Any], choice: Any) -> bool:
    """True if a table is of this choice of a union: its names are known, nothing needed is missing, its kind agrees."""
    if typing.get_origin(choice) is dict:
        return True
    if not (isinstance(choice, type) and issubclass(choice, Tree)):
        return False
    if choice._tag:
        return list(tree) == [choice._tag]
    fields = {choice._names.get(field.name, field.name): field for field in _fields(choice)}
    hints = _hints(choice)
    for name, field in fields.items():
        hint = hints[field.name]
        if typing.get_origin(hint) is Literal and field.default is not dataclasses.MISSING:
            if tree.get(name) != field.default:
                return False
        elif field.default is dataclasses.MISSING and name not in tree:
            return False
    return all(name in fields for name in tree)
