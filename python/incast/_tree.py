"""Base of the generated classes of a scenario: conversion to and from the tree of a scenario file."""

from __future__ import annotations

import dataclasses
import types
import typing
from collections.abc import Mapping
from typing import Any, ClassVar, Literal, Self, Union

from incast._nearest import check_keywords


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
        """The table as in a file: names and values, without the fields that are `None`."""
        tree: dict[str, Any] = {}
        for field in _fields(type(self)):
            value = getattr(self, field.name)
            if value is not None:
                tree[self._names.get(field.name, field.name)] = _plain(value)
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


def _plain(value: Any) -> Any:
    """A value as it stands in a tree."""
    if isinstance(value, Tree):
        tree = value.to_tree()
        return {value._tag: tree} if value._tag else tree
    if isinstance(value, Mapping):
        return {name: _plain(item) for name, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    return value


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
    """Whether a table is of this choice of a union: its names are known, nothing needed is missing, its kind agrees."""
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
