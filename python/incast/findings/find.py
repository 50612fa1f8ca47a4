"""All rules applied to a run, the most important findings first."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from incast.charts.source import Source
from incast.findings.alone import jobs
from incast.findings.backlogged import backlogged
from incast.findings.comparing import comparison, equal
from incast.findings.completion import completion, iterations
from incast.findings.deadlocks import deadlocks
from incast.findings.drops import drops
from incast.findings.failures import failures
from incast.findings.finding import Finding
from incast.findings.guarantees import guarantees
from incast.findings.limits import rising
from incast.findings.overload import overload
from incast.findings.own_queue import own_queues
from incast.findings.partial import partial
from incast.findings.pauses import pauses
from incast.findings.quiet import quiet
from incast.findings.retransmissions import retransmissions, spurious, timeouts
from incast.findings.seed import one_seed
from incast.findings.slower import slower, with_losses
from incast.findings.storms import storms, watchdog
from incast.findings.stuck import stuck
from incast.findings.tags import made_lossy
from incast.findings.unfinished import unfinished
from incast.findings.unreached import unreached, with_caveat
from incast.findings.victims import victims
from incast.results import Results

Rule = Callable[[Source], Iterator[Finding]]
RULES: tuple[Rule, ...] = (
    deadlocks,
    storms,
    watchdog,
    failures,
    with_losses,
    slower,
    unreached,
    drops,
    made_lossy,
    unfinished,
    partial,
    stuck,
    pauses,
    victims,
    guarantees,
    rising,
    own_queues,
    timeouts,
    retransmissions,
    spurious,
    overload,
    equal,
    iterations,
    jobs,
    completion,
    comparison,
    backlogged,
    quiet,
)
"""The rules, in the order of findings of one importance."""
MOST = 8
"""Most findings (our choice): what a reader takes in before the charts. The caveat of one seed comes on top."""


def findings(results: Results) -> list[Finding]:
    """The most important findings of a run."""
    source = Source([results])
    try:
        return findings_of(source)
    finally:
        source.close()


def findings_of(source: Source) -> list[Finding]:
    """The most important findings of a scenario with all its schemes."""
    found = [finding for rule in RULES for finding in rule(source)]
    found = with_caveat(source, sorted(found, key=lambda each: -each.importance)[:MOST])
    return [*found, *one_seed(source, found)]
