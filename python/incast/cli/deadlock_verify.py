"""`incast deadlock verify`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter
from cyclopts.validators import Number

from incast import _core
from incast.cli import codes
from incast.cli.command import Overrides
from incast.cli.deadlock_paths import Bounces, PerPair, Seed, only_for, paths_of
from incast.cli.stages import Stages
from incast.errors import translated

EXAMPLES = """
Examples:
  incast deadlock verify scenarios/clos-testbed.toml rules/rules.json
  incast deadlock verify scenarios/clos-testbed.toml rules/rules.json --paths up-down --bounces 1
  incast deadlock verify scenarios/clos-testbed.toml old/rules.json new/rules.json
"""


def verify(
    file: Path,
    rules: Path,
    /,
    *more: Path,
    paths: str | None = None,
    bounces: Bounces = None,
    per_pair: PerPair = None,
    classes: Annotated[int | None, Parameter(validator=Number(gte=1, lte=7))] = None,
    seed: Seed = 1,
    set_: Overrides = None,
    format: Literal["text", "json"] = "text",  # noqa: A002 - the name of the option
) -> int:
    """Verify rules of tags, whoever wrote them, and changes from one file of rules to another.

    Looks for cyclic buffer dependencies among all tags, of packets that go from the hosts on and take any path that
    the rules keep lossless. The exit code is 1 if deadlocks are possible, or if packets on the expected paths become
    lossy.

    Parameters
    ----------
    file
        Scenario, a TOML file; its fabric counts.
    rules
        File of rules, as incast deadlock tag --export json writes it.
    more
        Files of rules that switches change to: each switch has the rules of any of the files, and may change at any
        time.
    paths
        What should stay lossless under each file by itself: routes, shortest, trees, random, up-down, or a file, as
        for check. Paths are not looked at if not given.
    bounces
        For up-down paths: how often a packet may turn up again; 0 if not given.
    per_pair
        For random paths: how many for each pair of switches with hosts; 1 if not given.
    classes
        Classes of traffic: hosts send with tags 1 to this; as each file says if not given.
    seed
        What is drawn at random follows from it.
    format
        text to read, json for programs.

    """
    only_for(paths, bounces, per_pair)
    options = {
        "files": [str(one) for one in (rules, *more)],
        "paths": None if paths is None else paths_of(paths, bounces, per_pair),
        "classes": classes,
        "seed": seed,
    }
    with translated(), Stages() as stages:
        scenario = _core.Scenario.load_fabric(file, set_ or [])
        holds, text, told = scenario.deadlock_verify(json.dumps(options), str(Path.cwd()), stages.update)
    print(told if format == "json" else text.rstrip("\n"))
    return codes.OK if holds else codes.ENDED_BADLY
