"""`[switch]` and `[ecn]` as TOML, with the source of each value."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any


@dataclass
class Section:
    """A table of a scenario."""

    name: str
    lines: list[str] = field(default_factory=list)

    def add(self, key: str, value: Any, source: str) -> None:
        """Add a field; `source` is a comment above it."""
        self.lines += [f"# {source}", f"{key} = {toml(value)}"]

    def add_rows(self, key: str, rows: list[dict[str, Any]], source: str) -> None:
        """Add a list of tables, one in each line."""
        self.lines += [f"# {source}", f"{key} = [", *(f"  {toml(row)}," for row in rows), "]"]

    @property
    def text(self) -> str:
        """The section, or nothing without a field."""
        return "\n".join([f"[{self.name}]", *self.lines]) + "\n" if self.lines else ""


def toml(value: Any) -> str:
    """A value in one line of TOML."""
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{key} = {toml(inner)}" for key, inner in value.items()) + " }"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(toml, value)) + "]"
    return json.dumps(value)


def size(count: int) -> str:
    """Bytes as a scenario has them, exactly."""
    return f"{count}B"


def rate(speed: int) -> str:
    """A rate from Mb/s."""
    return f"{speed // 1000}Gbps" if speed % 1000 == 0 else f"{speed}Mbps"
