"""The reference pages, and what they are made from."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest

from conftest import ROOT
from incast import _core

sys.path.insert(0, str(ROOT / "tools"))
import command
import reference

CATALOGUE: dict[str, Any] = json.loads(_core.catalogue())


@pytest.fixture(scope="module")
def made() -> dict[str, str]:
    """The pages as they would be written now."""
    return reference.pages()


def test_pages_are_current(made: dict[str, str]) -> None:
    there = {str(page.relative_to(reference.FOLDER)) for page in reference.FOLDER.rglob("*.md")}
    assert there == {*made, command.PAGE.name}, "run: make reference"
    for name, text in made.items():
        assert (reference.FOLDER / name).read_text(encoding="utf-8") == text, f"{name}: run: make reference"


def test_the_page_of_the_command_is_current() -> None:
    assert command.PAGE.read_text(encoding="utf-8") == command.page(), "run: make docs"


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
                if one["name"] == "profile":
                    continue  # told by its values
                assert f"`{one['name']}`" in part, f"{entry['name']}.{one['name']}"
    assert all(f"`{entry['name']}`" in made["sizes.md"] for entry in CATALOGUE["sizes"])


def test_a_control_has_its_table(made: dict[str, str]) -> None:
    for entry in CATALOGUE["controls"]:
        section = made[f"controls/{entry['name']}.md"].partition(reference.RUNS)[2]
        for profile in entry["profiles"]:
            assert re.search(rf"^{profile['name']}, \w+ +16 to 1 ", section, re.MULTILINE), (
                f"{entry['name']}: run: INSTA_UPDATE=always cargo test -p incast-sim --test snapshots"
            )


def test_the_table_of_a_control_is_kept(tmp_path: Path) -> None:
    page = tmp_path / "new.md"
    empty = f"{reference.RUNS}\n```text\n```\n"
    assert reference.runs(page) == empty
    page.write_text("# new\n", encoding="utf-8")
    assert reference.runs(page) == empty
    page.write_text(f"# new\n\n{reference.RUNS}\n```text\na table\n```\n", encoding="utf-8")
    assert reference.runs(page) == f"{reference.RUNS}\n```text\na table\n```\n"


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
            needed = r"[Dd]efault|absent" if one["default"] in (None, []) else r"[Dd]efault\s[^()]*\("
            said = re.search(needed, one["description"])
            if given and not said:
                without.append(f"{entry['name']}.{one['name']}")
    assert without == []


def test_what_is_allowed_is_what_the_checks_say(made: dict[str, str]) -> None:
    (eta,) = re.findall(
        r"^\| `eta` \| number \|.*\| Target utilisation eta.*SIGCOMM 2019.*$", made["controls/hpcc.md"], re.MULTILINE
    )
    assert "| above 0, at most 4 |" in eta
    assert re.search(r"^\| `hosts` \| whole number \| required \| 2 or more \|", made["fabrics.md"], re.MULTILINE)
