"""Seeds until decided: more seeds for undecided figures alone; docs/design/studies.md has the reasons."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from statistics import fmean
from typing import Any

from incast import sweep
from incast._interval import CONFIDENCE, interval
from incast.study.figures import SEED, Choice, Figure, PlannedRun, covers
from incast.sweep.skips import SCHEME

CAP = 20
"""Most seeds of a figure. Our choice: the interval is then 0.54 standard deviations to each side."""


@dataclass(frozen=True)
class Looks:
    """Looks at a figure with more and more seeds: its planned ones, twice as many, and so on, up to a cap.

    Look k of K has an error of 5 % · 2^(k-1) / (2^K - 1). By the union bound all intervals are right together with a
    probability of at least 95 %, so a figure may be decided at any look.
    """

    first: int
    """Planned seeds, at least 2."""
    cap: int
    """Most seeds."""

    @cached_property
    def sizes(self) -> tuple[int, ...]:
        """Seeds at each look."""
        sizes = [self.first]
        while sizes[-1] < self.cap:
            sizes.append(min(2 * sizes[-1], self.cap))
        return tuple(sizes)

    def errors(self) -> list[float]:
        """Error of each look: the probability that its interval misses the mean."""
        count = len(self.sizes)
        return [(1 - CONFIDENCE) * 2**look / (2**count - 1) for look in range(count)]

    def interval(
        self, values: Sequence[float], interval: Callable[[Sequence[float], float], tuple[float, float]] = interval
    ) -> tuple[float, float]:
        """Interval after all looks so far, from values in the order of seeds: what all looks agree on.

        Alone that of the last look if the mean is outside, by the chance of few seeds: all looks hold together.
        """
        seen = [(size, error) for size, error in zip(self.sizes, self.errors(), strict=True) if size <= len(values)]
        if not seen:
            return interval(values, 1 - self.errors()[0])
        each = [interval(values[:size], 1 - error) for size, error in seen]
        low, high = max(low for low, _ in each), min(high for _, high in each)
        return (low, high) if low <= fmean(values) <= high else each[-1]

    def after(self, seeds: int) -> int | None:
        """Seeds at the next look; `None` at the cap."""
        return next((size for size in self.sizes if size > seeds), None)


def grown(seeds: Sequence[int], count: int) -> list[int]:
    """The planned seeds, then the numbers after the greatest."""
    return [*seeds, *range(max(seeds) + 1, max(seeds) + 1 + count - len(seeds))]


def seeds_of(plan: sweep.Plan) -> list[int]:
    """The planned seeds of a sweep, in order; none if no axis varies `seed`."""
    if plan.paths.get(SEED) != SEED:
        return []
    return [seed for seed in dict.fromkeys(run.columns[SEED] for run in plan.runs) if isinstance(seed, int)]


def looks(plan: Any, cap: int | None) -> Looks | None:
    """The looks at the figures of a part; `None` if its seeds do not grow."""
    if cap is None or not isinstance(plan, sweep.Plan):
        return None
    first = len(seeds_of(plan))
    return Looks(first, cap) if 2 <= first < cap else None


def extended(
    planned: Mapping[str, Any], now: Mapping[str, Any], undecided: Iterable[tuple[str, Figure]], cap: int
) -> dict[str, sweep.Plan]:
    """Plans of the sweeps that need more seeds: the present runs, and those of the next look at undecided figures.

    All schemes of a figure's runs get its seeds, as metrics may compare schemes.
    """
    wanted: dict[str, list[tuple[int, Choice]]] = {}
    for part, figure in undecided:
        schedule = looks(planned[part], cap)
        size = schedule.after(len(figure.seeds)) if schedule else None
        if size is not None:
            sides = [figure.of] if figure.against is None else [figure.of, figure.against]
            wanted.setdefault(part, []).extend(
                (size, {name: value for name, value in {**figure.where, **side}.items() if name != SCHEME})
                for side in sides
            )
    return {part: _extended(planned[part], now[part], cells, cap) for part, cells in wanted.items()}


def _extended(planned: sweep.Plan, now: sweep.Plan, cells: Sequence[tuple[int, Choice]], cap: int) -> sweep.Plan:
    seeds = grown(seeds_of(planned), cap)
    number = {seed: place for place, seed in enumerate(seeds)}
    full = sweep.read(planned.path, scale=planned.scale, seeds=seeds, keys=False)
    present = {_name(run.choice) for run in now.runs}
    runs = [
        run
        for run in full.runs
        if _name(run.choice) in present
        or any(
            number[int(run.columns[SEED])] < size and covers(PlannedRun(run.choice, True), cell) for size, cell in cells
        )
    ]
    return replace(full, runs=tuple(runs))


def _name(choice: Choice) -> tuple[tuple[str, Any], ...]:
    return tuple(choice.items())
