"""`incast import sonic`: round trips, devices with values of public tables, and wrong files."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest

from conftest import Command, write
from incast import _core
from test_sonic_export import STAR, SWITCHES, TWO_RATES, export

Tables = dict[str, dict[str, dict[str, Any]]]
MORE = {
    "default": "",
    "inside": '[switch]\nreserve = "10kB"\nresume_offset = "9kB"\nlossless = [1, 2, 6]\nlossy_alpha = 0.25\n',
    "alert times": '[switch.watchdog]\nenabled = true\ndetection = "300ms"\nrestoration = "1s"\naction = "forward"\n',
}
TABLE = """\
# PG lossless profiles: device/dell/x86_64-dellemc_s5448f-r0 of sonic-net/sonic-buildimage.
# speed cable size     xon     xoff  threshold xon_offset
 100000  5m   9540     9540   160272      0        9540
 400000  5m   9540     9540   464916      0        9540
 100000  40m  9540     9540   176808      0        9540
 400000  40m  9540     9540   531060      0        9540
 100000  300m 9540     9540   299874      0        9540
"""


def device() -> Tables:
    """A leaf with invented names: two servers at 5 m, two spines at 40 m, one at 300 m.

    Pools: device/arista/x86_64-arista_7050cx3_32s/Arista-7050CX3-32S-D48C8/BALANCED/buffers_defaults_t0.j2. WRED,
    schedulers and maps: files/build_templates/qos_config.j2 (both of sonic-net/sonic-buildimage). Lossless profiles are
    those of `TABLE`, which buffermgr adds when the switch runs.
    """
    speeds = {
        "Ethernet0": 100_000,
        "Ethernet4": 100_000,
        "Ethernet8": 400_000,
        "Ethernet16": 400_000,
        "Ethernet24": 100_000,
    }
    cables = {"Ethernet0": "5m", "Ethernet4": "5m", "Ethernet8": "40m", "Ethernet16": "40m", "Ethernet24": "300m"}
    identity = {str(number): str(number) for number in range(8)}
    wred = {
        f"{colour}_{field}": value
        for colour in ("green", "yellow", "red")
        for field, value in (
            ("min_threshold", "1048576"),
            ("max_threshold", "2097152"),
            ("drop_probability", "5"),
        )
    }
    lossless = {"scheduler": "scheduler.1", "wred_profile": "AZURE_LOSSLESS"}
    return {
        "DEVICE_METADATA": {"localhost": {"hostname": "leaf-b7", "hwsku": "Invented-5-Port", "type": "LeafRouter"}},
        "PORT": {name: {"lanes": "1,2,3,4", "speed": str(speed), "mtu": "9100"} for name, speed in speeds.items()},
        "CABLE_LENGTH": {"AZURE": dict(cables)},
        "BUFFER_POOL": {
            "ingress_lossless_pool": {"size": "32689152", "type": "ingress", "mode": "dynamic", "xoff": "2058240"},
            "egress_lossy_pool": {"size": "24192256", "type": "egress", "mode": "dynamic"},
            "egress_lossless_pool": {"size": "32340992", "type": "egress", "mode": "static"},
        },
        "BUFFER_PROFILE": {
            "ingress_lossy_profile": {"pool": "ingress_lossless_pool", "size": "0", "static_th": "32689152"},
            "egress_lossless_profile": {"pool": "egress_lossless_pool", "size": "0", "static_th": "32340992"},
            "egress_lossy_profile": {"pool": "egress_lossy_pool", "size": "1792", "dynamic_th": "3"},
        },
        "BUFFER_PG": {f"{name}|0": {"profile": "ingress_lossy_profile"} for name in speeds},
        "BUFFER_QUEUE": {f"{name}|3-4": {"profile": "egress_lossless_profile"} for name in speeds},
        "DSCP_TO_TC_MAP": {"AZURE": {**{str(dscp): "1" for dscp in range(64)}, "3": "3", "4": "4", "26": "3"}},
        "TC_TO_PRIORITY_GROUP_MAP": {"AZURE": {**dict.fromkeys(identity, "0"), "3": "3", "4": "4", "7": "7"}},
        "TC_TO_QUEUE_MAP": {"AZURE": identity},
        "MAP_PFC_PRIORITY_TO_QUEUE": {"AZURE": identity},
        "PORT_QOS_MAP": {
            "global": {"dscp_to_tc_map": "AZURE"},
            **{
                name: {
                    "tc_to_pg_map": "AZURE",
                    "tc_to_queue_map": "AZURE",
                    "pfc_enable": "3,4",
                    "pfcwd_sw_enable": "3,4",
                }
                for name in speeds
            },
        },
        "WRED_PROFILE": {"AZURE_LOSSLESS": {"ecn": "ecn_all", "wred_green_enable": "true", **wred}},
        "SCHEDULER": {
            "scheduler.0": {"type": "DWRR", "weight": "14"},
            "scheduler.1": {"type": "DWRR", "weight": "15"},
        },
        "QUEUE": {
            f"{name}|{queue}": dict(lossless) if queue in (3, 4) else {"scheduler": "scheduler.0"}
            for name in speeds
            for queue in range(7)
        },
        "PFC_WD": {
            "GLOBAL": {"POLL_INTERVAL": "200"},
            **{name: {"action": "drop", "detection_time": "200", "restoration_time": "400"} for name in speeds},
        },
    }


def imported(command: Command, folder: Path, config: Tables, *options: object) -> tuple[dict[str, Any], str]:
    """The sections from a device, and what is not in them."""
    write(folder, json.dumps(config, indent=4), "config_db.json")
    done = command("import", "sonic", "config_db.json", *options, "-o", "switch.toml", "--overwrite")
    assert done.returncode == 0, done.stderr
    text = (folder / "switch.toml").read_text()
    assert command("import", "sonic", "config_db.json", *options).stdout == text
    return tomllib.loads(text), done.stderr


def thresholds(tree: dict[str, Any], folder: Path) -> dict[str, Any]:
    """Thresholds of all ports, and settings without sizes, under one scheme."""
    flow = {"workload": [{"list": [{"src": 0, "dst": 1, "size": 1}]}], "scheme": {"A": {"control": "dcqcn"}}}
    [found] = json.loads(_core.Scenario.from_json(json.dumps({**flow, **tree}), folder).thresholds())
    return dict(found)


@pytest.mark.parametrize("fabric", [STAR, TWO_RATES], ids=["star", "two rates"])
@pytest.mark.parametrize("name", [*SWITCHES, *MORE])
def test_an_export_comes_back_as_it_was(name: str, fabric: str, command: Command, tmp_path: Path) -> None:
    text = fabric + {**SWITCHES, **MORE}[name]
    for file, config in export(command, tmp_path, text).items():
        sections, _ = imported(command, tmp_path, config)
        before = thresholds(tomllib.loads(text), tmp_path)
        after = thresholds({**tomllib.loads(fabric), **sections}, tmp_path)
        assert after["paused"] == before["paused"]
        assert after["ecn"] == before["ecn"]
        for field in ("buffer", "reserve", "lossy_alpha", "scheduler", "watchdog"):
            assert after["switch"][field] == before["switch"][field], field
        if before["paused"]:
            assert after["switch"]["resume_offset"] == before["switch"]["resume_offset"]
            mine = [[one for one in each["switches"] if f"{one['names'][0]}.json" == file] for each in (before, after)]
            assert mine[0] == mine[1] != []


def test_a_device_becomes_a_section(command: Command, tmp_path: Path) -> None:
    write(tmp_path, TABLE, "pg_profile_lookup.ini")
    sections, notes = imported(command, tmp_path, device(), "--pg-profile-lookup", "pg_profile_lookup.ini")
    # Headrooms of two priorities: 2 (2 * 160,272 + 2 * 531,060 + 299,874) = 3,365,076 B, 1,306,836 B more than the pool
    # of 2,058,240 B that the ports of the device share.
    assert sections["switch"] == {
        "buffer": f"{32_689_152 + 3_365_076}B",
        "lossless": [3, 4],
        "reserve": "9540B",
        "resume_offset": "9540B",
        "pfc_mode": {"dynamic": {"alpha": 1.0}},
        "by_rate": [
            # 5 m and 300 m at 198,000 km/s: 25.3 and 1,515.2 ns.
            {"rate": "100Gbps", "max_delay": "26ns", "headroom": "160272B"},
            {"rate": "100Gbps", "max_delay": "1516ns", "headroom": "299874B"},
            {"rate": "400Gbps", "headroom": "531060B"},
        ],
        "lossy_alpha": 8.0,
        "scheduler": {"drr": {"quanta": [1500, 21000, 21000, 22500, 22500, 21000, 21000, 21000]}},
        "watchdog": {"enabled": True, "detection": "200ms", "restoration": "400ms", "poll": "200ms", "action": "drop"},
    }
    marks = {"kmin": "1048576B", "kmax": "2097152B", "pmax": 0.05}
    assert sections["ecn"] == {"by_rate": [{"rate": "100Gbps", **marks}, {"rate": "400Gbps", **marks}]}
    for note in (
        "shared headroom: xoff 2058240 of ingress_lossless_pool is less than all headrooms, 3365076 B",
        "so switch.buffer is 1306836 B larger",
        "queues 7 without scheduler",
        "scheduler of queue 0",
        "5 further reserves of 9540 B",
        "so the shared buffer is 47700 B larger",
        "BUFFER_PROFILE|egress_lossy_profile: size 1792: incast has no reserve at egress",
        "BUFFER_POOL|egress_lossy_pool: size 24192256",
        "DSCP_TO_TC_MAP|AZURE: flows have priorities, no DSCPs: DSCP 3, 26 is priority 3; DSCP 4 is priority 4",
        "WRED drops packets without ECN",
        "tables not about buffers: DEVICE_METADATA",
    ):
        assert note in notes, notes
    assert "# xoff and dynamic_th by speed and cable (pg_profile_lookup.ini)" in (tmp_path / "switch.toml").read_text()


def test_sections_complete_a_scenario(command: Command, tmp_path: Path) -> None:
    write(tmp_path, TABLE, "pg_profile_lookup.ini")
    imported(command, tmp_path, device(), "--pg-profile-lookup", "pg_profile_lookup.ini")
    fabric = (
        '[fabric.leaf_spine]\nleaves = 2\nspines = 2\nhosts_per_leaf = 2\nuplink_rate = "400Gbps"\ndelay = "25ns"\n'
        '[[workload]]\nincast = { fan_in = 3, size = "100kB" }\n[scheme.DCQCN]\ncontrol = "dcqcn"\n'
    )
    write(tmp_path, fabric + (tmp_path / "switch.toml").read_text(), "whole.toml")
    done = command("run", "whole.toml", "-o", "results", "--quiet")
    assert done.returncode == 0, done.stderr
    leaf = thresholds(tomllib.loads((tmp_path / "whole.toml").read_text()), tmp_path)["switches"][0]
    assert [port["headroom"] for port in leaf["ports"]] == [160_272, 160_272, 531_060, 531_060]


def test_headroom_within_the_size_of_a_profile(command: Command, tmp_path: Path) -> None:
    """ASICs without a headroom pool: the profile in the comments of cfgmgr/buffermgr.cpp (sonic-net/sonic-swss)."""
    config = device()
    del config["BUFFER_POOL"]["ingress_lossless_pool"]["xoff"]
    config["BUFFER_PROFILE"]["pg_lossless_100000_300m_profile"] = {
        "pool": "ingress_lossless_pool",
        "xon": "18432",
        "xoff": "165888",
        "size": "184320",
        "dynamic_th": "1",
    }
    for name in config["PORT"]:
        config["PORT"][name]["speed"] = "100000"
        config["BUFFER_PG"][f"{name}|3-4"] = {"profile": "[BUFFER_PROFILE|pg_lossless_100000_300m_profile]"}
    sections, notes = imported(command, tmp_path, config)
    switch = sections["switch"]
    assert (switch["reserve"], switch["headroom"]) == ("18432B", "165888B")
    # Ten lossless groups.
    assert switch["buffer"] == f"{32_689_152 + 10 * 184_320}B"
    assert switch["pfc_mode"] == {"dynamic": {"alpha": 2.0}}
    assert "by_rate" not in switch
    assert "resume_offset" not in switch
    assert "no xon_offset: SONiC resumes at xon, 18432 B" in notes


def test_profiles_without_an_offset_do_not_count_as_0(command: Command, tmp_path: Path) -> None:
    config = device()
    config["BUFFER_PROFILE"] = {
        f"pg_lossless_{speed}_{cable}_profile": {
            "pool": "ingress_lossless_pool",
            "size": "9540",
            "xon": "9540",
            "xoff": "160272",
            "dynamic_th": "0",
            **({"xon_offset": "3072"} if cable == "300m" else {}),
        }
        for speed, cable in ((100_000, "5m"), (400_000, "40m"), (100_000, "300m"))
    } | {name: row for name, row in config["BUFFER_PROFILE"].items() if not name.startswith("pg_lossless")}
    for name, cable in (("Ethernet0", "5m"), ("Ethernet4", "5m"), ("Ethernet24", "300m")):
        config["BUFFER_PG"][f"{name}|3-4"] = {"profile": f"pg_lossless_100000_{cable}_profile"}
    for name in ("Ethernet8", "Ethernet16"):
        config["BUFFER_PG"][f"{name}|3-4"] = {"profile": "pg_lossless_400000_40m_profile"}
    sections, notes = imported(command, tmp_path, config)
    assert sections["switch"]["resume_offset"] == "3072B"
    assert "no xon_offset in BUFFER_PROFILE|pg_lossless_100000_5m_profile" in notes


@pytest.mark.parametrize(
    ("row", "said"),
    [({"pool": "abc"}, "no row `abc` in BUFFER_POOL"), ({"pool": "ingress_lossless_pool"}, "has xoff, but no size")],
)
def test_lossless_profiles_have_a_pool_and_a_size(
    command: Command, tmp_path: Path, row: dict[str, str], said: str
) -> None:
    config = device()
    size = {"size": "9540"} if row["pool"] == "abc" else {}
    config["BUFFER_PROFILE"]["own"] = {"xoff": "160272", "dynamic_th": "0", **row, **size}
    config["BUFFER_PG"]["Ethernet0|3-4"] = {"profile": "own"}
    write(tmp_path, json.dumps(config, indent=4), "config_db.json")
    done = command("import", "sonic", "config_db.json")
    assert done.returncode == 2
    assert said in done.stderr


def test_what_differs_by_port_is_listed(command: Command, tmp_path: Path) -> None:
    config = device()
    config["PORT_QOS_MAP"]["Ethernet24"] |= {"pfc_enable": "3"}
    config["PORT_QOS_MAP"]["Ethernet16"] |= {"pfc_enable": ""}
    del config["PFC_WD"]["Ethernet0"]
    config["WRED_PROFILE"]["AZURE_LOSSLESS"] |= {"yellow_min_threshold": "1000"}
    config["SCHEDULER"]["scheduler.1"] |= {"pir": "1000"}
    config["QUEUE"]["Ethernet4|6"] = {"scheduler": "scheduler.1"}
    config["TC_TO_QUEUE_MAP"]["AZURE"] |= {"4": "5"}
    config["BUFFER_PROFILE"]["ingress_lossy_profile"] |= {"packet_discard_action": "trim"}
    config["BUFFER_PROFILE"]["other"] = {"pool": "egress_lossy_pool", "size": "0", "dynamic_th": "1"}
    config["BUFFER_QUEUE"] |= {f"{name}|0-2": {"profile": "egress_lossy_profile"} for name in config["PORT"]}
    config["BUFFER_QUEUE"]["Ethernet4|5-6"] = {"profile": "other"}
    own = {"pool": "ingress_lossless_pool", "size": "9540", "xon": "9540", "xoff": "1000", "dynamic_th": "1"}
    config["BUFFER_PROFILE"] |= {"own": own, "low": {**own, "xoff": "900"}}
    config["BUFFER_PG"] |= {"Ethernet0|3": {"profile": "own"}, "Ethernet0|4": {"profile": "low"}}
    del config["QUEUE"]["Ethernet8|3"]["wred_profile"], config["QUEUE"]["Ethernet8|4"]["wred_profile"]
    del config["QUEUE"]["Ethernet16|3"]["wred_profile"], config["QUEUE"]["Ethernet16|4"]["wred_profile"]
    write(tmp_path, TABLE.replace("0        9540\n 400000  5m", "1        9540\n 400000  5m"), "table.ini")
    sections, notes = imported(command, tmp_path, config, "--pg-profile-lookup", "table.ini")
    for note in (
        "PFC for 3 at Ethernet24: incast has one list",
        "no PFC at Ethernet16",
        "no watchdog at Ethernet0",
        "AZURE_LOSSLESS: thresholds of yellow and red",
        "SCHEDULER|scheduler.1: pir: incast has no shapers",
        "schedulers of Ethernet4 differ",
        "TC_TO_QUEUE_MAP|AZURE: 4 to 5",
        "alpha at 100000 Mb/s of other profiles, 1.0: incast has one",
        "pfcwd_sw_enable",
        "fields of BUFFER_PROFILE that incast does not have: packet_discard_action",
        "other of lossy queues: incast has one lossy_alpha; that of egress_lossy_profile was taken",
        "BUFFER_PROFILE|low at Ethernet0: incast has one profile per port",
        "at ports of 100000 Mb/s and 5 m: the most common was taken",
    ):
        assert note in notes, notes
    assert sections["switch"]["lossless"] == [3, 4]
    never = {"rate": "400Gbps", "kmin": "2GiB", "kmax": "2GiB", "pmax": 0.0}
    assert sections["ecn"]["by_rate"][1] == never


def wrong(field: str, value: str | None, table: str, key: str) -> Tables:
    """The device with one other value; `None` removes the field."""
    config = device()
    config[table][key] = {name: text for name, text in config[table][key].items() if name != field}
    if value is not None:
        config[table][key][field] = value
    return config


@pytest.mark.parametrize(
    ("config", "shown", "message"),
    [
        (wrong("size", "32MB", "BUFFER_POOL", "ingress_lossless_pool"), '"32MB"', "size = `32MB`"),
        (wrong("mode", "dinamic", "BUFFER_POOL", "ingress_lossless_pool"), '"dinamic"', "allowed: dynamic, static"),
        (wrong("dynamic_th", "9", "BUFFER_PROFILE", "egress_lossy_profile"), '"9"', "allowed: a whole number, -8 to 7"),
        (wrong("pfc_enable", "3;4", "PORT_QOS_MAP", "Ethernet8"), '"3;4"', "allowed: priorities 0 to 7"),
        (wrong("Ethernet8", "40", "CABLE_LENGTH", "AZURE"), '"40"', "allowed: a length in metres"),
        (wrong("speed", "200000", "PORT", "Ethernet8"), '"Ethernet8": {', "no profile for 200000 Mb/s and 40m"),
        (wrong("speed", None, "PORT", "Ethernet8"), '"Ethernet8": {', "Ethernet8 has no speed"),
        (wrong("wred_profile", "AZURE", "QUEUE", "Ethernet8|3"), '"AZURE"', "no row `AZURE` in WRED_PROFILE"),
        (
            wrong("green_max_threshold", "5", "WRED_PROFILE", "AZURE_LOSSLESS"),
            '"AZURE_LOSSLESS": {',
            "marks from 1048576 to 5",
        ),
        (wrong("detection_time", "7000", "PFC_WD", "Ethernet0"), '"7000"', "allowed: a whole number, 100 to 5000"),
        (wrong("weight", "0", "SCHEDULER", "scheduler.0"), '"0"', "allowed: a whole number, 1 to 100"),
        ({**device(), "BUFFER_PG": {"Ethernet0": {"profile": "x"}}}, '"Ethernet0": {', "such as Ethernet0|3-4"),
    ],
)
def test_wrong_values_are_located(config: Tables, shown: str, message: str, command: Command, tmp_path: Path) -> None:
    write(tmp_path, TABLE, "table.ini")
    text = json.dumps(config, indent=4)
    write(tmp_path, text, "config_db.json")
    done = command("import", "sonic", "config_db.json", "--pg-profile-lookup", "table.ini", "-o", "switch.toml")
    assert (done.returncode, done.stdout) == (2, ""), done.stderr
    assert message in done.stderr
    line = int(done.stderr.partition("config_db.json:")[2].partition(":")[0])
    assert shown in text.splitlines()[line - 1], done.stderr
    assert not (tmp_path / "switch.toml").exists()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "not JSON: the end of the file"),
        ('{"A": 1,}', "not JSON: a comma before `}`"),
        ('{"A": {}, "A": {}}', 'the name "A" twice'),
        ('{"A": [1,]}', "not JSON: a comma before `]`"),
        ('{"A": ' + 40 * "[" + 40 * "]" + "}", "nested too deeply"),
        ("[]", "not a table"),
        ("{} x", "not JSON: `x`"),
        ('{"BUFFER_POOL": 1}', "BUFFER_POOL is no table"),
        ('{"BUFFER_POOL": {"a": "b"}}', "BUFFER_POOL|a is no row"),
        ('{"PORT": {}}', "no table of buffers"),
        ("", "not JSON: the end of the file"),
    ],
)
def test_other_files_are_refused(text: str, message: str, command: Command, tmp_path: Path) -> None:
    write(tmp_path, text, "config_db.json")
    done = command("import", "sonic", "config_db.json")
    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr
    assert "--> config_db.json:1:" in done.stderr


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("100000 5m 9540 9540", "4 columns"),
        ("100000 5 9540 9540 1 0 1", "cable `5`"),
        ("100000 5m 9540 -1 1 0 1", "xon `-1`"),
        ("100000 5m 9540 1 1 12 1", "threshold 12"),
        ("100000 5m 1 1 1 0 1\n100000 5m 1 1 1 0 1", "100000 Mb/s and 5 m twice"),
    ],
)
def test_wrong_lookup_files_are_located(line: str, message: str, command: Command, tmp_path: Path) -> None:
    write(tmp_path, json.dumps(device()), "config_db.json")
    write(tmp_path, f"# speed\n{line}\n", "table.ini")
    done = command("import", "sonic", "config_db.json", "--pg-profile-lookup", "table.ini")
    assert done.returncode == 2
    assert message in done.stderr
    assert f"--> table.ini:{3 if 'twice' in message else 2}:" in done.stderr


def test_pfc_without_a_profile_needs_the_lookup_file(command: Command, tmp_path: Path) -> None:
    write(tmp_path, json.dumps(device(), indent=4), "config_db.json")
    done = command("import", "sonic", "config_db.json")
    assert done.returncode == 2
    assert "Ethernet0 has PFC for 3, 4 and no lossless profile in BUFFER_PG" in done.stderr
    assert "or --pg-profile-lookup FILE" in done.stderr
