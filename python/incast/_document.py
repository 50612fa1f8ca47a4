"""TOML files other than scenarios: read strictly into dataclasses, with errors that show the line."""

from __future__ import annotations

import dataclasses
import json
import types
import typing
from os import PathLike, fspath
from pathlib import Path
from typing import Any, Literal, TypeVar, Union

from incast import _core
from incast.errors import IncastError, translated

T = TypeVar("T")

KINDS: dict[Any, str] = {str: "text", bool: "true or false", int: "a whole number", float: "a number"}
"""Names of types in messages."""


class Document:
    """A TOML file with the places of its values."""

    def __init__(self, path: str | PathLike[str]) -> None:
        """Read a file; raise `ScenarioError` if it cannot be read or is not TOML."""
        with translated():
            self._core = _core.Document.read(fspath(path))
        self.path = Path(path)
        """The file."""
        self.tree: dict[str, Any] = json.loads(self._core.tree())
        """Its values."""

    def wrong(
        self,
        field: str,
        message: str,
        *,
        allowed: str | None = None,
        wrong: str | None = None,
        names: typing.Iterable[str] = (),
    ) -> IncastError:
        """The error to raise for a value.

        Args:
            field: Path of the value, such as `vary[0].values`.
            message: The error, with the bad value.
            allowed: The allowed values.
            wrong: The wrong name, if any; the message then suggests the closest of `names`.
            names: Valid names.

        """
        try:
            with translated():
                raise self._core.fault(field, message, allowed, wrong, list(names))
        except IncastError as error:
            return error

    def unknown(self, field: str, what: str, wrong: str, names: typing.Iterable[str]) -> IncastError:
        """The error for a name that is not in `names`; `what` is its kind, such as `metric` or `sweep`."""
        return self.wrong(field, f"unknown {what} `{wrong}`", wrong=wrong, names=names)

    def typed(self, cls: type[T]) -> T:
        """The whole file as a dataclass; raise `ScenarioError` for an unknown name or a value of the wrong type."""
        return _Reader(self).table(self.tree, cls, "")

    def value(self, value: Any, hint: Any, field: str) -> Any:
        """A value of the file as a type; raise `ScenarioError` for another type. `field` is its path."""
        return _Reader(self).value(value, hint, field)


def join(path: str, name: str) -> str:
    """The path of a field of the table at `path`."""
    quoted = name if name.replace("_", "").replace("-", "").isalnum() else json.dumps(name)
    return f"{path}.{quoted}" if path else quoted


class _Reader:
    def __init__(self, document: Document) -> None:
        self.document = document

    def table(self, tree: Any, cls: type[T], path: str) -> T:
        if not isinstance(tree, dict):
            raise self.document.wrong(path, f"{_shown(tree)} where a table is expected")
        fields = {_written(field): field for field in dataclasses.fields(cls)}  # type: ignore[arg-type]
        for name in tree:
            if name not in fields:
                raise self.document.wrong(path, f"unknown field `{name}`", wrong=name, names=fields)
        hints = typing.get_type_hints(cls)
        values: dict[str, Any] = {}
        for name, field in fields.items():
            if name in tree:
                values[field.name] = self.value(tree[name], hints[field.name], join(path, name))
            elif field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING:
                raise self.document.wrong(path, f"missing field `{name}`")
        return cls(**values)

    def value(self, value: Any, hint: Any, path: str) -> Any:
        origin, arguments = typing.get_origin(hint), typing.get_args(hint)
        if hint is Any:
            return value
        if origin in (Union, types.UnionType):
            return self.choice(value, [each for each in arguments if each is not type(None)], path)
        if origin is Literal:
            if value not in arguments:
                raise self.document.unknown(path, "name", str(value), map(str, arguments))
            return value
        if origin is list:
            if not isinstance(value, list):
                raise self.document.wrong(path, f"{_shown(value)} where a list is expected")
            return [self.value(item, arguments[0], f"{path}[{index}]") for index, item in enumerate(value)]
        if origin is dict:
            if not isinstance(value, dict):
                raise self.document.wrong(path, f"{_shown(value)} where a table is expected")
            return {name: self.value(item, arguments[1], join(path, name)) for name, item in value.items()}
        if dataclasses.is_dataclass(hint):
            return self.table(value, typing.cast("type[Any]", hint), path)
        if not _is(value, hint):
            raise self.document.wrong(path, f"{_shown(value)} where {KINDS[hint]} is expected")
        return float(value) if hint is float else value

    def choice(self, value: Any, choices: list[Any], path: str) -> Any:
        """A value of the first choice that it can be; errors are those of the last."""
        for choice in choices[:-1]:
            if (typing.get_origin(choice) or choice) is type(value) or _is(value, choice):
                return self.value(value, choice, path)
        return self.value(value, choices[-1], path)


def _written(field: dataclasses.Field[Any]) -> str:
    """A field's name in the file: without the underscore that avoids a keyword of Python."""
    return field.name.removesuffix("_")


def _is(value: Any, hint: Any) -> bool:
    if hint is float:
        return isinstance(value, (int, float)) and not isinstance(value, bool)
    return type(value) is hint


def _shown(value: Any) -> str:
    if isinstance(value, dict):
        return "a table"
    if isinstance(value, list):
        return "a list"
    return f"`{value}`" if not isinstance(value, bool) else f"`{str(value).lower()}`"
