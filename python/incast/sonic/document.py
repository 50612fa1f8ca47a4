"""JSON text with the places of its values, for CONFIG_DB."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from incast._input import DEEPEST, read_text
from incast._located import located
from incast.errors import ScenarioError

Keys = tuple[str | int, ...]
TOKEN = re.compile(
    r'[ \t\r\n]*("(?:[^"\\\x00-\x1f]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null|[\[\]{}:,])'
)


@dataclass(frozen=True)
class Place:
    """Characters of a value, from 0."""

    start: int
    end: int


class JsonFile:
    """A JSON file with a table at its root."""

    def __init__(self, path: Path) -> None:
        """Read a file; raise `ScenarioError` with the place if it is no JSON."""
        self.path = path
        try:
            self.text = read_text(path, ScenarioError)
        except OSError as error:
            raise ScenarioError(f"cannot read {path}: {error.strerror or error}") from None
        self._places: dict[Keys, Place] = {}
        self._tokens = self._lexed()
        self._next = next(self._tokens)
        root = self._value((), 0)
        if not isinstance(root, dict):
            self._wrong(Place(0, 1), "not a table", "a JSON object, as in /etc/sonic/config_db.json")
        if self._next[0]:
            self._wrong(self._next[1], f"`{self._next[0]}` after the end of the object", "nothing")
        self.tree: dict[str, Any] = root
        """The values."""

    def fault(self, keys: Keys, message: str, allowed: str | None = None) -> ScenarioError:
        """The error for the value at a path of keys, or for the closest table around it."""
        while keys not in self._places:
            keys = keys[:-1]
        return self._error(self._places[keys], message, allowed)

    def _lexed(self) -> Iterator[tuple[str, Place]]:
        at = 0
        while match := TOKEN.match(self.text, at):
            at = match.end()
            yield match[1], Place(match.start(1), at)
        rest = self.text[at:].lstrip(" \t\r\n")
        start = len(self.text) - len(rest)
        if rest:
            self._wrong(Place(start, start + 1), f"not JSON: `{rest[0]}`", "a value, a comma or a bracket")
        while True:
            yield "", Place(max(len(self.text.rstrip()) - 1, 0), len(self.text.rstrip()))

    def _take(self, expected: str = "") -> tuple[str, Place]:
        token, place = self._next
        if (expected and token not in expected.split()) or not token:
            shown = f"`{token}`" if token else "the end of the file"
            self._wrong(place, f"not JSON: {shown}", expected.replace(" ", " or ") or "a value")
        self._next = next(self._tokens)
        return token, place

    def _value(self, keys: Keys, depth: int) -> Any:
        token, place = self._take()
        if depth > DEEPEST:
            self._wrong(place, "nested too deeply", f"at most {DEEPEST} tables and lists in each other")
        if token == "{":
            return self._table(keys, place, depth)
        if token == "[":
            return self._list(keys, place, depth)
        if token in "]}:,":
            self._wrong(place, f"not JSON: `{token}`", "a value")
        self._places[keys] = place
        return self._plain(token, place)

    def _plain(self, token: str, place: Place) -> Any:
        try:
            return json.loads(token)
        except ValueError as error:
            self._wrong(place, f"not JSON: {error}", "a text, a number, true, false or null")

    def _table(self, keys: Keys, start: Place, depth: int) -> dict[str, Any]:
        table: dict[str, Any] = {}
        self._places[keys] = start
        while self._next[0] != "}":
            token, place = self._take()
            name = self._plain(token, place) if token.startswith('"') else None
            if name is None or name in table:
                self._wrong(
                    place, f"the name {token} twice" if name else f"not JSON: `{token}`", "each name once, in quotes"
                )
            self._take(":")
            table[name] = self._value((*keys, name), depth + 1)
            if isinstance(table[name], dict | list):
                self._places[*keys, name] = place
            if self._next[0] != "}":
                self._take(", }")
                if self._next[0] == "}":
                    self._wrong(self._next[1], "not JSON: a comma before `}`", "a name")
        self._take("}")
        return table

    def _list(self, keys: Keys, start: Place, depth: int) -> list[Any]:
        items: list[Any] = []
        self._places[keys] = start
        while self._next[0] != "]":
            items.append(self._value((*keys, len(items)), depth + 1))
            if self._next[0] != "]":
                self._take(", ]")
                if self._next[0] == "]":
                    self._wrong(self._next[1], "not JSON: a comma before `]`", "a value")
        self._take("]")
        return items

    def _wrong(self, place: Place, message: str, allowed: str) -> NoReturn:
        raise self._error(place, message, allowed)

    def _error(self, place: Place, message: str, allowed: str | None) -> ScenarioError:
        before = self.text[: place.start]
        line, begin = before.count("\n") + 1, before.rfind("\n") + 1
        text = self.text[begin:].split("\n", 1)[0].rstrip("\r")
        column = place.start - begin + 1
        shown, diagnostic = located(str(self.path), line, column, text, place.end - place.start, message, allowed)
        return ScenarioError(shown, (diagnostic,))
