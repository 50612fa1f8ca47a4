"""Licences of dependencies, and the list of unsafe code."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from conftest import ROOT
from rust_modules import SKIPPED

sys.path.insert(0, str(ROOT / "tools"))
import licences

UNSAFE_PAGE = ROOT / "docs" / "design" / "unsafe.md"


def test_licences_are_current() -> None:
    assert list(licences.problems()) == []
    assert licences.PAGE.read_text(encoding="utf-8") == licences.page(), "run: make licences"
    assert licences.TEXTS.read_text(encoding="utf-8") == licences.texts(), "run: make licences"


def test_a_package_without_a_licence_and_a_refused_licence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    reviewed = licences.LICENCES.read_text(encoding="utf-8")
    changed = reviewed.replace('"attrs", ', "").replace('"MIT-CMU" = ', '"GPL-3.0-only" = ')
    assert changed != reviewed
    monkeypatch.setattr(licences, "ROOT", tmp_path)
    monkeypatch.setattr(licences, "LICENCES", tmp_path / "licences.toml")
    licences.LICENCES.write_text(changed, encoding="utf-8")
    assert list(licences.problems()) == [
        "attrs has no licence in licences.toml: read its licence and add it",
        "the licence of pillow, GPL-3.0-only, is not allowed by licences.toml",
        "pillow states MIT-CMU, licences.toml has GPL-3.0-only: read its licence and correct the file",
    ]


def test_all_unsafe_code_is_listed() -> None:
    found = {file.resolve() for file in (ROOT / "crates").rglob("*.rs") if unsafe(file)}
    rows = [line for line in UNSAFE_PAGE.read_text(encoding="utf-8").splitlines() if line.startswith("| [")]
    listed = {
        (UNSAFE_PAGE.parent / target).resolve() for row in rows for target in re.findall(r"\]\(([^)]*\.rs)\)", row)
    }
    assert {str(file.relative_to(ROOT)) for file in found} == {str(file.relative_to(ROOT)) for file in listed}


def unsafe(file: Path) -> bool:
    """True if the code of a file, without comments and literals, has or allows unsafe operations."""
    code = SKIPPED.sub("", file.read_text(encoding="utf-8"))
    return re.search(r"\bunsafe\b|allow\(unsafe_code", code) is not None
