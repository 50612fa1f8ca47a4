"""`incast deadlock table` and `incast.tagger`: the published table of classes and rules, and ours."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from incast import ScenarioError, tagger

if TYPE_CHECKING:
    from conftest import Command


def test_rows_are_those_of_the_design_page() -> None:
    """docs/design/deadlock.md has these figures, of graph seed 1."""
    expected = {
        ("F", 10, 12): (2, 89, 11),
        ("Fm", 100, 32): (3, 3356, 36),
        ("F", 100, 32): (3, 3433, 39),
        ("A", 100, 32): (2, 3648, 46),
        ("E", 10, 12): (2, 97, 13),
    }
    for (convention, switches, ports), figures in expected.items():
        row = tagger.row(convention, switches, ports)
        assert (row.classes, row.total, row.most) == figures, convention
        assert row.verified
    assert tagger.row("F", 100, 32).diameter == 6


def test_the_first_published_rows_contradict_themselves() -> None:
    rows = tagger.published()
    assert [row.total / row.switches > row.most for row in rows] == [True, True, False, False, False]
    assert (rows[-1].switches, rows[-1].classes, rows[-1].most) == (2000, 3, 98)


def test_text_has_means_and_ranges() -> None:
    found = list(tagger.rows(["F", "E"], [(10, 12)], [1, 2, 3]))
    assert [(row.convention, row.seed) for row in found] == [(name, seed) for name in "FE" for seed in (1, 2, 3)]
    lines = tagger.text(found).splitlines()
    assert lines[1].split() == ["10", "12", "published", "5", "2", "116", "10"]
    totals = [row.total for row in found[:3]]
    assert f"{sum(totals) / 3:,.1f} ({min(totals)} to {max(totals)})" in lines[2]


def test_command(command: Command) -> None:
    done = command("deadlock", "table", "--size", "10x12", "--convention", "F", "--seeds", 1, "--format", "json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == [
        {"convention": "F", "switches": 10, "ports": 12, "seed": 1, "diameter": 5, "classes": 2, "total": 89,
         "most": 11, "verified": True}
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("asked", "says"),
    [
        (("--size", "10"), "--size cannot be `10`, allowed: SWITCHESxPORTS"),
        (("--size", "4294967296x4"), "--size cannot be `4294967296x4`, allowed: SWITCHESxPORTS"),
        (("--size", "10x12", "--convention", "Fn"), "no convention `Fn`; allowed: F, Fm, A, A', B, C, D, E, G"),
        (("--size", "3x40"), "--size: 3 switches of 40 ports: "),
    ],
)
def test_bad_input(command: Command, asked: tuple[str, ...], says: str) -> None:
    done = command("deadlock", "table", *asked)
    assert done.returncode == 2
    assert says in done.stderr
    assert done.stdout == ""


def test_unknown_convention_in_python() -> None:
    with pytest.raises(ScenarioError, match="did you mean `F`"):
        tagger.row("f", 10, 12)
