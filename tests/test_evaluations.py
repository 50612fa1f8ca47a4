"""The published outcome of the studies."""

from __future__ import annotations

import json
import re
import sys

from conftest import ROOT

sys.path.insert(0, str(ROOT / "tools"))
import evaluations


def test_the_first_page_counts_the_verdicts_of_all_studies() -> None:
    assert evaluations.PAGE.read_text(encoding="utf-8") == evaluations.page(), "run: python tools/evaluations.py"


def test_a_page_has_the_verdicts_and_figures_of_its_file() -> None:
    files = sorted(evaluations.FOLDER.glob("*.claims.json"))
    assert files
    for file in files:
        name = file.name.partition(".")[0]
        text = (evaluations.FOLDER / f"{name}.md").read_text(encoding="utf-8")
        rows = dict(re.findall(r"^\| (\S+) \| (holds|fails|undecided|not measured) \|", text, re.MULTILINE))
        assert rows == {claim["id"]: claim["verdict"] for claim in json.loads(file.read_text())["claims"]}
        pictures = {path.name for path in evaluations.FOLDER.glob(f"{name}-*.svg")}
        assert set(re.findall(r"\]\(([^)]*\.svg)\)", text)) == pictures


def test_the_evaluations_are_small() -> None:
    assert sum(path.stat().st_size for path in evaluations.FOLDER.iterdir()) < 3_000_000
