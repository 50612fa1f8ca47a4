"""Tables and cells of the reference pages."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from incast import _markdown
from program import Json

RANGE = re.compile(
    r"\d to |at least|at most|more than|less than|above|below|or more|or fewer|up to|divisor|multiple|even"
)
"""A description that names the allowed values itself."""
SOURCED = re.compile(r" ?\bDefault:? ([^().;]*(?:\.\d[^().;]*)?) ?\(((?:[^()]|\([^()]*\))*)\)(?:[.;]|$)")
UNSOURCED = re.compile(r" ?\bDefault:? ([^().;]*(?:\.\d[^().;]*)?)(?:[.;]|$)")
"""The default in a description, with and without its source in brackets."""
BRIEF = 7
"""Words of a default or a source that fit into a cell."""


def table(parameters: list[Json], listed: bool = True) -> Iterator[str]:
    """A table of parameters; choices are listed below it, or named in it."""
    if not parameters:
        return
    rows = []
    for one in parameters:
        text, default = split(one)
        takes = plain(one["kind"], listed) + ("" if RANGE.search(text) else interval(one.get("range")))
        rows.append((f"`{one['name']}`", words(f"{takes}; {default}" if default else takes), words(text)))
    yield from [*_markdown.table(("parameter", "value", "meaning"), rows), ""]


def interval(bounds: Json | None) -> str:
    """A range as an interval."""
    if not bounds:
        return ""
    low, high = (bounds.get(key, bounds.get(f"exclusive{key.title()}")) for key in ("minimum", "maximum"))
    opened, closed = "exclusiveMinimum" in bounds, "exclusiveMaximum" in bounds
    if low is not None and high is not None:
        text = f" in {'(' if opened else '['}{bound(low)}, {bound(high)}{')' if closed else ']'}"
    elif low is not None:
        text = f" {'>' if opened else '≥'} {bound(low)}"
    else:
        text = f" {'<' if closed else '≤'} {bound(high)}"
    return text + (" or none" if '"none"' in bounds["allowed"] else "")


def bound(value: Any) -> str:
    """A bound of a range; zero needs no unit."""
    if isinstance(value, str):
        return "0" if re.fullmatch(r"0[A-Za-z]+", value) else value
    return f"{value:g}".replace("e+0", "e") if isinstance(value, float) else str(value)


def split(parameter: Json) -> tuple[str, str]:
    """The description of a parameter without its default, and the default with its source."""
    text, value = words(parameter["description"]), parameter["default"]
    if parameter["required"]:
        return text, "required"
    shown = "" if isinstance(value, dict | list) and value != [3] else code(value)
    for pattern in (SOURCED, UNSOURCED):
        found = pattern.search(text)
        if not found:
            continue
        said, source = found[1].strip().rstrip(":"), found[2] if pattern is SOURCED else ""
        if not shown and len(said.split()) > BRIEF:
            return text, ""
        rest = text[: found.start()].rstrip(" ;,")
        after = text[found.end() :].strip()
        rest = " ".join(part for part in (rest, after[:1].upper() + after[1:]) if part)
        rest = rest if rest.endswith((".", ")", "`")) and rest[-1] == "." else f"{rest}."
        cell = shown or (said if said != "none" else "none")
        source = "" if source == "our choice" else source
        if source and len(source.split()) <= BRIEF:
            cell = f"{cell} ({source})"
        elif source:
            rest = f"{rest} Default ({source})."
        return rest, cell
    return text, shown


def shown(kind: str) -> str:
    """The kind of a value in brackets; what is listed below needs none."""
    kind = plain(kind)
    return "" if kind in ("table", "choice") else f" ({kind})"


PLAIN = ("text", "integer", "number", "size", "rate", "time", "table", "tables", "hosts", "flag", "none")
"""Kinds that are no names of choices."""


def plain(kind: str, listed: bool = True) -> str:
    """The kind of a value in a word or two."""
    if kind == "true | false" or kind.startswith("["):
        return "flag" if kind == "true | false" else kind
    kind = kind.replace("whole number", "integer").replace("list of table", "tables")
    kind = kind.replace("list of integer", "list of integers")
    if "{ pareto = … }" in kind:
        return "[size](sizes.md)"
    if "host-numbers" in kind or kind == "text | integer | list of text | integer":
        return "hosts"
    if "…" in kind or any(part not in PLAIN and not part.startswith("list") for part in kind.split(" | ")):
        names = (part for part in kind.split(" | ") if not part.startswith("{"))
        return "choice" if listed else "/".join(f"`{name}`" for name in names)
    return kind.replace(" | ", " or ")


def sentence(text: str) -> str:
    """A phrase as a sentence."""
    text = words(text)
    return f"{text[:1].upper()}{text[1:]}" + ("" if text.endswith(".") else ".")


def words(text: str) -> str:
    """Text on one line."""
    text = text.replace("(our choice: ", "(ours: ")
    text = re.sub(r",? (?:sections?|sec\.) (?=\d)", " §", text)
    return " ".join(text.split())


def code(value: Any) -> str:
    """A value as it is written in a scenario."""
    if value is None or value == {}:
        return ""
    text = value if isinstance(value, str) else json.dumps(value)
    return f"`{text}`"
