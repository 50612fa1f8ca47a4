"""Types of the scenario's schema, as the reference pages describe them."""

from __future__ import annotations

from collections.abc import Iterator

from program import Json
from reference_cells import shown, words


def variants(book: Book, name: str, field: Json) -> Iterator[str]:
    """Forms or fields of a parameter that has several."""
    lines = list(book.forms(field))
    if lines:
        yield from [f"`{name}`{', a table' if 'properties' in book.follow(field) else ''}:", "", *lines, ""]


def present(field: Json) -> list[Json]:
    """The forms of a field that stand for a value, not for its absence."""
    return [one for one in field.get("anyOf", []) if one.get("type") != "null" and one.get("enum") != ["none"]]


class Book:
    """The schema of scenarios."""

    def __init__(self, schema: Json) -> None:
        """Wrap a whole schema, with its definitions."""
        self.schema = schema

    def definition(self, name: str) -> Json:
        """A type by name."""
        found: Json = self.schema["$defs"][name]
        return found

    def follow(self, field: Json) -> Json:
        """Type that a field refers to; for a list that of its items, for an optional value that of the value."""
        if "$ref" in field:
            return self.follow(self.definition(field["$ref"].rpartition("/")[2]))
        choices = present(field)
        if len(choices) == 1:
            return self.follow(choices[0])
        return self.follow(field["items"]) if isinstance(field.get("items"), dict) else field

    def properties(self, field: Json) -> Json:
        """The fields of a table."""
        found: Json = self.follow(field).get("properties", {})
        return found

    def kind(self, field: Json) -> str:
        """Kind of a field's value, in a word."""
        target = field.get("$ref", "").rpartition("/")[2]
        if target in ("Rate", "Time", "Bytes"):
            return {"Rate": "rate", "Time": "time", "Bytes": "size"}[target]
        if isinstance(field.get("additionalProperties"), dict):
            return self.kind(field["additionalProperties"])
        if isinstance(field.get("items"), dict):
            return f"list of {self.kind(field['items'])}"
        about = self.follow(field)
        choices = about.get("oneOf") or about.get("anyOf") or []
        given = present(field)
        if len(given) == 1:
            return self.kind(given[0])
        names = [str(name) for one in [about, *choices] for name in one.get("enum", [one.get("const")]) if name]
        names += [f"{{ {name} = … }}" for one in choices for name in one.get("properties", {})]
        if names:
            return " | ".join(names)
        kinds = about.get("type", "table")
        plain = {"string": "text", "integer": "whole number", "object": "table", "boolean": "true | false"}
        listed = [kinds] if isinstance(kinds, str) else kinds
        return " | ".join(plain.get(one, one) for one in listed if one != "null")

    def parameter(self, name: str, table: Json) -> Json:
        """A field of a table, as the catalogue describes parameters."""
        field = table["properties"][name]
        return {
            "name": name,
            "kind": self.kind(field),
            "required": name in table.get("required", []),
            "default": field.get("default"),
            "description": field.get("description", ""),
            "range": field.get("x-range"),
        }

    def forms(self, field: Json, indent: str = "") -> Iterator[str]:
        """Lines on what a field is made of: its names, its tables, and the fields of those."""
        about = self.follow(field)
        choices = about.get("oneOf") or [
            one for one in about.get("anyOf", []) if one.keys() & {"const", "enum", "properties"}
        ]
        tables = {name for choice in choices for name in choice.get("properties", {})}
        for choice in choices:
            yield from (f"{indent}- `{name}`" for name in choice.get("enum", []) if name not in tables)
            if "const" in choice:
                yield f"{indent}- `{choice['const']}`: {words(choice.get('description', ''))}"
            for name, inner in choice.get("properties", {}).items():
                described = choice.get("description") or inner.get("description", "")
                yield f"{indent}- `{name} = …`{shown(self.kind(inner))}: {words(described)}"
                yield from self.forms(inner, indent + "  ")
        # A table that stands for itself; quantities are known by their kind.
        for name, inner in about.get("properties", {}).items():
            text = words(inner.get("description", "")).replace(" (our choice)", "")
            yield f"{indent}- `{name}`{shown(self.kind(inner))}: {text}"
            yield from self.forms(inner, indent + "  ")
