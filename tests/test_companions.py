"""The simulator does not import its companions; `incast._companions` names what they add to the command."""

from __future__ import annotations

import ast
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from conftest import ROOT

COMPANIONS = ("application", "memory", "testbed")
PACKAGE = ROOT / "python" / "incast"
CRATES = ("incast-model", "incast-sim", "incast-deadlock", "incast-lab")


def test_no_import_of_a_companion() -> None:
    modules = [path for path in PACKAGE.rglob("*.py") if path.relative_to(PACKAGE).parts[0] not in COMPANIONS]
    found = [(path.name, name) for path in modules for name in imports(path)]
    assert found
    assert not [one for one in found if one[1].split(".")[:2] in [["incast", name] for name in COMPANIONS]]


def test_sweeps_and_studies_load_no_companion() -> None:
    loaded = "sorted(name for name in sys.modules if name.startswith('incast.'))"
    code = f"import sys, incast.analysis, incast.study, incast.sweep, incast.cli.commands; print(*{loaded})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not {name.split(".")[1] for name in done.stdout.split()} & set(COMPANIONS)


@pytest.mark.parametrize("crate", CRATES)
def test_no_dependency_on_a_companion(crate: str) -> None:
    manifest = tomllib.loads((ROOT / "crates" / crate / "Cargo.toml").read_text(encoding="utf-8"))
    assert not [name for name in manifest["dependencies"] if name.startswith("incast-memory")]


def imports(path: Path) -> Iterator[str]:
    """Full names that a module imports, at its beginning or in a function."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (one.name for one in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            yield from (f"{node.module}.{one.name}" for one in node.names)
