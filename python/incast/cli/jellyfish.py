"""`incast deadlock table`."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from typing import Annotated, Literal

from cyclopts import Parameter
from cyclopts.validators import Number

from incast import tagger
from incast.cli import codes

EXAMPLES = """
Examples:
  incast deadlock table
  incast deadlock table --convention F --convention A --size 500x64 --seeds 5
"""
DEFAULT = ("F", "Fm", "A")
"""The two conventions that were declared before anything was measured, and the literal reading."""
Repeated = Parameter(negative=(), consume_multiple=False)


def table(
    *,
    convention: Annotated[list[str] | None, Repeated] = None,
    size: Annotated[list[str] | None, Repeated] = None,
    seeds: Annotated[int, Parameter(validator=Number(gte=1))] = 3,
    format: Literal["text", "json"] = "text",  # noqa: A002 - the name of the option
) -> int:
    """Compute the published table of Tagger on Jellyfish: classes, rules in all, rules of the switch with most.

    Every row is verified: no cyclic dependency, and every path of every tree stays lossless. The draft does not say
    what is one rule; conventions settle that, see docs/design/deadlock.md.

    Parameters
    ----------
    convention
        How the table is read; repeatable. F, Fm and A if not given.
    size
        SWITCHESxPORTS; repeatable. The published ones up to 500 switches if not given; larger ones take seconds to
        half a minute each.
    seeds
        Graphs of each size; figures are means, with their range.
    format
        text to read, json for programs.

    """
    names = convention or list(DEFAULT)
    sizes = []
    for asked in size or [f"{one.switches}x{one.ports}" for one in tagger.published() if one.switches <= 500]:
        switches, cross, ports = asked.partition("x")
        if not (cross and switches.isdecimal() and ports.isdecimal()):
            codes.complain(f"--size: `{asked}` is no size; allowed: SWITCHESxPORTS, such as 500x64")
            return codes.BAD_INPUT
        sizes.append((int(switches), int(ports)))
    terminal = sys.stderr.isatty()

    def told(done: int, count: int) -> None:
        if terminal:
            print(f"\r{done} of {count} rows", end="\n" if done == count else "", file=sys.stderr, flush=True)

    found = list(tagger.rows(names, sizes, range(1, seeds + 1), told))
    print(json.dumps([asdict(one) for one in found], indent=2) if format == "json" else tagger.text(found))
    return codes.OK if all(one.verified for one in found) else codes.ENDED_BADLY
