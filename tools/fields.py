"""Tables of the fields of a dataclass, from their types, defaults and the texts below them: for the reference."""

from __future__ import annotations

import ast
import dataclasses
import inspect
import textwrap
import types
import typing
from collections.abc import Collection, Iterator
from typing import Any, Literal, Union

from incast import _markdown
from incast.study.description import Selection
from incast.sweep.file import Value

KINDS: dict[Any, str] = {str: "text", bool: "flag", int: "integer", float: "number"}


def table(cls: type[Any], without: Collection[str] = (), only: Collection[str] | None = None) -> Iterator[str]:
    """The fields of a dataclass that is read from a file, a row each: all but some, or some only."""
    texts = descriptions(cls)
    hints = typing.get_type_hints(cls)
    rows = []
    for field in dataclasses.fields(cls):
        name = field.name.removesuffix("_")
        if field.name in without or (only is not None and field.name not in only):
            continue
        needed = field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING
        takes = kind(hints[field.name]) + (", required" if needed else "")
        text = texts[field.name].replace(" (our choice)", "")
        rows.append((f"`{name}`", takes, text))
    yield from [*_markdown.table(("field", "takes", "meaning"), rows), ""]


def descriptions(cls: type[Any]) -> dict[str, str]:
    """The texts of the fields of a dataclass and its bases."""
    texts: dict[str, str] = {}
    for one in reversed(cls.__mro__[:-1]):
        texts |= texts_of(one)
    return texts


def texts_of(cls: type[Any]) -> dict[str, str]:
    """The text below each field, on one line."""
    (body,) = ast.parse(textwrap.dedent(inspect.getsource(cls))).body
    assert isinstance(body, ast.ClassDef)
    found = {}
    for one, below in zip(body.body, body.body[1:], strict=False):
        if isinstance(one, ast.AnnAssign) and isinstance(one.target, ast.Name) and isinstance(below, ast.Expr):
            assert isinstance(below.value, ast.Constant)
            found[one.target.id] = " ".join(str(below.value.value).split())
    return found


def kind(hint: Any) -> str:
    """The kind of a field's value."""
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if hint == Selection:
        return "values or lists by column"
    if origin in (Union, types.UnionType):
        return " or ".join(kind(each) for each in arguments if each is not type(None))
    if origin is Literal:
        return ", ".join(f'`"{each}"`' for each in arguments)
    if hint == list[Value]:
        return "list of values"
    if hint == dict[str, list[Value]]:
        return "lists by column"
    if hint == dict[str, Any]:
        return "values by path"
    if hint == dict[str, str]:
        return "texts by name"
    if origin is list:
        return f"list of {kind(arguments[0])}" if arguments[0] in KINDS else "tables"
    return KINDS.get(hint, "tables by name" if origin is dict else "table")
