"""Misconfigured routes: what is drawn, what loops, and what the checker says of those that do not."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

import incast
from conftest import write
from incast import _core, analysis
from incast.analysis.kinds.misroutes import Routes, cyclic, shortest
from incast.wiring import Wiring

RING = """\
[fabric.custom]
hosts = ["ha", "hb", "hc"]
switches = ["a", "b", "c"]
links = [{links}]

[[workload]]
list = [{{ src = 0, dst = 1, size = "1kB" }}]

[scheme.PFC]
control = "unlimited"
"""
FAT_TREE = """\
[fabric.fat_tree]
k = 4

[[workload]]
list = [{ src = 0, dst = 1, size = "1kB" }]

[scheme.PFC]
control = "unlimited"
"""


def ring(folder: Path) -> _core.Scenario:
    ends = [("ha", "a"), ("hb", "b"), ("hc", "c"), ("a", "b"), ("b", "c"), ("c", "a")]
    links = ", ".join(f'{{ a = "{one}", b = "{other}" }}' for one, other in ends)
    return _core.Scenario.load(write(folder, RING.format(links=links)), [])


def fat_tree(folder: Path) -> _core.Scenario:
    return _core.Scenario.load(write(folder, FAT_TREE), [])


def routes(scenario: _core.Scenario) -> Routes:
    return Routes(Wiring.read(scenario.fabric()))


def test_right_routes_are_those_of_the_core(tmp_path: Path) -> None:
    """Up and down in a fat tree: the same dependencies, none of them cyclic."""
    found = routes(fat_tree(tmp_path))
    number = found.wiring.number
    assert found.right[number("h0")][number("edge0")] == (number("h0"),)
    assert found.right[number("h0")][number("edge7")] == (number("agg6"), number("agg7"))
    assert found.right[number("h0")][number("core0")] == (number("agg0"),)
    assert all(found.loop(hops) is None for hops in found.right.values())
    lines = found.paths(number("h0"), found.right[number("h0")])
    # From the other host of its switch one, from the pod's other switch two, from six more switches four each.
    assert len(lines) == 1 + 2 + 6 * 4
    assert "h1 edge0 h0" in lines


def test_what_comes_back_loops(tmp_path: Path) -> None:
    found = routes(fat_tree(tmp_path))
    number = found.wiring.number
    to, wrong = number("h0"), {number("agg0"): number("edge1")}
    # edge1 sends what is for h0 to agg0 again, or to agg1.
    assert found.loop(found.with_wrong(to, wrong)) == 2
    assert found.loop(found.with_wrong(to, {number("agg0"): number("edge0")})) is None
    # A core switch sends it to another pod, from where it comes back.
    assert found.loop(found.with_wrong(to, {number("core0"): number("agg2")})) == 2


def test_circles_without_a_loop_are_for_the_checker(tmp_path: Path) -> None:
    """On a ring of three, where each switch sends what is for the last one by way of the next: no packet comes back."""
    scenario = ring(tmp_path)
    found = routes(scenario)
    number = found.wiring.number
    usual = {host: found.paths(host, hops) for host, hops in found.right.items()}
    wrong = {
        number(to): {number(at): number(by)} for at, by, to in (("a", "b", "hc"), ("b", "c", "ha"), ("c", "a", "hb"))
    }
    assert all(found.loop(found.with_wrong(to, hops)) is None for to, hops in wrong.items())
    assert shortest(scenario, found, usual, wrong, tmp_path) == 3
    wrong.pop(number("hc"))
    assert shortest(scenario, found, usual, wrong, tmp_path) is None
    assert shortest(scenario, found, usual, {}, tmp_path) is None


def test_more_wrong_routes_more_circles_and_the_same_for_a_seed(tmp_path: Path) -> None:
    scenario = fat_tree(tmp_path)
    counts = [cyclic(scenario, number, 100, 3)[0] for number in (1, 2, 4, 8)]
    assert counts == sorted(counts)
    assert counts[0] > 20
    assert counts[-1] > counts[0]
    assert cyclic(scenario, 2, 100, 3)[0] == counts[1]
    assert {cyclic(scenario, 2, 100, seed)[0] for seed in range(1, 5)} != {counts[1]}


def test_drawn_routes_are_of_so_many_places(tmp_path: Path) -> None:
    found = routes(fat_tree(tmp_path))
    drawn = found.drawn(20, random.Random(1))
    assert sum(map(len, drawn.values())) == 20
    for host, each in drawn.items():
        assert found.wiring.nodes[host].host
        for switch, to in each.items():
            assert to in found.near[switch]
    with pytest.raises(incast.ScenarioError, match="misroutes = 500 is out of range, allowed: 1 to 320 on this fabric"):
        found.drawn(500, random.Random(1))


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ("misroutes = 0", "misroutes = 0 is out of range"),
        ("misroutes = 1\nsamples = 0", "samples = 0 is out of range"),
        ("misroutes = 1\nfailures = 2", "`failures` = `2` cannot be used with `misroutes`"),
        ("misroutes = 1\ndetours = 1", "`detours` = `1` cannot be used with `misroutes`"),
        (
            'misroutes = 1\npaths = "shortest"',
            '`paths` = `shortest` cannot be used with `misroutes`; allowed: paths = "routes"',
        ),
    ],
)
def test_what_does_not_go_together(given: str, says: str, tmp_path: Path) -> None:
    write(tmp_path, FAT_TREE)
    paths = "" if "paths" in given else 'paths = "routes"\n'
    text = f'analysis = "dependencies"\n[set]\nscenario = "scenario.toml"\n{paths}{given}\n'
    with pytest.raises(incast.ScenarioError) as caught:
        analysis.read(write(tmp_path, text, "wrong.toml"))
    assert says in str(caught.value)
