"""Fabrics: what a scenario can name, and the files they are written as."""

from __future__ import annotations

from pathlib import Path

import pytest

import incast
from conftest import SMALL, Command, write
from incast import schema

FABRICS = {
    "clos": "tiers = 2\nradix = 8\nleaf_oversubscription = 3",
    "fat_tree": 'k = 4\nhosts_per_edge = 3\ncore_rate = "200Gbps"\nhost_delay = "100ns"',
    "jellyfish": "switches = 10\nports = 4\nnetwork_ports = 3",
    "bcube": "n = 3\nk = 1",
    "dragonfly": 'p = 2\na = 2\nh = 1\narrangement = "palmtree"',
    "rail_optimized": "servers = 3\ngpus_per_server = 4\nspines = 2",
}
TOPO = """\
Nodes 16
Tiers 2
Podsize 16

Tier 0
Downlink_speed_Gbps 100
Radix_Down 4
Radix_Up 2
Oversubscribed 2
Downlink_Latency_ns 1000
Switch_Latency_ns 300

Tier 1
Downlink_speed_Gbps 100
Radix_Down 4
Downlink_Latency_ns 1000
"""


def scenario(folder: Path, name: str, fields: str) -> Path:
    """The small scenario on another fabric."""
    return write(folder, SMALL.replace("[fabric.star]\nhosts = 8", f"[fabric.{name}]\n{fields}"))


@pytest.mark.parametrize(("name", "fields"), FABRICS.items(), ids=FABRICS.keys())
def test_every_fabric_carries_flows(tmp_path: Path, name: str, fields: str) -> None:
    file = scenario(tmp_path, name, fields)
    results = incast.load(file).run(tmp_path / "results")
    assert all(fct is not None for fct in results.flows["fct_ps"])
    again = incast.load(file).run(tmp_path / "again")
    assert again.flows["fct_ps"] == results.flows["fct_ps"]


RING = """
[fabric.rail_optimized]
servers = 4
spines = 4
[[workload]]
ring_all_reduce.size = "64kB"
[scheme.Swift]
control = "swift"
"""


def test_gpus_have_nvlink_unless_a_scenario_says_none(tmp_path: Path) -> None:
    scenario = incast.load(write(tmp_path, RING))
    assert "32 links of 3.6 Tb/s" in scenario.summary()
    assert scenario.warnings() == []
    results = scenario.run(tmp_path / "nvlink")
    scenario.fabric = schema.RailOptimized(servers=4, spines=4, nvlink="none")
    assert "3.6 Tb/s" not in scenario.summary()
    with pytest.warns(incast.IncastWarning, match="88 % of ring hops stay in one server but go over the fabric"):
        without = scenario.run(tmp_path / "none")
    assert 2 * max(results.flows["finish_ps"]) < max(without.flows["finish_ps"])


def test_an_htsim_file(tmp_path: Path, command: Command) -> None:
    (tmp_path / "leaf.topo").write_text(TOPO)
    file = scenario(tmp_path, "htsim", 'topology = "leaf.topo"')
    shown = command("show", file)
    assert "16 hosts, 6 switches, 24 links of 100 Gb/s and 1.15 us" in shown.stdout, shown.stdout + shown.stderr
    (tmp_path / "leaf.topo").write_text(TOPO.replace("Radix_Up 2", "Radix_Upp 2"))
    wrong = command("show", file)
    assert wrong.returncode == 2
    assert "leaf.topo:8" in wrong.stderr
    assert "did you mean `Radix_Up`?" in wrong.stderr
    (tmp_path / "leaf.topo").write_text(TOPO.replace("Radix_Up 2", "Radix_Up 2\nQueue_Up 10000"))
    assert "ignore_queues" in command("show", file).stderr
    assert command("show", file, "--set", "fabric.htsim.ignore_queues=true").returncode == 0


def test_export_dot(tmp_path: Path, command: Command, small: Path) -> None:
    done = command("export", "dot", small, "-o", "fabric.dot")
    assert (done.returncode, done.stderr) == (0, "")
    text = (tmp_path / "fabric.dot").read_text()
    assert text.count(" -- ") == 8
    assert '"s0" -- "h7" [label="100Gbps"' in text
    again = command("export", "dot", small, "-o", "fabric.dot", "--set", "fabric.star.hosts=9")
    assert again.returncode == 2
    assert "--overwrite" in again.stderr
    assert (tmp_path / "fabric.dot").read_text() == text
    done = command("export", "dot", small, "-o", "fabric.dot", "--set", "fabric.star.hosts=9", "--overwrite")
    assert done.returncode == 0
    assert (tmp_path / "fabric.dot").read_text().count(" -- ") == 9
    assert command("export", "dot", small, "-o", "no/such/folder.dot").returncode == 3


def test_export_ns3_is_read_back(tmp_path: Path, command: Command) -> None:
    file = scenario(tmp_path, "jellyfish", FABRICS["jellyfish"])
    done = command("export", "ns3", file, "-o", "topology.txt")
    assert (done.returncode, done.stderr) == (0, "")
    (tmp_path / "flow.txt").write_text("1\n0 9 3 100 100000 2\n")
    done = command("import", "ns3", "--topology", "topology.txt", "--flows", "flow.txt", "-o", "mine.toml")
    assert done.returncode == 0, done.stderr
    assert "10 hosts, 10 switches" in command("show", "mine.toml").stdout


def test_export_ns3_says_what_is_otherwise(tmp_path: Path, command: Command) -> None:
    fields = "leaves = 3\nspines = 3\nhosts_per_leaf = 3\nuplinks_per_pair = 2"
    done = command("export", "ns3", scenario(tmp_path, "leaf_spine", fields), "-o", "topology.txt")
    assert done.returncode == 0
    assert "warning: parallel to the link of line" in done.stderr
    assert "and 4 more like these" in done.stderr
