"""`incast study export`: the outcome of a study as Markdown."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess

import pytest

import incast
from conftest import ROOT

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
