"""`incast deadlock check`: which deadlocks are possible on a fabric, and the picture of a cycle."""

from __future__ import annotations

import json
import re
import signal
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

import incast
from conftest import PATIENCE, RING, ROOT, Command, Start, write
from incast import charts
from incast.wiring import Hop

TESTBED = ROOT / "scenarios" / "clos-testbed.toml"
BOUNCES = """\
# Each flow bounces at a leaf.
H1 → T1 → L1 → S1 → L3 → S2 → L4 → T4 → H13
H9 T3 L3 S2 L1 S1 L2 T1 H4
"""
ROUTINGS = re.compile(r"\nWhich routing is yours\?.*\n(?:.*(?:yes|no|some schemes)\n){4}")
FAILED = ("--fail", "T1-L1", "--fail", "L3-T4", "--detours", "1")


def check(command: Command, *arguments: object) -> tuple[int, str]:
    """The exit code, and what was said before the table of routings."""
    done = command("deadlock", "check", TESTBED, *arguments)
    return done.returncode, ROUTINGS.sub("", done.stdout) + done.stderr


@pytest.mark.parametrize(
    ("arguments", "checked"),
    [
        (["--failures", 1], ["no", "yes", "no", "no"]),
        (["--fail", "T1-L1", "--detours", 2], ["no", "no", "yes", "yes"]),
        (["--failures", 1, "--set", "network.routing=up-down"], ["yes", "no", "no", "no"]),
        (
            [
                "--failures",
                1,
                "--set",
                "scheme={ a = { control = 'dcqcn', network.routing = 'up-down' }, b.control = 'dcqcn' }",
            ],
            ["some schemes", "some schemes", "no", "no"],
        ),
    ],
)
def test_the_routing_that_was_checked_is_named(arguments: list[object], checked: list[str], command: Command) -> None:
    said = command("deadlock", "check", TESTBED, *arguments).stdout
    [table] = ROUTINGS.findall(said)
    head, *rows = table.strip().splitlines()
    assert head.split("  ")[0] == "Which routing is yours?"
    assert [row[head.index("checked here") :] for row in rows] == checked
    assert rows[0].startswith("eBGP, all spines in one AS")


def test_routings_are_for_failures_of_routes(command: Command) -> None:
    for arguments in ([], ["--paths", "shortest", "--fail", "T1-L1"], ["--failures", 1, "--format", "json"]):
        assert not ROUTINGS.search(command("deadlock", "check", TESTBED, *arguments).stdout)


def test_detours_contradict_up_down_routing(command: Command) -> None:
    done = command("deadlock", "check", TESTBED, *FAILED, "--set", "network.routing=up-down")
    assert (done.returncode, done.stdout) == (2, "")
    assert "`up-down` forbids the valleys that --detours adds" in done.stderr
    assert "(network.routing)" in done.stderr


def test_without_failures_there_is_no_cycle(command: Command) -> None:
    code, said = check(command)
    assert (code, said) == (
        0,
        "priority 3: 48 buffers, 88 dependencies, none of them cyclic: no deadlock is possible\n",
    )
    code, said = check(command, "--failures", 1, "--detours", 1)
    assert (code, said) == (
        0,
        "priority 3: 16 sets of failed links, none of them with cyclic dependencies: no deadlock is possible\n",
    )
    assert check(command, "--failures", 2)[0] == 0, "converged"


def test_two_failed_links_close_a_cycle(command: Command) -> None:
    code, said = check(command, *FAILED)
    assert code == 1
    head, _, down, cycle, heads, *turns = said.splitlines()
    assert head == "priority 3: 1 of 1 set of failed links has cyclic dependencies: deadlocks are possible"
    assert down == "with T1-L1 and T4-L3 down"
    assert cycle.strip() == "L1 port 2 → S2 port 0 → L3 port 3 → S1 port 2 → L1 port 2"
    assert heads.split() == ["node", "in", "port", "from", "out", "port", "to", "packets"]
    assert [turn.split()[:5] for turn in turns] == [
        ["L1", "2", "S1", "3", "S2"],
        ["S2", "0", "L1", "2", "L3"],
        ["L3", "3", "S2", "2", "S1"],
        ["S1", "2", "L3", "0", "L1"],
    ]
    assert turns[0].endswith("to one destination: H9 → T3 → L3 → S1 → L1 → S2 → L2 → T1 → H1")
    assert turns[2].endswith("to one destination: H1 → T1 → L2 → S2 → L3 → S1 → L4 → T4 → H13")
    assert {turn.index("  to ") + 2 for turn in turns} == {heads.index("packets")}, "columns are aligned"
    code, said = check(command, "--failures", 2, "--detours", 1, "--cycles", 2)
    assert code == 1
    assert said.startswith("priority 3: 20 of 120 sets of failed links have cyclic dependencies")
    assert said.count(" down\n") == 2
    assert re.search(r"and \d+ more sets: --cycles sets how many are listed\n$", said)
    code, said = check(command, "--failures", 3, "--samples", 20, "--detours", 1, "--seed", 2)
    assert "of 20 sets of failed links" in said
    code, said = check(command, "--failures", 2, "--samples", 30, "--detours", 1)
    assert "of 30 sets of failed links" in said


def test_as_json(command: Command) -> None:
    code, said = check(command, *FAILED, "--format", "json")
    report = json.loads(said)
    (graph,) = report["graphs"]
    assert (code, report["deadlock_free"], report["lossy"]) == (1, False, [])
    assert (graph["priorities"], graph["tagged"]) == ([3], False)
    assert (graph["sets"], graph["cyclic"], graph["cyclic_before"]) == (1, 1, False)
    (named,) = graph["named"]
    assert named["links"] == [["T1", "L1"], ["T4", "L3"]]
    first = named["cycle"]["turns"][0]
    assert first == {"switch": "L1", "in_port": 2, "from": "S1", "out_port": 3, "to": "S2"}
    assert named["cycle"]["users"][0]["example"][0] == "H9"
    code, said = check(command, "--format", "json")
    report = json.loads(said)
    assert (code, report["deadlock_free"], report["graphs"][0]["components"]) == (0, True, [])


@pytest.mark.parametrize("paths", ["routes", "shortest", "trees", "random", "up-down"])
def test_paths_without_bounces_make_no_cycle(paths: str, command: Command) -> None:
    code, said = check(command, "--paths", paths)
    assert code == 0, said
    assert "none of them cyclic" in said


def test_paths_with_bounces(command: Command, tmp_path: Path) -> None:
    code, said = check(command, "--paths", "up-down", "--bounces", 1, "--cycles", 1)
    assert code == 1
    assert said.count(" → ") > 4
    write(tmp_path, BOUNCES, "paths.txt")
    code, said = check(command, "--paths", "paths.txt")
    assert code == 1
    assert (
        "4 buffers of 4 nodes wait for each other\n  L1 port 3 → S1 port 0 → L3 port 2 → S2 port 2 → L1 port 3\n"
        in said
    )
    assert "line 3: H9 → T3 → L3 → S2 → L1 → S1 → L2 → T1 → H4" in said
    write(tmp_path, BOUNCES.rpartition("H9")[0], "one.txt")
    assert check(command, "--paths", "one.txt")[0] == 0


def test_routes_that_change_while_a_run_goes_on(command: Command) -> None:
    # As `incast run` of the same file sees it: without tags the loop deadlocks, with tags it does not.
    done = command("deadlock", "check", ROOT / "scenarios" / "routing-loop.toml")
    assert (done.returncode, done.stderr) == (1, "")
    plain, tagged = done.stdout.split("\n\nTagger, ")
    assert plain.startswith("PFC and Watchdog, priority 3: ")
    assert "\n  T1 port 4 → L1 port 0 → T1 port 4\n" in plain
    assert "from 5ms, to one destination: H1 → T1 → L1 → T1" in plain
    assert re.match(r"priorities 3 and 4 by tags: .*: no deadlock is possible\n$", tagged)


def test_flows_with_a_path_of_their_own(command: Command, tmp_path: Path) -> None:
    text = TESTBED.read_text(encoding="utf-8")
    names = [line.replace(" → ", " ").split() for line in BOUNCES.splitlines()[1:]]
    flows = ", ".join(
        f'{{ src = {int(path[0][1:]) - 1}, dst = {int(path[-1][1:]) - 1}, size = "1MB", path = {json.dumps(path)} }}'
        for path in names
    )
    head, _, rest = text.partition("[[workload]]")
    write(tmp_path, f"{head}[[workload]]\nlist = [{flows}]\n[scheme.{rest.partition('[scheme.')[2]}", "bounce.toml")
    done = command("deadlock", "check", "bounce.toml")
    assert (done.returncode, done.stderr) == (1, "")
    assert "\n  L1 port 3 → S1 port 0 → L3 port 2 → S2 port 2 → L1 port 3\n" in done.stdout
    assert "flow 0: H1 → T1 → L1 → S1 → L3 → S2 → L4 → T4 → H13" in done.stdout
    # Without PFC nothing waits, and a priority that is not lossless waits for nobody.
    done = command("deadlock", "check", "bounce.toml", "--set", "switch.pfc=false")
    assert (done.returncode, done.stdout.partition(",")[0]) == (0, "PFC is off (switch.pfc)")
    done = command("deadlock", "check", "bounce.toml", "--set", "switch.lossless=[5]")
    assert (done.returncode, done.stdout) == (
        0,
        "priority 3 lossy, its packets never block others: no deadlock is possible\n",
    )


def test_tcp_and_udp_use_the_priorities_of_their_flows(command: Command, tmp_path: Path) -> None:
    ring = "[fabric.jellyfish]\nswitches = 6\nports = 4\nnetwork_ports = 2\n[switch]\nlossless = [3, 4]\n"
    flows = '[[workload]]\npriority = 2\npermutation.size = "10kB"\n'
    # pHost chooses a priority for each packet.
    for transport, code in (("udp", 0), ("tcp", 0), ("phost", 1)):
        write(tmp_path, f'{ring}queues = "shared"\n{flows}[scheme.A]\ntransport = "{transport}"\n', "ring.toml")
        done = command("deadlock", "check", "ring.toml")
        lossy = done.stdout.startswith("priority 2 lossy, its packets never block others: no deadlock is possible")
        assert (done.returncode, lossy) == (code, not code), done.stdout


def test_a_link_that_is_down_is_on_no_path(command: Command, tmp_path: Path) -> None:
    code, said = check(command, "--fail", "T1-L1", "--paths", "up-down", "--bounces", 1, "--cycles", 1)
    assert code == 1
    assert said.startswith("priority 3, T1-L1 down: ")
    write(tmp_path, "H1 T1 L1 T2 H5\n", "paths.txt")
    code, said = check(command, "--fail", "T1-L1", "--paths", "paths.txt")
    assert code == 2
    assert "line 1: the link between T1 and L1 is down" in said


def test_a_fabric_alone(command: Command, tmp_path: Path) -> None:
    write(tmp_path, "[fabric.leaf_spine]\nleaves = 3\nspines = 2\nhosts_per_leaf = 2\n", "fabric.toml")
    done = command("deadlock", "check", "fabric.toml")
    assert (done.returncode, done.stderr) == (0, "")
    head, note = done.stdout.splitlines()[0], done.stdout.splitlines()[-1]
    assert re.match(r"priority 3: .*: no deadlock is possible", head)
    assert note == "there is no workload: one lossless priority is assumed"
    assert command("deadlock", "check", "fabric.toml", "--paths", "up-down", "--bounces", 1).returncode == 1
    assert command("deadlock", "tag", "fabric.toml", "--paths", "up-down", "--method", "clos").returncode == 0
    failures = command("deadlock", "check", "fabric.toml", "--failures", 1)
    assert (failures.returncode, failures.stderr) == (0, "")
    [table] = ROUTINGS.findall(failures.stdout)
    assert [line.split()[-1] for line in table.strip().splitlines()[1:]] == ["no", "yes", "no", "no"]
    # What runs needs both.
    assert command("run", "fabric.toml").returncode == 2


RAILS = "[fabric.rail_optimized]\nservers = 4\ngpus_per_server = 2\nspines = 0\nnvlink.forward = true\n"


@pytest.mark.parametrize(
    ("fabric", "options", "said"),
    [
        (RAILS, (), "through 6 GPUs, such as gpu0. A GPU forwards between NVLink and its NIC (`nvlink.forward`); "),
        (RAILS, ("--failures", 1, "--detours", 2), "GPUs, such as gpu2. A GPU forwards between NVLink and its NIC"),
        ("[fabric.bcube]\nn = 3\nk = 1\n", (), "servers, such as server0. A server forwards between its ports; "),
        (RAILS, ("--cycles", 0), None),
        (RAILS.replace("spines = 0", "spines = 2"), ("--paths", "up-down", "--bounces", 1), None),
    ],
)
def test_cycles_through_gpus_and_servers(
    fabric: str, options: tuple[object, ...], said: str | None, command: Command, tmp_path: Path
) -> None:
    write(tmp_path, fabric, "fabric.toml")
    done = command("deadlock", "check", "fabric.toml", *options)
    assert done.returncode == 1
    notes = [line for line in done.stdout.splitlines() if line.startswith("note: the cycles above lead through ")]
    assert len(notes) == (said is not None)
    if said is not None:
        assert said in notes[0]
        assert "models it as a switch with PFC." in notes[0]


BIG = """\
[fabric.fat_tree]
k = 8
[[workload]]
list = [{ src = 0, dst = 9, size = "1kB" }]
[scheme.A]
control = "dcqcn"
"""


def test_ctrl_c_ends_a_long_check(start: Start, tmp_path: Path) -> None:
    write(tmp_path, BIG, "big.toml")
    running = start("deadlock", "check", "big.toml", "--failures", 4, "--samples", 1000000, "--draw", "cycle.svg")
    with running:
        assert running.stderr is not None
        # A line of progress says that the search has begun.
        said = next(line for line in running.stderr if line.startswith("sets"))
        assert re.match(r"sets of failed links: [\d,]+ of 1,000,000, [\d,.]+/s, [\d:]+ left\n", said), said
        running.send_signal(signal.SIGINT)
        out, error = running.communicate(timeout=PATIENCE)
    assert running.returncode == 130
    assert (out, "nothing was written" in error) == ("", True)
    assert [file.name for file in tmp_path.iterdir()] == ["big.toml"]


BAD_PATHS = {
    "a node that is not there": ("H1 T1 LL1 T2 H5", "line 1: there is no node `LL1`; did you mean `L1`?"),
    "nodes that no link joins": (
        "H1 T1 L1 T2 H5\nH1 T1 S1 T4 H13",
        "line 2: no link joins T1 and S1; neighbours of T1: H1, ",
    ),
    "a port that is not there": ("H1 T1:9 L1 T2 H5", "line 1: T1 has no port 9; allowed: 0 to 5"),
    "a port to elsewhere": ("H1 T1:5 L1 T2 H5", "line 1: port 5 of T1 leads to L2, not to L1"),
    "a switch at the end": ("H1 T1 L1", "line 1: the last node, L1, is a switch"),
    "a host in the middle": ("H1 T1 H2 T1 H3", "line 1: H2 is a host, which does not forward"),
    "a loop": ("H1 T1 L1 T1 L1 T1 H2", "twice: a loop"),
    "commas": ("H1,T1,L1,T2,H5", "separate names by spaces or arrows, such as h0 leaf0 h1"),
    "one node": ("H1", "line 1: a path of 1 nodes"),
    "no path": ("# nothing\n", "paths.txt has no path"),
}


@pytest.mark.parametrize("name", BAD_PATHS)
def test_files_of_paths_that_are_none(name: str, command: Command, tmp_path: Path) -> None:
    text, said = BAD_PATHS[name]
    ask = "tag" if "port" in name else "check"
    write(tmp_path, text, "paths.txt")
    more = ("--draw", "cycle.svg") if ask == "check" else ("--export", "json", "-o", "rules")
    done = command("deadlock", ask, TESTBED, "--paths", "paths.txt", *more)
    assert (done.returncode, done.stdout) == (2, "")
    assert "--paths: paths.txt" in done.stderr
    assert said in done.stderr
    assert [file.name for file in tmp_path.iterdir()] == ["paths.txt"]


BAD_CHECKS: dict[str, tuple[list[object], str]] = {
    "detours without failures": (["--detours", 1], "--detours needs --failures or --fail"),
    "both kinds of failures": (["--fail", "T1-L1", "--failures", 1], "--fail and --failures cannot be used together"),
    "samples of no failures": (["--samples", 9], "--samples needs --failures"),
    "too many failures": (["--failures", 99], "allowed: 1 to 16"),
    "no link": (["--fail", "T1"], "`T1` is no link\n = allowed: its two ends joined by a dash"),
    "a node that is not there": (["--fail", "T1-LL1"], "has no node `LL1`\n = did you mean `L1`?"),
    "nodes that no link joins": (["--fail", "T1-L3"], "joins T1 and L3\n = allowed: T1 and a switch next to it: L1"),
    "the nearest neighbour": (["--fail", "T1-L9"], "has no node `L9`\n = did you mean `L1`?"),
    "a link twice": (["--fail", "T1-L1", "--fail", "L1-T1"], "`L1-T1`: this link is named before"),
    "a port to elsewhere": (["--fail", "T1:0-L1"], "port 0 of T1 does not lead to L1\n = allowed: ports of T1 "),
    "a host's link": (["--fail", "T1-H1"], "only links between switches can fail here"),
    "sets of links and other paths": (["--failures", 1, "--paths", "shortest"], "omit --paths"),
    "detours of other paths": (["--fail", "T1-L1", "--detours", 1, "--paths", "shortest"], "omit --paths"),
    "no kind of paths": (["--paths", "shortes"], "or a file of paths\n = did you mean `shortest`?"),
    "bounces of others": (["--bounces", 1], "--bounces needs --paths up-down"),
    "paths of others": (["--paths", "trees", "--per-pair", 2], "--per-pair needs --paths random"),
    "no path for a pair": (["--paths", "random", "--per-pair", 0], ">= 1"),
    "a picture of another kind": (["--draw", "cycle.png"], "--draw cycle.png: the name of the picture must end in"),
    "a picture of no cycle": (["--draw", "cycle.svg", "--cycles", 0], "--draw needs --cycles 1 or more"),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD_CHECKS)
def test_bad_checks(name: str, command: Command, tmp_path: Path) -> None:
    arguments, said = BAD_CHECKS[name]
    done = command("deadlock", "check", TESTBED, *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_up_and_down_need_tiers(command: Command, tmp_path: Path) -> None:
    ring = write(tmp_path, RING)
    done = command("deadlock", "check", ring, "--paths", "up-down")
    assert done.returncode == 2
    assert "up-down paths need tiers, but s0 and s1, which a link joins, are both of tier 1" in done.stderr
    # A ring of three: shortest paths go to neighbours only, but the flows have paths of their own, all round it.
    assert command("deadlock", "check", ring, "--paths", "shortest").returncode == 0
    assert "s0 port 2 → s1 port 1 → s2 port 1 → s0 port 2" in command("deadlock", "check", ring).stdout


def test_the_cycle_is_drawn(command: Command, tmp_path: Path) -> None:
    done = command("deadlock", "check", TESTBED, *FAILED, "--draw", "cycle.svg")
    assert done.returncode == 1
    assert done.stderr == "wrote cycle.svg\n"
    text = (tmp_path / "cycle.svg").read_text(encoding="utf-8")
    assert text == (ROOT / "docs" / "deadlock.svg").read_text(encoding="utf-8"), "the page has it"
    words = words_of(text)
    assert {f"{kind}{number}" for kind in "TL" for number in (1, 2, 3, 4)} | {"S1", "S2"} <= set(words)
    assert "H1 to H4" in words
    assert sorted(word for word in words if word.startswith("port ")) == [
        f"port {port}" for port in (0, 0, 2, 2, 2, 2, 3, 3)
    ]
    assert "ingress port whose buffer of priority 3 is full" in words
    assert text.count('class="cycle-head"') == 4
    assert text.count('class="cycle-node cycle-on"') == 4
    assert text.count('stroke-dasharray="5 4"') == 3, "two links that are down, and the key"
    again = command("deadlock", "check", TESTBED, *FAILED, "--draw", "cycle.svg")
    assert again.returncode == 2
    assert "cycle.svg exists already" in again.stderr
    assert "use --overwrite to replace it, or choose another place with --draw" in again.stderr
    assert command("deadlock", "check", TESTBED, *FAILED, "--draw", "cycle.svg", "--overwrite").returncode == 1
    assert (tmp_path / "cycle.svg").read_text(encoding="utf-8") == text


def test_without_a_cycle_nothing_is_drawn(command: Command, tmp_path: Path) -> None:
    done = command("deadlock", "check", TESTBED, "--draw", "cycle.svg")
    assert (done.returncode, done.stderr) == (0, "no cycle to draw: cycle.svg was not written\n")
    assert list(tmp_path.iterdir()) == []


def test_of_a_big_fabric_the_cycle_alone_is_drawn(command: Command, tmp_path: Path) -> None:
    fabric = "[fabric.jellyfish]\nswitches = 60\nports = 12\nnetwork_ports = 8\n"
    rest = '[[workload]]\nlist = [{ src = 0, dst = 9, size = "1kB" }]\n[scheme.A]\ncontrol = "dcqcn"\n'
    file = write(tmp_path, fabric + rest)
    done = command("deadlock", "check", file, "--paths", "shortest", "--draw", "cycle.svg", "--cycles", 1)
    assert done.returncode == 1, done.stderr
    said = re.search(r"Drawn: (\d+) of 60 switches, those of the cycle; no hosts\.", done.stderr)
    assert said
    text = (tmp_path / "cycle.svg").read_text(encoding="utf-8")
    assert said[0] in " ".join(words_of(text))
    assert text.count('class="cycle-node') == int(said[1]) <= 8


def test_a_simulated_deadlock_is_drawn(tmp_path: Path) -> None:
    scenario = incast.load(write(tmp_path, RING))
    stop = scenario.run(tmp_path / "results").manifest["schemes"]["none"]["stop"]
    assert stop["reason"] == "deadlock"
    hops = scenario.wiring().hops(stop["cycle"])
    assert {(hop.switch, hop.to, hop.priority) for hop in hops} == {("s0", "s1", 3), ("s1", "s2", 3), ("s2", "s0", 3)}
    drawing = charts.cycle(scenario.wiring(), hops, title="Scheme <none>")
    assert drawing._repr_svg_() == drawing.svg
    assert words_of(drawing.svg)[0] == "Scheme <none>"
    assert drawing.svg.count('class="cycle-head"') == 3


def test_a_cycle_of_one_link() -> None:
    wiring = incast.load(TESTBED).wiring()
    drawing = charts.cycle(wiring, [Hop("T1", 4, "L1"), Hop("L1", 0, "T1")])
    heads = re.findall(r'class="cycle-head" d="(M[^L]*)', drawing.svg)
    assert len(set(heads)) == 2
    assert "priority" not in " ".join(words_of(drawing.svg))
    tagged = charts.cycle(wiring, [Hop("T1", 4, "L1", 1), Hop("L1", 0, "T1", 2)])
    assert {"port 0, priority 1", "port 4, priority 2"} <= set(words_of(tagged.svg))


@pytest.mark.parametrize(
    ("hops", "said"),
    [
        ([("T1", 4, "L1")], "a cycle needs at least 2 hops, got 1"),
        ([("T1", 4, "L1"), ("L1", 9, "T1")], "L1 has no port 9; allowed: 0 to 3"),
        ([("T1", 4, "L1"), ("L1", 1, "T1")], "hop 2: port 1 of L1 leads to T2, not to T1"),
        ([("T1", 4, "L1"), ("L1", 1, "T2")], "hop 2 leads to T2, but the next begins at T1"),
        ([("TT1", 4, "L1"), ("L1", 1, "T2")], "the fabric has no node `TT1`; did you mean `T1`?"),
    ],
)
def test_what_is_no_cycle(hops: list[tuple[str, int, str]], said: str) -> None:
    with pytest.raises(ValueError, match=re.escape(said)):
        charts.cycle(incast.load(TESTBED).wiring(), [Hop(*hop) for hop in hops])


def words_of(svg: str) -> list[str]:
    """The texts of a picture, which has to be well-formed."""
    return [each.text or "" for each in ET.fromstring(svg).iter("{http://www.w3.org/2000/svg}text")]
