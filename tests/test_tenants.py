"""Results of tenants: throughput, guarantees, fairness, use of the network; in Python, in the terminal, on pages."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path

import pytest

import incast
import made
from conftest import Command, write
from incast import charts, plot, report
from incast.charts import look
from incast.findings.guarantees import guarantees
from incast.findings.limits import rising
from incast.tenants.capacity import carried
from incast.tenants.text import text as tenants_text

SCENARIO = """
title = "Two tenants"
[fabric.star]
hosts = 3
rate = "1Gbps"
[vms]
slots = 2
[[tenant]]
name = "x"
vms = 2
guarantee = "400Mbps"
placement.slots = ["h0.0", "h1.0"]
[[tenant]]
name = "y"
vms = 3
guarantee = { send = "200Mbps", receive = "400Mbps" }
placement.slots = ["h0.1", "h1.1", "h2.0"]
[[workload]]
label = "x"
tenant = "x"
list = [{ src = 1, dst = 0, size = "backlogged" }]
[[workload]]
label = "y"
tenant = "y"
incast = { fan_in = 2, receiver = 0, size = "backlogged" }
[packets]
gap = "38B"
[host]
jitter = "1us"
[switch]
queues.drop-tail.limit = "256kB"
[measure]
sample_every = "50ms"
max_drops = 0
[simulation]
horizon = "1s"
[scheme.Reservation]
transport = "udp"
hypervisor = "reservation"
[scheme."No protection"]
transport = "udp"
"""
MBPS = 1e6


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("tenants")
    incast.load(write(folder, SCENARIO)).run(folder / "results")
    return folder / "results"


@pytest.fixture
def results(folder: Path) -> incast.Results:
    return incast.open(folder)


def test_findings_name_receivers_and_senders_below_their_guarantee(results: incast.Results) -> None:
    found = [each.text for each in guarantees(charts.Source([results]))]
    assert found == [
        "No protection: 1 VM of 2 received less than 95 % of the guaranteed throughput; the lowest share was 24 % "
        "(VM 0 of x).",
        "No protection: 2 VMs of 3 sent less than 95 % of the guaranteed throughput; the lowest share was 24 % "
        "(VM 1 of x).",
    ]


def test_findings_say_that_guarantees_were_kept(folder: Path) -> None:
    overrides = ['scheme."No protection".hypervisor="reservation"']
    kept = incast.load(folder.parent / "scenario.toml", overrides).run()
    found = [each.text for each in guarantees(charts.Source([kept]))]
    assert found == ["Every VM received and sent all of its guarantee."]


OVERCOMMITTED = """
[fabric.star]
hosts = 4
rate = "1Gbps"
[vms]
slots = 2
admission = "report"
[[tenant]]
name = "a"
vms = 2
guarantee = "600Mbps"
placement.slots = ["h0.0", "h3.0"]
[[tenant]]
name = "b"
vms = 2
guarantee = "600Mbps"
placement.slots = ["h1.0", "h3.1"]
[[workload]]
tenant = "a"
list = [{ src = 0, dst = 1, size = "backlogged" }]
end = "500ms"
[[workload]]
tenant = "b"
list = [{ src = 0, dst = 1, size = "backlogged" }]
end = "500ms"
[measure]
sample_every = "20ms"
[scheme.ES]
transport = "tcp"
hypervisor = "elasticswitch"
[scheme.Seawall]
transport = "tcp"
hypervisor = "seawall"
"""


def test_schemes_are_not_blamed_for_guarantees_that_exceed_the_links(tmp_path: Path) -> None:
    scenario = incast.load(write(tmp_path, OVERCOMMITTED))
    # Two hoses of 600 Mb/s at one link of 1 Gb/s.
    text = (
        "guarantees of VMs that receive at h3 are 1.2 Gb/s together, but its links carry 1 Gb/s: no scheme can keep all"
    )
    with pytest.warns(incast.IncastWarning, match=text) as warned:
        results = scenario.run()
    assert f"vms.admission: the {text} of them" in {str(each.message) for each in warned}
    above, *others = guarantees(charts.Source([results]))
    assert (above.text, above.schemes) == (f"The {text} of them.", ("ES", "Seawall"))
    # Each VM at h3 got half of the link under ElasticSwitch: all that the link carries, 83 % of the guarantee.
    assert [each.schemes for each in others] == [("Seawall",), ("Seawall",)]
    assert all("less than 95 % of the share of their guarantee that the links carry" in each.text for each in others)


def test_guarantees_exceed_links_only_while_their_vms_send(tmp_path: Path) -> None:
    """Tenant b sends for 100 ms of the 375 ms that count."""
    of_b = 'tenant = "b"\nlist = [{ src = 0, dst = 1, size = "backlogged"'
    text = OVERCOMMITTED.replace(of_b, f'{of_b}, start = "300ms"').replace('"500ms"\n[measure]', '"400ms"\n[measure]')
    text = text[: text.index("[scheme.ES]")] + '[scheme.R]\ntransport = "udp"\nhypervisor = "reservation"\n'
    with pytest.warns(incast.IncastWarning, match=r"receive at h3 are 1\.2 Gb/s together"):
        results = incast.load(write(tmp_path, text)).run()
    # 600 Mb/s alone and 500 Mb/s together, of 600; what waits for the limit at 400 ms is sent later.
    source = charts.Source([results])
    carries = carried(source)
    assert carries["R", "h3.0", "receive"] == pytest.approx((275 * 600 + 100 * 500) / (375 * 600), abs=0.02)
    assert carries["R", "h3.1", "receive"] == pytest.approx(500 / 600, abs=0.03)
    assert [each.text.split(": ")[-1] for each in guarantees(source)][:1] == ["no scheme can keep all of them."]


def test_rate_limits_that_still_rise_at_the_end_are_reported(tmp_path: Path) -> None:
    text = OVERCOMMITTED.replace("600Mbps", "300Mbps")
    both, _, seawall = text.partition("[scheme.ES]")
    alone = f"{both}{seawall[seawall.index('[scheme.Seawall]') :]}"
    for schemes, begin in ((text, "Seawall: rate limits"), (alone, "Rate limits")):
        results = incast.load(write(tmp_path, schemes)).run()
        source = charts.Source([results])
        (found,) = rising(source)
        assert found.schemes == ("Seawall",)
        assert found.text.startswith(f"{begin} were still rising when the load ended, at 500 ms: by ")
        # Not those of ACKs, which nothing waits for.
        ((total,),) = source.rows(
            "select sum(limit_bps) from limits where scheme = 'Seawall' and waiting_packets > 0 and time_ps = 5e11", {}
        )
        assert f"to {look.rate(total)} in total" in found.text


@pytest.mark.parametrize(
    ("limit", "rises"),
    [
        # 460 to 500 Mb/s in the last tenth.
        (lambda at: 100 + 4 * at, True),
        # The first quarter does not count.
        (lambda at: 900 if at < 20 else 100 + 4 * at, True),
        # 400 to 500 Mb/s in the last tenth, up to 590 Mb/s before.
        (lambda at: 200 + 10 * ((at + 10) % 40), False),
    ],
)
def test_limits_that_were_as_high_before_are_not_rising(
    limit: Callable[[int], int], rises: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Pair 1 is within a server: neither its falling limit nor its optimum of 10 Gb/s counts."""
    monkeypatch.setattr("incast.tenants.window.load_end", lambda _: None)
    ms = 10**9
    ends = [{"host": host, "server": f"h{min(host, 2)}"} for host in range(4)]
    pairs = [{"pair": 0, "src": 0, "dst": 1}, {"pair": 1, "src": 2, "dst": 3}]
    source = made.Made(
        vms=ends,
        pairs=pairs,
        limits=[
            {"pair": pair, "time_ps": at * ms, "limit_bps": (limit(at) if pair == 0 else 10_000 - at) * 10**6}
            for at in range(101)
            for pair in range(2)
        ],
        throughput=[
            {"start_ps": at * ms, "end_ps": (at + 1) * ms, "wire_bytes": 60, "optimum_bytes": optimum, "src": src}
            | {"dst": src + 1}
            for at in range(100)
            for src, optimum in ((0, 100), (2, 1000))
        ],
    )
    assert [each.text for each in rising(source)] == [
        "Rate limits were still rising when the load ended, at 100 ms: by 8.7 % in its last tenth, to 500 Mb/s in "
        "total. Throughput between servers was 60 % of the optimum then; a longer load shows the final one."
    ] * rises


def test_jain() -> None:
    assert incast.jain([3, 3, 3]) == pytest.approx(1.0)
    assert incast.jain([5, 0, 0, 0, 0]) == pytest.approx(0.2)
    assert incast.jain([1, 2, 3]) == pytest.approx(36 / 42)
    assert incast.jain([1e308, 1e308]) == incast.jain([1e-200] * 3) == pytest.approx(1.0)
    assert math.isnan(incast.jain([]))
    assert math.isnan(incast.jain([0, 0]))
    with pytest.raises(ValueError, match="0 or more"):
        incast.jain([1, -1])


def test_guarantees_are_kept_by_limits_and_not_without(results: incast.Results) -> None:
    got = {(row["scheme"], row["name"]): row for row in results.guarantees().dicts() if row["direction"] == "receive"}
    assert set(got) == {(scheme, name) for scheme in ("Reservation", "No protection") for name in ("h0.0", "h0.1")}
    for name in ("h0.0", "h0.1"):
        row = got["Reservation", name]
        assert row["entitled_bps"] == pytest.approx(400 * MBPS, rel=1e-6)
        assert row["wire_bps"] == pytest.approx(400 * MBPS, rel=0.01)
        assert row["payload_bps"] == pytest.approx(row["wire_bps"] * 1460 / 1538, rel=1e-4)
        assert row["satisfaction"] == pytest.approx(1.0, abs=0.01)
        assert row["worst"] <= row["satisfaction"]
    # Three senders of 1 Gb/s to one link of 1 Gb/s: X has a third at most, Y the rest. (Two of them share a NIC.)
    both = [got["No protection", name]["wire_bps"] for name in ("h0.0", "h0.1")]
    assert sum(both) == pytest.approx(1000 * MBPS, rel=0.01)
    assert got["No protection", "h0.0"]["satisfaction"] < 0.95
    sent = [
        row for row in results.guarantees().dicts() if row["direction"] == "send" and row["scheme"] == "Reservation"
    ]
    assert {row["name"]: round(row["entitled_bps"] / MBPS) for row in sent} == {"h1.0": 400, "h1.1": 200, "h2.0": 200}


def test_throughput_adds_up(results: incast.Results) -> None:
    pairs = list(results.throughput(by="pair").dicts())
    intervals = {(row["start_ps"], row["end_ps"]) for row in pairs}
    assert len(intervals) == 20
    assert {time - from_ for from_, time in intervals} == {50 * 10**9}
    for scheme in ("Reservation", "No protection"):
        acked = sum(row["acked_bytes"] for row in results.flows.dicts() if row["scheme"] == scheme)
        for table in (
            results.throughput("pair"),
            results.throughput("vm", "receive"),
            results.throughput("vm", "send"),
            results.throughput("tenant"),
        ):
            rows = [row for row in table.dicts() if row["scheme"] == scheme]
            carried = sum(row["payload_bps"] * (row["end_ps"] - row["start_ps"]) for row in rows) / 8e12
            assert carried == pytest.approx(acked, abs=1)
    names = [column.name for column in results.throughput().columns]
    assert names[:7] == ["scheme", "start_ps", "end_ps", "name", "tenant", "vm", "guarantee_bps"]
    for bad in ({"by": "host"}, {"direction": "up"}):
        with pytest.raises(ValueError, match="must be"):
            results.throughput(**bad)  # type: ignore[arg-type]


def test_sharing(results: incast.Results) -> None:
    reserved, free = results.sharing().dicts()
    assert (reserved["scheme"], reserved["vms"], reserved["below"]) == ("Reservation", 2, 0)
    assert reserved["wire_bps"] == pytest.approx(800 * MBPS, rel=0.01)
    assert reserved["utilisation"] == pytest.approx(0.8, rel=0.01)
    assert (reserved["jain_vms"], reserved["jain_pairs"]) == (pytest.approx(1, abs=1e-3), pytest.approx(1, abs=1e-3))
    assert (reserved["messages"], reserved["message_share"]) == (0, 0)
    assert free["utilisation"] == pytest.approx(1.0, rel=0.01)
    assert free["below"] == 1
    assert (free["messages"], free["message_share"]) == (None, None)
    with pytest.raises(ValueError, match=r"skip must be 0 or more and less than 1, got 1\.0"):
        results.sharing(skip=1.0)


def test_without_samples_the_whole_run_counts(tmp_path: Path, command: Command) -> None:
    file = write(tmp_path, SCENARIO.replace('sample_every = "50ms"', 'sample_every = "none"'))
    done = command("run", file, "-o", tmp_path / "results")
    assert done.stdout.splitlines()[1].startswith("Reservation      2      0"), done.stdout
    assert "Whole run, as it is one interval; " in done.stdout
    results = incast.open(tmp_path / "results")
    assert len(results.throughput("tenant")) == 2 * 2
    assert [row["vms"] for row in results.sharing().dicts()] == [2, 2]


@pytest.mark.parametrize(
    ("samples", "first_ms", "said"),
    [
        ('sample_every = "400ms"', 400, "Without the first 40 % of the run."),
        ('sample_every = "1s"\nsample_from = "200ms"', 0, "Whole run, as no interval starts after its first 25 %; "),
    ],
)
def test_only_intervals_that_start_after_the_skipped_part_count(
    tmp_path: Path, samples: str, first_ms: int, said: str
) -> None:
    results = incast.load(write(tmp_path, SCENARIO.replace('sample_every = "50ms"', samples))).run(tmp_path / "out")
    counted = [row for row in results.throughput("tenant").dicts() if row["start_ps"] >= first_ms * 10**9]
    assert len(counted) == 2 * 2 * 2
    for tenant in ("x", "y"):
        (got,) = (
            row
            for row in results.guarantees().dicts()
            if (row["scheme"], row["tenant"], row["direction"]) == ("No protection", tenant, "receive")
        )
        mine = [row for row in counted if (row["scheme"], row["tenant"]) == ("No protection", tenant)]
        sent = sum(row["wire_bps"] * (row["end_ps"] - row["start_ps"]) for row in mine)
        assert got["wire_bps"] == pytest.approx(sent / (10**12 - first_ms * 10**9))
    assert said in tenants_text(results)
    assert "sum of max-min rates on the links; above 100 %" in tenants_text(results)
    assert said in charts.guarantees(charts.Source([results])).about


def loaded(folder: Path, workload: str) -> incast.Results:
    """Results of one workload of x, until its last flow completes."""
    before, after = SCENARIO.split("[[workload]]")[0], SCENARIO[SCENARIO.index("[packets]") :]
    text = f'{before}[[workload]]\ntenant = "x"\n{workload}\n{after}'.replace('horizon = "1s"', "")
    return incast.load(write(folder, text)).run(folder / "out")


@pytest.mark.parametrize(("end", "until_ms", "skipped"), [("", 400, "25 %"), ('end = "300ms"', 300, "33 %")])
@pytest.mark.filterwarnings("ignore:.*flows pile up:incast.IncastWarning")
def test_the_time_after_the_load_does_not_count(tmp_path: Path, end: str, until_ms: int, skipped: str) -> None:
    results = loaded(tmp_path, f'{end}\npoisson = {{ load = 0.4, sizes = "websearch", duration = "400ms" }}')
    said = f"Without the first {skipped} of the load, and without the time after its end at {until_ms} ms."
    assert said in tenants_text(results)
    assert said in charts.guarantees(charts.Source([results])).about
    for row in results.sharing().dicts():
        mine = [each for each in results.throughput("tenant").dicts() if each["scheme"] == row["scheme"]]
        assert mine[-1]["end_ps"] > until_ms * 10**9
        counted = [each for each in mine if each["start_ps"] >= 10**11 and each["end_ps"] <= until_ms * 10**9]
        sent = sum(each["wire_bps"] * (each["end_ps"] - each["start_ps"]) for each in counted)
        assert row["wire_bps"] == pytest.approx(sent / ((until_ms - 100) * 10**9))


def test_a_load_of_unknown_end_lasts_for_the_run(tmp_path: Path) -> None:
    results = loaded(tmp_path, 'list = [{ src = 1, dst = 0, size = "20MB" }]')
    ends = sorted(scheme["end_ps"] for scheme in results.manifest["schemes"].values())
    said = " to ".join(f"{end / 1e9:.4g} ms" for end in ends)
    assert f" of the run, which ends at {said}." in tenants_text(results)


def test_a_pair_is_entitled_from_the_start_of_its_flow(tmp_path: Path) -> None:
    """Flows of y start at 3/4 of the second interval of 400 ms."""
    text = SCENARIO.replace('label = "y"', 'label = "y"\nstart = "700ms"').replace('"50ms"', '"400ms"')
    results = incast.load(write(tmp_path, text)).run(tmp_path / "out")
    rows = [row for row in results.guarantees().dicts() if row["scheme"] == "Reservation"]
    assert {row["name"] for row in rows} == {"h0.0", "h0.1", "h1.0", "h1.1", "h2.0"}
    for row in rows:
        assert row["satisfaction"] == pytest.approx(1, abs=0.02)
        assert row["worst"] == pytest.approx(1, abs=0.02)
    # 400 Mb/s in 300 of the 600 ms.
    (entitled,) = (row["entitled_bps"] for row in rows if row["name"] == "h0.1")
    assert entitled == pytest.approx(200 * MBPS)


def test_without_tenants_there_is_none(tmp_path: Path) -> None:
    flow = "[[workload]]\nlist = [{ src = 0, dst = 1, size = 9 }]\n"
    text = f'[fabric.star]\nhosts = 2\n{flow}[scheme.A]\ntransport = "tcp"\n'
    results = incast.load(write(tmp_path, text)).run(tmp_path / "results")
    assert not {"vms", "pairs", "limits", "throughput"} & set(results.tables)
    for ask in (results.throughput, results.guarantees, results.sharing):
        with pytest.raises(incast.ResultsError, match=r"has no tenants \(\[\[tenant\]\]\)"):
            ask()


def test_terminal(folder: Path, command: Command) -> None:
    done = command("results", folder)
    lines = done.stdout.splitlines()
    assert lines[0].split() == ["tenants", "VMs", "below", "least", "throughput", "of", "optimum", "Jain,", "VMs",
                                "Jain,", "pairs", "messages"]  # fmt: skip
    assert lines[1].startswith("Reservation      2      0")
    assert "stopped at the horizon; 3 flows were backlogged until then; 1 s simulated" in done.stdout
    # No flow has a size: there is no slowdown to show.
    assert "slowdown" not in done.stdout
    listed = json.loads(command("results", folder, "--table", "guarantees", "--format", "json").stdout)
    assert {row["tenant"] for row in listed} == {"x", "y"}
    assert "sharing" not in done.stdout
    assert command("results", folder, "--table", "sharing").stdout.startswith("scheme")


def test_charts(folder: Path, results: incast.Results, tmp_path: Path, command: Command) -> None:
    source = charts.Source([results])
    over_time = charts.vms(source)
    assert {row["who"] for row in over_time.dicts()} == {"x 0 (h0.0)", "y 0 (h0.1)"}
    assert {row["guarantee_bps"] for row in over_time.dicts()} == {400_000_000}
    assert len(over_time.rows) == 2 * 2 * 20
    few = charts.vms(source, vms=1, points=10)
    assert len(few.rows) == 2 * 10
    assert few.left_out == (
        "1 of 2 receiving VMs: those that received least of their guarantee.",
        "Each point is the mean of 2 intervals.",
    )
    kept = charts.guarantees(source)
    reserved = [row for row in kept.dicts() if row["scheme"] == "Reservation"]
    assert [row["share"] for row in reserved] == [0.5, 1.0]
    assert plot.draw(kept).axes[0].get_ylim()[0] == 0
    for chart in (over_time, kept):
        plot.save(plot.draw(chart), tmp_path / f"{chart.name}.svg")
        assert (tmp_path / f"{chart.name}.svg").stat().st_size > 10_000
    done = command("plot", folder, "vms", "-o", tmp_path / "again.svg", "--vms", "2")
    assert done.returncode == 0, done.stderr
    report.write(folder, tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert '<section id="tenants"' in page
    assert "3 servers with 2 VM slots each" in page
    assert "Links can carry all guarantees. Tightest: to h0 800 Mb/s of 900 Mb/s" in page


PLACED = SCENARIO.replace('vms = 2\nguarantee = "400Mbps"\nplacement.slots = ["h0.0", "h1.0"]', "VMS")
BAD = {
    "a guarantee above the NIC": (
        'vms = 2\nguarantee = "950Mbps"\nplacement.slots = ["h0.0", "h1.0"]',
        ["tenant[0].guarantee", "`950Mbps`", "900Mbps"],
    ),
    "a tenant of one": ('vms = 1\nplacement.slots = ["h0.0"]', ["tenant[0].vms", "`1`", "at least 2 VMs"]),
    "more VMs than slots": ("vms = 4", ["tenant[1].vms", "`3`", "at most 2, the VM slots that y finds free"]),
    "a slot that is not there": (
        'vms = 2\nplacement.slots = ["h0.0", "h1.7"]',
        ["tenant[0].placement.slots[1]", "`h1.7`"],
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_tenants(name: str, tmp_path: Path, command: Command) -> None:
    vms, said = BAD[name]
    file = write(tmp_path, PLACED.replace("VMS", vms))
    done = command("run", file, "-o", tmp_path / "results")
    assert done.returncode == 2, done.stdout
    assert all(word in done.stderr for word in said), done.stderr
    assert not (tmp_path / "results").exists()


def test_bad_hypervisors(tmp_path: Path, command: Command) -> None:
    def said(hypervisor: str) -> tuple[int, str]:
        text = SCENARIO.replace('hypervisor = "reservation"', hypervisor)
        done = command("show", write(tmp_path, text))
        return done.returncode, done.stderr + done.stdout

    code, text = said('hypervisor = "elasticswich"')
    assert code == 2
    assert "did you mean `elasticswitch`?" in text
    code, text = said("hypervisor.elasticswitch.rate.decrease = 1.5")
    assert (code, "hypervisor.elasticswitch.rate.decrease" in text, "0 to 1" in text) == (2, True, True)
    code, text = said('hypervisor.elasticswitch.rate.period = "20us"')
    assert code == 0
    warned = next(line for line in text.splitlines() if line.startswith("warning") and "period" in line)
    assert "20 us" in warned
    assert "30.4 us" in warned
    jitter = SCENARIO.replace("1us", "2ms")
    done = command("show", write(tmp_path, jitter))
    assert (done.returncode, "host.jitter" in done.stderr) == (2, True)
