"""`incast deadlock cost`."""

from __future__ import annotations

import json
import time
from types import TracebackType
from typing import Annotated, Literal, Self

from cyclopts import Parameter
from cyclopts.validators import Number
from rich.console import Console
from rich.status import Status

from incast import _terminal, testbed
from incast.cli import codes
from incast.cli.command import MANY, SEED, command, whole
from incast.cli.live import clock
from incast.testbed.cost import PINGS, ROUNDS, RULES, SECONDS, refused

EVERY_S = 10.0
"""Seconds between lines where there is no terminal."""
EXAMPLES = """
Examples:
  incast deadlock cost
  incast deadlock cost --rules 0,20,160 --seconds 1 --rounds 10
  incast deadlock cost --form chain --format json
"""


def cost(
    *,
    rules: str = ",".join(map(str, RULES)),
    seconds: float = SECONDS,
    pings: Annotated[int, Parameter(validator=Number(lte=MANY))] = PINGS,
    rounds: Annotated[int, Parameter(validator=Number(lte=MANY))] = ROUNDS,
    form: Literal["map", "chain"] = "map",
    seed: Annotated[int, whole(0, SEED)] = 1,
    format: Literal["text", "json"] = "text",  # noqa: A002 - the name of the option
    quiet: Annotated[bool, Parameter(name=["--quiet", "-q"], negative=(), show_default=False)] = False,
) -> int:
    """Measure the cost of nftables rules on this machine: round-trip time and throughput through the Linux kernel.

    Not a simulation. Builds two hosts and a switch from network namespaces and removes them at the end. Needs Linux,
    the programs ip and nft, and root or user namespaces. Each round measures each number of rules, in random order. On
    a busy machine, use more and shorter rounds.

    Parameters
    ----------
    rules
        Numbers of rules in the switch, separated by commas.
    seconds
        Duration of each TCP connection; each number of rules has two in each round.
    pings
        Pings per number of rules and round.
    rounds
        Number of rounds.
    form
        map: as the nftables export writes rules. chain: one rule after the other, the matching rule last.
    seed
        Seed of the random order.
    format
        Output format.
    quiet
        No progress.

    """
    plan = testbed.Plan(_numbers(rules), seconds, pings, rounds, form, seed)
    with CostLive(_terminal.console(stderr=True), quiet=quiet) as live:
        done = testbed.measure(plan, live.update)
    print(json.dumps(done.to_dict(), indent=2) if format == "json" else testbed.text(done))
    return codes.OK


def _numbers(text: str) -> tuple[int, ...]:
    try:
        return tuple(int(each) for each in text.split(","))
    except ValueError:
        raise refused("--rules", text, "whole numbers separated by commas, such as 0,10,160") from None


class CostLive:
    """Shows how far a measurement has come; `update` is the progress callback."""

    def __init__(self, console: Console, *, quiet: bool = False) -> None:
        """Show on `console`, or not at all."""
        self._console, self._quiet = console, quiet
        self._printed = time.monotonic()
        self._status: Status | None = None
        if console.is_terminal and not quiet:
            self._status = console.status("")

    def __enter__(self) -> Self:
        if self._status:
            self._status.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._status:
            self._status.stop()

    def update(self, progress: testbed.CostProgress) -> None:
        """Show where the measurement is now."""
        now = time.monotonic()
        elapsed = now - progress.began
        left = f", {clock(elapsed / progress.done * (progress.all - progress.done))} left" if progress.done else ""
        line = f"{progress.done / progress.all:.0%}, {progress.done} of {progress.all} measured{left}"
        if self._status:
            self._status.update(line)
        elif not self._quiet and now - self._printed >= EVERY_S:
            self._printed = now
            self._console.print(line, soft_wrap=True)


app = command("cost", cost, EXAMPLES)
