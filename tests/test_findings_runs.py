"""Findings about small real runs agree with their tables."""

from __future__ import annotations

from pathlib import Path

import pytest

import incast
from conftest import RING, write
from incast import charts
from incast.charts import look
from incast.findings.chains import trees
from incast.findings.percentile import SLOWDOWN, p99
from incast.findings.seed import is_without_effect
from incast.schema import NetworkParams

FABRIC = """\
[fabric.leaf_spine]
leaves = 2
spines = 2
hosts_per_leaf = 4

[[workload]]
[workload.poisson]
load = 0.5
sizes = "20kB"
duration = "100us"

[scheme.DCQCN]
control = "dcqcn"

[scheme.HPCC]
control = "hpcc"
"""
FAILED = (
    FABRIC
    + """
[network]
failure = [{ link = ["leaf0", "spine0"], at = "20us", until = "40us" }]

[rdma]
rto = "100us"
"""
)
STORM = (
    FABRIC
    + """
[network]
pause = [{ at = "h0", priority = 3, from = "20us", until = "80us" }]

[switch]
buffer = "300kB"
"""
)


BEHIND = """\
[fabric.leaf_spine]
leaves = 2
spines = 1
hosts_per_leaf = 4

[switch]
buffer = "4MiB"

[network]
pause = [{ at = "h0", priority = 3, from = "100us", until = "2ms" }]

[[workload]]
list = [{ src = 4, dst = 0, size = "10MB" }, { src = 5, dst = 1, size = "10MB" }]

[scheme.DCQCN]
control = "dcqcn"
"""


def run(folder: Path, text: str) -> incast.Results:
    """The results of a scenario."""
    return incast.load(write(folder, text)).run(folder / "results")


@pytest.mark.filterwarnings("ignore::incast.IncastWarning")
def test_a_failure_comes_first_with_its_losses(tmp_path: Path) -> None:
    results = run(tmp_path, FAILED)
    first = results.findings()[0]
    assert (first.kind, first.schemes) == ("failure", ("DCQCN", "HPCC"))
    assert first.text.startswith("leaf0-spine0 was down from 20 us to 40 us: ")
    for manifest in results.manifest["schemes"].values():
        lost = manifest["counts"]["link_down_drops"]
        assert lost
        assert f"{lost:,} " in first.text
    assert first.to_dict() == {
        "kind": "failure", "importance": first.importance, "text": first.text, "schemes": ["DCQCN", "HPCC"]
    }  # fmt: skip


@pytest.mark.filterwarnings("ignore::incast.IncastWarning")
def test_a_failure_of_one_scheme_has_the_run_without_it(tmp_path: Path) -> None:
    failure = '[{ link = ["leaf0", "spine0"], at = "20us", until = "40us" }]'
    own = f'[scheme."A a"]\ncontrol = "dcqcn"\nnetwork.failure = {failure}\n'
    text = f'{FABRIC}\n{own}\n[rdma]\nrto = "100us"\n'
    found = [each.text for each in run(tmp_path, text).findings() if each.kind == "failure"]
    assert found[0].startswith("A a: leaf0-spine0 was down from 20 us to 40 us: ")
    without = """--set 'scheme."A a".network.failure=[]'."""
    assert [each for each in found if each.startswith("A a: flows during an outage") and each.endswith(without)]
    own_settings = (incast.load(tmp_path / "scenario.toml", [without[7:-2]]).scheme or {})["A a"]
    assert own_settings.network == NetworkParams(failure=[])


@pytest.mark.filterwarnings("ignore::incast.IncastWarning")
def test_a_storm_is_the_root_of_the_pauses(tmp_path: Path) -> None:
    results = run(tmp_path, STORM)
    first = results.findings()[0]
    assert first.text.startswith(
        "h0 sent PFC pauses of priority 3 from 20 us to 80 us (configured storm); they paused "
    )
    source = charts.Source([results])
    found = list(trees(source))
    source.close()
    assert {("DCQCN", "h0 to leaf0"), ("HPCC", "h0 to leaf0")} <= {(tree.scheme, tree.root) for tree in found}
    paused = {row["port"] for row in results.ports.dicts() if row["scheme"] == "DCQCN" and row["paused_ps"]}
    assert sum(tree.ports for tree in found if tree.scheme == "DCQCN") >= len(paused) > 1


def test_a_storm_pauses_ports_behind_the_leaf(tmp_path: Path) -> None:
    first = run(tmp_path, BEHIND).findings()[0]
    # leaf0 to h0, spine0 to leaf0 (by a packet to h1), leaf1 to spine0, h4 and h5.
    assert "they paused 5 ports, the longest for 1.9 ms, 49.1 % of the run" in first.text


@pytest.mark.filterwarnings("ignore::incast.IncastWarning")
def test_storms_of_one_sender_are_told_together(tmp_path: Path) -> None:
    more = '[{ at = "h0", priority = 3, from = "100us", until = "2ms" }, { at = "h0", priority = 3, from = "3ms" }]'
    text = BEHIND.replace('[{ at = "h0", priority = 3, from = "100us", until = "2ms" }]', more)
    horizon = '[simulation]\nhorizon = "4ms"\n'
    found = [each.text for each in run(tmp_path, text + horizon).findings() if each.kind == "storm"]
    assert len(found) == 1
    assert found[0] == (
        "h0 sent PFC pauses of priority 3 from 100 us to 2 ms and from 3 ms to the end of the run (configured storms); "
        "they paused 5 ports, the longest for 2.899 ms, 72.5 % of the run."
    )


@pytest.mark.filterwarnings("ignore::incast.IncastWarning")
def test_pauses_apart_from_a_storm_have_their_own_root(tmp_path: Path) -> None:
    # Nothing is sent to h0, which the storm pauses; h4 and h5 overload h6.
    text = BEHIND.replace("dst = 0", "dst = 6").replace("dst = 1", "dst = 6").replace("dcqcn", "unlimited")
    calm = '[scheme.calm]\ncontrol = "unlimited"\nnetwork.pause = []\n'
    found = [each.text for each in run(tmp_path, text + calm).findings() if each.kind in {"storm", "pauses"}]
    storm, apart, other = (each.removeprefix("DCQCN: ") for each in found)
    assert "(configured storm); they paused 1 port, " in storm
    assert other.startswith("calm: leaf1 to h6 was the root of 100 % of the paused time: it paused 2 ports, ")
    assert apart.startswith("leaf1 to h6 was the root of ")
    assert "of the paused time, apart from configured storms: it paused 2 ports, the longest for " in apart


@pytest.mark.filterwarnings("ignore::incast.IncastWarning")
def test_goodput_of_backlogged_flows_ends_with_their_entry(tmp_path: Path) -> None:
    # At the end of the entry hundreds of kB wait in the hosts, which are acknowledged later.
    list_ = '[{ src = 0, dst = 2, size = "backlogged" }, { src = 1, dst = 2, size = "backlogged", start = "1ms" }]'
    entry = f'[[workload]]\nend = "2ms"\nlist = {list_}\n'
    results = run(tmp_path, f'[fabric.star]\nhosts = 3\n{entry}[scheme.TCP]\ntransport = "tcp"\n')
    first, second = results.flows.dicts()
    assert first["finish_ps"] > 2 * 10**9
    bits = (first["goodput_bps"] * 2 + second["goodput_bps"]) / 1000
    # Together they fill the receiver's link; 1,460 B of a packet's 1,500 B are payload.
    assert 0.95 < bits / (2e-3 * 100e9) < 1460 / 1500
    (found,) = [each.text for each in results.findings() if each.kind == "backlogged"]
    assert found.startswith("The 2 backlogged flows had a mean goodput of ")


@pytest.mark.filterwarnings("ignore::incast.IncastWarning")
@pytest.mark.parametrize(("transport", "gbps"), [("tcp", (96, 97.4)), ('udp = { rate = "40Gbps" }', (38.8, 39))])
def test_backlogged_flows_are_incomplete_at_the_horizon(
    tmp_path: Path, transport: str, gbps: tuple[float, float]
) -> None:
    key = f"transport.{transport}" if "{" in transport else f'transport = "{transport}"'
    flow = '[[workload]]\nlist = [{ src = 0, dst = 1, size = "backlogged" }]\n'
    text = f'[fabric.star]\nhosts = 2\n{flow}[simulation]\nhorizon = "1ms"\n[scheme.A]\n{key}\n'
    results = run(tmp_path, text)
    (row,) = results.flows.dicts()
    assert (row["status"], row["finish_ps"]) == ("incomplete", None)
    assert gbps[0] < row["goodput_bps"] / 1e9 < gbps[1]
    assert (
        results.manifest["schemes"]["A"]["stop"]["text"] == "stopped at the horizon; 1 flow was backlogged until then"
    )


@pytest.mark.filterwarnings("ignore::incast.IncastWarning")
def test_a_storm_that_outlasts_the_run_ends_with_it(tmp_path: Path) -> None:
    first = run(tmp_path, f'{STORM.replace("80us", "80ms")}\n[simulation]\nhorizon = "60us"\n').findings()[0]
    assert first.text.startswith("h0 sent PFC pauses of priority 3 from 20 us to the end of the run (configured storm)")


NEVER = """\
[fabric.star]
hosts = 4

[network]
failure = [{ link = ["h1", "s0"], at = "20ms" }]
pause = [{ at = "h0", priority = 3, from = "30ms" }]
route = [{ at = "s0", to = "h1", via = ["h1"], from = "40ms" }]

[[workload]]
incast = { fan_in = 3, size = "1MB", receiver = 0 }

[scheme.HPCC]
control = "hpcc"
"""


def test_events_after_the_end_of_the_run_never_happened(tmp_path: Path) -> None:
    with pytest.warns(incast.IncastWarning) as warned:
        results = run(tmp_path, NEVER)
    end = look.time(results.manifest["schemes"]["HPCC"]["end_ps"])
    never = f"never happened: the run ended at {end}"
    assert [str(each.message) for each in warned] == results.warnings() == [
        f"network.failure[0].at: the failure of link h1-s0 at 20 ms {never}",
        f"network.pause[0].from: the PFC storm of h0 (priority 3) at 30 ms {never}",
        f"network.route[0].from: the change of the route from s0 to h1 at 40 ms {never}",
    ]  # fmt: skip
    found = results.findings()
    assert [(each.kind, each.text) for each in found if "never" in each.text] == [
        ("storm", f"The PFC storm of h0 (priority 3) at 30 ms {never}."),
        ("failure", f"The failure of link h1-s0 at 20 ms {never}."),
        ("change", f"The change of the route from s0 to h1 at 40 ms {never}."),
    ]
    assert not any("sent PFC pauses" in each.text for each in found)


def test_comparisons_name_the_schemes_with_an_event(tmp_path: Path) -> None:
    # HPCC needs 285 us, TCP 256 us; the failed link has no traffic.
    text = f'{NEVER}\n[scheme.TCP]\ntransport = "tcp"\n'.replace("hosts = 4", "hosts = 5").replace('"h1"', '"h4"')
    text = text.replace("20ms", "270us").replace("pause = ", "# ").replace("route = ", "# ")
    with pytest.warns(incast.IncastWarning, match=r"the failure of link h4-s0 at 270 us never happened under TCP"):
        results = run(tmp_path, text)
    (completion,) = (each for each in results.findings() if each.kind == "completion")
    assert completion.text.endswith(" Only the run of HPCC had the failure of link h4-s0 at 270 us.")


FIXED = """\
[fabric.star]
hosts = 4

[[workload]]
ring_all_reduce.size = "400kB"

[[workload]]
moe_all_to_all = { size = "400kB", layers = 2, expert = "1us" }

[[workload]]
list = [{ src = 0, dst = 1, size = "100kB" }]

[scheme.PFC]
control = "unlimited"

[scheme.HPCC]
control = "hpcc"

[scheme.TCP]
transport = "tcp"
"""


SLOW = '{ at = "h0", priority = 3, until = "99us", random = { pause = ["1us", "2us"], gap = ["1us", "2us"] } }'


def test_the_seed_is_reported_only_if_something_is_random(tmp_path: Path) -> None:
    scenario = write(tmp_path, FIXED)
    first, second = (incast.load(scenario, [f"seed={seed}"]).run() for seed in (1, 2))
    # The rule holds: another seed changes no time of a flow.
    assert [*first.flows.dicts()] == [*second.flows.dicts()]
    kinds = [each.kind for each in first.findings()]
    assert "iterations" in kinds
    assert "seed" not in kinds


@pytest.mark.parametrize(
    "override",
    [
        "scheme.PFC.control=dcqcn",  # marks
        "scheme.HPCC.control=hpcc_pint",
        "host.jitter=100ns",
        "fabric={ leaf_spine = { leaves = 2, spines = 2, hosts_per_leaf = 2 } }",
        'workload=[{ incast = { fan_in = 2, size = "9kB" } }]',
        'workload=[{ moe_all_to_all = { size = "40kB", layers = 1, skew = { zipf = 1.0 } } }]',
        'workload=[{ ring_all_reduce = { size = "40kB", ranks = { order = "random" } } }]',
        'network.failure=[{ random = { links = 1, tiers = [0, 1] }, at = "1us", until = "2us" }]',
        'network.failure=[{ link = ["h0", "s0"], silent = 0.1, at = "1us", until = "2us" }]',
        f"scheme.HPCC.network.pause=[{SLOW}]",
    ],
)
@pytest.mark.filterwarnings("ignore::incast.IncastWarning")
def test_random_parts_of_a_scenario(tmp_path: Path, override: str) -> None:
    source = charts.Source([incast.load(write(tmp_path, FIXED), [override]).run()])
    assert not is_without_effect(source)


def test_a_deadlock_comes_first(tmp_path: Path) -> None:
    first, *others = run(tmp_path, RING).findings()
    assert first.kind == "deadlock"
    assert "3 paused queues wait for each other (s0 to s1, s1 to s2 and s2 to s0)" in first.text
    assert any(other.text.startswith("3 flows of 3 did not complete because of the deadlock") for other in others)


def test_p99_is_that_of_the_table_of_slowdowns(results: Path) -> None:
    opened = incast.open(results)
    source = charts.Source([opened])
    found = dict(source.rows(f"select scheme, {p99(SLOWDOWN)} from flows group by scheme"))
    source.close()
    assert found == {row["scheme"]: row["p99"] for row in opened.slowdown(bins=1, label="all").dicts()}
