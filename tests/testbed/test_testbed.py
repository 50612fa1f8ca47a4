"""Cost of rules in a kernel: the rules' text, the statistics, and a short measurement where one is possible."""

from __future__ import annotations

import json
import os
import random
import signal
import statistics
from pathlib import Path

import pytest

from conftest import PATIENCE, Command, Start, wait_until, write
from incast import testbed
from incast.cli import commands, ends
from incast.errors import EnvironmentFailure, IncastError
from incast.testbed.namespaces import Refused, tool
from incast.testbed.rules import HERE, as_chain, as_map
from incast.testbed.testbed import Testbed
from incast.testbed.trend import percentile
from testbed.networks import needs_networks

in_the_kernel = needs_networks()


@pytest.mark.parametrize("rules", [2, 3, 10, 160])
def test_as_many_rules_as_asked_for(rules: int) -> None:
    elements = [line for line in testbed.ruleset(rules, "map").splitlines() if "goto" in line]
    assert len(set(elements)) == len(elements) == rules
    assert elements[-2:] == [
        '            "swp1" . "swp2" : goto to_1,',
        '            "swp2" . "swp1" : goto to_1,',
    ]
    lines = [line for line in testbed.ruleset(rules, "chain").splitlines() if "iifname" in line]
    assert len(set(lines)) == len(lines) == 2 * rules
    assert all("swp2" in line.partition("oifname")[2] for line in lines[-2:])
    assert not any('"swp1"' in line.partition("oifname")[2] for line in lines[:-2])


def test_no_rules_no_table() -> None:
    assert testbed.ruleset(0, "map") == testbed.ruleset(0, "chain") == ""


def test_rules_are_those_of_the_export(command: Command, tmp_path: Path) -> None:
    fabric = "[fabric.leaf_spine]\nleaves = 2\nspines = 1\nhosts_per_leaf = 1\n[[workload]]\nlist = []\n"
    file = write(tmp_path, f'{fabric}[scheme.DCQCN]\ncontrol = "dcqcn"\n')
    done = command(
        "deadlock", "tag", file, "--paths", "up-down", "--method", "clos", "--export", "nftables", "-o", "rules"
    )
    assert done.returncode == 0, done.stderr
    exported = (tmp_path / "rules" / "spine0.nft").read_text(encoding="utf-8")
    ports = ("swp1", "swp2")
    assert exported.partition("\n")[2] == as_map([(ingress, egress) for ingress in ports for egress in ports])


def test_trend_of_a_straight_line() -> None:
    found = testbed.trend([[(rules, 5 + level + 0.25 * rules) for rules in (10, 20, 40)] for level in (0, 100)])
    assert found is not None
    assert found.slope == pytest.approx(0.25)
    assert found.error == pytest.approx(0, abs=1e-9)
    assert found.there


def test_trend_as_by_hand() -> None:
    """One round, so an ordinary line: slope 2, residuals 1, -2, 1 and a t quantile of 12.706 with one degree."""
    found = testbed.trend([[(0, 1), (1, 0), (2, 5)]])
    assert found is not None
    assert found.slope == pytest.approx(2)
    assert found.error == pytest.approx((6 / 1 / 2) ** 0.5)
    assert found.high - found.slope == pytest.approx(12.706 * 3**0.5, rel=1e-4)
    assert not found.there


def test_intervals_hold_as_often_as_they_say() -> None:
    drawn = random.Random(3)
    held = 0
    for _ in range(2000):
        levels = [drawn.gauss(0, 50) for _ in range(3)]
        found = testbed.trend([[(rules, level + drawn.gauss(0, 1)) for rules in (10, 20, 40, 80)] for level in levels])
        assert found is not None
        held += not found.there
    assert held / 2000 == pytest.approx(0.95, abs=0.015)


def test_too_little_for_a_trend() -> None:
    assert testbed.trend([]) is None
    assert testbed.trend([[(10, 1.0), (20, 2.0)]]) is None
    assert testbed.trend([[(10, 1.0)], [(10, 2.0)], [(10, 2.5)]]) is None


def test_percentile() -> None:
    assert [percentile(range(1, 101), fraction) for fraction in (0, 0.5, 0.99, 1)] == [1, 51, 100, 100]
    assert percentile([7], 0.99) == 7


def sample(round_: int, rules: int, rtt: float) -> testbed.Sample:
    return testbed.Sample(round_, rules, rtt, rtt - 1, rtt + 9, 1, 4e8, 1514, 9.5e9, 64000)


@pytest.fixture
def cost() -> testbed.Cost:
    """Ten nanoseconds for each rule, and a second round that is slower as a whole."""
    plan = testbed.Plan((0, 10, 110, 210), seconds=2, pings=100, rounds=2)
    samples = [sample(1 + slow, n, 12 + slow + (n > 0) + n / 100) for slow in (0, 1) for n in plan.rules]
    return testbed.Cost(plan, "6.1", tuple(samples))


def test_figures_and_trends(cost: testbed.Cost) -> None:
    assert [figure.rules for figure in cost.figures("rtt_mean_us")] == [0, 10, 110, 210]
    assert cost.figures("rtt_mean_us")[0] == testbed.Figure(0, 12.5, statistics.stdev([12, 13]))
    trend = cost.trend("rtt_mean_us")
    assert trend is not None
    # Without the table's own microsecond.
    assert trend.slope == pytest.approx(0.01)
    assert cost.table()["rules"] == [0, 10, 110, 210] * 2
    assert json.loads(json.dumps(cost.to_dict()))["trends"]["rtt_mean_us"]["there"] is True


def test_text(cost: testbed.Cost) -> None:
    said = testbed.text(cost)
    assert "2 rounds of 100 pings and two TCP connections of 2 s" in said
    assert "12.5 +- 0.7" in said
    assert "RTT mean, ns" in said
    assert "+10.0 (+10.0 to +10.0)" in said
    assert "trend" in said
    assert "8 pings without an answer" in said


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--rules", "0,1"], "rules cannot be `1`\n = allowed: 0, or 2 to 4,096"),
        (["--rules", "0,ten"], "--rules cannot be `0,ten`"),
        (["--rules", "10,10"], "each once"),
        (["--rules", ""], "whole numbers separated by commas"),
        (["--seconds", "0"], "seconds cannot be `0.0`\n = allowed: more than 0"),
        (["--seconds", "nan"], "more than 0"),
        (["--pings", "0"], "1 or more"),
        (["--rounds", "-1"], "1 or more"),
        (["--form", "heap"], "map"),
    ],
)
def test_bad_options(command: Command, arguments: list[str], said: str) -> None:
    done = command("deadlock", "cost", *arguments)
    assert done.returncode == 2
    assert said in done.stderr


def test_a_machine_that_cannot(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """Exit code 3 and the reason; nothing is printed as if it had been measured."""
    monkeypatch.setattr("incast.testbed.testbed.sys.platform", "darwin")
    assert testbed.available() == "network namespaces need Linux; this is darwin"
    with pytest.raises(EnvironmentFailure) as failure:
        commands.run(["deadlock", "cost"])
    assert ends.code_of(failure.value) == 3
    assert capsys.readouterr() == ("", "error: network namespaces need Linux; this is darwin\n")


def test_without_a_program_checks_fail_where_others_skip(monkeypatch: pytest.MonkeyPatch) -> None:
    why = "program `nft` is not installed (package nftables)"
    for refusal, checks, skips in (
        (why, True, False),
        (why, False, True),
        ("user namespaces are restricted", True, True),
    ):
        monkeypatch.setattr("incast.testbed.available", lambda refusal=refusal: refusal)
        monkeypatch.setenv("CI", "true" if checks else "")
        assert needs_networks().args == (skips,)


def test_a_program_that_is_not_there() -> None:
    with pytest.raises(Refused, match="program `iproute3` is not installed"):
        tool("iproute3")


@in_the_kernel
@pytest.mark.parametrize("form", ["map", "chain"])
def test_a_short_measurement(command: Command, form: str) -> None:
    asked = ["--rules", "0,2,20", "--pings", "50", "--seconds", "0.1", "--rounds", "2", "--form", form]
    done = command("deadlock", "cost", *asked, "--format", "json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert sorted((each["round"], each["rules"]) for each in found["samples"]) == [
        (number, rules) for number in (1, 2) for rules in (0, 2, 20)
    ]
    for each in found["samples"]:
        assert 0 < each["rtt_p50_us"] <= each["rtt_p99_us"]
        assert each["lost"] == 0
        assert each["packets_bps"] > 0
        assert each["packet_bytes"] <= 1514 < each["aggregate_bytes"]


@in_the_kernel
def test_packets_that_no_rule_matches_are_noticed() -> None:
    """That the packets' own rule is the one that matched: without it they lose their tag."""
    with Testbed() as made:
        for rules in (testbed.ruleset(9, "map"), testbed.ruleset(9, "chain")):
            made.load(rules)
            assert len(made.ping(10)[0]) == 10
        for rules in (as_map([("swp1", "swp2"), ("swp2", "swp3")]), as_chain([(HERE, ("swp3",))])):
            made.load(rules)
            with pytest.raises(EnvironmentFailure, match="code point 8 came back with 0"):
                made.ping(10)


@in_the_kernel
def test_rules_that_the_kernel_does_not_take() -> None:
    with Testbed() as made, pytest.raises(EnvironmentFailure, match=r"nft -f -: /dev/stdin:2:.* Error"):
        made.load("table inet { nonsense")


@in_the_kernel
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_nothing_stays_behind(start: Start, number: signal.Signals) -> None:
    process = start("deadlock", "cost", "--seconds", "20", "--pings", "10")
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
    wait_until(lambda: bool(children.read_text()))
    holder = int(children.read_text())
    senders = Path(f"/proc/{holder}/task/{holder}/children")
    wait_until(lambda: bool(senders.read_text().split()))
    process.send_signal(number)
    process.communicate(timeout=PATIENCE)
    wait_until(lambda: not alive(holder))
    assert process.returncode in (128 + number, -number)


def alive(process: int) -> bool:
    try:
        os.kill(process, 0)
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (ProcessLookupError, FileNotFoundError):
        return False


def test_errors_name_the_field() -> None:
    with pytest.raises(IncastError) as caught:
        testbed.Plan(rules=(5000,))
    assert caught.value.field == "rules"
