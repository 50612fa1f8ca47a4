"""Chains of pauses: a paused port fills its buffer, and its node pauses the ports behind it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from incast.charts.source import Source

CHAINED = 2_000_000
"""Most pauses for which chains are followed (our choice: a few seconds)."""
FOLLOWED = 1_000_000
"""Most pauses for which the ports that a storm paused are counted (our choice: 15 seconds)."""
STEPS = 64
"""Most pauses from one to its root (our choice): no path has as many hops."""


@dataclass(frozen=True)
class Tree:
    """Pauses of a scheme with one root, of all priorities."""

    scheme: str
    root_port: int
    """Port where the congestion or the storm is."""
    root: str
    """Node of that port, and the node that it leads to."""
    ports: int
    """Ports that were paused because of it."""
    paused_ps: int
    """Their total time paused."""
    longest_ps: int
    """Longest total time of one of them."""
    longest: str
    """That port: its node, and the node that paused it."""
    first_ps: int
    """Start of the first pause."""


def trees(source: Source) -> Iterator[Tree]:
    """Trees of pauses, by scheme, those with the most paused time first.

    The cause of a pause is the pause of its culprit's queue that covers its start, if there is one; else that queue is
    the root.
    """
    if not 0 < source.count("pauses") <= CHAINED:
        return
    ends = {scheme: int(manifest["end_ps"]) for scheme, manifest in source.manifests.items()}
    rows = source.rows(_TREES, {"schemes": list(ends), "ends": list(ends.values()), "steps": STEPS})
    for row in source.by_scheme(rows):
        yield Tree(*row)


def paused_by(
    source: Source, storms: Sequence[tuple[str, int]], dynamic: Sequence[str]
) -> dict[tuple[str, int, str], tuple[int, int]]:
    """Ports that storms paused, and the longest total time of one of them, by host, priority and scheme.

    `dynamic` are the schemes with dynamic thresholds. A storm is given by the host that sends it and its priority.
    Pauses of a node follow if one of its ports was paused by the storm at that time. The culprit (the egress port of
    the packet that crossed the threshold) may be another port, but then it was not paused, and with dynamic thresholds
    only: the paused port fills the buffer that both share. Such a port had packets.
    """
    if not 0 < source.count("pauses") <= FOLLOWED:
        return {}
    ends = {scheme: int(manifest["end_ps"]) for scheme, manifest in source.manifests.items()}
    values = {
        "schemes": list(ends),
        "ends": list(ends.values()),
        "nodes": [node for node, _ in storms],
        "priorities": [priority for _, priority in storms],
        "dynamic": list(dynamic),
    }
    rows = source.rows(_PAUSED_BY, values)
    return {(node, priority, scheme): (ports, paused_ps) for node, priority, scheme, ports, paused_ps in rows}


_EACH = """
    ends as (select unnest($schemes) as scheme, unnest($ends) as run_end_ps),
    each as materialized (
        select row_number() over () as pause, scheme, port, priority, node_name, peer_name,
            node_name || ' to ' || peer_name as link, start_ps, coalesce(end_ps, run_end_ps) as end_ps, culprit_port,
            culprit_priority, culprit_peer_name
        from pauses join ends using (scheme))
"""
_PAUSED_BY = f"""
    with recursive {_EACH},
    storms as (select distinct unnest($nodes) as storm, unnest($priorities) as priority),
    paused as (select distinct scheme, priority, port, node_name from each),
    filled as (select scheme, port from ports where list_contains($dynamic, scheme) and peak_queue_bytes > 0),
    pairs as (
        select a.pause, a.scheme, p.priority, a.start_ps, p.port,
            p.port = a.culprit_port and p.priority = a.culprit_priority as is_culprit
        from each a join paused p on a.scheme = p.scheme and a.peer_name = p.node_name
            and p.priority in (a.priority, a.culprit_priority)
        where a.culprit_peer_name <> a.node_name
            and (is_culprit or (p.scheme, p.port) in (from filled))),
    covering as (
        select a.pause, b.pause as cause, is_culprit
        from pairs a asof join each b
        on a.scheme = b.scheme and a.priority = b.priority and a.port = b.port and b.start_ps < a.start_ps
        where b.end_ps > a.start_ps),
    causes as materialized (
        select pause, cause from covering qualify is_culprit or not bool_or(is_culprit) over (partition by pause)),
    chain as (
        select storm, storms.priority, pause
        from each join storms on peer_name = storm and each.priority = storms.priority
        where culprit_peer_name = node_name
        union
        select storm, chain.priority, causes.pause from chain join causes on causes.cause = chain.pause),
    totals as (
        select storm, chain.priority, scheme, port, sum(end_ps - start_ps)::bigint as paused_ps
        from chain join each using (pause) group by storm, chain.priority, scheme, port, each.priority)
    select storm, priority, scheme, count(distinct port), max(paused_ps) from totals group by storm, priority, scheme
"""
_TREES = f"""
    with recursive {_EACH},
    caused as materialized (
        select a.pause, a.scheme, a.culprit_priority, a.culprit_port,
            a.peer_name || ' to ' || a.culprit_peer_name as culprit, if(b.end_ps > a.start_ps, b.pause, null) as cause
        from each a asof left join each b
        on a.scheme = b.scheme and a.culprit_priority = b.priority and a.culprit_port = b.port
            and b.start_ps < a.start_ps),
    rooted as (
        select pause, pause as top, 0 as steps from caused
        union all
        select r.pause, c.cause, steps + 1 from rooted r join caused c on c.pause = r.top
        where c.cause is not null and steps < $steps),
    tops as (select pause, arg_max(top, steps) as top from rooted group by pause),
    totals as (
        select e.scheme, c.culprit_port, any_value(culprit) as root, e.port, any_value(e.link) as link,
            sum(e.end_ps - e.start_ps) as paused_ps, min(e.start_ps) as first_ps
        from tops join caused c on c.pause = tops.top join each e on e.pause = tops.pause
        group by e.scheme, c.culprit_port, e.port, e.priority)
    select scheme, culprit_port, any_value(root), count(distinct port),
        sum(paused_ps)::bigint, max(paused_ps)::bigint, arg_max(link, paused_ps), min(first_ps)
    from totals group by scheme, culprit_port
    order by sum(paused_ps) desc, culprit_port
"""
