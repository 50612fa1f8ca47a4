"""`incast deadlock cost`."""

from __future__ import annotations

import json
import time
from types import TracebackType
from typing import Annotated, Literal, Self

from cyclopts import Parameter
from rich.console import Console
from rich.status import Status

from incast import testbed
from incast.cli import codes
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
    pings: int = PINGS,
    rounds: int = ROUNDS,
    form: Literal["map", "chain"] = "map",
    seed: int = 1,
    format: Literal["text", "json"] = "text",  # noqa: A002 - the name of the option
    quiet: Annotated[bool, Parameter(name=["--quiet", "-q"], negative=(), show_default=False)] = False,
) -> int:
    """Measure what rules cost on this machine: round-trip times and throughput through nftables in the Linux kernel.

    No simulation. Two hosts and a switch are made as network namespaces, which needs Linux, the programs ip and nft,
    and root's rights or user namespaces; nothing of them stays. Each number of rules is measured in each round, in an
    order drawn at random. On a machine that does other work too, more and shorter rounds say more.

    Parameters
    ----------
    rules
        Numbers of rules in the switch, with commas between them.
    seconds
        Length of each TCP connection; there are two for each number of rules and round.
    pings
        Pings for each number of rules and round.
    rounds
        How often all is repeated.
    form
        map, as the nftables export writes rules; chain, one after the other, with the packets' own as the last.
    seed
        The order follows from it.
    format
        text to read, json for programs.
    quiet
        No progress.

    """
    plan = testbed.Plan(_numbers(rules), seconds, pings, rounds, form, seed)
    with CostLive(Console(stderr=True), quiet=quiet) as live:
        done = testbed.measure(plan, live.update)
    print(json.dumps(done.to_dict(), indent=2) if format == "json" else testbed.text(done))
    return codes.OK


def _numbers(text: str) -> tuple[int, ...]:
    try:
        return tuple(int(each) for each in text.split(","))
    except ValueError:
        raise refused("--rules", text, "whole numbers with commas between them, such as 0,10,160") from None


class CostLive:
    """Shows how far a measurement has come; `update` is the progress callback."""

    def __init__(self, console: Console, *, quiet: bool = False) -> None:
        """Show on `console`, or not at all."""
        self._console, self._quiet = console, quiet
        self._told = time.monotonic()
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
        elif not self._quiet and now - self._told >= EVERY_S:
            self._told = now
            self._console.print(line, soft_wrap=True)
