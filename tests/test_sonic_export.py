"""`incast export sonic-buffers`: values by hand, formats by SONiC's models, and values without an exact form."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from conftest import SMALL, Command, write
from sonic_yang import faults

STAR = "[fabric.star]\nhosts = 3\n"
TWO_RATES = """\
[fabric.leaf_spine]
leaves = 2
spines = 1
hosts_per_leaf = 2
host_rate = "100Gbps"
uplink_rate = "400Gbps"
delay = "600ns"
"""
SWITCHES = {
    "dynamic": "[switch]\nlossless = [3, 4]\nwatchdog.enabled = true\n",
    "static": '[switch]\npfc_mode.static.xoff = "200kB"\nheadroom = "40kB"\nresume_offset = "10kB"\n',
    "strict": '[switch]\nscheduler = "strict-priority"\nlossless = [2, 3, 5]\npfc_mode.dynamic.alpha = 0.0625\n',
    "weighted": "[switch.scheduler.drr]\nquanta = [1500, 1500, 3000, 4500, 1500, 1500, 1500, 1500]\nstrict = [7]\n",
    "lossy": "[switch]\npfc = false\nlossy_alpha = 8\n",
    "unmarked": '[switch]\nby_rate = [{ rate = "100Gbps", headroom = "50kB", alpha = 2 }]\n[ecn]\nenabled = false\n',
    "marked": '[ecn]\nby_rate = [{ rate = "100Gbps", kmin = "1MiB", kmax = "2MiB", pmax = 0.05 }]\n',
}


def export(command: Command, folder: Path, text: str, *options: object) -> dict[str, dict[str, dict[str, Any]]]:
    """The exported files of CONFIG_DB by name."""
    write(folder, text, "s.toml")
    shutil.rmtree(folder / "out", ignore_errors=True)
    done = command("export", "sonic-buffers", "s.toml", "-o", "out", *options)
    assert done.returncode == 0, done.stderr
    return {file.name: json.loads(file.read_text()) for file in sorted((folder / "out").glob("*.json"))}


@pytest.mark.parametrize("fabric", [STAR, TWO_RATES], ids=["star", "two rates"])
@pytest.mark.parametrize("name", SWITCHES)
def test_files_follow_the_models(name: str, fabric: str, command: Command, tmp_path: Path) -> None:
    found = export(command, tmp_path, fabric + SWITCHES[name])
    assert list(found) == (["s0.json"] if fabric == STAR else ["leaf0.json", "spine0.json"])
    for config in found.values():
        assert faults(config) == []


def test_values_are_those_of_the_run(command: Command, tmp_path: Path) -> None:
    config = export(command, tmp_path, STAR + '[switch]\nlossless = [3, 4]\nbuffer = "1MB"\n')["s0.json"]
    # Computed headroom at 100 Gb/s and 1 us: 25,000 B in flight, 3 packets of 1,000 + 48 + 42 B (with INT), 2 pause
    # frames of 64 B.
    headroom = 25_000 + 3 * 1090 + 2 * 64
    assert config["BUFFER_POOL"]["ingress_lossless_pool"] == {
        "type": "ingress",
        "mode": "dynamic",
        "size": str(1_000_000 - 6 * headroom),
        "xoff": str(6 * headroom),
    }
    assert config["BUFFER_PROFILE"]["pg_lossless_100000_198m_profile"] == {
        "pool": "ingress_lossless_pool",
        "size": "4096",
        "xon": "4096",
        "xon_offset": "3072",
        "xoff": str(headroom),
        "dynamic_th": "-3",  # 1/8
    }
    assert config["BUFFER_PROFILE"]["egress_lossy_profile"]["dynamic_th"] == "0"
    assert config["BUFFER_PG"]["Ethernet8|3-4"] == {"profile": "pg_lossless_100000_198m_profile"}
    assert config["BUFFER_PG"]["Ethernet8|0"] == {"profile": "ingress_lossy_profile"}
    assert [key for key in config["BUFFER_QUEUE"] if key.startswith("Ethernet0|")] == [
        "Ethernet0|3-4",
        "Ethernet0|0-2",
        "Ethernet0|5-7",
    ]
    # 1 us at 198,000 km/s.
    assert config["CABLE_LENGTH"]["AZURE"] == {f"Ethernet{port}": "198m" for port in (0, 4, 8)}
    assert config["WRED_PROFILE"]["ECN_100000"]["green_max_threshold"] == "1600000"
    assert config["WRED_PROFILE"]["ECN_100000"]["red_drop_probability"] == "20"
    assert config["QUEUE"]["Ethernet4|1-7"] == {"scheduler": "INCAST_WRR", "wred_profile": "ECN_100000"}
    assert config["PORT_QOS_MAP"]["Ethernet0"]["pfc_enable"] == "3,4"
    assert "PFC_WD" not in config
    lines = (tmp_path / "out/pg_profile_lookup.ini").read_text().splitlines()
    assert lines[1].split() == ["#", "speed", "cable", "size", "xon", "xoff", "threshold", "xon_offset"]
    assert lines[2].split() == ["100000", "198m", "4096", "4096", str(headroom), "-3", "3072"]
    assert "one reserve per port" in (tmp_path / "out/README.md").read_text()


def test_thresholds_of_each_form(command: Command, tmp_path: Path) -> None:
    def found(name: str, fabric: str = STAR) -> dict[str, dict[str, Any]]:
        first, *_ = export(command, tmp_path, fabric + SWITCHES[name]).values()
        return first

    static = found("static")
    assert static["BUFFER_POOL"]["ingress_lossless_pool"]["mode"] == "static"
    profile = static["BUFFER_PROFILE"]["pg_lossless_100000_198m_profile"]
    assert (profile["static_th"], profile["xoff"], profile["xon_offset"]) == ("200000", "40000", "10000")
    rates = found("dynamic", TWO_RATES)["BUFFER_PROFILE"]
    # 600 ns: 118.8 m; alpha by rate: 1/8, doubled twice.
    assert rates["pg_lossless_100000_119m_profile"]["dynamic_th"] == "-3"
    assert rates["pg_lossless_400000_119m_profile"]["dynamic_th"] == "-1"
    weighted = found("weighted")
    assert {key: row["scheduler"] for key, row in weighted["QUEUE"].items() if key.startswith("Ethernet0|")} == {
        "Ethernet0|0": "INCAST_STRICT",
        "Ethernet0|1": "INCAST_DWRR_1",
        "Ethernet0|2": "INCAST_DWRR_2",
        "Ethernet0|3": "INCAST_DWRR_3",
        "Ethernet0|4-6": "INCAST_DWRR_1",
        "Ethernet0|7": "INCAST_STRICT",
    }
    lossy = found("lossy")
    assert lossy["PORT_QOS_MAP"]["Ethernet0"]["pfc_enable"] == ""
    assert lossy["BUFFER_PROFILE"]["ingress_lossy_profile"]["size"] == "4096"
    assert lossy["BUFFER_PROFILE"]["egress_lossy_profile"]["dynamic_th"] == "3"
    assert (
        not (tmp_path / "out/pg_profile_lookup.ini").exists()
        or "xoff" not in lossy["BUFFER_POOL"]["ingress_lossless_pool"]
    )
    strict = found("strict")
    assert {row["scheduler"] for row in strict["QUEUE"].values()} == {"INCAST_STRICT"}
    assert strict["BUFFER_PG"].keys() >= {"Ethernet0|2-3", "Ethernet0|5"}
    watched = found("dynamic")
    assert watched["PFC_WD"]["GLOBAL"] == {"POLL_INTERVAL": "200"}
    assert watched["PFC_WD"]["Ethernet8"] == {"action": "drop", "detection_time": "200", "restoration_time": "200"}


@pytest.mark.parametrize(
    ("settings", "message", "rounded"),
    [
        (
            "switch.pfc_mode.dynamic.alpha = 0.3",
            "switch.pfc_mode.dynamic.alpha: 0.3",
            ("BUFFER_PROFILE", "pg_lossless_100000_198m_profile", "dynamic_th", "-2"),
        ),
        (
            "switch.lossy_alpha = 3",
            "switch.lossy_alpha: 3",
            ("BUFFER_PROFILE", "egress_lossy_profile", "dynamic_th", "2"),
        ),
        ("ecn.pmax = 0.125", "ecn.pmax: 0.125", ("WRED_PROFILE", "ECN_100000", "green_drop_probability", "12")),
        (
            'switch.watchdog = { enabled = true, detection = "1ms" }',
            "switch.watchdog.detection: 1ms",
            ("PFC_WD", "Ethernet0", "detection_time", "200"),
        ),
        (
            "switch.scheduler.drr.quanta = [1, 1, 1000, 1000, 1000, 1000, 1000, 1000]",
            "switch.scheduler.drr.quanta[1]: 1",
            ("SCHEDULER", "INCAST_DWRR_1", "weight", "1"),
        ),
    ],
)
def test_inexact_values_are_refused_or_rounded(
    settings: str, message: str, rounded: tuple[str, str, str, str], command: Command, tmp_path: Path
) -> None:
    write(tmp_path, f"{settings}\n{STAR}", "s.toml")
    done = command("export", "sonic-buffers", "s.toml", "-o", "out")
    assert (done.returncode, done.stdout) == (2, "")
    field, _, value = message.partition(": ")
    assert done.stderr.startswith(f"error: {value} has no exact form in SONiC\n  --> s.toml:1:")
    assert f"({field})\n" in done.stderr
    assert "\n  = allowed: " in done.stderr
    assert not (tmp_path / "out").exists()
    table, key, field, value = rounded
    assert export(command, tmp_path, f"{settings}\n{STAR}", "--round")["s0.json"][table][key][field] == value
    done = command("export", "sonic-buffers", "s.toml", "-o", "out", "--round", "--overwrite")
    assert f"- {message} has no exact form in SONiC" in done.stderr


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        (
            'switch.queues = { drop-tail = { limit = "1MB" } }\n' + STAR,
            [],
            "error: a buffer for each port has no exact form",
        ),
        (STAR, ["--port-names", "eth0"], "--port-names eth0: is not the name of a first port"),
        (STAR, ["--scheme", "DCQN"], "--scheme DCQN: no such scheme"),
        (SMALL + 'switch.headroom = "40kB"\n', [], "choose one with --scheme; equal ones: DCQCN; HPCC"),
    ],
)
def test_what_cannot_be_written_is_refused(
    text: str, options: list[object], message: str, command: Command, tmp_path: Path
) -> None:
    write(tmp_path, text, "s.toml")
    done = command("export", "sonic-buffers", "s.toml", "-o", "out", *options)
    assert done.returncode == 2, done.stdout
    assert message in done.stderr
    assert not (tmp_path / "out").exists()


def test_schemes_and_names_can_be_chosen(command: Command, tmp_path: Path) -> None:
    text = SMALL + 'switch.headroom = "40kB"\n'
    config = export(command, tmp_path, text, "--scheme", "HPCC", "--port-names", "Ethernet8/8")["s0.json"]
    assert list(config["PORT_QOS_MAP"])[:2] == ["Ethernet8", "Ethernet16"]
    assert config["BUFFER_PROFILE"]["pg_lossless_100000_198m_profile"]["xoff"] == "40000"
    other = export(command, tmp_path, text, "--scheme", "DCQCN")["s0.json"]
    assert other["BUFFER_PROFILE"]["pg_lossless_100000_198m_profile"]["xoff"] != "40000"


def test_settings_without_a_table_are_listed(command: Command, tmp_path: Path) -> None:
    settings = (
        "switch.isolation = { enabled = true }\nswitch.lossless = [2, 3]\n"
        'switch.forwarding = "cut-through"\necn.mark_at = "enqueue"\n'
    )
    write(tmp_path, settings + STAR, "s.toml")
    done = command("export", "sonic-buffers", "s.toml", "-o", "out")
    assert done.returncode == 0, done.stderr
    readme = (tmp_path / "out/README.md").read_text()
    for name in ("switch.isolation", "switch.forwarding", "switch.cut_through_header", "ecn.mark_at", "DSCP_TO_TC_MAP"):
        assert f"- {name}" in done.stderr
        assert f"- {name}" in readme
    write(tmp_path, STAR, "s.toml")
    assert "isolation" not in command("export", "sonic-buffers", "s.toml", "-o", "other").stderr


def test_headroom_that_priorities_share_is_noted(command: Command, tmp_path: Path) -> None:
    text = STAR + '[switch]\nlossless = [3, 4]\nheadroom = "three-delays"\n'
    pools = export(command, tmp_path, text)["s0.json"]["BUFFER_POOL"]
    # 3 ports, 3 delays of 1 us at 100 Gb/s.
    assert pools["ingress_lossless_pool"]["xoff"] == str(3 * 37_500)
    readme = (tmp_path / "out/README.md").read_text()
    assert "one headroom for its 2 lossless priorities" in readme
    export(command, tmp_path, text.replace("[3, 4]", "[3]"), "--overwrite")
    assert "shared headroom" not in (tmp_path / "out/README.md").read_text()


def test_nvlink_switches_have_no_file(command: Command, tmp_path: Path) -> None:
    rails = "[fabric.rail_optimized]\nservers = 2\nspines = 1\ngpus_per_server = 2\n"
    assert list(export(command, tmp_path, rails)) == ["rail0.json", "spine0.json"]


def test_inexact_overrides_and_values_of_schemes_are_located(command: Command, tmp_path: Path) -> None:
    write(tmp_path, SMALL + "[scheme.HPCC.switch]\nlossy_alpha = 5\n", "s.toml")
    done = command("export", "sonic-buffers", "s.toml", "-o", "out", "--scheme", "HPCC")
    assert "error: 5 has no exact form in SONiC" in done.stderr
    assert "(scheme.HPCC.switch.lossy_alpha)" in done.stderr
    assert "| lossy_alpha = 5" in done.stderr
    done = command("export", "sonic-buffers", "s.toml", "-o", "out", "--scheme", "DCQCN", "--set", "ecn.pmax=0.333")
    assert "--> --set:1:10" in done.stderr
    assert "1 | ecn.pmax=0.333" in done.stderr
