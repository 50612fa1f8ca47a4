"""The testbed as seen from outside: a process of its own, which ends with this one."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from contextlib import suppress
from types import TracebackType
from typing import Any, Self

from incast.errors import EnvironmentFailure, InternalError
from incast.testbed.rules import LEAST, ruleset


class Testbed:
    """H1 - T1 - H2 in the kernel of this machine, to be used in a `with` statement.

    The process that holds the networks gets no signals of the terminal. It is killed when the statement is left, by an
    exception too, and by the kernel when this process ends otherwise; with it goes all that it made.
    """

    __test__ = False
    """Not a test, whatever its name."""

    def __enter__(self) -> Self:
        """Build it.

        Raises:
            EnvironmentFailure: The machine cannot do it.

        """
        if sys.platform != "linux":
            raise EnvironmentFailure(f"network namespaces need Linux; this is {sys.platform}")
        self._process = subprocess.Popen(
            [sys.executable, "-m", "incast.testbed.worker", str(os.getpid())],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        try:
            self._answer()
        except BaseException:
            self._end()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._end()

    @property
    def process(self) -> int:
        """The number of the process that holds the networks."""
        return self._process.pid

    def load(self, rules: str) -> None:
        """Put a file for `nft -f` into T1, in place of what was there."""
        self._ask("load", rules=rules)

    def ping(self, count: int) -> tuple[list[int], int]:
        """Round-trip times of so many pings H1 - H2, in ns, and how many of them were lost."""
        times, lost = self._ask("ping", count=count)
        return times, lost

    def stream(self, seconds: float, *, aggregates: bool) -> tuple[float, float]:
        """Payload of a TCP connection H1 to H2 in bit/s, and the mean size of packets at T1 in bytes."""
        rate, size = self._ask("stream", seconds=seconds, aggregates=aggregates)
        return rate, size

    def _ask(self, what: str, **arguments: object) -> Any:
        assert self._process.stdin is not None
        # If the process has ended, the missing answer tells.
        with suppress(BrokenPipeError):
            print(json.dumps([what, arguments]), file=self._process.stdin, flush=True)
        return self._answer()

    def _answer(self) -> Any:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise InternalError(f"the testbed's process ended, exit code {self._process.wait()}")
        answer = json.loads(line)
        if "refused" in answer:
            raise EnvironmentFailure(answer["refused"])
        return answer["value"]

    def _end(self) -> None:
        self._process.kill()
        self._process.communicate()


def available() -> str | None:
    """Why rules cannot be measured on this machine, in one sentence; `None` if they can.

    It is tried for real: networks, rules, one ping through them. Nothing stays behind.
    """
    try:
        with Testbed() as testbed:
            testbed.load(ruleset(LEAST, "map"))
            testbed.ping(1)
    except EnvironmentFailure as failure:
        return str(failure)
    return None
