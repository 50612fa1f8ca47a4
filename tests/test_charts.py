"""Charts have the data that the tables have, and say what they leave out."""

from __future__ import annotations

import csv
import io
import json
import warnings
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import duckdb
import pytest

import incast
import made
from conftest import ROOT, SMALL, write
from folders import make_sweep
from incast import charts, plot
from incast.charts import groups, look
from incast.charts.cdf import Measure, chosen
from incast.charts.fabric import BY_ARRIVAL, DROPS, interval, links
from incast.charts.look import log_ticks
from incast.charts.over import over
from incast.charts.over import titles as over_titles
from incast.charts.rates import own_axes
from incast.charts.series import with_empty
from incast.charts.slowdown import by_size
from incast.charts.study import of_study
from incast.charts.uneven import uneven_seeds
from incast.cli import summary
from incast.findings.drops import drops
from incast.study.drawing import Bar, DrawnChart
from made import Row

SAMPLED = SMALL.replace('"hpcc"', '"unlimited"') + '[switch]\nbuffer = "600kB"\n[measure]\nsample_every = "1us"\n'


@pytest.fixture(scope="module")
def sampled(tmp_path_factory: pytest.TempPathFactory) -> incast.Results:
    """Results with time series, of a switch that pauses."""
    folder = tmp_path_factory.mktemp("sampled")
    return incast.load(write(folder, SAMPLED)).run(folder / "results")


@pytest.fixture
def source(sampled: incast.Results) -> Iterator[charts.Source]:
    """Where charts find them."""
    source = charts.Source([sampled])
    yield source
    source.close()


def test_slowdown_is_that_of_the_results(sampled: incast.Results, source: charts.Source) -> None:
    drawn = sorted(charts.slowdown(source, bins=5, label="poisson").rows)
    assert drawn == sorted(sampled.slowdown(bins=5, label="poisson").rows())


def test_flows_of_different_labels_are_apart_unless_asked_for_together(
    sampled: incast.Results, source: charts.Source
) -> None:
    chart = charts.slowdown(source, bins=5)
    # Flows of one size have no slowdown by size.
    assert {(row["label"], row["bin"]) for row in chart.dicts()} == {("poisson", bin_) for bin_ in range(5)}
    # The panels of one label have its name, because those of another are left out.
    assert chart.spec is not None
    assert chart.spec["facet"]["sort"] == ["poisson: median", "poisson: 95th percentile", "poisson: 99th percentile"]
    said = "incast (64 kB): all flows have one size; their slowdowns are drawn as a distribution."
    assert chart.left_out == (said,)
    assert sorted(chart.rows) == sorted(charts.slowdown(source, bins=5, label="poisson").rows)
    alike = charts.slowdown(source, label="incast")
    assert alike.name == "cdf-slowdown"
    assert alike.rows == charts.cdf(source, "slowdown", label="incast").rows
    assert alike.left_out[0] == by_size(source, label="incast").why_empty == said
    assert {row["label"] for row in sampled.slowdown().dicts()} == {"incast", "poisson"}
    mixed = charts.slowdown(source, bins=5, label="all")
    assert {row["label"] for row in mixed.dicts()} == {"all"}
    assert sum(row["flows"] for row in mixed.dicts()) == len(sampled.flows)
    ends = {(row["scheme"], row["bin"]): (row["size_min_bytes"], row["size_max_bytes"]) for row in mixed.dicts()}
    for scheme in source.schemes:
        sizes = [size for (name, _), both in sorted(ends.items()) if name == scheme for size in both]
        assert sizes == sorted(sizes)
        assert len(set(sizes[1:-1:2]) & set(sizes[2::2])) == 0, "no size is in two bins"


def test_of_many_labels_the_largest_are_apart(tmp_path: Path) -> None:
    head, _, tail = SMALL.partition("[[workload]]")
    entries = "".join(
        f"[[workload]]\nlabel = 'group {each}'\nlist = [{'{ src = 1, dst = 3, size = 100 },' * (each + 1)}]\n"
        for each in range(6)
    )
    text = head + entries + "[scheme" + tail.partition("[scheme")[2]
    results = incast.load(write(tmp_path, text)).run(tmp_path / "results")
    source = charts.Source([results])
    others = "Drawn together as 3 other labels: group 0, group 1, group 2."
    for chart in (charts.slowdown(source), charts.cdf(source)):
        labels = list(dict.fromkeys(row["label"] for row in chart.dicts()))
        assert labels == ["group 3", "group 4", "group 5", "3 other labels"]
        assert others in chart.left_out
    lines = results.slowdown_text().splitlines()
    assert [line[:19].strip() for line in lines[2:]] == [
        "label group 5", "label group 4", "label group 3", "3 other labels", "3 other labels: gro"
    ]  # fmt: skip


@pytest.mark.parametrize(("of", "column"), [("fct", "fct_ps"), ("slowdown", "slowdown_hpcc")])
def test_cdf_has_every_flow_where_they_are_few(
    of: Measure, column: str, sampled: incast.Results, source: charts.Source
) -> None:
    chart = charts.cdf(source, of, label="all")
    for scheme in source.schemes:
        values = sorted(
            value
            for name, value in zip(sampled.flows["scheme"], sampled.flows[column], strict=True)
            if name == scheme and value is not None
        )
        expected = [(scheme, "all", rank / len(values), value) for rank, value in enumerate(values, 1)]
        assert [row for row in chart.rows if row[0] == scheme] == expected
    assert not chart.left_out


def test_cdf_of_many_flows_has_true_ranks(sampled: incast.Results, source: charts.Source) -> None:
    points = 10
    chart = charts.cdf(source, "fct", label="all", points=points)
    times = sorted(
        time for name, time in zip(sampled.flows["scheme"], sampled.flows["fct_ps"], strict=True) if name == "DCQCN"
    )
    drawn = [(share, time) for scheme, _, share, time in chart.rows if scheme == "DCQCN"]
    assert len(drawn) < len(times)
    assert all(times[round(share * len(times)) - 1] == time for share, time in drawn)
    assert (drawn[0][1], drawn[-1]) == (times[0], (1.0, times[-1]))
    assert str(points) in chart.left_out[0]


@pytest.mark.parametrize("flows", [201, 20_000, 1_000_003])
def test_the_tail_of_a_cdf_has_points_of_its_own(flows: int) -> None:
    """As docs/howto/report.md says: 200 equal steps, and 200 points in the largest 1 %, or all of its values."""
    ranks = chosen(flows, 200)
    largest = -(-flows // 100)
    tail = [rank for rank in ranks if rank > flows - largest]
    assert ranks == sorted(set(ranks))
    assert ranks[-1] == flows
    assert len(ranks) <= 400
    if flows <= 20_000:
        assert tail == [*range(flows - largest + 1, flows + 1)]
    else:
        # 10,001 values: one in 51, and ranks of the equal steps.
        assert 197 <= len(tail) <= 200
        assert max(later - rank for rank, later in pairwise(tail)) == 51


def test_the_end_of_a_cdf_is_within_its_axis(source: charts.Source) -> None:
    spec = charts.cdf(source, "fct", label="all").spec
    assert spec
    assert spec["encoding"]["y"]["scale"]["domain"] == [0, 1.03]


def test_panels_of_a_cdf_have_their_own_ticks(source: charts.Source) -> None:
    panels, alone = charts.cdf(source, "slowdown").spec, charts.cdf(source, "slowdown", label="poisson").spec
    assert panels
    assert alone
    assert "values" not in panels["spec"]["encoding"]["x"]["axis"]
    assert alone["encoding"]["x"]["axis"]["values"]


def test_unfinished_flows_are_said_to_be_left_out(tmp_path: Path) -> None:
    text = SMALL + '[simulation]\nhorizon = "60us"\n'
    results = incast.load(write(tmp_path, text)).run(tmp_path / "results")
    source = charts.Source([results])
    left = Counter((row["scheme"], row["label"]) for row in results.flows.dicts() if row["finish_ps"] is None)
    for label in (None, "poisson"):
        counts = {
            scheme: sum(count for (name, of), count in left.items() if name == scheme and label in (None, of))
            for scheme in source.schemes
        }
        assert min(counts.values()) > 0
        note = f"Unfinished flows are not counted: {', '.join(f'{n} ({scheme})' for scheme, n in counts.items())}."
        for chart in (charts.slowdown(source, label=label), charts.cdf(source, label=label)):
            assert chart.left_out[0] == note
    one = [row for row in results.flows.dicts() if row["scheme"] == "HPCC" and row["finish_ps"] is None]
    only = text.replace('[scheme.DCQCN]\ncontrol = "dcqcn"\n', "")
    alone = incast.load(write(tmp_path, only)).run(tmp_path / "one")
    note = f"{len(one)} unfinished flows are not counted."
    assert charts.cdf(charts.Source([alone])).left_out[0] == note


def test_queues_are_samples(sampled: incast.Results, source: charts.Source) -> None:
    chart = charts.queues(source, ports=2, points=10**6)
    samples = {
        (row["scheme"], row["port"], row["time_ps"]): row["queue_bytes"] for row in sampled.table("queues").dicts()
    }
    drawn = [row for row in chart.dicts() if row["queue_bytes"]]
    ports = {row["port"] for row in drawn}
    assert {(row["scheme"], row["port"], row["time_ps"]): row["queue_bytes"] for row in drawn} == {
        key: queue for key, queue in samples.items() if key[1] in ports and queue
    }
    peaks = {port: max(queue for key, queue in samples.items() if key[1] == port) for port in {k[1] for k in samples}}
    assert ports == set(sorted(peaks, key=lambda port: (-peaks[port], port))[:2])
    assert len(chart.left_out) == 1


def test_queues_in_fewer_points_keep_the_peaks(sampled: incast.Results, source: charts.Source) -> None:
    chart = charts.queues(source, ports=1, points=20)
    port = chart.rows[0][1]
    for scheme in source.schemes:
        mine = [row for row in sampled.table("queues").dicts() if (row["scheme"], row["port"]) == (scheme, port)]
        drawn = [row for row in chart.dicts() if row["scheme"] == scheme]
        assert max(row["queue_bytes"] for row in drawn) == max(row["queue_bytes"] for row in mine)
        assert len(drawn) <= 20 * 3
    assert any("the maximum" in text for text in chart.left_out)


def test_a_queue_without_samples_is_drawn_as_empty() -> None:
    slots = [("s", 0, 3, 30, 500), ("s", 0, 4, 40, 700), ("s", 0, 7, 70, 600)]
    line = [(0, 0), (20, 0), (30, 500), (40, 700), (50, 0), (60, 0), (70, 600)]
    assert with_empty(slots, 10, start_ps=0, end_ps=81) == [*line, (80, 0)]
    assert with_empty(slots, 10, start_ps=0, end_ps=121) == [*line, (80, 0), (120, 0)]


def test_a_queue_that_is_not_empty_at_the_end_of_the_run_stays_so() -> None:
    slots = [("s", 0, 0, 0, 500), ("s", 0, 1, 10, 700)]
    assert with_empty(slots, 10, start_ps=0, end_ps=19) == [(0, 500), (10, 700)]


def test_queues_are_drawn_only_while_they_are_sampled(tmp_path: Path) -> None:
    text = SAMPLED.replace('"1us"\n', '"2us"\nsample_from = "45us"\nsample_until = "61us"\n')
    source = charts.Source([incast.load(write(tmp_path, text)).run(tmp_path / "results")])
    for points in (10**6, 3):
        chart = charts.queues(source, points=points)
        times = {row["time_ps"] // 10**6 for row in chart.dicts()}
        assert times <= {45, 47, 49, 51, 53, 55, 57, 59, 61}
        assert any(row["queue_bytes"] == 0 for row in chart.dicts())
        assert "Queues were sampled from 45 us to 61 us only." in chart.left_out


def test_rates_are_of_payload_acknowledged_between_samples(sampled: incast.Results, source: charts.Source) -> None:
    samples: dict[tuple[str, int], list[tuple[int, int]]] = {}
    for row in sampled.table("rates").dicts():
        samples.setdefault((row["scheme"], row["flow"]), []).append((row["time_ps"], row["acked_bytes"]))
    for points in (10**6, 50):
        rows = list(charts.rates(source, flows=3, points=points).dicts())
        assert len({row["flow"] for row in rows}) == 3
        # Each step is the time between two samples.
        for row in rows:
            mine = samples[row["scheme"], row["flow"]]
            assert any(
                (a + b) // 2 == row["time_ps"] and (to - before) * 8e12 / (b - a) == row["acked_bps"]
                for place, (a, before) in enumerate(mine)
                for b, to in mine[place + 1 :]
            )


def test_windows_limit_rates(tmp_path: Path) -> None:
    text = (
        "fabric.star.hosts = 9\nmeasure.sample_every = '2us'\n[[workload]]\nincast = { fan_in = 8, size = '200kB' }\n"
        "[scheme.Swift]\ncontrol = 'swift'\n[scheme.Window]\ncontrol = 'unlimited'\nwindow = 'fixed'\n"
        "[scheme.TCP]\ntransport = 'tcp'\n"
    )
    rows = list(
        charts.rates(charts.Source([incast.load(write(tmp_path, text)).run(tmp_path / "out")]), flows=8).dicts()
    )
    for scheme in ("Swift", "Window", "TCP"):
        by_flow: dict[int, list[float]] = {}
        for row in rows:
            if row["scheme"] == scheme and row["acked_bps"]:
                by_flow.setdefault(row["flow"], []).append(row["acked_bps"])
        # Eight senders share a link of 100 Gb/s: on average, 12.5 Gb/s with headers.
        means = [sum(rates) / len(rates) for rates in by_flow.values()]
        assert len(means) == 8
        assert max(means) < 40e9 if scheme == "TCP" else max(means) < 15e9


def test_rates_of_much_shorter_runs_have_their_own_axis_and_steps(tmp_path: Path) -> None:
    """The senders of `lossy` wait for timeouts of 4 ms."""
    text = (
        "fabric.star.hosts = 9\nmeasure.sample_every = '1us'\nswitch.buffer = '400kB'\n"
        "[[workload]]\nincast = { fan_in = 8, size = '500kB' }\n"
        "[scheme.lossless]\ncontrol = 'dcqcn'\n[scheme.lossy]\ncontrol = 'dcqcn'\nswitch.pfc = false\n"
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", incast.IncastWarning)
        source = charts.Source([incast.load(write(tmp_path, text)).run(tmp_path / "out")])
    chart = charts.rates(source)
    assert chart.about.endswith(" Each panel has its own axis of time.")
    assert chart.spec
    assert chart.spec["resolve"]["scale"] == {"x": "independent"}
    steps = {scheme: _shortest_step(chart, scheme) for scheme in ("lossless", "lossy")}
    assert steps["lossless"] < 10 * 10**6 < 40 * 10**6 < steps["lossy"]
    upper, lower = plot.draw(chart).axes
    assert upper.get_xlim()[1] * 4 < lower.get_xlim()[1]
    # As long as the runs are alike, panels share their axis.
    assert not own_axes({"A": 100, "B": 399, "C": 200})
    assert own_axes({"A": 100, "B": 400})


def _shortest_step(chart: charts.Chart, scheme: str) -> int:
    times: list[int] = sorted({row["time_ps"] for row in chart.dicts() if row["scheme"] == scheme and row["flow"] == 0})
    return min(after - before for before, after in pairwise(times))


def test_thin_lines_of_similar_colours_are_dashed(source: charts.Source) -> None:
    spec = charts.rates(source).spec
    assert spec
    assert spec["spec"]["encoding"]["strokeDash"]["scale"]["range"] == [[1, 0]] * 4 + [[6, 3], [2, 2]]


def test_pauses_are_intervals(sampled: incast.Results, source: charts.Source) -> None:
    chart = charts.pauses(source, ports=100)
    drawn = sorted((row["scheme"], row["port"], row["start_ps"], row["end_ps"]) for row in chart.dicts())
    there = sorted((row["scheme"], row["port"], row["start_ps"], row["end_ps"]) for row in sampled.pauses.dicts())
    assert drawn == there
    assert drawn


def test_many_pauses_are_drawn_together_and_none_is_lost(sampled: incast.Results, source: charts.Source) -> None:
    chart = charts.pauses(source, ports=100, bars=3)
    assert sum(row["intervals"] for row in chart.dicts()) == len(sampled.pauses)
    total = sum(row["end_ps"] - row["start_ps"] for row in sampled.pauses.dicts())
    assert sum(row["paused_ps"] for row in chart.dicts()) == total
    assert any("one bar" in text for text in chart.left_out)


def test_pauses_of_schemes_with_few_are_not_merged_and_steps_are_of_the_time_drawn() -> None:
    # B has two pauses within 500 ns; C, without pauses, runs for 3 s.
    every = [{"scheme": "A", "start_ps": at * 1_000_000, "end_ps": at * 1_000_000 + 1000} for at in range(1, 5)]
    close = [{"scheme": "B", "start_ps": at, "end_ps": at + 1000} for at in (1_000_000, 1_500_000)]
    source = made.Made({name: made.manifest(end_ps=3_000_000_000_000) for name in "ABC"}, pauses=[*every, *close])
    chart = charts.pauses(source, bars=3)
    assert [row["scheme"] for row in chart.dicts()] == ["A"] * 4 + ["B"] * 2
    assert any(text.startswith("Pauses of A that begin within the same 8.002 ns are") for text in chart.left_out)


def test_flows_of_few_sizes_have_a_bin_for_each(tmp_path: Path) -> None:
    flows = ", ".join(f"{{ src = {each % 4}, dst = 7, size = '{size}kB' }}"
                      for each in range(20) for size in (31, 125))  # fmt: skip
    text = f"[fabric.star]\nhosts = 8\n[[workload]]\nlist = [{flows}]\n[scheme.DCQCN]\ncontrol = 'dcqcn'\n"
    results = incast.load(write(tmp_path, text)).run(tmp_path / "results")
    rows = [(row["bin"], row["flows"], row["size_max_bytes"]) for row in results.slowdown().dicts()]
    assert rows == [(0, 20, 31_000), (10, 20, 125_000)]
    assert [line.split()[:3] for line in results.slowdown_text().splitlines()[2:4]] == [
        ["up", "to", "31kB"],
        ["up", "to", "125kB"],
    ]
    assert len(charts.slowdown(charts.Source([results])).rows) == 2


def test_shares_of_time_begin_with_the_first_flow(tmp_path: Path) -> None:
    found = []
    for start in ("0s", "2s"):
        text = SMALL.partition("[[workload]]")[0] + (
            f"[[workload]]\nlist = [{{ src = 1, dst = 3, size = '1MB', start = '{start}' }}]\n"
            "[scheme.HPCC]\ncontrol = 'hpcc'\n"
        )
        results = incast.load(write(tmp_path, text)).run(tmp_path / start)
        rows = list(charts.fabric(charts.Source([results])).dicts())
        found.append([(row["port"], row["utilisation"]) for row in rows])
    assert found[0] == [(port, pytest.approx(share)) for port, share in found[1]]
    assert max(share for _, share in found[1]) > 0.5


def test_schemes_with_equal_pauses_have_equal_shares_however_long_their_runs() -> None:
    # 500 kB are 40 us, the longer run, at 100 Gb/s.
    source = made.Made(
        {"A": made.manifest(end_ps=40_000_000), "B": made.manifest(end_ps=10_000_000)},
        ports=[{"scheme": scheme, "paused_ps": 2_000_000, "tx_bytes": 100_000} for scheme in ("A", "B")],
        flows=[{"scheme": scheme} for scheme in ("A", "B")],
    )
    assert [(row[0], row[8], row[10]) for row in links(source)] == [("A", 0.2, 0.05), ("B", 0.2, 0.05)]


def test_the_share_paused_of_a_point_does_not_depend_on_other_points() -> None:
    sources = [
        made.Made({"A": made.manifest(end_ps=end)}, ports=[{"paused_ps": 2_000_000}], flows=[{}])
        for end in (10_000_000, 40_000_000)
    ]
    chart = over(["seed"], [((seed,), source) for seed, source in enumerate(sources)])
    assert [row["paused_share"] for row in chart.dicts()] == [0.2, 0.05]


def test_shares_of_a_run_that_ended_in_a_deadlock_are_of_this_run() -> None:
    # Paused for 8 of 10 us, until the deadlock; B for 2 of 40 us.
    source = made.Made(
        {"A": made.manifest("deadlock", end_ps=10_000_000), "B": made.manifest(end_ps=40_000_000)},
        ports=[{"scheme": "A", "paused_ps": 8_000_000}, {"scheme": "B", "paused_ps": 2_000_000}],
        flows=[{"scheme": scheme} for scheme in ("A", "B")],
    )
    assert [(row[0], row[10]) for row in links(source)] == [("A", 0.8), ("B", 0.05)]
    assert interval(source) == "40 us, the longest run; of runs that ended in a deadlock, 10 us (A)"
    chart = over([], [((), source)])
    assert [row["paused_share"] for row in chart.dicts()] == [0.8, 0.05]


def two_hosts(counts: int, dropped: list[Row]) -> made.Made:
    """Two hosts at a switch, which dropped 5 packets from h0, of which 3 were for h1; h1 dropped 7 of its own."""
    ports = [
        {"port": 0, "node_name": "h0", "peer_name": "s0", "peer_port": 1, "tier": 0, "lost": 1},
        {"port": 0, "node_name": "h0", "peer_name": "s0", "peer_port": 1, "tier": 0, "lost": 2, "priority": 4},
        {"port": 1, "node_name": "s0", "peer_name": "h0", "peer_port": 0, "tier": 1, "drops": 5},
        {"port": 2, "node_name": "s0", "peer_name": "h1", "peer_port": 3, "tier": 1},
        {"port": 3, "node_name": "h1", "peer_name": "s0", "peer_port": 2, "tier": 0, "drops": 7},
    ]
    return made.Made({"A": made.manifest(counts={"drops": counts})}, ports=ports, drops=dropped)


DROPPED: list[Row] = [
    *[{"ingress_port": 1, "egress_port": 2}] * 3,
    # Without a port of departure, or with one that carried nothing.
    {"ingress_port": 1, "egress_port": None, "reason": "no-route"},
    {"ingress_port": 1, "egress_port": 9, "reason": "ttl"},
    *[{"ingress_port": None, "egress_port": 3}] * 7,
    *[{"ingress_port": None, "egress_port": 0, "reason": "link-down"}] * 3,
]


def test_drops_belong_to_the_port_whose_queue_was_full() -> None:
    assert {(row[2], row[3]): row[-2] for row in links(two_hosts(15, DROPPED))} == {
        ("h0", "s0"): 2 + 1 + 2,
        ("s0", "h0"): 0,
        ("s0", "h1"): 3,
        ("h1", "s0"): 7,
    }


def test_drops_without_rows_belong_to_the_port_that_they_came_from() -> None:
    assert {(row[2], row[3]): row[-2] for row in links(two_hosts(15, DROPPED[:4]))} == {
        ("h0", "s0"): 5 + 1 + 2,
        ("s0", "h0"): 0,
        ("s0", "h1"): 0,
        ("h1", "s0"): 7,
    }


@pytest.mark.parametrize(("most", "place"), [(100_000, "s0 to h0"), (0, "h1 to s0")])
def test_the_links_have_the_drops_where_the_finding_says(tmp_path: Path, most: int, place: str) -> None:
    flows = ", ".join(f'{{ src = {src}, dst = 0, size = "1MB" }}' for src in (1, 2))
    text = (
        '[fabric.star]\nhosts = 3\n[switch]\nqueues.drop-tail.limit = "20kB"\n'
        f"[measure]\nmax_drops = {most}\n[[workload]]\nlist = [{flows}]\n[scheme.TCP]\ntransport.tcp = {{}}\n"
    )
    source = charts.Source([incast.load(write(tmp_path, text)).run(tmp_path / "results")])
    chart = charts.fabric(source)
    dropped = {f"{row['node_name']} to {row['peer_name']}": row["drops"] for row in chart.dicts() if row["drops"]}
    assert sum(dropped.values()) == source.manifests["TCP"]["counts"]["drops"]
    assert place in dropped
    (found,) = drops(source)
    assert (f"all of them at {place}." in found.text) == (most > 0)
    assert (list(dropped) == [place]) == (most > 0)
    assert (DROPS in chart.about, BY_ARRIVAL in chart.left_out) == (most > 0, most == 0)


def test_fabric_is_the_table_of_ports(sampled: incast.Results, source: charts.Source) -> None:
    longest = max(scheme["end_ps"] for scheme in sampled.manifest["schemes"].values())
    sent: dict[tuple[str, int], int] = {}
    for row in sampled.ports.dicts():
        key = (row["scheme"], row["port"])
        sent[key] = sent.get(key, 0) + row["tx_bytes"]
    chart = charts.fabric(source)
    assert {(row["scheme"], row["port"]): row["tx_bytes"] for row in chart.dicts()} == sent
    for row in chart.dicts():
        expected = row["tx_bytes"] * 8 / (row["rate_bps"] * longest / 1e12)
        assert row["utilisation"] == pytest.approx(expected)
        assert 0 <= row["paused_share"] <= 1
    assert f"shares of {look.time(longest)}, the longest run" in chart.about


def test_counters_add_up(sampled: incast.Results, source: charts.Source) -> None:
    found = {(row["scheme"], row["counter"]): row["value"] for row in charts.counters(source).dicts()}
    for scheme, manifest in sampled.manifest["schemes"].items():
        assert found[scheme, "completed flows"] == manifest["completed"]
        assert found[scheme, "ECN marks at switches"] == manifest["counts"]["marks"]
        assert found[scheme, "packets dropped"] == manifest["counts"]["drops"]
        assert found[scheme, "simulated time"] == manifest["end_ps"]


def test_isolation_messages_are_counted_and_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    # Queues that are longer, as alpha decays between CNPs: hosts receive messages too.
    alpha = 'scheme."+isolation".control.dcqcn.alpha_interval=1us'
    results = incast.load(ROOT / "scenarios" / "isolation.toml", [alpha]).run(tmp_path / "results")
    rows = list(charts.counters(charts.Source([results])).dicts())
    counts = {name: scheme["counts"] for name, scheme in results.manifest["schemes"].items()}
    sent = {row["scheme"]: row["value"] for row in rows if row["counter"] == "isolation messages (CIP) sent"}
    assert sent == {name: each["isolation_messages"] for name, each in counts.items()}
    assert sent["+isolation"] > sent["+mice"] == 0
    cnps = {row["scheme"]: row["value"] for row in rows if row["counter"] == "ECN echoes and CNPs received by hosts"}
    assert cnps["+mice"] == sum(row["marks"] for row in results.flows.dicts() if row["scheme"] == "+mice")
    summary.show(results)
    lines = [line for line in capsys.readouterr().out.splitlines() if "isolation messages" in line]
    to_hosts = counts["+isolation"]["isolation_messages_to_hosts"]
    assert len(lines) == 1
    assert (
        f", {sent['+isolation']:,} isolation messages (CIP) sent, "
        f"{to_hosts:,} isolation messages (CIP) received by hosts; " in lines[0]
    )


def test_samples_of_empty_queues_ask_for_no_samples(tmp_path: Path) -> None:
    text = SMALL.replace("fan_in = 16", "fan_in = 1") + '\n[measure]\nsample_every = "1s"\n'
    source = charts.Source([incast.load(write(tmp_path, text)).run(tmp_path / "out")])
    assert charts.queues(source).why_empty == "No queue had a packet when it was sampled."
    assert charts.rates(source).why_empty == "No flow has two samples: set a shorter measure.sample_every."


def test_without_samples_it_says_what_is_needed(results: Path) -> None:
    source = charts.Source([incast.open(results)])
    for make in (charts.queues, charts.rates):
        chart = make(source)
        assert chart.rows == []
        assert "measure.sample_every" in str(chart.why_empty)


def test_csv_and_vega_lite_have_the_rows(source: charts.Source) -> None:
    chart = charts.slowdown(source)
    names, *rows = csv.reader(io.StringIO(chart.to_csv()))
    assert names == [field.name for field in chart.fields]
    assert [row[0] for row in rows] == [row[0] for row in chart.rows]
    assert [float(row[5]) for row in rows] == [row[5] for row in chart.rows]
    spec = json.loads(json.dumps(chart.to_vegalite()))
    assert spec["data"]["values"] == list(chart.dicts())


@pytest.fixture(scope="module")
def sweep(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A sweep of two loads, two seeds, two schemes."""
    return make_sweep(tmp_path_factory.mktemp("sweep") / "results")


def test_over_has_every_run(sweep: Path) -> None:
    group = groups.read_sweep(sweep)
    chart = over(
        ["load", "seed"], [(one.values, one.source) for one in group.variations], group.variations[0].source.palette
    )
    query = (
        f"select load, seed, scheme, sum(marks)::bigint from '{sweep}/runs/*/ports.parquet' group by all order by all"
    )
    drawn = [(row["load"], row["seed"], row["scheme"], row["marks"]) for row in chart.dicts()]
    assert sorted(drawn) == duckdb.connect().execute(query).fetchall()
    assert chart.palette == ("DCQCN", "HPCC", "PFC only")
    assert chart.left_out == ("p99 of up to 100 flows is their maximum.",)


def test_over_says_which_runs_have_unfinished_or_no_completed_flows() -> None:
    stops = [
        {"unfinished": 3, "not_started": 0},
        {"unfinished": 1, "not_started": 4},
        {"unfinished": 0, "not_started": 0},
    ]
    sources = [made.Made({"A": {**made.manifest(), "stop": {"reason": "horizon", **stop}}}) for stop in stops]
    # Slowdowns of made-up flows.
    for source, slow in zip(sources, ({"p99": 2.0}, None, {"p99": 1.0}), strict=True):
        source.overall = {"A": {**dict.fromkeys(("p50", "p95", "p99", "mean"), 2.0), "flows": 101}} if slow else {}
    chart = over(["load"], [((load,), source) for load, source in zip((0.1, 0.3, 0.5), sources, strict=True)])
    assert chart.left_out == (
        "2 of 3 runs ended with 3 to 5 unfinished flows; slowdowns omit them.",
        "No slowdown, because no flow completed: load=0.3, A.",
    )


def test_means_over_different_seeds_are_named() -> None:
    runs = [(load, seed, who) for load in (0.2, 0.5) for seed in range(1, 5) for who in "AB"]
    assert list(uneven_seeds(["load", "seed"], "seed", runs)) == []
    skipped = [run for run in runs if run not in ((0.5, 3, "B"), (0.5, 4, "B"), (0.2, 1, "A"))]
    assert list(uneven_seeds(["load", "seed"], "seed", skipped)) == [
        "The means are over different runs: load=0.2, A without seed=1; load=0.5, B without seed=3, 4."
    ]
    assert list(uneven_seeds(["load", "seed"], None, skipped)) == []
    # No run of B has a seed above 1: of its 19 missing seeds four are named.
    many = [*((seed, "A") for seed in range(1, 21)), (1, "B")]
    assert list(uneven_seeds(["seed"], "seed", many)) == [
        "The means are over different runs: B without seed=2, 3, 4, 5, 15 more."
    ]


def test_the_share_of_paused_time_counts_one_priority_of_each_port() -> None:
    paused: Row = {"paused_ps": 8_000_000}
    ports = [{**paused, "priority": 3}, {**paused, "priority": 4}, {"port": 1, "priority": 3}]
    (row,) = over([], [((), made.Made(ports=ports, flows=[{}]))]).dicts()
    # Of 10 us: 8 us of one port (both priorities) and 0 of the other.
    assert row["paused_share"] == 0.4


def test_the_share_of_completed_flows_omits_backlogged_flows() -> None:
    backlogged: Row = {"finish_ps": None, "backlogged": True, "status": "incomplete"}
    flows = [{}, {"finish_ps": None, "status": "incomplete"}, backlogged, {**backlogged, "scheme": "B"}]
    source = made.Made({"A": made.manifest(), "B": made.manifest()}, flows=flows)
    assert [row["completed_share"] for row in over([], [((), source)]).dicts()] == [0.5, None]


def test_figures_of_flows_with_a_label() -> None:
    flows: list[Row] = [{"label": "web"}, {"label": "web", "finish_ps": None, "status": "incomplete"}, {"label": "rpc"}]
    source = made.Made(flows=flows, ports=[{"marks": 3}])
    slow = {"p50": 1.0, "p95": 2.0, "p99": 3.0, "mean": 1.5}
    source.slowdowns = lambda label: {"A": {**slow, "flows": 20}} if label == "web" else {}  # type: ignore[method-assign]
    chart = over([], [((), source)], label="web")
    assert chart.left_out == ("p99 of up to 100 flows is their maximum, as is p95 of up to 20 flows.",)
    for of, note in (("slowdown_p95", ("p95 of up to 20 flows is their maximum.",)), ("slowdown_p50", ())):
        assert over([], [((), source)], label="web", of=of).left_out == note
    (row,) = chart.dicts()
    assert (row["slowdown_p99"], row["completed_share"], row["marks"], row["end_ps"]) == (3.0, 0.5, None, None)
    about = over_titles(chart)
    assert about["slowdown_p99"] == "99th percentile of the slowdown of flows of label web"
    assert about["completed_share"].endswith(", label web")


def test_values_mean_equal_numbers_and_quantities() -> None:
    buffers = ["2MB", "2000kB", "1MiB", "off"]
    assert [
        groups.written_as(buffers, text) for text in ("2000kB", "0.002GB", "1048576B", "1024KiB", "off", "1MB")
    ] == [
        "2000kB",
        "2MB",
        "1MiB",
        "1MiB",
        "off",
        None,
    ]
    assert [groups.written_as([0.5, 1, True], text) for text in ("0.50", "1.0", "True", "5e-1", "nan")] == [
        "0.5",
        "1",
        "True",
        "0.5",
        None,
    ]
    # A size and a time are different, whatever their numbers.
    assert groups.written_as(["1B"], "1ps") is None


def test_choosing_a_scenario_of_a_sweep(sweep: Path) -> None:
    group = groups.read_sweep(sweep)
    assert groups.chosen(group, {"load": "0.6", "seed": "2"}).values == (0.6, 2)
    assert groups.chosen(group, {"load": "0.60", "seed": "2"}).values == (0.6, 2)
    for where, said in (
        ({"lod": "0.6"}, "did you mean `load`"),
        ({"load": "0.5"}, "only 0.3, 0.6"),
        ({"load": "0.6"}, "--where seed=1"),
    ):
        with pytest.raises(incast.ResultsError) as raised:
            groups.chosen(group, where)
        assert said in str(raised.value)


def test_axes_of_rates_have_the_units_of_texts() -> None:
    assert look.rate(3.6e12) == "3.6 Tb/s"
    assert "abs(datum.value) >= 1e12 ? format(datum.value / 1e12, '~g') + ' Tb/s'" in look.RATE


def test_ticks_of_a_logarithmic_axis() -> None:
    assert log_ticks([3.0, 0.4, 70.0]) == [0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0]
    assert log_ticks([15.3, 16.9]) == pytest.approx([15.5, 16.0, 16.5])
    assert log_ticks([18.0, 58.0]) == [20.0, 30.0, 40.0, 50.0]
    assert log_ticks([12.5, 23.7]) == [14.0, 16.0, 18.0, 20.0, 22.0]
    assert log_ticks([7.0, 7.0]) == [7.0]
    assert log_ticks([]) == []


@pytest.mark.parametrize(
    ("values", "found"),
    [
        ([0.0625, 0.125, 1], True),
        ([8, 1, 4, 2], True),
        ([0.2, 0.4, 0.6, 0.8], False),
        ([10, 1000], False),
        ([0, 1, 10], False),
        (["25kB", "100kB", "1MB"], False),
    ],
)
def test_values_of_like_ratios_have_a_logarithmic_axis(values: list[Any], found: bool) -> None:
    assert look.geometric(values) == found


def test_links_that_carried_nothing_are_said_to_be_left_out(tmp_path: Path) -> None:
    text = SMALL.split("[[workload]]")[0] + "[[workload]]\nlist = [{ src = 1, dst = 3, size = '10kB' }]\n"
    schemes = "[scheme.DCQCN]\ncontrol = 'dcqcn'\n[scheme.HPCC]\ncontrol = 'hpcc'\n"
    results = incast.load(write(tmp_path, text + schemes)).run(tmp_path / "results")
    chart = charts.fabric(charts.Source([results]))
    assert {row["node_name"] for row in chart.dicts()} == {"h1", "h3", "s0"}
    assert chart.left_out == ("Not drawn, because they had no traffic under any scheme: 6 hosts, 12 ports.",)


def test_studies_draw_orders_of_magnitude_as_points() -> None:
    bars = tuple(
        Bar(x="a", series=name, panel=None, value=value, low=value / 2, high=2 * value, seeds=3)
        for name, value in (("A", 3.0), ("B", 3e5), ("C", 0.0))
    )
    drawn = DrawnChart(
        title="Times", about="time", unit="s", x="x", series="scheme", panels=None, bars=bars, missing=(), log=True
    )
    chart = of_study("tails-1", drawn)
    assert chart.spec is not None
    points, intervals = chart.spec["layer"]
    assert points["mark"]["type"] == "point"
    # The intervals are within the axis.
    assert points["encoding"]["y"]["scale"] == {"type": "log", "domain": pytest.approx([1.5 / 1.05, 6e5 * 1.05])}
    assert intervals["transform"][1]["calculate"] == f"max(datum.low, {1.5 / 1.05})"
    assert chart.left_out == ("1 of 3 figures are 0 or less and not drawn on this log scale.",)
    assert chart.about.startswith("Time. Points: means over seeds")
    assert DrawnChart.from_tree(drawn.to_tree()) == drawn
    linear = of_study("tails-1", replace(drawn, log=False))
    assert linear.spec is not None
    assert linear.spec["layer"][0]["mark"]["type"] == "bar"
    assert linear.left_out == ()


def test_studies_say_why_nothing_is_drawn() -> None:
    empty = DrawnChart(**ABOUT, bars=(), missing=("the metric has no row with seed 1",))
    assert of_study("tails-1", empty).why_empty == "T. Nothing to draw: the metric has no row with seed 1."


ABOUT: dict[str, Any] = {"title": "T", "about": "t", "unit": "", "x": "x", "series": "scheme", "panels": None}


def named(names: Sequence[str], **more: Any) -> DrawnChart:
    """A chart with a bar for each name along x, and for each of two schemes."""
    bars = tuple(
        Bar(x=name, series=scheme, panel=None, value=1.0, low=None, high=None, seeds=1)
        for name in names
        for scheme in ("A", "B")
    )
    return DrawnChart(**ABOUT, bars=bars, missing=(), **more)


def axis_of(chart: DrawnChart) -> dict[str, Any]:
    spec = of_study("tails-1", chart).spec
    assert spec is not None
    axis: dict[str, Any] = spec["layer"][0]["encoding"]["x"]["axis"]
    return axis


def test_names_beneath_bars_do_not_run_into_each_other() -> None:
    assert axis_of(named(["one", "two"]))["labelAngle"] == 0
    # Ten names in 600 pixels: nine letters each.
    lines = axis_of(named([f"isolated queue {number}" for number in range(10)]))
    assert '"isolated queue 3": ["isolated", "queue 3"]' in lines["labelExpr"]
    assert axis_of(named([f"incomprehensible{number}" for number in range(10)]))["labelAngle"] == -40
    # Panels share the width: three words fit in a line of one, and not of three.
    wide = named(["sent by switches", "sent by servers"])
    assert "labelExpr" not in axis_of(wide)
    bars = tuple(replace(bar, panel=panel) for panel in "abc" for bar in wide.bars)
    spec = of_study("tails-1", replace(wide, panels="panel", columns=3, bars=bars)).spec
    assert spec is not None
    assert '["sent by", "switches"]' in spec["spec"]["layer"][0]["encoding"]["x"]["axis"]["labelExpr"]


def test_schemes_keep_their_colours_on_a_page() -> None:
    chart = of_study("tails-1", named(["x"], order=("B", "A")))
    assert chart.spec is not None
    assert chart.palette == ("B", "A")
    colours = {"domain": ["B", "A"], "range": [*look.LIGHT[:2]]}
    assert colours in scales(chart.spec)
    assert {**colours, "range": [look.LIGHT[3], look.LIGHT[1]]} in scales(
        look.of_page(chart.spec, chart.palette, ["C", "A", "D", "B"])
    )
    # A seventh scheme has the first colour again, paler.
    seventh = look.of_page(chart.spec, chart.palette, ["A", *"CDEFG", "B"])
    assert {**colours, "range": [look.LIGHT[0], look.LIGHT[0]]} in scales(seventh)
    assert {"type": "ordinal", "domain": ["B", "A"], "range": [look.PALE, 1]} in scales(seventh)
    # Names that are no schemes of the page, and more schemes than there are colours, keep their own.
    assert look.of_page(chart.spec, chart.palette, ["A"]) == chart.spec
    assert look.of_page(chart.spec, chart.palette, ["A", *"CDEFGHIJKLM", "B"]) == chart.spec


def test_schemes_are_equal_in_a_chart_if_their_rows_are(source: charts.Source) -> None:
    chart = charts.queues(source)
    first = [row for row in chart.rows if row[0] == source.schemes[0]]
    copies = replace(chart, rows=[(name, *row[1:]) for row in first for name in "ABC"], palette=("A", "B", "C"))
    assert copies.equal_schemes() == {"B": "A", "C": "A"}
    *rest, (name, port, link, time, queue) = copies.rows
    assert replace(copies, rows=[*rest, (name, port, link, time, queue + 1)]).equal_schemes() == {"B": "A"}
    assert replace(copies, rows=[]).equal_schemes() == {}


def scales(spec: Any) -> list[Any]:
    """Every scale of a specification."""
    if isinstance(spec, list):
        return [scale for each in spec for scale in scales(each)]
    if not isinstance(spec, dict):
        return []
    return [*([spec["scale"]] if "scale" in spec else []), *(s for each in spec.values() for s in scales(each))]


def test_flows_that_carry_parts_of_messages_have_a_note() -> None:
    whole, parts = (
        charts.cdf(source, "slowdown") for source in (made.Made(flows=[{}]), made.Made(flows=[{}], messages=[{}]))
    )
    assert whole.left_out == ()
    assert parts.left_out == ("Flows are queue pairs (`qps`); the table `messages` has the times of their messages.",)
