"""A process that computes cells of analyses: they come in on standard input, a line each; what happens goes out."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, TextIO

from incast.analysis.kinds import kinds
from incast.sweep.execute import attempt, send
from incast.sweep.worker import serve

ROWS = "rows.json"
"""The rows of a cell, in its folder."""


def do(request: dict[str, Any], out: TextIO) -> None:
    """Compute one cell and say how it ended."""
    task, folder = request["task"], Path(request["folder"])
    send(out, {"event": "begin"})
    error = attempt(lambda: compute(task, folder))
    send(out, {"event": "done"} if error is None else {"event": "failed", "error": error})


def compute(task: dict[str, Any], folder: Path) -> None:
    """Write the rows of a cell into its folder, which must not be there."""
    kind = kinds()[task["kind"]]
    rows = list(kind.compute(kind.parameters(**task["parameters"]), Path(task["base"])))
    folder.mkdir(parents=True)
    (folder / ROWS).write_text(json.dumps(rows), encoding="utf-8")


if __name__ == "__main__":
    serve(do)
