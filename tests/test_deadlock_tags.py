"""`incast deadlock tag`: tags, their rules, and files of rules that are read back as what they are."""

from __future__ import annotations

import base64
import csv
import errno
import json
import os
import re
from collections.abc import Sequence
from pathlib import Path

import pytest

import incast
from conftest import RING, ROOT, Command, write
from incast._whole import write_all
from incast.errors import EnvironmentFailure, ResultsExistError
from incast.wiring import Wiring

TESTBED = ROOT / "scenarios" / "clos-testbed.toml"
BOUNCES = "H1 T1 L1 S1 L3 S2 L4 T4 H13\nH9 T3 L3 S2 L1 S1 L2 T1 H4\n"
Rules = dict[tuple[str, int, int, int], int]
"""The new tag by switch, tag, ingress port and egress port."""


def test_given_routes_stay_lossless_unless_other_paths_are_asked_for(tmp_path: Path, command: Command) -> None:
    routes = "".join(
        f'[[network.route]]\nat = "s{at}"\nto = "h{(at + 2) % 3}"\nvia = ["s{(at + 1) % 3}"]\n' for at in range(3)
    )
    file = write(tmp_path, RING + routes)
    given, asked, other = (
        command("deadlock", "tag", file, "--format", "json", *paths)
        for paths in ((), ("--paths", "routes"), ("--paths", "shortest"))
    )
    assert given.returncode == 0, given.stderr
    assert given.stdout == asked.stdout
    assert given.stdout != other.stdout


@pytest.mark.parametrize(("bounces", "tags"), [(0, 1), (1, 2), (2, 3)])
def test_tags_count_bounces(bounces: int, tags: int, command: Command) -> None:
    done = command("deadlock", "tag", TESTBED, "--paths", "up-down", "--bounces", bounces, "--method", "clos")
    assert done.returncode == 0, done.stderr
    first, second, _, heads, *rows = done.stdout.splitlines()
    named = "1 lossless tag, a" if tags == 1 else f"{tags} lossless tags, each a"
    assert first == f"{named} PFC priority; packets that leave the paths become lossy"
    assert second == "verified: no cyclic dependency, and no packet on an expected path becomes lossy"
    assert len({len(line) for line in (heads, *rows)}) == 1, "columns are aligned"
    assert len(rows) == 5


@pytest.mark.parametrize(
    ("arguments", "tags"),
    [
        (["--paths", "up-down", "--bounces", 1], 3),
        (["--paths", "up-down", "--bounces", 1, "--order", "random", "--seed", 3], None),
        (["--paths", "up-down", "--bounces", 0, "--method", "per-hop"], 5),
        (["--paths", "up-down", "--bounces", 1, "--method", "clos", "--classes", 2], 3),
        (["--paths", "paths.txt"], 2),
        (["--paths", "trees"], 1),
        (["--paths", "random", "--per-pair", 2], 1),
        ([], 1),
    ],
)
def test_tags_by_other_ways(arguments: list[object], tags: int | None, command: Command, tmp_path: Path) -> None:
    write(tmp_path, BOUNCES, "paths.txt")
    done = command("deadlock", "tag", TESTBED, *arguments, "--format", "json")
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert report["tags"] == (report["tags"] if tags is None else tags)
    assert (report["verification"]["cycles"], report["verification"]["lossy"]) == ([], 0)
    assert all(1 <= one["most"] <= one["total"] for one in report["rules"] if "changed" not in one["counted"])


def test_every_export_says_the_same(command: Command, tmp_path: Path) -> None:
    forms = [word for form in ("json", "csv", "nftables", "sonic", "p4") for word in ("--export", form)]
    asked = ("--paths", "up-down", "--bounces", 1, "--method", "clos", *forms, "--force", "-o", "rules")
    done = command("deadlock", "tag", TESTBED, *asked)
    assert done.returncode == 0, done.stderr
    folder = tmp_path / "rules"
    wiring = incast.load(TESTBED).wiring()
    switches = [node.name for node in wiring.nodes if not node.host]
    assert done.stderr == "wrote 33 files to rules\n"
    assert {file.name for file in folder.iterdir()} == {
        "rules.json", "rules.csv", "tags.p4",
        *(f"{name}.{form}" for name in switches for form in ("nft", "sonic.json", "p4runtime.json")),
    }  # fmt: skip
    rules = of_json(folder / "rules.json")
    assert len(rules) > 300
    # A packet that came down to a leaf and goes up again; in the spines nothing does.
    assert rules["L1", 1, 2, 3] == 2
    assert ("L1", 2, 2, 3) not in rules
    assert of_csv(folder / "rules.csv") == rules
    assert of_nftables(folder, switches) == rules
    assert of_p4runtime(folder, switches, {name: degree(wiring, name) for name in switches}) == rules
    assert of_sonic(folder, switches) == rules
    program = (folder / "tags.p4").read_text(encoding="utf-8")
    assert "in bit<6> ingress_port" in program
    assert "const default_action = set_lossy();" in program
    head, reasons = done.stdout.splitlines()[0], done.stdout.partition("\n\n")[0]
    assert head == "These files cannot be loaded on SONiC today:"
    assert "\n- The egress queue follows the arriving DSCP" in reasons
    again = command("deadlock", "tag", TESTBED, *asked)
    assert again.returncode == 2
    assert "rules/rules.json exists already" in again.stderr
    assert command("deadlock", "tag", TESTBED, *asked, "--overwrite").returncode == 0


@pytest.mark.parametrize("format", ["text", "json"])
def test_files_that_sonic_cannot_load_are_not_written(format: str, command: Command, tmp_path: Path) -> None:  # noqa: A002
    asked = ("--export", "csv", "--export", "sonic", "-o", "rules", "--format", format)
    done = command("deadlock", "tag", TESTBED, *asked)
    assert (done.returncode, done.stdout) == (2, "")
    first, *reasons, last = done.stderr.splitlines()
    assert first == "error: These files cannot be loaded on SONiC today:"
    assert len(reasons) >= 5
    assert all(reason.startswith("- ") for reason in reasons)
    assert "--force" in last
    assert list(tmp_path.iterdir()) == []
    assert command("deadlock", "tag", TESTBED, *asked, "--force").returncode == 0


def degree(wiring: Wiring, name: str) -> int:
    """How many ports a node has."""
    node = wiring.number(name)
    return sum((link.a == node) + (link.b == node) for link in wiring.links)


def spread(switch: str, tag: int, new: int, inputs: list[int], outputs: list[int]) -> Rules:
    """Values of one entry."""
    return {(switch, tag, input_, output): new for input_ in inputs for output in outputs}


def of_json(file: Path) -> Rules:
    exported = json.loads(file.read_text(encoding="utf-8"))
    assert (exported["format"], exported["hosts_send_with"], exported["no_match"]) == ("incast-tag-rules", [1], "lossy")
    rules: Rules = {}
    for one in exported["switches"]:
        for rule in one["rules"]:
            rules |= spread(one["switch"], rule["tag"], rule["new_tag"], rule["in"], rule["out"])
    return rules


def of_csv(file: Path) -> Rules:
    def ports(text: str) -> list[int]:
        runs = [(word.split("-")[0], word.split("-")[-1]) for word in text.split()]
        return [port for first, last in runs for port in range(int(first), int(last) + 1)]

    rules: Rules = {}
    with file.open(encoding="utf-8", newline="") as lines:
        for row in csv.DictReader(lines):
            tag, new = int(row["tag"]), int(row["new_tag"])
            rules |= spread(row["switch"], tag, new, ports(row["in_ports"]), ports(row["out_ports"]))
    return rules


def of_nftables(folder: Path, switches: list[str]) -> Rules:
    """Every (tag, ingress, egress) is an element of the map of its tag, and leads to the chain of its new tag."""
    rules: Rules = {}
    for switch in switches:
        text = (folder / f"{switch}.nft").read_text(encoding="utf-8")
        assert "type filter hook forward priority mangle; policy accept;" in text
        for new, dscp, dscp6, priority in re.findall(
            r"chain to_(\d) \{\s+ip dscp set (\d+)\s+ip6 dscp set (\d+)\s+meta priority set 0:(\d) accept", text
        ):
            assert (dscp, dscp6, priority) == (str(8 * int(new)), dscp, new)
        for tag, elements in re.findall(r"map from_(\d) \{.*?elements = \{(.*?)\}", text, re.DOTALL):
            for ingress, egress, new in re.findall(r'"swp(\d+)" \. "swp(\d+)" : goto to_(\d)', elements):
                rules[switch, int(tag), int(ingress) - 1, int(egress) - 1] = int(new)
    return rules


def of_p4runtime(folder: Path, switches: list[str], degrees: dict[str, int]) -> Rules:
    def number(text: str) -> int:
        return int.from_bytes(base64.b64decode(text))

    rules: Rules = {}
    for switch in switches:
        exported = json.loads((folder / f"{switch}.p4runtime.json").read_text(encoding="utf-8"))
        for update in exported["updates"]:
            entry = update["entity"]["tableEntry"]
            match = {field["fieldId"]: field for field in entry["match"]}
            masks = [number(match[field]["ternary"]["mask"]) if field in match else 0 for field in (2, 3)]
            ports = [[port for port in range(degrees[switch]) if not mask >> port & 1] for mask in masks]
            new = number(entry["action"]["action"]["params"][0]["value"])
            rules |= spread(switch, number(match[1]["exact"]["value"]), new, *ports)
    return rules


def of_sonic(folder: Path, switches: list[str]) -> Rules:
    rules: Rules = {}
    for switch in switches:
        exported = json.loads((folder / f"{switch}.sonic.json").read_text(encoding="utf-8"))
        assert exported["PORT_QOS_MAP"]["Ethernet0"]["pfc_enable"] == "1,2"
        assert exported["DSCP_TO_TC_MAP"]["INCAST_TAGS"]["16"] == "2"
        for name, rule in exported["ACL_RULE"].items():
            if "LOSSY" not in name:
                ports = [[int(port[8:]) // 4 for port in rule[key].split(",")] for key in ("IN_PORTS", "OUT_PORTS")]
                rules |= spread(switch, int(rule["DSCP"]) // 8, int(rule["DSCP_ACTION"]) // 8, *ports)
    return rules


def test_ports_and_code_points_of_ones_own(command: Command, tmp_path: Path) -> None:
    own = ("--port-names", "Ethernet10/2", "--dscp", 10, "--export", "nftables", "--export", "sonic")
    done = command("deadlock", "tag", TESTBED, *own, "-o", "rules", "--force")
    assert done.returncode == 0, done.stderr
    text = (tmp_path / "rules" / "T1.nft").read_text(encoding="utf-8")
    assert set(re.findall(r'"(\w+)"', text)) == {f"Ethernet{port}" for port in range(10, 21, 2)}
    assert set(re.findall(r"ip dscp (\d+) iif", text)) == {"10"}
    assert '"Ethernet20"' in (tmp_path / "rules" / "T1.sonic.json").read_text(encoding="utf-8")


BOUNCED = ("--paths", "up-down", "--bounces", 2, "--method", "clos")
NFT = ("--export", "nftables", "-o", "rules")
BAD_TAGS: dict[str, tuple[Sequence[object], *tuple[str, ...]]] = {
    "too few priorities": (
        [*BOUNCED, "--priorities", 1, *NFT],
        "--priorities: 3 lossless priorities are needed, 1 are available",
        "packets reach tag 2 on H",
    ),
    "classes that are too many": (
        ["--paths", "up-down", "--bounces", 1, "--method", "clos", "--classes", 7, "--priorities", 2, *NFT],
        "--priorities: 8 lossless priorities are needed, 2 are available",
        "packets of class 2 reach tag 3 on H",
        "hosts send classes 3 to 7 with tags of the same numbers",
    ),
    "more than PFC has": (["--paths", "up-down", "--bounces", 9, *NFT], "--priorities: ", "needed, 7 are available"),
    "no switch has so many": (["--priorities", 8], "--priorities", "<= 7"),
    "a form without a place": (["--export", "json"], "--export and --output must be used together"),
    "a place without a form": (["-o", "rules"], "--export and --output must be used together"),
    "a form that is none": (["--export", "yaml", "-o", "rules"], "yaml", "nftables"),
    "a scheme of others": (["--method", "clos"], "--method: the Clos scheme is for up-down paths"),
    "classes of others": (["--classes", 2], "--classes: only the Clos scheme"),
    "an order of others": ([*BOUNCED, "--order", "random"], "--order needs --method greedy"),
    "names of nothing": (["--port-names", "eth0", "--export", "csv", "-o", "rules"], "--port-names: only for"),
    "no name of a port": (["--port-names", "eth", *NFT], "`eth` is not the name of a first port", "swp1"),
    "a name that Linux has not": (
        ["--port-names", "a-long-name-of-port0", *NFT],
        "--port-names: nftables: port 0",
        "at most 15",
    ),
    "no code point": (["--dscp", 64, *NFT], "--dscp 64: the DSCP of a tag must be 1 to 63"),
    "that of lossy packets": (["--dscp", 0, *NFT], "--dscp 0: the DSCP of a tag must be 1 to 63"),
    "a name that SONiC has not": (
        ["--port-names", "foo0", "--export", "sonic", "-o", "rules"],
        "--port-names: SONiC: port 0 would be named `foo0`; allowed: Ethernet and a number",
    ),
    "a code point twice": ([*BOUNCED, *("--dscp", 8) * 3, *NFT], "--dscp: code point 8; allowed: each code point once"),
    "too few code points": ([*BOUNCED, "--dscp", 8, *NFT], "--dscp: 1 code points for 3 tags"),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD_TAGS)
def test_bad_tags(name: str, command: Command, tmp_path: Path) -> None:
    arguments, *said = BAD_TAGS[name]
    done = command("deadlock", "tag", TESTBED, *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert all(words in done.stderr for words in said), done.stderr
    assert list(tmp_path.iterdir()) == []


def test_switches_whose_names_are_no_files(command: Command, tmp_path: Path) -> None:
    file = write(tmp_path, RING.replace('"s0"', '"../s0"'))
    done = command("deadlock", "tag", file, *NFT)
    assert done.returncode == 2
    assert "--export: `../s0` cannot be a file's name" in done.stderr
    assert [each.name for each in tmp_path.iterdir()] == [file.name]
    assert command("deadlock", "tag", file, "--export", "csv", "-o", "rules").returncode == 0


def test_an_output_that_is_a_file(command: Command, tmp_path: Path) -> None:
    file = write(tmp_path, "mine", "rules")
    done = command("deadlock", "tag", TESTBED, *NFT)
    assert (done.returncode, file.read_text(encoding="utf-8")) == (2, "mine")
    assert "--output rules: is a file, must be a folder" in done.stderr


def contents(folder: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in folder.iterdir()}


@pytest.mark.parametrize("overwrite", [False, True])
def test_all_files_or_none(overwrite: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An error midway leaves a folder as it was, and none where none was."""
    files = {f"T{number}.nft": b"new" for number in range(4)}
    folder = tmp_path / "deep" / "rules"
    if overwrite:
        folder.mkdir(parents=True)
        (folder / "T1.nft").write_bytes(b"old")
        (folder / "notes").write_bytes(b"mine")
    before = contents(folder) if overwrite else None
    link, calls = os.link, iter(range(10))

    def full(source: Path, target: Path) -> None:
        if next(calls) == 2:
            raise OSError(errno.ENOSPC, "No space left on device", str(target))
        link(source, target)

    monkeypatch.setattr(os, "link", full)
    with pytest.raises(EnvironmentFailure, match="No space left"):
        write_all(folder, files, overwrite=overwrite)
    if before is None:
        assert list(tmp_path.iterdir()) == []
    else:
        assert contents(folder) == before
    write_all(folder, files, overwrite=overwrite)
    assert contents(folder) == (before or {}) | files


def test_a_file_that_came_meanwhile_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    link = os.link

    def late(source: Path, target: Path) -> None:
        if target.name == "b":
            target.write_bytes(b"another's")
        link(source, target)

    monkeypatch.setattr(os, "link", late)
    with pytest.raises(ResultsExistError, match="b exists already"):
        write_all(tmp_path, {"a": b"1", "b": b"2"}, overwrite=False)
    assert contents(tmp_path) == {"b": b"another's"}


def test_one_name_that_is_taken_stops_all(command: Command, tmp_path: Path) -> None:
    (tmp_path / "rules" / "T3.nft").mkdir(parents=True)
    done = command("deadlock", "tag", TESTBED, *NFT, "--overwrite")
    assert done.returncode == 2
    assert "T3.nft is a folder and is never overwritten" in done.stderr
    assert [file.name for file in (tmp_path / "rules").iterdir()] == ["T3.nft"]
