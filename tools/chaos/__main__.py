"""Disturb runs, sweeps and studies at random, and compare what they leave with undisturbed results.

make chaos N=200 SEED=1 PLACE=/mnt/nfs
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import partial
from importlib.util import find_spec
from pathlib import Path

from chaos.cases import CASES, RAY, Case
from chaos.cluster import Cluster, NoClusterError, clusters
from chaos.disk import Disk, disk
from chaos.faults import FAULTS, OF_WORKERS, Fault, fill_disk
from chaos.series import Reference, Series
from chaos.strike import STRIKES, Strike

SERIES = 3
"""Faults of one command, at most, before it runs to its end."""
Counts = Counter[tuple[str, str]]
"""Number of faults by command and kind."""


class Chaos:
    """Series of faults, and their counts."""

    def __init__(self, seed: int, cluster: Cluster, place: Path | None) -> None:
        self.draw, self.cluster, self.place = random.Random(seed), cluster, place
        self.references: dict[str, Reference] = {}
        self.counts: Counts = Counter()
        self.problems: list[str] = []

    def series(self, case: Case, most: int) -> None:
        """At most so many faults of one command; prints them with what is wrong."""
        options = partial(self.options, case)
        if case.name not in self.references:
            with disk(self.place) as place:
                self.references[case.name] = Reference.of(case, place, options)
        reference = self.references[case.name]
        with disk(self.place) as place:
            faults = self.faults(case, place)
            one = Series(case, place, self.draw, reference.took_s, reference.expected, reference.old, options=options)
            names = [name for name in self.names(faults, most) if strike(one, faults[name])]
            one.finish()
        self.counts.update((case.name, name) for name in names)
        text = f"{case.name}: {' + '.join(names)}"
        print(f"{self.counts.total()} {text}", flush=True)
        found = one.problems
        # Workers that Ray kills leave their folders (docs/design/sweeps.md).
        if case is RAY and not any(name.startswith(("SIGKILL", "loss")) for name in names):
            found += [f"left behind on a node: {path.name}" for path in self.cluster.scratch.iterdir()]
        for problem in found:
            print(f"  PROBLEM: {problem}", flush=True)
        self.problems += [f"{text}: {problem}" for problem in found]

    def options(self, case: Case) -> tuple[str, ...]:
        """Options of a command when it starts."""
        return ("--ray", self.cluster.address()) if case is RAY else ()

    def names(self, faults: Iterable[str], most: int) -> list[str]:
        """Random faults, half of them at changes of files."""
        at_random = sorted(set(faults) - set(STRIKES))
        at_changes = sorted(set(faults) & set(STRIKES)) or at_random
        return [self.draw.choice(self.draw.choice((at_random, at_changes))) for _ in range(self.draw.randint(1, most))]

    def faults(self, case: Case, place: Disk) -> dict[str, Fault | Strike]:
        """Faults of a command on this machine, by name."""
        if case is RAY:
            return {**self.cluster.faults()}
        impossible = () if place.own else (fill_disk,)
        needless = () if case.workers else OF_WORKERS
        return STRIKES | {name: fault for name, fault in FAULTS.items() if fault not in (*impossible, *needless)}


def strike(series: Series, fault: Fault | Strike) -> bool:
    """Disturb a command; false if it ended before the change at which it was to be hit."""
    if isinstance(fault, Strike):
        return series.strike_file(fault)
    series.strike(fault)
    return True


def chaos(cases: Sequence[Case], count: int, seed: int, place: Path | None) -> Chaos:
    """So many faults of random cases."""
    with clusters() as cluster:
        found = Chaos(seed, cluster, place)
        left = list(cases)
        while left and found.counts.total() < count:
            case = found.draw.choice(left)
            try:
                found.series(case, min(SERIES, count - found.counts.total()))
            except NoClusterError as error:
                found.problems.append(str(error))
                print(f"no more faults of {case.name}: {error}", flush=True)
                left.remove(case)
    return found


def main() -> int:
    """Strike as often as asked; returns 1 if something was wrong."""
    parser = argparse.ArgumentParser(prog="make chaos", description=__doc__)
    parser.add_argument("--count", type=int, default=200, help="faults")
    parser.add_argument("--seed", type=int, default=None, help="seed of the random numbers")
    parser.add_argument("--only", default="", help="name of a command")
    parser.add_argument(
        "--place", type=Path, default=None, help="folder of the file system (default: a tmpfs, if root)"
    )
    given = parser.parse_args()
    seed = given.seed if given.seed is not None else time.time_ns() % 10**6
    print(f"seed {seed}", flush=True)
    every = CASES if find_spec("ray") is None else (*CASES, RAY)
    found = chaos([case for case in every if given.only in ("", case.name)], given.count, seed, given.place)
    for (case, fault), number in sorted(found.counts.items()):
        print(f"| {case} | {fault} | {number} |")
    print(f"{found.counts.total()} faults, {len(found.problems)} problems")
    return 1 if found.problems else 0


if __name__ == "__main__":
    sys.exit(main())
