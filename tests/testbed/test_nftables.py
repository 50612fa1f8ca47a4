"""The nftables export in a real kernel: every packet leaves with the tag and priority that the rules say."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from conftest import PATIENCE, Command, environment, write
from testbed.networks import needs_networks

pytestmark = needs_networks()

SCHEME = '[[workload]]\nlist = []\n[scheme.DCQCN]\ncontrol = "dcqcn"\n'
CLOS = "[fabric.leaf_spine]\nleaves = 3\nspines = 2\nhosts_per_leaf = 2\n"
JELLYFISH = "[fabric.jellyfish]\nswitches = 8\nports = 4\nnetwork_ports = 3\n"
ELEMENT = re.compile(r'"(swp\d+)" \. "(swp\d+)" : goto to_(\d)')
TWO_TAGS = ("--paths", "up-down", "--bounces", "1", "--method", "clos")


@pytest.mark.parametrize(
    ("fabric", "options", "switch", "ports"),
    [
        (CLOS, TWO_TAGS, "leaf0", 4),
        (CLOS, TWO_TAGS, "spine1", 3),
        (JELLYFISH, ("--paths", "shortest"), "s3", 4),
    ],
)
def test_every_packet_leaves_as_the_rules_say(
    command: Command, tmp_path: Path, fabric: str, options: tuple[str, ...], switch: str, ports: int
) -> None:
    exports = ("--export", "nftables", "--export", "json", "--output", "rules")
    done = command("deadlock", "tag", write(tmp_path, fabric + SCHEME), *options, *exports)
    assert done.returncode == 0, done.stderr
    rules = rules_of(json.loads((tmp_path / "rules" / "rules.json").read_text(encoding="utf-8")), switch)
    assert rules
    text = (tmp_path / "rules" / f"{switch}.nft").read_text(encoding="utf-8")
    tags = max(new for new in rules.values())
    answer = through(text, ports, [0, *(8 * tag for tag in range(1, tags + 1)), 8 * tags + 8])
    # All of the file is there, once.
    elements = ELEMENT.findall(text)
    assert len(elements) == len(rules)
    assert sorted(ELEMENT.findall(answer["listed"])) == sorted(elements)
    assert answer["listed"].count("chain rewrite") == 1
    lost_a_tag = 0
    for family, code_point, ingress, egress, came in answer["seen"]:
        tag = code_point // 8
        new = rules.get((tag, ingress, egress), 0)
        # No tag of these rules: not theirs to change.
        expected = [egress, 8 * new, new] if 1 <= tag <= tags else [egress, code_point, 0]
        assert came == expected, (family, code_point, ingress, egress)
        lost_a_tag += 1 <= tag <= tags and new == 0
    assert len(answer["seen"]) == 2 * (tags + 2) * ports**2
    # Rules of a Clos cover every turn of a spine.
    assert lost_a_tag > 0 or switch == "spine1"


def rules_of(exported: dict[str, Any], switch: str) -> dict[tuple[int, int, int], int]:
    """A switch's rules by (tag, ingress port, egress port), as the JSON export has them."""
    (found,) = (each["rules"] for each in exported["switches"] if each["switch"] == switch)
    return {
        (rule["tag"], ingress, egress): rule["new_tag"]
        for rule in found
        for ingress in rule["in"]
        for egress in rule["out"]
    }


def through(rules: str, ports: int, code_points: list[int]) -> dict[str, Any]:
    """Egress of packets of these code points at a switch with these rules."""
    done = subprocess.run(
        [sys.executable, Path(__file__).with_name("kernel_switch.py"), str(os.getpid())],
        input=json.dumps({"rules": rules, "ports": ports, "code_points": code_points}),
        env=environment(),
        capture_output=True,
        text=True,
        timeout=2 * PATIENCE,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    answer: dict[str, Any] = json.loads(done.stdout)
    assert "refused" not in answer, answer["refused"]
    return answer
