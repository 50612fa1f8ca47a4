"""Modules that the quick commands load: each of the excluded ones costs from a twentieth of a second to seconds."""

from __future__ import annotations

import subprocess
import sys

import pytest

from conftest import ROOT

HEAVY = {
    "IPython",
    "asyncio",
    "duckdb",
    "markdown_it",
    "matplotlib",
    "multiprocessing",
    "numpy",
    "pandas",
    "polars",
    "pyarrow",
    "pygments",
    "ray",
    "scipy",
    "sqlite3",
}
UNUSED = {
    "analysis",
    "application",
    "charts",
    "memory",
    "plot",
    "report",
    "results",
    "schema",
    "study",
    "sweep",
    "testbed",
}
"""Parts of incast that neither command uses."""
CODE = """
import atexit, sys
atexit.register(lambda: print(*sorted(sys.modules), file=sys.stderr))
from incast.cli import main
main(sys.argv[1:])
"""


@pytest.mark.parametrize(
    "words", [("--help",), ("show", str(ROOT / "scenarios" / "quickstart.toml"))], ids=lambda words: words[0]
)
def test_quick_commands_load_little(words: tuple[str, ...]) -> None:
    done = subprocess.run([sys.executable, "-c", CODE, *words], capture_output=True, text=True, check=True)
    loaded = done.stderr.split()
    assert done.stdout
    assert "rich.console" in loaded
    assert not HEAVY & {name.split(".")[0] for name in loaded}
    assert not UNUSED & {name.split(".")[1] for name in loaded if name.startswith("incast.")}
