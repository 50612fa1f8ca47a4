"""Parameters that decide a claim, and points at which claims hold together."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import Any

from incast._interval import CONFIDENCE
from incast._library import needed
from incast.study import space
from incast.study.counting import CALIBRATIONS, PUBLISHED, kind
from incast.study.description import OpenParameter, Value
from incast.study.mapped import Influence, MappedClaim, Together

PERMUTATIONS = 9999
"""Random orders of the verdicts: p-values are at least 1/10000 (our choice)."""
SEED = 1
"""Seed of the random orders."""


def wilson(holds: int, points: int) -> tuple[float, float] | tuple[None, None]:
    """95 % interval of a share (Wilson)."""
    if not points:
        return None, None
    stats = needed("scipy.stats", "a map (extra incast[study])")
    found = stats.binomtest(holds, points).proportion_ci(confidence_level=CONFIDENCE, method="wilson")
    return float(found.low), float(found.high)


def influences(
    parameters: Sequence[OpenParameter], points: Sequence[Mapping[str, Value]], holds: Sequence[bool]
) -> tuple[Influence, ...]:
    """Difference of each parameter between points where a claim holds and others, the strongest first."""
    if all(holds) or not any(holds):
        return ()
    numpy = needed("numpy", "a map (extra incast[study])")
    labels = numpy.array(holds)
    orders = numpy.tile(labels, (PERMUTATIONS, 1))
    orders = numpy.vstack([labels, numpy.random.default_rng(SEED).permuted(orders, axis=1)])
    found = []
    for parameter in parameters:
        values = numpy.array([space.number(parameter, point[parameter.name]) for point in points])
        distances = _distances(values, orders, space.ordered(parameter))
        p = float((distances >= distances[0] - 1e-9).mean())
        found.append(Influence(name=parameter.name, distance=float(distances[0]), p=min(1.0, p * len(parameters))))
    return tuple(sorted(found, key=lambda each: (each.p, -each.distance)))


def _distances(values: Any, orders: Any, ordered: bool) -> Any:
    """Distance between the values of points that hold and those of others, for each order of the verdicts."""
    numpy = needed("numpy", "a map (extra incast[study])")
    every, place = numpy.unique(values, return_inverse=True)
    at = numpy.eye(len(every))[place]
    hold, fail = orders @ at, (~orders) @ at
    difference = hold / hold.sum(axis=1, keepdims=True) - fail / fail.sum(axis=1, keepdims=True)
    if ordered:
        return numpy.abs(difference.cumsum(axis=1)).max(axis=1)
    return numpy.abs(difference).sum(axis=1) / 2


def together(claims: Sequence[MappedClaim], points: int) -> Together:
    """Where the published statements and calibrations that are measured hold together, of `points` in all."""
    wanted = [claim for claim in claims if kind(claim.origin, claim.calibration) in (PUBLISHED, CALIBRATIONS)]
    wanted = [claim for claim in wanted if any(verdict != "not measured" for verdict in claim.verdicts)]
    holding = {claim.id: {number for number in range(points) if claim.verdicts[number] == "holds"} for claim in wanted}
    counts = [sum(number in where for where in holding.values()) for number in range(points)]
    best = counts.index(max(counts))
    return Together(
        claims=tuple(holding),
        all_hold=tuple(number for number in range(points) if holding and counts[number] == len(holding)),
        best=best,
        holds=counts[best],
        fail=tuple(name for name, where in holding.items() if best not in where),
        nowhere=tuple(name for name, where in holding.items() if not where),
        conflicts=tuple(
            (one, other)
            for (one, mine), (other, its) in itertools.combinations(holding.items(), 2)
            if mine and its and not mine & its
        ),
    )
