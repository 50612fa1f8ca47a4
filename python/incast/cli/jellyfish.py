"""`incast deadlock table`."""

from __future__ import annotations

import json
import re
import sys
from dataclasses import asdict
from typing import Annotated, Literal

from cyclopts import Parameter

from incast import tagger
from incast.cli import codes
from incast.cli.command import whole

EXAMPLES = """
Examples:
  incast deadlock table
  incast deadlock table --convention F --convention A --size 500x64 --seeds 5
"""
DEFAULT = ("F", "Fm", "A")
"""The two conventions declared before the first measurement, and the literal reading."""
Repeated = Parameter(negative=(), consume_multiple=False)


SIZE = re.compile(r"([0-9]{1,9})x([0-9]{1,9})")


def table(
    *,
    convention: Annotated[list[str] | None, Repeated] = None,
    size: Annotated[list[str] | None, Repeated] = None,
    seeds: Annotated[int, whole(1)] = 3,
    format: Literal["text", "json"] = "text",  # noqa: A002 - the name of the option
) -> int:
    """Reproduce Tagger's table of rules on Jellyfish: classes, rules in total, rules of the largest switch.

    Verifies each row: no cyclic dependency, and each path of each tree stays lossless. The draft does not define how
    rules are counted; docs/design/deadlock.md lists the conventions.

    Parameters
    ----------
    convention
        How rules are counted; repeatable. Default: F, Fm and A.
    size
        SWITCHESxPORTS; repeatable. Default: the published sizes up to 500 switches. Larger sizes take up to 30 s each.
    seeds
        Graphs of each size. Figures are means, with their range.
    format
        Output format.

    """
    names = convention or list(DEFAULT)
    sizes = []
    for asked in size or [f"{one.switches}x{one.ports}" for one in tagger.published() if one.switches <= 500]:
        if not (given := SIZE.fullmatch(asked)):
            codes.complain(f"--size cannot be `{asked}`, allowed: SWITCHESxPORTS, such as 500x64")
            return codes.BAD_INPUT
        sizes.append((int(given[1]), int(given[2])))
    terminal = sys.stderr.isatty()

    def progress(done: int, count: int) -> None:
        if terminal:
            print(f"\r{done} of {count} rows", end="\n" if done == count else "", file=sys.stderr, flush=True)

    found = list(tagger.rows(names, sizes, range(1, seeds + 1), progress))
    print(json.dumps([asdict(one) for one in found], indent=2) if format == "json" else tagger.text(found))
    return codes.OK if all(one.verified for one in found) else codes.ENDED_BADLY
