"""Guarantees that need more than the links of a server carry."""

from __future__ import annotations

from collections.abc import Mapping

from incast.charts import look
from incast.charts.source import Source, read_scenario
from incast.results import Results
from incast.tenants.guarantees import ACTIVE
from incast.tenants.window import PAIRS, SKIP, parameters

EXCESS = 1.001
"""Least ratio of guarantees to capacity that counts as more (our choice: rates are rounded)."""


VERBS = {"receive": "receive at", "send": "send from"}


def excess(source: Source, skip: float = SKIP) -> str:
    """The server with the largest ratio of entitled throughput to the rate of its links, if more than 1, as a clause.

    Links between switches are not considered: the tables do not have the paths.
    """
    rows = source.rows(
        f"{_QUERY} select server, direction, max(entitled_bps) as most, any_value(capacity_bps), "
        "count(*) over () - 1 from loads where entitled_bps > $excess * capacity_bps group by server, direction "
        "order by most / any_value(capacity_bps) desc, server, direction limit 1",
        {**parameters(source, skip), "excess": EXCESS},
    )
    if not rows:
        return ""
    ((server, direction, entitled_bps, capacity_bps, others),) = rows
    more = f"; {others:,} more of such places exist" if others else ""
    return (
        f"the guarantees of VMs that {VERBS[direction]} {server} are {look.rate(entitled_bps)} together, but its links "
        f"carry {look.rate(capacity_bps)}: no scheme can keep all of them{more}"
    )


def warnings(results: Results) -> list[str]:
    """A warning if the scenario only reports guarantees that links do not carry, and links of a server do not."""
    if "throughput" not in results.tables:
        return []
    with read_scenario(results) as tree:
        reports = tree["vms"]["admission"] == "report"
    source = Source([results])
    try:
        found = excess(source) if reports else ""
    finally:
        source.close()
    return [f"vms.admission: {found}"] if found else []


def carried(source: Source, skip: float = SKIP) -> Mapping[tuple[str, str, str], float]:
    """Share of its entitled throughput that the links of servers carry, if each VM there gives way by the same share.

    By scheme, host of the VM and direction; only shares below 1.
    """
    rows = source.rows(
        f"""{_QUERY},
            shares as (
                select scheme, server, direction, start_ps, least(1, capacity_bps / entitled_bps) as share
                from loads where entitled_bps > $excess * capacity_bps),
            each as (
                select far.*, least(coalesce(a.share, 1), coalesce(b.share, 1)) as share
                from far
                    left join shares as a on a.scheme = far.scheme and a.start_ps = far.start_ps
                        and a.server = src_server and a.direction = 'send'
                    left join shares as b on b.scheme = far.scheme and b.start_ps = far.start_ps
                        and b.server = dst_server and b.direction = 'receive'),
            parts as (
                select scheme, src_name as name, 'send' as direction, entitled, share from each union all
                select scheme, dst_name, 'receive', entitled, share from each union all
                select scheme, unnest([src_name, dst_name]), unnest(['send', 'receive']), entitled, 1 from near)
        select scheme, name, direction, sum(entitled * share) / sum(entitled) as part from parts
        group by all having sum(entitled) > 0 and part < 1""",
        {**parameters(source, skip), "excess": EXCESS},
    )
    return {(scheme, name, direction): part for scheme, name, direction, part in rows}


_QUERY = f"""{PAIRS}, {ACTIVE},
    far as (select * from active where src_server is distinct from dst_server and entitled > 0),
    near as (select * from active where src_server = dst_server and entitled > 0),
    uplinks as (
        select distinct node_name, peer_name, port, rate_bps from ports
        where node_name not in (select name from ends) and peer_name not in (select name from ends)),
    capacities as (
        select node_name as server, 'send' as direction, sum(rate_bps)::bigint as capacity_bps from uplinks group by all
        union all
        select peer_name, 'receive', sum(rate_bps)::bigint from uplinks group by all),
    sums as (
        select scheme, start_ps, active_ps, unnest([src_server, dst_server]) as server,
            unnest(['send', 'receive']) as direction, entitled
        from far),
    loads as (
        select scheme, server, direction, start_ps, sum(entitled) * 8e12 / max(active_ps) as entitled_bps,
            any_value(capacity_bps) as capacity_bps
        from sums join capacities using (server, direction) group by scheme, server, direction, start_ps)
"""
"""Entitled throughput at the links of servers, by interval between samples: VMs that do not send at one time have
space."""
