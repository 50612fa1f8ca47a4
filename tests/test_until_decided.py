"""Seeds until decided: the error of repeated looks, and the runs that are added."""

from __future__ import annotations

import random
import shutil
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess

import pytest

import incast
from conftest import ROOT
from incast._interval import interval
from incast.study.sequential import Looks, grown

TINY = ROOT / "tests" / "data" / "study"
Command = Callable[..., CompletedProcess[str]]


def test_looks_double_and_share_the_error() -> None:
    looks = Looks(first=3, cap=20)
    assert looks.sizes == (3, 6, 12, 20)
    # 5 % in parts of 1, 2, 4 and 8 fifteenths.
    assert looks.errors() == pytest.approx([0.05 / 15, 0.1 / 15, 0.2 / 15, 0.4 / 15])
    assert [looks.after(seeds) for seeds in (3, 6, 12, 20)] == [6, 12, 20, None]
    assert (Looks(4, 16).sizes, Looks(10, 11).sizes) == ((4, 8, 16), (10, 11))
    assert grown([1, 2, 7], 5) == [1, 2, 7, 8, 9]


def test_the_interval_is_what_all_looks_agree_on() -> None:
    looks, values = Looks(3, 6), [4.0, 5.0, 6.0, 12.0, 12.0, 4.0]
    early, late = interval(values[:3], 1 - 0.05 / 3), interval(values, 1 - 0.1 / 3)
    assert looks.interval(values[:3]) == early
    assert looks.interval(values) == (late[0], early[1])
    # The mean of all, 5.5, is not in the first interval.
    values = [0.0, 1.0, 2.0, 10.0, 10.0, 10.0]
    assert looks.interval(values) == interval(values, 1 - 0.1 / 3)


def test_repeated_looks_decide_wrongly_in_at_most_5_percent_of_cases() -> None:
    """Normal values with a mean of exactly the bound: each decision is wrong."""
    draw, looks, wrong, naive = random.Random(2), Looks(3, 20), 0, 0
    for _ in range(2000):
        values = [draw.gauss(0, 1) for _ in range(20)]
        each = [looks.interval(values[:size]) for size in looks.sizes]
        wrong += any(low > 0 or high < 0 for low, high in each)
        plain = [interval(values[:size]) for size in looks.sizes]
        naive += any(low > 0 or high < 0 for low, high in plain)
    # The bound is 100; without a correction four looks are wrong in more than 10 % of cases.
    assert wrong <= 100 < 200 < naive


@pytest.fixture
def study(tmp_path: Path) -> Path:
    """The tiny study; C2 has one figure, with a bound at its mean over the planned seeds, so it stays undecided."""
    folder = Path(shutil.copytree(TINY, tmp_path / "tiny"))
    claims = folder / "claims.toml"
    text = claims.read_text(encoding="utf-8").replace("below = 1.0\n", "below = 1000.0\n", 1)
    old = 'at = { load = [0.2, 0.4] }\nof = { scheme = ["HPCC", "DCQCN"] }\nbelow = 1000\n'
    assert old in text
    claims.write_text(
        text.replace(old, 'at = { load = 0.2 }\nof = { scheme = "HPCC" }\nbelow = 2.5\n'), encoding="utf-8"
    )
    (check,) = incast.load_study(folder).run(tmp_path / "first").claims["C2"].checks
    assert check.value is not None
    claims.write_text(
        claims.read_text(encoding="utf-8").replace("below = 2.5", f"below = {check.value}"), encoding="utf-8"
    )
    return folder


def test_seeds_are_added_to_undecided_figures_alone(study: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    found = incast.load_study(study).run(out, until_decided=True, cap=5)
    (check,) = found.claims["C2"].checks
    assert (check.verdict, check.seeds, len(check.per_seed)) == ("undecided", 5, 5)
    assert check.reason == "the interval is on both sides of a bound, at the cap of 5 seeds"
    added = {tuple(run.columns.values()) for run in found.sweeps["load"].done if int(run.columns["seed"]) > 3}
    assert added == {(0.2, 4), (0.2, 5)}
    assert {check.seeds for check in found.claims["C1"].checks} == {3, 5}
    text = (out / "claims.json").read_text(encoding="utf-8")
    assert '"until_decided": 5' in text

    again = incast.load_study(study).run(out, until_decided=True, cap=5)
    assert (out / "claims.json").read_text(encoding="utf-8") == text
    assert again.manifest["cpu_s"] == found.manifest["cpu_s"]
    incast.load_study(study).judge(out)
    assert (out / "claims.json").read_text(encoding="utf-8") == text


def test_bad_caps(study: Path, tmp_path: Path, command: Command) -> None:
    done = command("study", "run", study, "--cap", "9", "-o", tmp_path / "out")
    assert (done.returncode, done.stderr) == (2, "error: --cap has no effect without --until-decided\n")
    done = command("study", "run", study, "--until-decided", "--cap", "3", "-o", tmp_path / "out")
    assert done.returncode == 2
    assert "no sweep has 2 to 2 seeds, so none gets more" in done.stderr
    assert not (tmp_path / "out").exists()
