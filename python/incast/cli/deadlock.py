"""`incast deadlock`."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated, Literal

from cyclopts import App, Parameter

from incast import _companions, _core
from incast._whole import refuse_if_there, write_all, write_whole
from incast.cli import codes, deadlock_routing, deadlock_servers, deadlock_verify, jellyfish
from incast.cli.command import Flag, Overrides, Overwrite, whole
from incast.cli.deadlock_drawing import draw_cycle, first_cycle
from incast.cli.deadlock_paths import Bounces, PerPair, Seed, only_for, paths_of, together
from incast.cli.stages import Stages
from incast.errors import ScenarioError, translated

CHECK_EXAMPLES = """
Examples:
  incast deadlock check scenarios/clos-testbed.toml
  incast deadlock check scenarios/clos-testbed.toml --fail T1-L1 --fail T4-L3 --detours 1 --draw cycle.svg
  incast deadlock check scenarios/clos-testbed.toml --failures 2 --detours 1
  incast deadlock check scenarios/clos-testbed.toml --paths up-down --bounces 1
  incast deadlock check scenarios/clos-testbed.toml --paths random --per-pair 2
"""
TAG_EXAMPLES = """
Examples:
  incast deadlock tag scenarios/clos-testbed.toml --paths up-down --bounces 1 --method clos
  incast deadlock tag scenarios/clos-testbed.toml --export json --export p4 -o rules
  incast deadlock tag scenarios/clos-testbed.toml --export nftables --port-names eth1 --dscp 10 -o rules
"""
EXAMPLES = f"{CHECK_EXAMPLES.rstrip()}\n{TAG_EXAMPLES.partition('Examples:')[2].lstrip(chr(10))}"
COMPRESSIONS = {"rectangles": "rectangles", "inputs": "input_sets", "outputs": "output_sets", "none": "none"}
"""The core's names for --compress."""

UNUSABLE = "error: These files cannot be loaded on SONiC today:"

Form = Literal["json", "csv", "sonic", "p4", "nftables"]
Repeated = Parameter(negative=(), consume_multiple=False)
Positive = whole(1)

app = App(
    name="deadlock",
    sort_key=2.5,
    help="Check a fabric for possible PFC deadlocks, and generate tags and rules (Tagger) that prevent them.",
    help_format="plaintext",
    help_epilogue=EXAMPLES,
)
app.command(deadlock_verify.verify, help_epilogue=deadlock_verify.EXAMPLES)
app.command(jellyfish.table, help_epilogue=jellyfish.EXAMPLES)
app.command(_companions.imported(_companions.COST))


@app.command(help_epilogue=CHECK_EXAMPLES)
def check(
    file: Path,
    /,
    *,
    paths: str = "routes",
    bounces: Bounces = None,
    per_pair: PerPair = None,
    fail: Annotated[list[str] | None, Repeated] = None,
    failures: Annotated[int | None, Positive] = None,
    samples: Annotated[int | None, Positive] = None,
    detours: Annotated[int | None, whole(1, 255)] = None,
    cycles: Annotated[int, whole(0)] = 3,
    seed: Seed = 1,
    draw: Path | None = None,
    overwrite: Overwrite = False,
    set_: Overrides = None,
    format: Literal["text", "json"] = "text",  # noqa: A002 - the name of the option
) -> int:
    """Find cyclic buffer dependencies (CBD), without which no PFC deadlock is possible. Prints each cycle hop by hop.

    A buffer is an ingress port and a priority of a switch. It depends on the next buffer on its packets' paths. The
    check covers each lossless priority under each scheme, with its tags if any. Exit code 1: deadlocks are possible.

    Parameters
    ----------
    file
        Scenario, a TOML file. Workload and schemes may be missing; the check then assumes one lossless priority.
    paths
        Paths of packets. routes: the scenario's routes at all times, with its failures, and flows with a given path.
        shortest: all shortest paths. trees: a random shortest-path tree for each server. random: random shortest paths
        for each pair of switches with hosts, used by all their hosts. up-down: up and down the tiers. Or a file with
        one path per line, nodes from host to host, such as h0 T1 L1 T2 h4.
    bounces
        For up-down: how often a packet may go up again. Default: 0.
    per_pair
        For random: independent paths for each pair of switches. Default: 1.
    fail
        Link that is down, named by its ends, such as leaf0-spine1, or leaf0:2-spine1 for one of parallel links.
        Repeatable; all are down together. Paths other than routes then use the remaining links.
    failures
        Number of links between switches that fail together: all links for 1, all pairs for 2, random sets for more.
    samples
        Random sets of links for --failures. Default: all sets for 1 and 2 failures, 1000 for more.
    detours
        Before routes converge, switches next to a failure send packets to any neighbour, at most this often for each
        packet. Not with network.routing = up-down, which forbids such valleys. Default: packets take shortest paths
        over the remaining links.
    cycles
        Number of shortest cycles to print for each set of buffers, or number of sets of failed links.
    seed
        Seed of random choices.
    draw
        Picture to write, FILE.svg: the shortest cycle on the fabric, with failures that of the first set of links.
    overwrite
        Replace an existing picture.
    format
        Output format.

    """
    together(detours is None or failures is not None or fail, "--detours needs --failures or --fail")
    together(not (fail and failures is not None), "--fail and --failures cannot be used together")
    together(samples is None or failures is not None, "--samples needs --failures")
    if draw is not None:
        together(draw.suffix == ".svg", f"--draw {draw}: the name of the picture must end in .svg")
        together(cycles > 0, "--draw needs --cycles 1 or more")
        refuse_if_there(draw, overwrite=overwrite, option="--draw")
    options = {
        "paths": paths_of(paths, bounces, per_pair),
        "fail": fail or [],
        "failures": failures,
        "samples": samples,
        "detours": detours,
        "most": cycles,
        "seed": seed,
    }
    with translated(), Stages() as stages:
        scenario = _core.Scenario.load_fabric(file, set_ or [])
        free, text, report = scenario.deadlock_check(json.dumps(options), str(Path.cwd()), stages.update)
    picture = None
    if draw is not None and (found := first_cycle(json.loads(report))):
        picture = draw_cycle(scenario, found)
        write_whole(draw, picture.svg.encode(), overwrite=overwrite, option="--draw")
    print(report if format == "json" else text.rstrip("\n"))
    if format == "text" and (note := deadlock_servers.note(scenario, json.loads(report))):
        print(f"\n{note}")
    if format == "text" and paths == "routes" and (fail or failures is not None):
        print(f"\n{deadlock_routing.table(scenario, detours)}")
    if picture is not None:
        print("\n".join([f"wrote {draw}", *picture.left_out]), file=sys.stderr)
    elif draw is not None:
        print(f"no cycle to draw: {draw} was not written", file=sys.stderr)
    return codes.OK if free else codes.ENDED_BADLY


@app.command(help_epilogue=TAG_EXAMPLES)
def tag(
    file: Path,
    /,
    *,
    paths: str | None = None,
    bounces: Bounces = None,
    per_pair: PerPair = None,
    method: Literal["greedy", "clos", "per-hop"] = "greedy",
    classes: Annotated[int, whole(1, 7)] = 1,
    order: Literal["number", "random"] = "number",
    compress: Literal["rectangles", "inputs", "outputs", "none"] = "rectangles",
    priorities: Annotated[int, whole(1, 7)] = 7,
    seed: Seed = 1,
    port_names: str | None = None,
    dscp: Annotated[list[int] | None, Repeated] = None,
    export: Annotated[list[Form] | None, Repeated] = None,
    output: Annotated[Path | None, Parameter(name=["--output", "-o"])] = None,
    overwrite: Overwrite = False,
    force: Annotated[bool, Flag] = False,
    set_: Overrides = None,
    format: Literal["text", "json"] = "text",  # noqa: A002 - the name of the option
) -> int:
    """Compute Tagger's tags and rules for expected lossless paths, verify them, and export them for switches.

    Tagger (Hu et al., CoNEXT 2017): each switch rewrites a packet's tag by (tag, ingress port, egress port). Packets
    that leave the expected paths become lossy. Rules that fail verification are never written.

    Parameters
    ----------
    file
        Scenario, a TOML file; only its fabric and its routes are used.
    paths
        Paths to keep lossless: routes, shortest, trees, random, up-down, or a file; see check. Default: routes if the
        scenario has network.route, otherwise shortest.
    bounces
        For up-down: how often a packet may go up again. Default: 0.
    per_pair
        For random: paths for each pair of switches with hosts. Default: 1.
    method
        greedy (Algorithm 2), clos (counts bounces; for up-down paths) or per-hop (Algorithm 1).
    classes
        Traffic classes that share the tags; for clos.
    order
        Order in which greedy tries the links of a hop.
    compress
        Ports that one rule can match: sets of ingress and egress ports (rectangles), sets of one of both, or single
        ports.
    priorities
        Lossless PFC priorities of the switches. Fails if more tags are needed, and prints the paths that force them.
    seed
        Seed of random choices.
    port_names
        Port names in sonic and nftables, given by the first, such as eth0, or Ethernet0/8 if names count by 8. Default:
        Ethernet0/4 and swp1. Names for sonic begin with Ethernet.
    dscp
        DSCP of a tag in sonic and nftables, from tag 1 on, 1 to 63; repeatable. Default: 8, 16, and so on. Lossy
        packets have DSCP 0.
    export
        File format to write; repeatable. sonic, p4 and nftables write one file per switch.
    output
        Folder for the files; needed with --export.
    overwrite
        Replace existing files. Either all files are written or none.
    force
        Write the files of sonic although SONiC cannot load them.
    format
        Output format.

    """
    only_for(paths, bounces, per_pair)
    together(bool(export) == (output is not None), "--export and --output must be used together")
    together(order == "number" or method == "greedy", "--order needs --method greedy")
    given = [name for name, value in (("--port-names", port_names), ("--dscp", dscp)) if value]
    named = {"sonic", "nftables"} & set(export or [])
    together(not given or named, f"{' and '.join(given)}: only for --export sonic and --export nftables")
    wrong = next((code for code in dscp or [] if not 1 <= code <= 63), None)
    together(wrong is None, f"--dscp {wrong}: the DSCP of a tag must be 1 to 63; lossy packets have 0")
    if output is not None and output.exists() and not output.is_dir():
        raise ScenarioError(f"--output {output}: is a file, must be a folder")
    options = {
        "paths": None if paths is None else paths_of(paths, bounces, per_pair),
        "method": method,
        "classes": classes,
        "random_order": order == "random",
        "compression": COMPRESSIONS[compress],
        "priorities": priorities,
        "seed": seed,
        "export": list(dict.fromkeys(export or [])),
        "port_names": port_names,
        "dscp": dscp or [],
    }
    refused = "sonic" in (export or []) and not force
    with translated(), Stages() as stages:
        scenario = _core.Scenario.load_fabric(file, set_ or [])
        form = "json" if refused else format
        text, files = scenario.deadlock_tag(json.dumps(options), str(Path.cwd()), form, stages.update)
    if refused:
        reasons = [f"- {reason}" for reason in json.loads(text)["notices"]]
        codes.complain("\n".join([UNUSABLE, *reasons, "Nothing was written. --force writes them, to be read."]))
        return codes.BAD_INPUT
    if output is not None:
        write_all(output, {name: content.encode() for name, content in files}, overwrite=overwrite)
    print(text.rstrip("\n"))
    if output is not None:
        print(f"wrote {len(files):,} {'file' if len(files) == 1 else 'files'} to {output}", file=sys.stderr)
    return codes.OK
