"""Iterations of collectives: closed forms, Python, the terminal, charts, jobs next to others and alone."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest

import incast
from conftest import Command, write
from incast import charts
from incast.charts import over
from incast.errors import ResultsError

RANKS = 8
SEGMENT = 100_000
"""Bytes of a segment of the ring."""
PAYLOAD = 1000
GBPS = 40
LATENCY_PS = 2_000_000
"""Propagation delay of two links."""
COMPUTE_PS = 50_000_000
SCENARIO = f"""
[fabric.star]
hosts = {RANKS}
rate = "{GBPS}Gbps"
delay = "1us"
[rdma]
ack_every = 1048576
[packets]
payload = "{PAYLOAD}B"
[switch]
buffer = "1GB"
[scheme.free]
control = "unlimited"
[[workload]]
label = "ring"
PATTERN
"""
SIZE = RANKS * SEGMENT


def serialised(payload: int) -> int:
    """Picoseconds on a link, with headers of 48 B in each packet."""
    return (payload + -(-payload // PAYLOAD) * 48) * 8000 // GBPS


DELIVERED_PS = serialised(SEGMENT) + serialised(PAYLOAD) + LATENCY_PS
"""A segment over two links, store-and-forward."""
ACK_PS = 60 * 8000 // GBPS


def ran(tmp_path: Path, pattern: str) -> incast.Results:
    """Results of a workload pattern on a non-blocking switch, without congestion control."""
    return incast.load(write(tmp_path, SCENARIO.replace("PATTERN", pattern))).run(tmp_path / "out")


def ring(rest: str = "") -> str:
    """A ring all-reduce."""
    return f'ring_all_reduce = {{ size = "{SIZE}B", {rest} }}'


@pytest.mark.parametrize(
    ("part", "operation", "steps", "factor"),
    [
        ("both", "all-reduce", 2 * (RANKS - 1), 2 * (RANKS - 1) / RANKS),
        ("reduce_scatter", "reduce-scatter", RANKS - 1, (RANKS - 1) / RANKS),
        ("all_gather", "all-gather", RANKS - 1, (RANKS - 1) / RANKS),
    ],
)
def test_ring(tmp_path: Path, part: str, operation: str, steps: int, factor: float) -> None:
    """Every step but the first starts behind the ACK of the step before."""
    results = ran(tmp_path, ring(f'iterations = 3, compute = "{COMPUTE_PS}ps", part = "{part}"'))
    rows = list(results.iterations().dicts())
    time = steps * DELIVERED_PS + (steps - 1) * ACK_PS
    assert [row["communication_ps"] for row in rows] == [time] * 3
    assert [row["iteration"] for row in rows] == [0, 1, 2]
    assert [row["compute_ps"] for row in rows] == [0, COMPUTE_PS, COMPUTE_PS]
    pause = 2 * ACK_PS + LATENCY_PS + COMPUTE_PS
    assert [after["start_ps"] - before["end_ps"] for before, after in pairwise(rows)] == [pause] * 2
    for row in rows:
        assert (row["scheme"], row["label"], row["collective"]) == ("free", "ring", 0)
        assert (row["operation"], row["ranks"], row["size_bytes"]) == (operation, RANKS, SIZE)
        assert row["end_ps"] - row["start_ps"] == time
        assert row["algorithm_bps"] == round(SIZE * 8e12 / time)
        assert row["bus_bps"] == round(SIZE * 8e12 / time * factor)
        assert row["bus_bps"] < GBPS * 1e9


def test_queue_pairs_and_other_entries(tmp_path: Path) -> None:
    """Flows of other entries lie between those of an iteration; messages are split."""
    late = '\n[[workload]]\nlabel = "late"\nstart = "1ns"\nlist = [{ src = 0, dst = 1, size = 1 }]'
    second = '\n[[workload]]\nlabel = "second"\nqps = 4\n' + ring("iterations = 2")
    results = ran(tmp_path, ring() + late + second)
    rows = list(results.iterations().dicts())
    keys = [(row["label"], row["collective"], row["iteration"]) for row in rows]
    assert keys == [("ring", 0, 0), ("second", 1, 0), ("second", 1, 1)]
    flows = list(results.flows.dicts())
    for label, split in (("ring", 1), ("second", 2 * 4)):
        mine = [flow for flow in flows if flow["label"] == label]
        assert len(mine) == 2 * (RANKS - 1) * RANKS * split
        ended = [row for row in rows if row["label"] == label]
        assert ended[0]["start_ps"] == min(flow["start_ps"] for flow in mine)
        assert ended[-1]["end_ps"] == max(flow["delivered_ps"] for flow in mine)
    by_label = list(results.iterations(by="label").dicts())
    assert [(row["label"], row["iterations"]) for row in by_label] == [("ring", 1), ("second", 2)]
    times = [row["communication_ps"] for row in rows[1:]]
    assert (by_label[1]["min_ps"], by_label[1]["max_ps"]) == (min(times), max(times))
    assert by_label[1]["mean_ps"] == sum(times) / 2


def test_flows_have_their_place_in_the_collective(tmp_path: Path) -> None:
    """Join of `flows` with `iterations`; other flows have none."""
    other = '\n[[workload]]\nlabel = "other"\nlist = [{ src = 0, dst = 1, size = 1 }]'
    results = ran(tmp_path, ring("iterations = 2") + other)
    ends: dict[int, list[int]] = {0: [], 1: []}
    for flow in results.flows.dicts():
        place = [flow[name] for name in ("collective", "iteration", "step", "rank")]
        if flow["label"] == "other":
            assert place == [None] * 4
            continue
        assert (flow["collective"], flow["rank"]) == (0, flow["src"])
        assert 0 <= flow["step"] < 2 * (RANKS - 1)
        assert flow["start_ps"] - results.iterations()["start_ps"][flow["iteration"]] == pytest.approx(
            flow["step"] * (DELIVERED_PS + ACK_PS), abs=ACK_PS
        )
        ends[flow["iteration"]].append(flow["delivered_ps"])
    assert [max(each) for each in ends.values()] == list(results.iterations()["end_ps"])


RAILS = f"""
[fabric.rail_optimized]
servers = 4
gpus_per_server = 4
spines = 2
nic_rate = "{GBPS}Gbps"
[rdma]
ack_every = 1048576
[packets]
payload = "{PAYLOAD}B"
[switch]
buffer = "1GB"
[scheme.free]
control = "unlimited"
[[workload]]
label = "ring"
[workload.ring_all_reduce]
size = "16MB"
ranks.order = "ORDER"
"""


@pytest.mark.parametrize(("order", "rings"), [("rails", 4), ("host", 1)])
def test_rails_keep_rings_off_the_spines(tmp_path: Path, order: str, rings: int) -> None:
    """With a ring on each rail, every NIC sends its share, and bus bandwidth is that of all NICs of a server."""
    results = incast.load(write(tmp_path, RAILS.replace("ORDER", order))).run(tmp_path / "out")
    sent = {"nic": 0, "spine": 0}
    for port in results.ports.dicts():
        nic = port["node_name"].startswith("h") and port["peer_name"].startswith("rail")
        spine = "spine" in port["node_name"] + port["peer_name"]
        sent["nic"] += port["tx_bytes"] if nic else 0
        sent["spine"] += port["tx_bytes"] if spine else 0
    # Each server sends 2 (n - 1) messages of each ring to the next server, n = 16, and as many ACKs to the one before.
    messages, packets = 4 * rings * 2 * 15, 16_000_000 // 16 // rings // PAYLOAD
    assert sent["nic"] == messages * (packets * (PAYLOAD + 48) + 60)
    assert (sent["spine"] == 0) == (order == "rails")
    (row,) = results.iterations().dicts()
    # NICs are the bottleneck: 30 messages of a segment each, and NVLink and latency at the ends.
    least = 30 * serialised(16_000_000 // 16 // rings)
    assert least < row["communication_ps"] < 1.05 * least
    assert row["bus_bps"] == pytest.approx(rings * GBPS * 1e9 * PAYLOAD / (PAYLOAD + 48), rel=0.05)


def test_all_to_all(tmp_path: Path) -> None:
    """A rank's size has the message to itself, as in nccl-tests."""
    results = ran(tmp_path, f'all_to_all = {{ size = "{SEGMENT}B", iterations = 2 }}')
    for row in results.iterations().dicts():
        assert (row["operation"], row["size_bytes"]) == ("all-to-all", RANKS * SEGMENT)
        wire = serialised((RANKS - 1) * SEGMENT) + serialised(PAYLOAD) + LATENCY_PS
        assert row["communication_ps"] == pytest.approx(wire, rel=0.001)
        assert row["bus_bps"] == pytest.approx((RANKS - 1) * SEGMENT * 8e12 / wire, rel=0.001)


def test_experts(tmp_path: Path) -> None:
    """Compute time of experts and between layers is no communication."""
    pattern = 'moe_all_to_all = { size = "800kB", layers = 2, iterations = 2, COMPUTE }'
    for name in ("plain", "slow"):
        (tmp_path / name).mkdir()
    plain = ran(tmp_path / "plain", pattern.replace(", COMPUTE", ""))
    slow = ran(tmp_path / "slow", pattern.replace("COMPUTE", 'expert = "30us", compute = "70us"'))
    for row, other in zip(slow.iterations().dicts(), plain.iterations().dicts(), strict=True):
        assert row["size_bytes"] == 2 * 2 * 800_000
        assert row["end_ps"] - row["start_ps"] - row["communication_ps"] == (2 * 30 + 70) * 1_000_000
        assert row["communication_ps"] == pytest.approx(other["communication_ps"], rel=0.01)
    assert list(slow.iterations()["iteration"]) == [0, 1]


def test_only_completed_iterations_have_a_row(tmp_path: Path) -> None:
    time = 2 * (RANKS - 1) * (DELIVERED_PS + ACK_PS)
    horizon = f'\n[simulation]\nhorizon = "{int(1.5 * time)}ps"'
    results = ran(tmp_path, ring("iterations = 3") + horizon)
    assert list(results.iterations()["iteration"]) == [0]


def test_repr_names_the_methods(tmp_path: Path) -> None:
    results = ran(tmp_path, ring())
    assert 'messages, table("iterations"), ports' in repr(results)
    assert len(results.table("iterations")) == 1
    with pytest.raises(ValueError, match="by must be one of 'iteration', 'label', got 'rank'"):
        results.iterations(by="rank")  # type: ignore[arg-type]


def test_without_collectives(tmp_path: Path) -> None:
    results = ran(tmp_path, "permutation = { size = 1000 }")
    assert "iterations" not in results.tables
    with pytest.raises(ResultsError, match="no table `iterations`: the scenario has no collective"):
        results.iterations()


def test_terminal(tmp_path: Path, command: Command) -> None:
    file = write(tmp_path, SCENARIO.replace("PATTERN", ring("iterations = 3")))
    out = command("run", file, "--output", tmp_path / "out").stdout
    time = 2 * (RANKS - 1) * DELIVERED_PS + (2 * (RANKS - 1) - 1) * ACK_PS
    bandwidth = 2 * (RANKS - 1) / RANKS * SIZE * 8e12 / time
    line = next(line for line in out.splitlines() if line.startswith("ring "))
    shown = f"{time / 1e6:.1f}"
    assert line.split() == ["ring", "free", "3", *(shown, "us") * 3, f"{bandwidth / 1e9:.1f}", "Gb/s"]


def test_bus_bandwidth_of_several_iterations_is_that_of_their_mean_time(tmp_path: Path) -> None:
    late = '\n[[workload]]\nlabel = "late"\nstart = "100us"\nlist = [{ src = 0, dst = 1, size = "8MB" }]'
    results = ran(tmp_path, ring("iterations = 4") + late)
    (row,) = results.iterations(by="label").dicts()
    assert row["max_ps"] > 1.1 * row["min_ps"]
    assert row["bus_bps"] == pytest.approx(2 * (RANKS - 1) / RANKS * SIZE * 8e12 / row["mean_ps"], rel=1e-6)
    (swept,) = over.of_rows([], list(over.rows_of([], charts.Source([results]))), (), ()).dicts()
    assert (swept["iteration_ps"], swept["bus_bps"]) == (row["mean_ps"], pytest.approx(row["bus_bps"], rel=1e-12))


def test_chart(tmp_path: Path) -> None:
    """A bar is the mean of several iterations if there are many; panels of one label have numbers."""
    small = 'ring_all_reduce = { size = "8kB", iterations = 90, compute = "1us" }'
    second = '\n[[workload]]\nlabel = "ring"\nring_all_reduce = { size = "8kB", ranks.hosts = "0-1" }'
    results = ran(tmp_path, small + second)
    chart = charts.iterations(charts.Source([results]))
    assert chart.left_out == ("Each bar is the mean of 3 iterations.",)
    rows = list(chart.dicts())
    assert [row["iteration"] for row in rows] == [*range(0, 90, 3), 0]
    assert {row["who"] for row in rows} == {"ring 0", "ring 1"}
    first = list(results.iterations().dicts())[:3]
    assert rows[0]["communication_ps"] == sum(row["communication_ps"] for row in first) / 3
    assert rows[0]["compute_ps"] == 2_000_000 / 3
    assert rows[1]["compute_ps"] == 1_000_000
    assert [axes.get_title(loc="left") for axes in results.plot("iterations").axes] == ["ring 0", "ring 1"]


def test_chart_without_collectives(tmp_path: Path) -> None:
    results = ran(tmp_path, "permutation = { size = 1000 }")
    with pytest.raises(ResultsError, match="No iteration of a collective completed"):
        results.plot("iterations")


TWO = """
[[workload]]
label = "other"
ring_all_reduce = { size = "800kB", iterations = 2 }
"""


def test_jobs_alone(tmp_path: Path, command: Command) -> None:
    """Two equal jobs on the same hosts take twice as long as each alone."""
    file = write(tmp_path, SCENARIO.replace("PATTERN", ring("iterations = 2")) + TWO)
    out = command("run", file, "--output", tmp_path / "out", "--alone").stdout
    rows = list(incast.open(tmp_path / "out").alone().dicts())
    assert [(row["scheme"], row["label"], row["iterations"]) for row in rows] == [("free", job, 2) for job in JOBS]
    steps = 2 * (RANKS - 1)
    for row in rows:
        # Before the second of two iterations an ACK of the first crosses two links.
        assert row["alone_ps"] == steps * DELIVERED_PS + (steps - 1) * ACK_PS + (LATENCY_PS / 2 + ACK_PS)
        assert row["slowdown"] == row["mean_ps"] / row["alone_ps"]
        assert row["slowdown"] == pytest.approx(2, rel=0.15)
    lines = [line.split() for line in out.splitlines() if line.endswith(f"{rows[0]['slowdown']:.3f}")]
    assert lines[0][:3] == ["ring", "free", "2"]
    assert f"Next to the other traffic, iterations of job ring take {rows[0]['slowdown']:.3g} times" in out
    by_python = incast.load(file).run(tmp_path / "again", alone=True)
    assert list(by_python.alone().dicts()) == rows


JOBS = ("ring", "other")


def test_iterations_of_a_job_with_two_collectives_are_compared_one_by_one(tmp_path: Path) -> None:
    """The other traffic changes the numbers of the collectives, and delays the second, which completes one less."""
    workload = f"""list = [{{ src = 4, dst = 5, size = "4MB" }}]
[[workload]]
label = "before"
ring_all_reduce = {{ size = 1000, ranks.hosts = "6-7" }}
[[workload]]
label = "job"
{ring('iterations = 3, ranks.hosts = "0-3"')}
[[workload]]
label = "job"
end = "400us"
ring_all_reduce = {{ size = "1MB", iterations = 3, ranks.hosts = "4-7" }}"""
    text = SCENARIO.replace('label = "ring"', 'label = "noise"').replace("PATTERN", workload)
    results = incast.load(write(tmp_path, text)).run(tmp_path / "out", alone=True)
    together, apart = (
        {
            (row["size_bytes"], row["iteration"]): row["end_ps"]
            for row in incast.open(folder).iterations().dicts()
            if row["label"] == "job"
        }
        for folder in (results.path, results.path / "alone" / "1")
    )
    assert set(together) == {(SIZE, 0), (SIZE, 1), (SIZE, 2), (1_000_000, 0)}
    assert set(apart) == {*together, (1_000_000, 1)}
    (row,) = (row for row in results.alone().dicts() if row["label"] == "job")
    assert row["iterations"] == len(together)
    # Three iterations of the first collective, one of the second; both begin at 0.
    last = ((SIZE, 2), (1_000_000, 0))
    assert row["mean_ps"] == sum(together[key] for key in last) / 4
    assert row["alone_ps"] == sum(apart[key] for key in last) / 4


def test_iterations_that_overlap_count_once(tmp_path: Path) -> None:
    """Ranks that have finished compute while others communicate: times of iterations add up to the time of the job."""
    text = """
[fabric.star]
hosts = 6
rate = "10Gbps"
[[workload]]
label = "job"
ring_all_reduce = { size = "600kB", iterations = 10, compute = "500us" }
[[workload]]
label = "noise"
list = [{ src = 0, dst = 1, size = "10MB" }]
[scheme.free]
control = "unlimited"
"""
    results = incast.load(write(tmp_path, text)).run(tmp_path / "out", alone=True)
    rows = list(results.iterations().dicts())
    assert any(after["start_ps"] - row["end_ps"] < after["compute_ps"] for row, after in pairwise(rows))
    (row,) = results.alone().dicts()
    assert row["mean_ps"] == (rows[-1]["end_ps"] - rows[0]["start_ps"]) / 10


def test_a_job_alone_keeps_its_settings(tmp_path: Path) -> None:
    """Settings of labels without flows are left out; a job next to no traffic has a slowdown of 1."""
    labels = '\n[scheme.free.window_by_label]\nring = "off"\nlate = "rate"\n'
    late = '\n[[workload]]\nlabel = "late"\nstart = "1s"\nlist = [{ src = 0, dst = 1, size = 1 }]'
    text = SCENARIO.replace("PATTERN", ring()).replace("[[workload]]", labels + "[[workload]]") + late
    results = incast.load(write(tmp_path, text)).run(alone=True)
    (row,) = results.alone().dicts()
    assert (row["label"], row["slowdown"]) == ("ring", 1)
    part = incast.open(results.path / "alone" / "0").scenario()
    assert part.scheme is not None
    assert part.scheme["free"].window_by_label == {"ring": "off"}


def test_no_jobs_alone(tmp_path: Path, command: Command) -> None:
    with pytest.raises(ResultsError, match="jobs were not simulated alone; run the scenario with --alone"):
        ran(tmp_path, ring()).alone()
    text = SCENARIO.replace("PATTERN", "permutation = { size = 1000 }")
    late = '\n[[workload]]\nlabel = "late"\nlist = [{ src = 0, dst = 1, size = 1 }]'
    file = write(tmp_path, text + late)
    done = command("run", file, "--output", tmp_path / "none", "--alone")
    warning = "jobs are not also simulated alone: no iteration of a collective completed"
    assert done.returncode == 0
    assert f"warning: {warning}\n" in done.stderr
    assert "every flow completed" in done.stdout
    with pytest.warns(incast.IncastWarning, match=warning):
        incast.load(file).run(alone=True)


def test_the_only_job_is_not_simulated_twice(tmp_path: Path, command: Command) -> None:
    file = write(tmp_path, SCENARIO.replace("PATTERN", ring()))
    done = command("run", file, "--output", tmp_path / "one", "--alone")
    warning = "jobs are not also simulated alone: there is no traffic next to label ring"
    assert f"warning: {warning}\n" in done.stderr
    assert not (tmp_path / "one" / "alone").exists()
    with pytest.warns(incast.IncastWarning, match=warning):
        incast.load(file).run(alone=True)


def test_a_sweep_has_the_mean_of_iterations(tmp_path: Path, command: Command) -> None:
    results = ran(tmp_path, ring("iterations = 2"))
    mine = list(results.iterations().dicts())
    (row,) = over.of_rows(["load"], list(over.rows_of([0.5], charts.Source([results]))), (), ()).dicts()
    assert row["iteration_ps"] == sum(one["communication_ps"] for one in mine) / 2
    assert row["bus_bps"] == pytest.approx(2 * (RANKS - 1) / RANKS * SIZE * 8e12 / row["iteration_ps"], rel=1e-6)
    (tmp_path / "sweep.toml").write_text('scenario = "scenario.toml"\nvary = [{ path = "seed", values = [1] }]\n')
    command("sweep", tmp_path / "sweep.toml", "--output", tmp_path / "swept")
    picture = tmp_path / "iterations.svg"
    command("plot", tmp_path / "swept", "over", "--figure", "iteration_ps", "--output", picture)
    assert "mean communication time of an iteration" in " ".join(picture.read_text(encoding="utf-8").split())


def test_a_sweep_without_collectives_has_no_figure_of_iterations(tmp_path: Path, command: Command) -> None:
    ran(tmp_path, "permutation = { size = 1000 }")
    (tmp_path / "sweep.toml").write_text('scenario = "scenario.toml"\nvary = [{ path = "seed", values = [1] }]\n')
    command("sweep", tmp_path / "sweep.toml", "--output", tmp_path / "swept")
    picture = tmp_path / "iterations.svg"
    done = command("plot", tmp_path / "swept", "over", "--figure", "bus_bps", "--output", picture)
    assert (done.returncode, picture.exists()) == (2, False)
    assert "no run has a bus bandwidth of a collective" in done.stderr
