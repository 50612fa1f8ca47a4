"""Tables of the fields of a dataclass, from their types, defaults and the texts below them: for the reference."""

from __future__ import annotations

import ast
import dataclasses
import inspect
import textwrap
import types
import typing
from collections.abc import Iterator
from typing import Any, Literal, Union

from incast.study.description import Selection
from incast.sweep.file import Value

KINDS: dict[Any, str] = {str: "text", bool: "true or false", int: "whole number", float: "number"}


def table(cls: type[Any]) -> Iterator[str]:
    """The fields of a dataclass that is read from a file, a row each."""
    texts: dict[str, str] = {}
    for one in reversed(cls.__mro__[:-1]):
        texts |= told(one)
    hints = typing.get_type_hints(cls)
    yield from ["| field | takes | | meaning |", "|---|---|---|---|"]
    for field in dataclasses.fields(cls):
        given = field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING
        name, need = field.name.removesuffix("_"), "required" if given else ""
        yield f"| `{name}` | {kind(hints[field.name])} | {need} | {texts[field.name]} |"
    yield ""


def told(cls: type[Any]) -> dict[str, str]:
    """What stands below each field, on one line."""
    (body,) = ast.parse(textwrap.dedent(inspect.getsource(cls))).body
    assert isinstance(body, ast.ClassDef)
    found = {}
    for one, below in zip(body.body, body.body[1:], strict=False):
        if isinstance(one, ast.AnnAssign) and isinstance(one.target, ast.Name) and isinstance(below, ast.Expr):
            assert isinstance(below.value, ast.Constant)
            found[one.target.id] = " ".join(str(below.value.value).split()).replace("|", "\\|")
    return found


def kind(hint: Any) -> str:
    """What a field takes, for people."""
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if hint == Selection:
        return "table of values, or of lists of values, by column"
    if origin in (Union, types.UnionType):
        return " or ".join(kind(each) for each in arguments if each is not type(None))
    if origin is Literal:
        return ", ".join(f'`"{each}"`' for each in arguments)
    if hint == list[Value]:
        return "list of values"
    if hint == dict[str, list[Value]]:
        return "lists of values, by column"
    if hint == dict[str, Any]:
        return "values by path"
    if origin is list:
        return f"list of {kind(arguments[0])}" if arguments[0] in KINDS else "list of tables"
    return KINDS.get(hint, "tables by name" if origin is dict else "table")
