"""Results as notebooks show them."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

import incast
from conftest import ROOT
from folders import make_sweep
from incast import charts
from incast.sweep import open_sweep

sys.path.insert(0, str(ROOT / "tools"))
import notebooks


def drawn(html: str) -> list[ElementTree.Element]:
    """The drawings in HTML, each a whole one."""
    pieces = html.split("<svg")[1:]
    return [ElementTree.fromstring("<svg" + piece[: piece.index("</svg>")] + "</svg>") for piece in pieces]


def test_results(results: Path) -> None:
    html = incast.open(results)._repr_html_()
    assert "two schemes, eight hosts" in html
    assert html.count("every flow completed") == 2
    assert len(drawn(html)) == 1


def test_results_without_matplotlib(results: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    html = incast.open(results)._repr_html_()
    assert "pip install matplotlib" in html
    assert html.count("every flow completed") == 2


def test_a_table(results: Path) -> None:
    flows = incast.open(results).flows
    html = flows._repr_html_()
    assert f"{len(flows):,} rows, first 10 shown" in html
    assert "<th>size_bytes (B)</th>" in html
    assert html.count("<tr>") == 11


def test_a_sweep(tmp_path: Path) -> None:
    html = open_sweep(make_sweep(tmp_path / "load"))._repr_html_()
    assert "9 runs, 8 done, 1 failed" in html
    assert "0.3, 0.6" in html
    assert len(drawn(html)) == 1
    assert "different runs" not in html
    found = open_sweep(tmp_path / "load")
    kept = found.only([run.key for run in found.runs if run.label != "load=0.3, seed=2, HPCC"])
    assert "The means are over different runs: load=0.3, HPCC without seed=2." in kept._repr_html_()


def test_names_are_text(results: Path) -> None:
    opened = incast.open(results)
    opened.manifest["title"] = "<script>"
    assert "<script>" not in opened._repr_html_()


def test_a_chart(results: Path) -> None:
    chart = charts.cdf(charts.Source([incast.open(results)]))
    bundle = chart._repr_mimebundle_()
    spec = json.loads(json.dumps(bundle["application/vnd.vegalite.v6+json"]))
    assert len(spec["data"]["values"]) == len(chart.rows)


@pytest.mark.parametrize("notebook", notebooks.NOTEBOOKS, ids=lambda path: path.name)
def test_a_notebook_of_docs_shows_what_its_cells_give(notebook: Path) -> None:
    shown = list(notebooks.texts(notebooks.executed(notebook)))
    assert shown == list(notebooks.texts(notebooks.read(notebook)))
    assert ["<a picture>"] in shown
    assert any("<a drawing>" in text for texts in shown for text in texts)
