"""Run the notebooks of docs and write what their cells show now: part of `make docs`; the tests compare.

Each notebook runs from its first cell to its last in a kernel of its own, in an empty folder.
"""

from __future__ import annotations

import re
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient

ROOT = Path(__file__).parent.parent
NOTEBOOKS = sorted(ROOT.glob("docs/notebooks/*.ipynb"))
DRAWING = re.compile(r"<svg.*?</svg>", re.DOTALL)
FOLDER = re.compile(r"[\w./-]*/incast-[\w./-]+")
"""Temporary folders of results, which have another name in each run."""


def read(notebook: Path) -> Any:
    """The notebook as it is in docs."""
    return nbformat.read(notebook, as_version=4)


def executed(notebook: Path) -> Any:
    """The notebook with the outputs of its cells; raises `CellExecutionError` if a cell fails."""
    content = read(notebook)
    with tempfile.TemporaryDirectory() as folder:
        client = NotebookClient(content, timeout=300, resources={"metadata": {"path": folder}}, coalesce_streams=True)
        client.execute()
    for cell in content.cells:
        # Times of execution, which differ from run to run.
        cell.metadata = {}
    return content


def texts(notebook: Any) -> Iterator[list[str]]:
    """What each cell shows, without drawings and folders, with a note for each drawing."""
    for cell in notebook.cells:
        shown = []
        for output in cell.get("outputs", []):
            data = output.get("data", {})
            text = output.get("text") or data.get("text/html") or data.get("text/plain", "")
            if any(kind.startswith("image/") for kind in data):
                text = "<a picture>"
            shown.append(FOLDER.sub("<a folder>", DRAWING.sub("<a drawing>", text)))
        yield shown


def update(notebook: Path) -> None:
    """Write a notebook anew if a cell shows something else than before."""
    before, now = read(notebook), executed(notebook)
    if list(texts(before)) != list(texts(now)):
        nbformat.write(now, notebook)


if __name__ == "__main__":
    for name in sys.argv[1:] or NOTEBOOKS:
        update(Path(name))
