"""Warnings and scenario on the page of results, read as text: no browser is needed."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import incast
from conftest import SMALL, Command, write
from incast import report
from test_api import SPRAYED
from test_ns3 import files


def page(folder: Path, name: str = "page.html") -> str:
    """The page of a folder."""
    return report.write(folder, folder.parent / name).read_text(encoding="utf-8")


@pytest.fixture
def sprayed(tmp_path: Path) -> incast.Results:
    """Results with warnings."""
    with pytest.warns(incast.IncastWarning):
        return incast.load(write(tmp_path, SPRAYED)).run(tmp_path / "results")


def test_warnings_come_first(sprayed: incast.Results) -> None:
    text = page(sprayed.path)
    assert text.index('<section id="warnings"') < text.index('<section id="scenario"')
    assert text.count("INT records of a flow&#x27;s packets come from different links") == 1


def test_without_warnings_there_is_no_section(results: Path, tmp_path: Path) -> None:
    assert 'id="warnings"' not in report.write(results, tmp_path / "page.html").read_text(encoding="utf-8")


def test_flows_that_wait_have_no_last_start(tmp_path: Path) -> None:
    ring = '\n[[workload]]\nring_all_reduce = { size = "80kB" }'
    text = page(incast.load(write(tmp_path, SMALL + ring)).run(tmp_path / "results").path)
    rows = [re.findall(r"<t[hd][^>]*>([^<]*)</t[hd]>", row) for row in re.findall(r"<tr>(.*?)</tr>", text)]
    assert [row[4] for row in rows if row[0] in ("incast", "ring_all_reduce") and len(row) == 6] == [
        "0",
        "after other flows",
    ]


def test_an_imported_scenario_has_its_details_on_the_page(command: Command, tmp_path: Path) -> None:
    (tmp_path / "ns3").mkdir()
    files(tmp_path / "ns3")
    options = ["--topology", "ns3/topology.txt", "--flows", "ns3/flow.txt", "-o", "ns3/mine.toml"]
    assert command("import", "ns3", *options).returncode == 0
    assert command("run", "ns3/mine.toml", "--quiet").returncode == 0
    text = page(tmp_path / "results" / "mine")
    assert "longest base RTT" in text
    assert "No details" not in text
    # A file that has changed since, and one that is not there any more.
    (tmp_path / "ns3" / "flow.txt").write_text("1\n0 2 3 100 100000 2\n")
    text = page(tmp_path / "results" / "mine", "changed.html")
    assert "A file that the scenario names has changed since the run, which had 4 hosts and 3 flows." in text
    (tmp_path / "ns3" / "topology.txt").unlink()
    text = page(tmp_path / "results" / "mine", "gone.html")
    assert "No details, because the scenario cannot be read" in text
    assert "topology.txt" in text


def test_a_scenario_that_was_changed_after_the_run_makes_no_page(sprayed: incast.Results) -> None:
    file = sprayed.path / "scenario.toml"
    file.write_text(file.read_text(encoding="utf-8").replace("spines = 2", "spines = 3"), encoding="utf-8")
    with pytest.raises(incast.ResultsError, match=r"scenario\.toml is damaged: its SHA-256 is not the manifest's"):
        page(sprayed.path)
