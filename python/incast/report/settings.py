"""Settings that differ between the schemes of a scenario."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from incast.charts.groups import Group
from incast.charts.source import Source, read_scenario
from incast.report.html import element, table
from incast.report.units import spaced

SETTINGS = 40
"""Most settings listed (our choice)."""
PARAMETERS = 2
"""Most parameters of a choice that are shown with its name (our choice); the scenario file has all."""
MISSING = "-"
ORDER = {name: place for place, name in enumerate(("transport", "control", "window"))}
"""Settings that come first."""


def section(groups: Sequence[Group]) -> str | None:
    """The settings of each group that differ; `None` if none do."""
    found = [of_group(group) for group in groups]
    if not any(found):
        return None
    return "\n".join(
        f'<div data-group="{place}"{" hidden" if place else ""}>'
        f"{inner or element('p', 'The schemes have equal settings.', 'empty')}</div>"
        for place, inner in enumerate(found)
    )


def of_group(group: Group) -> str:
    """The table of a group, of its first scenario; empty if nothing differs."""
    source = group.variations[0].source
    rows = sorted(differing(trees(source)), key=lambda row: ORDER.get(row[0].partition(".")[0], len(ORDER)))
    if not rows:
        return ""
    shown = [[path, *(values.get(scheme, MISSING) for scheme in source.schemes)] for path, values in rows[:SETTINGS]]
    more = len(rows) - SETTINGS
    note = f"{more:,} more settings differ; the scenario file has all." if more > 0 else ""
    return table(
        ["setting", *source.schemes], shown, "", kind="settings", label="Settings that differ between schemes"
    ) + (element("p", note, "note") if note else "")


def trees(source: Source) -> dict[str, dict[str, Any]]:
    """The settings of each scheme: its own sections over those of the scenario."""
    found: dict[str, dict[str, Any]] = {}
    for results in source.results:
        with read_scenario(results) as tree:
            own = {scheme: tree["scheme"][scheme] for scheme in results.manifest["schemes"]}
        sections = {name for each in own.values() for name in each}
        shared = {name: part for name, part in tree.items() if name in sections}
        found |= {scheme: merged(shared, each) for scheme, each in own.items()}
    return found


def merged(under: Mapping[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    """Two trees as one; the second has precedence. A table of another choice replaces the whole table."""
    result = dict(under)
    for name, value in over.items():
        below = result.get(name)
        if isinstance(value, dict) and isinstance(below, dict) and not _choices([value, below]):
            result[name] = merged(below, value)
        else:
            result[name] = value
    return result


def differing(values: Mapping[str, Any], path: str = "") -> Iterator[tuple[str, dict[str, str]]]:
    """Paths of settings with different values, and the value of each scheme as text.

    Where schemes have different choices, such as two controls, the names of the choices differ, and parameters are
    compared among schemes with one choice.
    """
    if len({repr(value) for value in values.values()}) < 2:
        return
    if not all(isinstance(value, dict) for value in values.values()):
        yield path, {scheme: text(value) for scheme, value in values.items() if value is not None}
        return
    choices = _choices(list(values.values()))
    if choices:
        yield path, {scheme: next(iter(value)) for scheme, value in values.items()}
    for name in dict.fromkeys(name for value in values.values() for name in value):
        below = f"{path}.{name}" if path else name
        if choices:
            yield from differing({scheme: value[name] for scheme, value in values.items() if name in value}, below)
        else:
            yield from differing({scheme: value.get(name) for scheme, value in values.items()}, below)


def _choices(tables: Sequence[Mapping[str, Any]]) -> bool:
    """True if each table has one key, and not all the same: the key is a choice."""
    return all(len(each) == 1 for each in tables) and len({next(iter(each)) for each in tables}) > 1


def text(value: Any) -> str:
    """A value of a scenario in words."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, dict) and value:
        (name, inner), *others = value.items()
        if others or not isinstance(inner, dict):
            return ", ".join(f"{name} {text(each)}" for name, each in value.items())
        return f"{name} ({text(inner)})" if 0 < len(inner) <= PARAMETERS else name
    if isinstance(value, (list, dict)):
        return "; ".join(map(text, value)) or "none"
    return spaced(str(value))
