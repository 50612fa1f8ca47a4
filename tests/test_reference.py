"""The reference pages, and what they are made from."""

from __future__ import annotations

import json
import re
import sys
from typing import Any

import pytest

from conftest import ROOT
from incast import _core

sys.path.insert(0, str(ROOT / "tools"))
import reference

CATALOGUE: dict[str, Any] = json.loads(_core.catalogue())


@pytest.fixture(scope="module")
def made() -> dict[str, str]:
    """The pages as they would be written now."""
    return reference.pages()


def test_pages_are_current(made: dict[str, str]) -> None:
    assert sorted(made) == sorted(page.name for page in reference.FOLDER.iterdir()), "run: make reference"
    for name, text in made.items():
        assert (reference.FOLDER / name).read_text(encoding="utf-8") == text, f"{name}: run: make reference"


def test_everything_is_there(made: dict[str, str]) -> None:
    pages = {"sections": "scenario.md", "tables": "results.md"}
    for kind in ("fabrics", "workloads", "controls", "sections", "tables"):
        for entry in CATALOGUE[kind]:
            text = made[pages.get(kind, f"{kind}.md")]
            part = text.partition(f"\n## {entry['name']}\n")[2].partition("\n## ")[0]
            for one in [*entry.get("parameters", []), *entry.get("columns", [])]:
                if one["name"] == "profile":
                    continue  # told by its values
                assert f"`{one['name']}`" in part, f"{entry['name']}.{one['name']}"
    assert all(f"`{entry['name']}`" in made["sizes.md"] for entry in CATALOGUE["sizes"])


def test_every_default_has_a_source() -> None:
    """Sections and controls hold the numbers of a model: each says where it comes from, or that it is our choice."""
    without = []
    for entry in [*CATALOGUE["sections"], *CATALOGUE["controls"]]:
        for one in entry["parameters"]:
            given = not one["required"] and one["name"] != "profile"
            needed = r"[Dd]efault|absent" if one["default"] in (None, []) else r"[Dd]efault\s[^()]*\("
            said = re.search(needed, one["description"])
            if given and not said:
                without.append(f"{entry['name']}.{one['name']}")
    assert without == []


def test_what_is_allowed_is_what_the_checks_say(made: dict[str, str]) -> None:
    (eta,) = re.findall(
        r"^\| `eta` \| number \|.*\| Target utilisation eta.*SIGCOMM 2019.*$", made["controls.md"], re.MULTILINE
    )
    assert "| above 0, at most 4 |" in eta
    assert re.search(r"^\| `hosts` \| whole number \| required \| 2 or more \|", made["fabrics.md"], re.MULTILINE)
