"""Corpora of the readers in Python, read again. `crates/incast-fuzz` replays those of the readers in Rust."""

from __future__ import annotations

import random
import sys

import pytest

from conftest import ROOT

sys.path.insert(0, str(ROOT / "tools"))
import fuzz_readers


@pytest.mark.parametrize("target", fuzz_readers.TARGETS)
def test_corpora_have_no_findings(target: str) -> None:
    found = {name: fuzz_readers.finding(target, content) for name, content in fuzz_readers.inputs(target)}
    assert found
    assert not any(found.values()), found


def test_the_corpora_are_small() -> None:
    folders = [ROOT / "fuzz" / "corpus", fuzz_readers.CORPORA]
    assert sum(file.stat().st_size for folder in folders for file in folder.rglob("*") if file.is_file()) < 2_000_000


def test_changes_are_small_and_repeat() -> None:
    content = b"0123456789"
    made = [fuzz_readers.changed(content, [content], random.Random(seed)) for seed in (1, 1, 2)]
    assert made[0] == made[1] != made[2]
