"""`incast deadlock verify`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Literal

from incast import _core
from incast.cli import codes
from incast.cli.command import Overrides, whole
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
    classes: Annotated[int | None, whole(1, 7)] = None,
    seed: Seed = 1,
    set_: Overrides = None,
    format: Literal["text", "json"] = "text",  # noqa: A002 - the name of the option
) -> int:
    """Verify Tagger rules from any source, and updates from one file of rules to another.

    Searches for cyclic buffer dependencies, from the hosts along every path that the rules keep lossless. Exit code 1:
    deadlocks are possible, or packets on the expected paths become lossy.

    Parameters
    ----------
    file
        Scenario, a TOML file; only its fabric is used.
    rules
        File of rules in the format of incast deadlock tag --export json.
    more
        Files of rules during an update: each switch may have the rules of any file and may change at any time.
    paths
        Paths that must stay lossless under each file: routes, shortest, trees, random, up-down, or a file; see check.
        Default: paths are not checked.
    bounces
        For up-down: how often a packet may go up again. Default: 0.
    per_pair
        For random: paths for each pair of switches with hosts. Default: 1.
    classes
        Traffic classes: hosts send with tags 1 to this number. Default: as in each file.
    seed
        Seed of random choices.
    format
        Output format.

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
        holds, text, report = scenario.deadlock_verify(json.dumps(options), str(Path.cwd()), stages.update)
    print(report if format == "json" else text.rstrip("\n"))
    return codes.OK if holds else codes.ENDED_BADLY
