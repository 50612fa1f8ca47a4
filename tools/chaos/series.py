"""A series: faults of one command in one folder, then the command to its end, then the comparison."""

from __future__ import annotations

import random
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from chaos import oracle
from chaos.cases import OUT, Case
from chaos.disk import LARGE, Disk
from chaos.faults import Attempt, Fault
from chaos.processes import Command, marked, send, wait_until
from chaos.strike import Strike

ENDS = {0, 1, 2, 3, 130, 143, -signal.SIGKILL, -signal.SIGINT, -signal.SIGTERM}
"""Exit codes after a fault: success, failed runs, a refusal, the system, signals; the last two before Python is up."""
OLD = ("--set", "seed=8")
"""Makes other results, which `run --overwrite` replaces."""


@dataclass
class Series:
    """A command in a folder."""

    case: Case
    disk: Disk
    draw: random.Random
    took_s: float
    """Duration of the undisturbed command."""
    expected: dict[str, str]
    """Files of the undisturbed results."""
    old: dict[str, str] = field(default_factory=dict)
    """Files of the results that the command replaces."""
    options: Callable[[], tuple[str, ...]] = tuple
    """Further options of the command, when it starts."""
    problems: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.folder = self.disk.path / "work"
        self.folder.mkdir()
        self.case.prepare(self.folder)
        self.out = self.folder / OUT
        self.killed = False
        self.mark = f"{time.monotonic_ns()}"
        if self.case.replaces:
            Command([*self.case.command, *OLD], self.folder, self.mark, {}).end()
        self.before = {path.name for path in self.folder.iterdir()} - {OUT}

    def start(self, **more: str) -> Command:
        """Start the command, with further variables of the environment."""
        return Command([*self.case.command, *self.options()], self.folder, self.mark, more)

    def strike(self, fault: Fault) -> None:
        """Run the command with a fault at a random moment, then check what it left."""
        kept = oracle.finished(self.out)
        attempt = Attempt(self.start(), self.draw, self.disk, self.start, [])
        moment = time.monotonic() + self.draw.uniform(0, self.took_s)
        wait_until(lambda: time.monotonic() > moment or attempt.command.ended())
        if not attempt.command.ended():
            fault(attempt)
        self.struck(attempt.command, kept)
        if attempt.stopped:
            self.repeat_while_stopped(attempt.stopped)
        self.nobody_left()

    def strike_file(self, strike: Strike) -> bool:
        """Run the command with a fault at a change of the file system; false if there were fewer changes."""
        kept = oracle.finished(self.out)
        command = self.start(**strike.environment(self.draw.randint(*self.case.changes), self.disk.path))
        self.struck(command, kept)
        self.nobody_left()
        return strike.hit(self.disk.path)

    def struck(self, command: Command, kept: oracle.Kept) -> None:
        """Check how a command ended, and its folder."""
        code, errors = command.end()
        self.killed |= code == -signal.SIGKILL
        self.disk.resize(LARGE)
        if code not in ENDS or "Traceback" in errors:
            self.problems.append(f"exit code {code}: {errors}")
        self.check(kept)

    def repeat_while_stopped(self, stopped: list[int]) -> None:
        """Repeat the command; a worker of the killed one continues in the middle."""
        command = self.start()
        time.sleep(self.draw.uniform(0, self.took_s))
        send(stopped, signal.SIGCONT)
        code, errors = command.end()
        if code != 0:
            self.problems.append(f"repeated: exit code {code}: {errors}")

    def finish(self) -> None:
        """Run the command to its end, and compare everything."""
        kept = oracle.finished(self.out)
        code, errors = self.start().end()
        # Finished results of a run are never replaced unasked.
        if code != 0 and not (code == 2 and "exist" in errors and self.case.name == "run"):
            self.problems.append(f"not resumed: exit code {code}: {errors}")
        self.check(kept)
        self.problems += oracle.differences(self.expected, oracle.contents(self.out))
        left = {path.name for path in self.folder.iterdir()} - {OUT} - self.before
        # A killed process leaves its temporary folder to the system.
        scratch = set() if self.killed else {path.name for path in (self.disk.path / "tmp").iterdir()}
        self.problems += [f"left behind: {name}" for name in sorted(left | scratch)]
        self.nobody_left()

    def check(self, kept: oracle.Kept) -> None:
        """Check the folder between commands: finished runs stay, results are whole."""
        now = oracle.finished(self.out)
        self.problems += [f"done again or lost: {name}" for name in kept if now.get(name) != kept[name]]
        if self.case.name.startswith("run") and self.out.exists():
            found = oracle.contents(self.out)
            if found not in (self.expected, self.old):
                self.problems += [f"half results: {what}" for what in oracle.differences(self.expected, found)]

    def nobody_left(self) -> None:
        """Check that no process of the command lives, and end those that do."""
        if not wait_until(lambda: not marked(self.mark), 30):
            self.problems.append(f"processes are left: {len(marked(self.mark))}")
            send(marked(self.mark), signal.SIGKILL)


@dataclass(frozen=True)
class Reference:
    """Undisturbed results of a case."""

    took_s: float
    expected: dict[str, str]
    old: dict[str, str]

    @classmethod
    def of(cls, case: Case, disk: Disk, options: Callable[[], tuple[str, ...]]) -> Reference:
        """Run a case without faults."""
        series = Series(case, disk, random.Random(), 0.0, {}, options=options)
        old = oracle.contents(series.out)
        began = time.monotonic()
        code, errors = series.start().end()
        if code != 0:
            raise RuntimeError(f"{case.name} fails without faults: {errors}")
        return cls(time.monotonic() - began, oracle.contents(series.out), old)
