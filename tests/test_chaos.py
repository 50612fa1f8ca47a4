"""`make chaos` with few faults, at random and at each kind of change of files."""

from __future__ import annotations

import sys

import pytest

from conftest import ROOT

sys.path.insert(0, str(ROOT / "tools"))
from chaos import __main__ as chaos
from chaos.cases import CASES
from chaos.oracle import differences

COMMANDS = {case.name: case for case in CASES}


@pytest.mark.parametrize("name", ["run --overwrite", "sweep"])
def test_few_faults_leave_nothing_wrong(name: str) -> None:
    found = chaos.chaos([COMMANDS[name]], count=3, seed=5, place=None)
    assert found.problems == []
    assert found.counts.total() == 3


def test_differences_are_found() -> None:
    expected = {"a": "1", "b": "2", "c": "3"}
    assert list(differences(expected, {"a": "1", "b": "9", "d": "4"})) == [
        "b is different",
        "c is missing",
        "d is left over",
    ]
