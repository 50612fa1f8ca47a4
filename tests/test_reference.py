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
from program import Program

CATALOGUE: dict[str, Any] = json.loads(_core.catalogue())


@pytest.fixture(scope="module")
def made() -> dict[str, str]:
    """The pages as they would be written now."""
    return reference.pages(Program(json.loads(_core.schema()), CATALOGUE))


def test_pages_are_current(made: dict[str, str]) -> None:
    there = {str(page.relative_to(reference.FOLDER)) for page in reference.FOLDER.rglob("*.md")}
    assert there == set(made), "run: make reference"
    for name, text in made.items():
        assert (reference.FOLDER / name).read_text(encoding="utf-8") == text, f"{name}: run: make reference"


def test_everything_is_there(made: dict[str, str]) -> None:
    pages = {"sections": "scenario.md", "tables": "results.md"}
    for kind in ("fabrics", "workloads", "controls", "transports", "sections", "tables"):
        for entry in CATALOGUE[kind]:
            if kind in ("controls", "transports"):
                part = made[f"{kind}/{entry['name']}.md"]
            else:
                text = made[pages.get(kind, f"{kind}.md")]
                part = text.partition(f"\n## {entry['name']}\n")[2].partition("\n## ")[0]
            for one in [*entry.get("parameters", []), *entry.get("columns", [])]:
                if one["name"] in ("profile", "scheme"):
                    continue  # shown by its values; said once for all tables
                assert f"`{one['name']}`" in part, f"{entry['name']}.{one['name']}"
    assert all(f"`{entry['name']}`" in made["sizes.md"] for entry in CATALOGUE["sizes"])


def test_a_control_has_its_tables() -> None:
    for entry in CATALOGUE["controls"]:
        tables = (ROOT / f"crates/incast-sim/tests/simulation/snapshots/controls/{entry['name']}.txt").read_text(
            encoding="utf-8"
        )
        for profile in entry["profiles"]:
            assert re.search(rf"^{profile['name']}, \w+ +16 to 1 ", tables, re.MULTILINE), (
                f"{entry['name']}: run: INSTA_UPDATE=always cargo test -p incast-sim --test simulation snapshots"
            )


def test_the_page_of_all_controls_names_none(made: dict[str, str]) -> None:
    """Or it would change with every new one."""
    for entry in CATALOGUE["controls"]:
        assert entry["name"] not in made["controls.md"]


def test_every_default_has_a_source() -> None:
    """Sections and controls hold the numbers of a model: each says where it comes from, or that it is our choice."""
    without = []
    for entry in [*CATALOGUE["sections"], *CATALOGUE["controls"], *CATALOGUE["transports"]]:
        for one in entry["parameters"]:
            given = not one["required"] and one["name"] != "profile"
            needed = r"[Dd]efault|absent" if one["default"] in (None, []) else r"[Dd]efault:?\s[^()]*\("
            said = re.search(needed, one["description"])
            if given and not said:
                without.append(f"{entry['name']}.{one['name']}")
    assert without == []


def test_ranges_are_those_of_the_checks(made: dict[str, str]) -> None:
    assert re.search(
        r"^\| `eta` \| number in \(0, 4\]; `0.95` \(SIGCOMM 2019.*\) \| Target utilisation. \|$",
        made["controls/hpcc.md"],
        re.MULTILINE,
    )
    hosts = r"^\| `hosts` \| integer; required \| Number of hosts, 2 or more. \|"
    assert re.search(hosts, made["fabrics.md"], re.MULTILINE)
