"""`incast deadlock`."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated, Literal

from cyclopts import App, Parameter
from cyclopts.validators import Number

from incast import _core
from incast._whole import refuse_if_there, write_all, write_whole
from incast.cli import codes, cost, deadlock_verify, jellyfish
from incast.cli.deadlock_drawing import draw_cycle, first_cycle
from incast.cli.deadlock_paths import Bounces, PerPair, Seed, paths_of, together
from incast.cli.run import Overrides
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
"""What the core calls what a rule can match."""

UNUSABLE = "error: These files cannot be loaded on SONiC today:"

Form = Literal["json", "csv", "sonic", "p4", "nftables"]
Repeated = Parameter(negative=(), consume_multiple=False)
Positive = Parameter(validator=Number(gte=1))
Flag = Parameter(negative=(), show_default=False)

app = App(
    name="deadlock",
    sort_key=2.5,
    help="Look at a fabric alone: which PFC deadlocks are possible, and the tags and rules (Tagger) that prevent them.",
    help_format="plaintext",
    help_epilogue=EXAMPLES,
)
app.command(deadlock_verify.verify, help_epilogue=deadlock_verify.EXAMPLES)
app.command(jellyfish.table, help_epilogue=jellyfish.EXAMPLES)
app.command(cost.cost, help_epilogue=cost.EXAMPLES)


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
    detours: Annotated[int | None, Parameter(validator=Number(gte=1, lte=255))] = None,
    cycles: Annotated[int, Parameter(validator=Number(gte=0))] = 3,
    seed: Seed = 1,
    draw: Path | None = None,
    overwrite: Annotated[bool, Flag] = False,
    set_: Overrides = None,
    format: Literal["text", "json"] = "text",  # noqa: A002 - the name of the option
) -> int:
    """Find cyclic buffer dependencies: what a PFC deadlock has to have, hop by hop, and whose packets make it.

    A buffer is an ingress port of a switch with a priority; it waits for the next one that its packets fill. PerPair
    lossless priority that packets have is looked at, under each scheme, with its tags if it has some. The exit code is
    1 if deadlocks are possible.

    Parameters
    ----------
    file
        Scenario, a TOML file. One with a fabric alone, without workload and schemes, is taken to have one lossless
        priority.
    paths
        Which packets there are: routes, those of the scenario's routes at all times, with its failures, and of flows
        with a path of their own; shortest, all shortest paths; trees, a
        shortest-path tree for each server, drawn at random; random, shortest paths drawn at random for each pair of
        switches with hosts, which all hosts of the two use; up-down, up and down the tiers; or a file with a path in
        each line, names of nodes from host to host, such as h0 T1 L1 T2 h4.
    bounces
        For up-down paths: how often a packet may turn up again; 0 if not given.
    per_pair
        For random paths: how many for each pair of switches, each drawn by itself; 1 if not given.
    fail
        A link that is down, by its ends, such as leaf0-spine1; of parallel links by its port too, leaf0:2-spine1, or
        the first. Repeatable, all at a time. Other paths than routes are then those over the links that are up.
    failures
        So many links between switches are down at a time: each link for 1, each pair for 2, sets drawn at random for
        more, or with --samples.
    samples
        So many sets of links are drawn at random, each by itself, for --failures; if not given, all are looked at for 1
        and 2, and 1000 for more.
    detours
        Routes have not converged after a failure: switches next to it send packets to any neighbour, so often at most
        for each packet. If not given, packets take shortest paths over what is up.
    cycles
        How many shortest cycles of each set of buffers are named, or sets of failed links.
    seed
        What is drawn at random follows from it.
    draw
        Picture to write, FILE.svg: the shortest cycle on the fabric; with failures that of the first set of links.
    overwrite
        Replace the picture if it is there.
    format
        text to read, json for programs.

    """
    together(detours is None or failures is not None or fail, "--detours is for failures: --failures or --fail")
    together(not (fail and failures is not None), "--fail names the links that are down; --failures goes through all")
    together(samples is None or failures is not None, "--samples is for --failures: sets that are drawn at random")
    if draw is not None:
        together(draw.suffix == ".svg", f"--draw {draw}: the name of the picture ends in .svg")
        together(cycles > 0, "--draw needs a cycle that is named: --cycles 1 or more")
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
        free, text, told = scenario.deadlock_check(json.dumps(options), str(Path.cwd()), stages.update)
    picture = None
    if draw is not None and (found := first_cycle(json.loads(told))):
        picture = draw_cycle(scenario, found)
        write_whole(draw, picture.svg.encode(), overwrite=overwrite, option="--draw")
    print(told if format == "json" else text.rstrip("\n"))
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
    paths: str = "shortest",
    bounces: Bounces = None,
    per_pair: PerPair = None,
    method: Literal["greedy", "clos", "per-hop"] = "greedy",
    classes: Annotated[int, Parameter(validator=Number(gte=1, lte=7))] = 1,
    order: Literal["number", "random"] = "number",
    compress: Literal["rectangles", "inputs", "outputs", "none"] = "rectangles",
    priorities: Annotated[int, Parameter(validator=Number(gte=1, lte=7))] = 7,
    seed: Seed = 1,
    port_names: str | None = None,
    dscp: Annotated[list[int] | None, Repeated] = None,
    export: Annotated[list[Form] | None, Repeated] = None,
    output: Annotated[Path | None, Parameter(name=["--output", "-o"])] = None,
    overwrite: Annotated[bool, Flag] = False,
    force: Annotated[bool, Flag] = False,
    set_: Overrides = None,
    format: Literal["text", "json"] = "text",  # noqa: A002 - the name of the option
) -> int:
    """Choose tags for expected lossless paths, make the rules, verify them, and write them for switches.

    Tagger (Hu et al., CoNEXT 2017): each switch rewrites a packet's tag by (tag, ingress port, egress port); what
    leaves the expected paths becomes lossy. No rules are written that do not hold.

    Parameters
    ----------
    file
        Scenario, a TOML file; its fabric counts.
    paths
        What should stay lossless: routes, shortest, trees, random, up-down, or a file, as for check.
    bounces
        For up-down paths: how often a packet may turn up again; 0 if not given.
    per_pair
        For random paths: how many for each pair of switches with hosts; 1 if not given.
    method
        greedy (Algorithm 2), clos (bounces are counted; for up-down paths), per-hop (Algorithm 1).
    classes
        Classes of traffic that share the tags; with clos.
    order
        In which order greedy tries the links of a hop.
    compress
        What one rule can match: sets of ingress and egress ports (rectangles), of one of both, or single ports.
    priorities
        Lossless PFC priorities that the switches have. More tags than that are refused, with the paths that force them.
    seed
        What is drawn at random follows from it.
    port_names
        How switches call their ports in sonic and nftables, by the name of the first, such as eth0; Ethernet0/8 if
        names count by 8. Ethernet0/4 and swp1 if not given. In sonic they begin with Ethernet.
    dscp
        Code point of a tag in sonic and nftables, from tag 1 on, 1 to 63; repeatable. 8, 16, and so on if not given.
        Lossy packets have 0.
    export
        Form of a file to write; repeatable. sonic, p4 and nftables write a file for each switch.
    output
        Folder for the files; needed with --export.
    overwrite
        Replace files that are there. All files are written, or none.
    force
        Write the files of sonic although SONiC cannot load them.
    format
        text to read, json for programs.

    """
    together(bool(export) == (output is not None), "--export needs a folder, --output; --output is for --export")
    together(order == "number" or method == "greedy", "--order is for --method greedy")
    given = [name for name, value in (("--port-names", port_names), ("--dscp", dscp)) if value]
    named = {"sonic", "nftables"} & set(export or [])
    together(not given or named, f"{' and '.join(given)}: only for --export sonic and --export nftables")
    wrong = next((code for code in dscp or [] if not 1 <= code <= 63), None)
    together(wrong is None, f"--dscp {wrong}: a tag's code point is 1 to 63; lossy packets have 0")
    if output is not None and output.exists() and not output.is_dir():
        raise ScenarioError(f"--output {output}: it is a file; a folder is meant")
    options = {
        "paths": paths_of(paths, bounces, per_pair),
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
        told_as = "json" if refused else format
        text, files = scenario.deadlock_tag(json.dumps(options), str(Path.cwd()), told_as, stages.update)
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
