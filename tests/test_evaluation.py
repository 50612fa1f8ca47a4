"""`incast study export`: the outcome of a study as Markdown, and those in docs/evaluations."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess
from types import SimpleNamespace
from typing import Any, cast
from xml.etree import ElementTree

import pytest

import incast
from conftest import ROOT
from incast import plot, plot_style
from incast._svg import smaller
from incast.study import evaluation
from incast.study.outcome import CheckOutcome, ClaimOutcome
from incast.study.writing import spread

sys.path.insert(0, str(ROOT / "tools"))
import evaluations

TINY = ROOT / "tests" / "data" / "study"
Command = Callable[..., CompletedProcess[str]]


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Results of the tiny study."""
    out = tmp_path_factory.mktemp("evaluation") / "results"
    incast.load_study(TINY).run(out, scale="smoke")
    return out


def test_the_page_has_every_claim_and_where_the_figures_come_from(
    results: Path, tmp_path: Path, command: Command
) -> None:
    done = command("study", "export", results, "-o", tmp_path / "docs")
    page = tmp_path / "docs" / "study.md"
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[0] == str(page)
    text, found = page.read_text(encoding="utf-8"), incast.open_study(results)
    for claim in found.claims:
        assert f"| {claim.id} | {claim.verdict} | {claim.statement} |" in text
        assert (f"### {claim.id}: " in text) == (claim.verdict == "fails")
    assert f"Source: {found.manifest['source']}." in text
    runs = sum(len(sweep.runs) for sweep in found.sweeps.values())
    assert f"| runs | {runs} |" in text
    assert f"| command | `incast study run study --scale {found.scale}` |" in text
    assert f"| date | {found.manifest['date']} |" in text


def test_a_duration_shorter_than_the_cpu_time_of_all_cores_is_left_out(results: Path) -> None:
    found = incast.open_study(results)
    cpu = sum(sweep.cost()[0] for sweep in found.sweeps.values())
    cores = max(sweep.cores() for sweep in found.sweeps.values())
    found.manifest["wall_s"] = cpu / cores
    assert "duration" in evaluation.provenance(found)
    found.manifest["wall_s"] = 0.9 * cpu / cores
    assert "duration" not in evaluation.provenance(found)


def test_programs_read_the_same_verdicts(results: Path, tmp_path: Path, command: Command) -> None:
    assert command("study", "export", results, "-o", tmp_path).returncode == 0
    tree = json.loads((tmp_path / "study.claims.json").read_text(encoding="utf-8"))
    found = incast.open_study(results)
    for written, claim in zip(tree["claims"], found.claims, strict=True):
        assert (written["id"], written["verdict"]) == (claim.id, claim.verdict)
        values = [check["value"] for check in written["checks"]]
        assert values == pytest.approx([check.value for check in claim.checks], rel=1e-5)
    assert (tree["study"], tree["scale"]) == (found.study, found.scale)


def test_an_earlier_export_is_replaced_only_on_request(results: Path, tmp_path: Path, command: Command) -> None:
    (tmp_path / "study.md").write_text("mine", encoding="utf-8")
    refused = command("study", "export", results, "-o", tmp_path)
    assert refused.returncode == 2
    assert "study.md exists already" in refused.stderr
    assert [file.name for file in tmp_path.iterdir()] == ["study.md"]
    assert command("study", "export", results, "-o", tmp_path, "--overwrite").returncode == 0
    assert (tmp_path / "study.md").read_text(encoding="utf-8").startswith("# ")


def _styles(svg: str) -> list[tuple[str, str]]:
    """Tag and style of each drawn element."""
    classes = dict(re.findall(r"\.(c\d+)\{([^}]*)\}", svg))
    root = ElementTree.fromstring(svg)
    found = []
    for group in root.iter():
        for each in group:
            tag = each.tag.rpartition("}")[2]
            named = each.get("class") or (group.get("class") if tag == "use" else None)
            if tag in {"use", "path", "tspan"}:
                found.append((tag, classes[named] if named else each.get("style", "")))
    return sorted(found)


def test_a_smaller_picture_has_the_same_elements_and_styles(results: Path) -> None:
    found = incast.open_study(results)
    figure = next(each for each in found.figures if each.charts)
    with plot_style.matplotlib().rc_context({"svg.fonttype": "none"}):
        usual = plot.encoded(found.plot(figure.id, title=""), ".svg").decode()
    made = smaller(usual)
    assert len(made) < 0.65 * len(usual)
    assert _styles(made) == sorted((tag, re.sub(r"(\d\.\d\d)\d+", r"\1", style)) for tag, style in _styles(usual))


def test_the_first_page_counts_the_verdicts_of_all_studies() -> None:
    assert evaluations.PAGE.read_text(encoding="utf-8") == evaluations.page(), "run: python tools/evaluations.py"


def test_a_page_has_the_verdicts_and_figures_of_its_file() -> None:
    files = sorted(evaluations.FOLDER.glob("*.claims.json"))
    assert files
    for file in files:
        name = file.name.partition(".")[0]
        text = (evaluations.FOLDER / f"{name}.md").read_text(encoding="utf-8")
        rows = dict(re.findall(r"^\| (\S+) \| (holds|fails|undecided|not measured) \|", text, re.MULTILINE))
        assert rows == {
            claim["id"]: claim["verdict"] for claim in json.loads(file.read_text(encoding="utf-8"))["claims"]
        }
        pictures = {path.name for path in evaluations.FOLDER.glob(f"{name}-*.svg")}
        assert set(re.findall(r"\]\(([^)]*\.svg)\)", text)) == pictures


def test_pictures_have_no_formulas_in_words() -> None:
    pictures = list(evaluations.FOLDER.glob("*.svg"))
    assert pictures
    assert not [path.name for path in pictures if "\\mathdefault" in path.read_text(encoding="utf-8")]


def test_the_evaluations_are_small() -> None:
    assert sum(path.stat().st_size for path in evaluations.FOLDER.iterdir()) < 3_000_000


def test_equal_figures_and_equal_expectations_are_written_once() -> None:
    assert spread([1, 1], None) == "1"
    assert spread([0.99999, 1.00001], "Gb/s") == "1 Gb/s"
    assert spread([0.5, 1], "Gb/s") == "0.5 to 1 Gb/s"
    check: dict[str, Any] = {
        "label": "",
        "unit": None,
        "reason": None,
        "low": None,
        "high": None,
        "confidence": None,
        "seeds": 1,
    }
    check |= {"series": "", "verdict": "holds", "per_seed": (), "metric": "short_tail", "expect": "ratio below 1"}
    outcomes = [CheckOutcome(**check, value=value, check=number) for number, value in enumerate((0.5, 0.25))]
    outcomes.append(CheckOutcome(**{**check, "expect": "exactly 0"}, value=0, check=2))
    claim = SimpleNamespace(checks=outcomes)
    assert evaluation._figures(cast(ClaimOutcome, claim)) == (
        "0.5; 0.25<br>0",
        "short tail ratio below 1<br>short tail exactly 0",
    )
