"""Tables, columns, counters and reasons to stop, as the simulator declares them."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from functools import cache
from typing import Any

from incast import _core


@dataclass(frozen=True)
class Column:
    """A column of a table."""

    name: str
    """Its name."""
    kind: str
    """Type of its values: `name`, `flag`, `u8`, `u16`, `u32`, `i64` or `f64`."""
    nullable: bool
    """True if values can be missing."""
    unit: str
    """Its unit; empty for names and plain numbers."""
    description: str
    """Meaning of a value."""


@dataclass(frozen=True)
class Table:
    """A table of results folders."""

    name: str
    """Its name."""
    description: str
    """Meaning of a row."""
    condition: str | None
    """Runs that have it, such as `with tenants`; `None` for all."""
    columns: dict[str, Column]
    """Its columns by name, in order."""


@dataclass(frozen=True)
class Counter:
    """A counter of a scheme's run."""

    name: str
    """Its name in the manifest."""
    unit: str
    """Its unit; empty for numbers of things."""
    notice: str
    """`quiet`; `shown` in reports if it is above 0; `failure` if the run then fails."""
    description: str
    """Counted things."""

    def text(self, count: int) -> str:
        """A count with its description, in the singular for one thing."""
        described = re.sub(r"\b(packet|message|flow)s\b", r"\1", self.description, count=1)
        return f"{count:,} {described if count == 1 else self.description}"


@cache
def _read() -> dict[str, list[dict[str, Any]]]:
    read: dict[str, list[dict[str, Any]]] = json.loads(_core.results_catalogue())
    return read


@cache
def tables() -> dict[str, Table]:
    """The tables of results folders by name, in order."""
    return {
        table["name"]: Table(
            table["name"],
            table["description"],
            table["condition"],
            {column["name"]: Column(**column) for column in table["columns"]},
        )
        for table in _read()["tables"]
    }


@cache
def counters() -> tuple[Counter, ...]:
    """The counters of a scheme's run: `counts` of its manifest."""
    return tuple(Counter(**each) for each in _read()["counters"])


@cache
def hypervisor_counters() -> tuple[Counter, ...]:
    """The counters of hypervisors: `hypervisors` of a scheme's manifest."""
    return tuple(Counter(**each) for each in _read()["hypervisor_counters"])


@cache
def stops() -> dict[str, bool]:
    """The reasons to stop, each with true for a failure."""
    return {each["name"]: each["failure"] for each in _read()["stops"]}


def bad_stop(scheme: dict[str, Any]) -> list[str]:
    """The text of a scheme's stop if it is a failure, such as a deadlock."""
    stop = scheme["stop"]
    return [stop["text"]] if stops().get(stop["reason"]) else []


def bad_ends(scheme: dict[str, Any]) -> list[str]:
    """Kinds of a scheme's failures, without names and numbers of the run."""
    reason = scheme["stop"]["reason"]
    of_counters = [counter.description for counter in _above_0(scheme, "failure")]
    return [reason, *of_counters] if stops().get(reason) else of_counters


def above_0(scheme: dict[str, Any], notice: str, *, drops: bool = True) -> list[str]:
    """Counts above 0 of a scheme, of counters with a notice; with or without counters of drops."""
    found = _above_0(scheme, notice)
    return [each.text(count) for each, count in found.items() if drops or not each.name.endswith("_drops")]


def _above_0(scheme: dict[str, Any], notice: str) -> dict[Counter, int]:
    # Earlier versions lacked some counters.
    counts = {each: scheme["counts"].get(each.name, 0) for each in counters() if each.notice == notice}
    return {counter: count for counter, count in counts.items() if count}
