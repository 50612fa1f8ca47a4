"""The generated classes, and what generates them."""

from __future__ import annotations

import ast
import json
import pydoc
import re
import sys
from dataclasses import fields
from itertools import pairwise
from types import ModuleType
from typing import Any

from conftest import ROOT
from incast import _core, schema
from incast._tree import Tree

sys.path.insert(0, str(ROOT / "tools"))
import schema_py

SAMPLE: dict[str, Any] = {
    "title": "Scenario",
    "type": "object",
    "description": "A sample.",
    "properties": {
        "fabric": {"$ref": "#/$defs/Fabric", "description": "Which one."},
        "from": {"type": "string", "description": "A name that Python keeps for itself."},
        "list": {"type": "array", "items": {"$ref": "#/$defs/Time"}},
        "limit": {"anyOf": [{"$ref": "#/$defs/Time"}, {"type": "null"}]},
        "mode": {"oneOf": [{"const": "on", "description": "Yes."}, {"const": "off", "description": "No."}]},
        "packets": {"type": "object", "properties": {"payload": {"type": "integer"}}},
        "schemes": {"type": "object", "additionalProperties": {"$ref": "#/$defs/Star"}},
    },
    "required": ["fabric"],
    "$defs": {
        "Time": {"type": "string", "description": 'a time such as "1us"'},
        "Star": {"type": "object", "properties": {"hosts": {"type": "integer", "description": "How many."}}},
        "Ring": {"type": "object", "properties": {"hosts": {"type": "integer"}}, "required": ["hosts"]},
        "Fabric": {
            "oneOf": [
                {"type": "object", "properties": {"star": {"$ref": "#/$defs/Star"}}, "required": ["star"]},
                {"type": "object", "properties": {"ring": {"$ref": "#/$defs/Ring"}}, "required": ["ring"]},
                {"type": "object", "properties": {"size": {"type": "integer"}}, "required": ["size"]},
            ]
        },
    },
}


def generated() -> dict[str, Any]:
    """The classes made from the sample."""
    module = ModuleType("sample")
    sys.modules["sample"] = module
    exec(schema_py.generate(SAMPLE), module.__dict__)
    return vars(module)


def test_schema_py_is_current() -> None:
    text = schema_py.TARGET.read_text(encoding="utf-8")
    assert schema_py.generate(json.loads(_core.schema())) == text, "run: make schema"


def test_sample() -> None:
    sample = generated()
    ring = sample["Scenario"](fabric=sample["Ring"](hosts=3), from_="x", list_=["1us"], mode="on")
    tree = {"fabric": {"ring": {"hosts": 3}}, "from": "x", "list": ["1us"], "mode": "on"}
    assert ring.to_tree() == tree
    assert sample["Scenario"].from_tree(tree) == ring
    assert repr(ring) == "Scenario(fabric=Ring(hosts=3), from_='x', list_=['1us'], mode='on')"


def test_a_table_used_without_its_tag_keeps_a_wrapper() -> None:
    sample = generated()
    star = sample["Scenario"](fabric=sample["FabricStar"](star=sample["Star"](hosts=2)))
    assert star.to_tree() == {"fabric": {"star": {"hosts": 2}}}
    schemes = {"fabric": {"size": 4}, "schemes": {"a": {"hosts": 9}}}
    read = sample["Scenario"].from_tree(schemes)
    assert read.schemes["a"] == sample["Star"](hosts=9)
    assert read.to_tree() == schemes


def test_every_field_says_what_it_is() -> None:
    """The attribute docstrings come from the Rust types; one without would be a parameter without documentation."""
    tree = ast.parse(schema_py.TARGET.read_text(encoding="utf-8"))
    silent = []
    for owner in (node for node in tree.body if isinstance(node, ast.ClassDef)):
        fields = [
            (field, after) for field, after in pairwise([*owner.body, ast.Pass()]) if isinstance(field, ast.AnnAssign)
        ]
        for field, after in fields:
            name = ast.unparse(field.target)
            said = isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant)
            # The one field of a tagged value is said by its class.
            if not said and not name.startswith("_") and len(fields) > 1:
                silent.append(f"{owner.name}.{name}")
    assert silent == []


def test_help_of_a_class_has_its_fields_with_units_and_defaults() -> None:
    sample = generated()
    assert sample["Scenario"].__doc__.startswith("A sample.\n")
    assert "\n    Args:\n        fabric: Which one.\n        from_: A name that Python keeps for itself." in (
        sample["Scenario"].__doc__
    )
    shown = pydoc.plain(pydoc.render_doc(schema.Star))
    for text in ("hosts: Number of hosts, 2 or more", "rate: Rate of every link. Default 100Gbps", "Default 1us"):
        assert text in shown
    for owner in vars(schema).values():
        if isinstance(owner, type) and issubclass(owner, Tree) and owner is not Tree:
            names = [field.name for field in fields(owner)]
            documented = re.findall(r"^        (\w+): ", str(owner.__doc__).partition("Args:\n")[2], re.M)
            # The one field of a tagged value is said by its class.
            assert documented == names or len(names) < 2, owner.__name__


def test_classes_are_reached_from_the_package() -> None:
    import incast

    assert incast.schema is schema
    assert issubclass(incast.Scenario, schema.Scenario)
