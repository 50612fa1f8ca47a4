"""Rows and fields of CONFIG_DB, which are texts."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from incast.errors import ScenarioError
from incast.sonic.document import JsonFile, Keys

Row = dict[str, Any]
MOST = 2**63 - 1


class ConfigDb:
    """A file of CONFIG_DB."""

    def __init__(self, path: Path) -> None:
        """Read a file; raise `ScenarioError` if it is no CONFIG_DB."""
        self.file = JsonFile(path)
        self.read: set[str] = set()
        """Tables that were asked for."""
        self._by_port: dict[str, dict[str, dict[str, list[int]]]] = {}

    @property
    def tables(self) -> list[str]:
        """Names of all tables."""
        return list(self.file.tree)

    def table(self, name: str) -> dict[str, Row]:
        """Rows of a table by key; empty without the table."""
        self.read.add(name)
        table = self.file.tree.get(name, {})
        if not isinstance(table, dict):
            raise self.wrong((name,), f"{name} is no table", "rows by their keys, in braces")
        for key, row in table.items():
            if not isinstance(row, dict):
                raise self.wrong((name, key), f"{name}|{key} is no row", "fields by their names, in braces")
        return table

    def wrong(self, keys: Keys, message: str, allowed: str | None = None) -> ScenarioError:
        """The error for a value."""
        return self.file.fault(keys, message, allowed)

    def text(self, table: str, key: str, field: str) -> str | None:
        """A field as text; `None` if the row does not have it."""
        value = self.table(table).get(key, {}).get(field)
        if value is None or isinstance(value, str):
            return value
        if isinstance(value, int) and not isinstance(value, bool):
            return str(value)
        raise self.wrong((table, key, field), f"{table}|{key}: {field} is no text", "a text in quotes")

    def number(self, table: str, key: str, field: str, allowed: range | None = None) -> int | None:
        """A field that is a whole number in a range, by default 0 or more."""
        text = self.text(table, key, field)
        if text is None:
            return None
        limits = allowed or range(MOST)
        if not re.fullmatch(r"-?\d{1,19}", text) or int(text) not in limits:
            least = f"{limits.start} to {limits.stop - 1}" if allowed else "0 or more"
            raise self.wrong((table, key, field), f"{table}|{key}: {field} = `{text}`", f"a whole number, {least}")
        return int(text)

    def choice(self, table: str, key: str, field: str, names: tuple[str, ...]) -> str | None:
        """A field that is one of several names."""
        text = self.text(table, key, field)
        if text is not None and text not in names:
            raise self.wrong((table, key, field), f"{table}|{key}: {field} = `{text}`", ", ".join(names))
        return text

    def reference(self, table: str, key: str, field: str, to: str) -> str | None:
        """Key of a row of table `to`; older SONiC wrote `[TABLE|KEY]`."""
        text = self.text(table, key, field)
        if text is None:
            return None
        name = re.sub(r"^\[[A-Z_]+[|:](.*)\]$", r"\1", text)
        if name != "NULL" and name not in self.table(to):
            raise self.wrong((table, key, field), f"{table}|{key}: no row `{name}` in {to}", ", ".join(self.table(to)))
        return name

    def by_port(self, table: str) -> dict[str, dict[str, list[int]]]:
        """Rows with keys such as `Ethernet0|3-4` or `Ethernet0,Ethernet4|3`: numbers by key, by port."""
        if table in self._by_port:
            return self._by_port[table]
        found: dict[str, dict[str, list[int]]] = {}
        for key in self.table(table):
            ports, bar, numbers = key.rpartition("|")
            match = re.fullmatch(r"(\d{1,2})(?:-(\d{1,2}))?", numbers)
            if not bar or match is None or "|" in ports:
                allowed = "a port and a number or a range, such as Ethernet0|3-4; not of a VOQ chassis"
                raise self.wrong((table, key), f"{table}|{key}", allowed)
            span = list(range(int(match[1]), int(match[2] or match[1]) + 1))
            for port in ports.split(","):
                found.setdefault(port, {})[key] = span
        self._by_port[table] = found
        return found
