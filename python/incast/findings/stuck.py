"""Findings about queues that stay paused to the end of the run although no deadlock formed."""

from __future__ import annotations

from collections.abc import Iterator

from incast.charts.source import Source
from incast.findings.finding import LONG_PAUSES, Finding
from incast.findings.storms import begun
from incast.findings.words import count, prefix, sentence, time

PART = 0.1
"""Smallest share of the run for which such a queue is paused (our choice)."""


def stuck(source: Source) -> Iterator[Finding]:
    """Queues paused for the last 10 % of the run or more, with the queue that the first of them waits for.

    That queue is not paused itself. If its port sent only other priorities, the finding says so. Not for pauses by
    hosts, schemes with a deadlock to the end, and runs with a configured storm.
    """
    if not source.count("pauses") or begun(source):
        return
    ends = {
        scheme: int(manifest["end_ps"])
        for scheme, manifest in source.manifests.items()
        if all(deadlock.get("ended_ps") is not None for deadlock in manifest.get("deadlocks", ()))
    }
    rows = source.rows(_ROOTS, {"schemes": list(ends), "ends": list(ends.values()), "part": PART})
    for scheme, queues, link, priority, start_ps, culprit, culprit_priority, starved in source.by_scheme(rows):
        why = ": the scheduler sent only other priorities of this port" if starved else ""
        text = (
            f"{prefix([scheme], source.schemes)}PFC paused {count(queues, 'queue')} to the end of the run, without a "
            f"deadlock. {link} (priority {priority}), paused from {time(start_ps)}, waits for {culprit} (priority "
            f"{culprit_priority}), which was not paused{why}."
        )
        yield Finding("stuck", LONG_PAUSES + 1, sentence(text), (scheme,))


_ROOTS = """
    with ends as (select unnest($schemes) as scheme, unnest($ends) as run_end_ps),
    stays as (
        select scheme, port, priority, node_name || ' to ' || peer_name as link, start_ps, culprit_port,
            culprit_priority, peer_name || ' to ' || culprit_peer_name as culprit
        from pauses join ends using (scheme)
        where end_ps is null and start_ps <= (1 - $part) * run_end_ps
            and peer_name not in (select node_name from ports where tier = 0)),
    sent as (select scheme, port, priority, sum(tx_bytes) as bytes from ports group by all)
    select scheme, (select count(*) from stays o where o.scheme = s.scheme), link, priority, start_ps, culprit,
        culprit_priority,
        coalesce((select bytes from sent where sent.scheme = s.scheme and sent.port = s.culprit_port
            and sent.priority = s.culprit_priority), 0) = 0
        and (select sum(bytes) from sent where sent.scheme = s.scheme and sent.port = s.culprit_port) > 0
    from stays s anti join pauses p
        on p.scheme = s.scheme and p.port = s.culprit_port and p.priority = s.culprit_priority and p.end_ps is null
    qualify row_number() over (partition by scheme order by start_ps, port, priority) = 1
"""
