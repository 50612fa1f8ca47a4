"""`incast deadlock verify`: files of rules, and changes from one to another."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from conftest import ROOT, Command, write

TESTBED = ROOT / "scenarios" / "clos-testbed.toml"
BOUNCED = ("--paths", "up-down", "--bounces", 1)
Make = Callable[..., Path]


@pytest.fixture
def make(command: Command, tmp_path: Path) -> Make:
    """Write the rules of `incast deadlock tag` to a file of a name."""

    def run(name: str, *arguments: object, fabric: Path = TESTBED) -> Path:
        done = command("deadlock", "tag", fabric, *arguments, "--export", "json", "-o", "made", "--overwrite")
        assert done.returncode == 0, done.stderr
        return (tmp_path / "made" / "rules.json").rename(tmp_path / name)

    return run


def verify(command: Command, *arguments: object, fabric: Path = TESTBED) -> tuple[int, str]:
    """The exit code, and what was said."""
    done = command("deadlock", "verify", fabric, *arguments)
    return done.returncode, done.stdout + done.stderr


def verify_json(command: Command, *arguments: object, fabric: Path = TESTBED) -> tuple[int, dict[str, Any]]:
    """The exit code, and what was found."""
    code, said = verify(command, *arguments, "--format", "json", fabric=fabric)
    found: dict[str, Any] = json.loads(said)
    return code, found


def test_rules_from_tag_hold(command: Command, make: Make) -> None:
    make("rules.json", *BOUNCED, "--method", "clos")
    code, said = verify(command, "rules.json", *BOUNCED)
    assert code == 0, said
    rules, verdict, *_, paths = said.splitlines()
    assert rules.startswith("rules.json: 2 lossless tags, ")
    assert verdict.endswith(" dependencies, none of them cyclic: no deadlock is possible")
    assert paths == "rules.json: no packet on an expected path becomes lossy"
    assert "smaller tag" not in said
    code, found = verify_json(command, "rules.json")
    assert (code, found["tags"], found["falling"], found["cycle"], found["deadlock_free"]) == (0, 2, 0, None, True)
    assert (found["lossy"], found["files"][0]["lossy"], found["files"][0]["conditions"]) == (None, None, True)
    make("greedy.json", "--paths", "random", "--per-pair", 2, "--seed", 5)
    assert verify(command, "greedy.json", "--paths", "random", "--per-pair", 2, "--seed", 5)[0] == 0


def test_paths_that_become_lossy(command: Command, make: Make) -> None:
    make("rules.json", "--paths", "up-down", "--method", "clos")
    code, said = verify(command, "rules.json", *BOUNCED)
    assert code == 1
    assert "none of them cyclic: no deadlock is possible" in said
    assert "rules.json: packets become lossy at " in said
    code, found = verify_json(command, "rules.json", *BOUNCED)
    assert (code, found["deadlock_free"]) == (1, True)
    assert found["lossy"] == found["files"][0]["lossy"] > 0
    assert found["files"][0]["lossy_named"][0]["path"][0].startswith("H")


def test_two_users_that_change_tags_in_opposite_directions(command: Command, make: Make, tmp_path: Path) -> None:
    """User 1 goes from tag 1 to 2 where it bounces, user 2 from 2 to 1: two priorities, and cycles across them."""
    classes = ("--classes", 2)
    counted = make("counted.json", *BOUNCED, "--method", "clos", *classes)
    code, found = verify_json(command, "counted.json", *classes, *BOUNCED)
    assert (code, found["tags"], found["falling"], found["cycle"], found["lossy"]) == (0, 3, 0, None, 0)
    tree = json.loads(counted.read_text(encoding="utf-8"))
    for switch in tree["switches"]:
        kept = [rule for rule in switch["rules"] if rule["tag"] <= 2]
        for rule in kept:
            rule["new_tag"] = rule["tag"] if rule["new_tag"] == rule["tag"] else 3 - rule["tag"]
        switch["rules"] = kept
    write(tmp_path, json.dumps(tree), "swapped.json")
    code, said = verify(command, "swapped.json", *classes)
    assert code == 1
    assert "swapped.json: 2 lossless tags, " in said
    assert "some of them cyclic: deadlocks are possible" in said
    assert " lead to a smaller tag, such as at " in said
    assert "are not met; they are sufficient, not necessary" in said
    code, found = verify_json(command, "swapped.json", *classes)
    turns = found["cycle"]["turns"]
    assert (code, found["deadlock_free"], found["falling"] > 0, {turn["tag"] for turn in turns}) == (
        1, False, True, {1, 2},
    )  # fmt: skip
    for turn, after in zip(turns, [*turns[1:], turns[0]], strict=True):
        assert (turn["to"], turn["switch"], turn["new_tag"]) == (after["switch"], after["from"], after["tag"])
        assert f"{turn['switch']} port {turn['in_port']} tag {turn['tag']} → " in said


def test_from_no_bounces_to_one(command: Command, make: Make) -> None:
    make("old.json", "--paths", "up-down", "--method", "clos")
    make("new.json", *BOUNCED, "--method", "clos")
    code, said = verify(command, "old.json", "new.json", "--paths", "up-down")
    assert code == 0, said
    assert [line.partition(": ")[0] for line in said.splitlines()[:2]] == ["old.json", "new.json"]
    assert "each switch can have any of these rules" in said
    assert "none of them cyclic: no deadlock is possible" in said
    code, found = verify_json(command, "old.json", "new.json", "--paths", "up-down")
    assert [file["tags"] for file in found["files"]] == [1, 2]
    assert (found["tags"], found["lossy"], found["deadlock_free"]) == (2, 0, True)


JELLYFISH = """\
[fabric.jellyfish]
switches = 10
ports = 6
network_ports = 3
[[workload]]
list = [{ src = 0, dst = 9, size = "1kB" }]
[scheme.A]
control = "dcqcn"
"""


@pytest.mark.parametrize(("seed", "free"), [(2, False), (3, True)])
def test_other_trees_on_jellyfish(seed: int, free: bool, command: Command, make: Make, tmp_path: Path) -> None:
    """Rules for the trees of two seeds hold, each by itself; together they may be cyclic, or not."""
    fabric = write(tmp_path, JELLYFISH)
    for name, of in (("old.json", 1), ("new.json", seed)):
        make(name, "--paths", "trees", "--seed", of, fabric=fabric)
        assert verify(command, name, "--paths", "trees", "--seed", of, fabric=fabric)[0] == 0
    code, found = verify_json(command, "old.json", "new.json", fabric=fabric)
    assert (code, found["deadlock_free"], found["falling"]) == (0 if free else 1, free, 0)
    assert all(file["conditions"] for file in found["files"])
    if not free:
        turns = found["cycle"]["turns"]
        assert {at for turn in turns for at in turn["of"]} == {0, 1}, "neither file has all rules of the cycle"
        code, said = verify(command, "old.json", "new.json", fabric=fabric)
        heads, *rows = said.splitlines()[-1 - len(turns) :]
        assert " ".join(heads.split()) == "switch in port from tag out port to new tag a rule of"
        files = [", ".join(["old.json", "new.json"][at] for at in turn["of"]) for turn in turns]
        assert all(row.endswith(f"  {names}") for row, names in zip(rows, files, strict=True)), said


def test_classes_are_those_of_the_file(command: Command, make: Make) -> None:
    """Rules for two classes are looked at for both, whether that is said or not."""
    rules = make("two.json", *BOUNCED, "--method", "clos", "--classes", 2)
    assert json.loads(rules.read_text(encoding="utf-8"))["hosts_send_with"] == [1, 2]
    code, said = verify(command, "two.json", *BOUNCED)
    assert code == 0, said
    assert said.startswith("two.json: 3 lossless tags, ")
    assert ", hosts send with tags 1 to 2\n" in said
    found = {classes: verify_json(command, "two.json", *of)[1] for classes, of in ((2, []), (1, ["--classes", 1]))}
    assert [found[classes]["files"][0]["classes"] for classes in (1, 2)] == [1, 2]
    assert found[2]["buffers"] > found[1]["buffers"]
    # A third class bounces to a tag that the rules do not have.
    assert verify(command, "two.json", *BOUNCED, "--classes", 3)[0] == 1


RULES = json.dumps(
    {
        "format": "incast-tag-rules",
        "version": 1,
        "hosts_send_with": 1,
        "no_match": "lossy",
        "switches": [{"switch": "T1", "rules": [{"tag": 1, "in": [0], "out": [4], "new_tag": 1}]}],
    }
)
FORM = "allowed: a file as `incast deadlock tag --export json` writes it"
BAD: dict[str, tuple[str | None, list[object], tuple[str, ...]]] = {
    "no file": (None, [], ("rules.json: No such file", FORM)),
    "no JSON": ("rules", [], ("rules.json: line 1 column 1: ", FORM)),
    "other JSON": ("{}", [], ("rules.json: line 1 column 2: missing field `format`", FORM)),
    "a form of others": (RULES.replace("tag-rules", "rules"), [], ("rules.json: format: `incast-rules` version 1",)),
    "no switch of the fabric": (
        RULES.replace('"T1"', '"TT1"'),
        [],
        ("rules.json: switches[0].switch: there is no switch `TT1`", "did you mean `T1`?"),
    ),
    "tags of no class": (
        RULES.replace('"hosts_send_with": 1', '"hosts_send_with": [1, 3]'),
        [],
        ("rules.json: line 1 column ", "hosts_send_with: [1,3]; allowed: tags from 1 on, one for each class"),
    ),
    "no port of the switch": (
        RULES.replace("[4]", "[6]"),
        [],
        ("rules.json: switches[0].rules[0].out: T1 has no port 6; allowed: 0 to 5",),
    ),
    "two rules for the same packets": (
        RULES.replace("}]}]", '}, {"tag": 1, "in": [0], "out": [4, 5], "new_tag": 2}]}]'),
        [],
        ("rules.json: T1: two entries for packets from port 0 to port 4: there is a rule to tag 1 already",),
    ),
    "bounces of nothing": (RULES, ["--bounces", 1], ("--bounces needs --paths up-down",)),
    "paths of nothing": (RULES, ["--per-pair", 1], ("--per-pair needs --paths random",)),
    "no classes": (RULES, ["--classes", 0], ("--classes", ">= 1")),
    "no kind of paths": (RULES, ["--paths", "randon"], ("--paths: `randon`: No such file", "did you mean `random`?")),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input(name: str, command: Command, tmp_path: Path) -> None:
    text, arguments, said = BAD[name]
    if text is not None:
        write(tmp_path, text, "rules.json")
    done = command("deadlock", "verify", TESTBED, "rules.json", *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert all(words in done.stderr for words in said), done.stderr


def test_no_rules_at_all(command: Command) -> None:
    done = command("deadlock", "verify", TESTBED)
    assert done.returncode == 2
    assert "RULES" in done.stderr


def test_a_sonic_configuration_is_named_as_such(command: Command) -> None:
    done = command("deadlock", "tag", TESTBED, "--export", "sonic", "-o", "rules", "--force")
    assert done.returncode == 0, done.stderr
    code, said = verify(command, "rules/L1.sonic.json")
    assert code == 2
    assert "rules/L1.sonic.json: this is a SONiC configuration (CONFIG_DB)" in said
    assert "allowed: a file as `incast deadlock tag --export json` writes it" in said
