"""Throughput of each VM relative to its guarantee."""

from __future__ import annotations

from incast.charts.source import Source
from incast.results import Results
from incast.table import Given, Table
from incast.tenants.window import PAIRS, SKIP, checked, parameters

FIELDS = (
    Given("scheme", "name", None, "scheme"),
    Given("name", "name", None, "host of the VM"),
    Given("tenant", "name", None, "tenant of the VM"),
    Given("vm", "i64", None, "number of the VM in its tenant, from 0"),
    Given("direction", "name", None, "receive or send"),
    Given("guarantee_bps", "i64", "bit/s", "hose guarantee in this direction"),
    Given("entitled_bps", "f64", "bit/s", "mean throughput of a static reservation, for the traffic that senders had"),
    Given("wire_bps", "f64", "bit/s", "mean throughput, including headers and interframe gaps"),
    Given("payload_bps", "f64", "bit/s", "mean throughput, payload only"),
    Given("optimum_bps", "f64", "bit/s", "mean throughput of the work-conserving optimum"),
    Given("satisfaction", "f64", None, "wire_bps / entitled_bps; below 1 the guarantee was not kept"),
    Given("worst", "f64", None, "satisfaction in the worst interval between samples"),
)

ACTIVE = """
    begun as (
        select pairs.scheme, pairs.src, pairs.dst, pairs.start_ps, min(flows.start_ps) as first_ps
        from pairs join flows on flows.scheme = pairs.scheme and flows.src = pairs.src and flows.dst = pairs.dst
            and flows.start_ps < end_ps and coalesce(finish_ps, end_ps) > pairs.start_ps
        where counts group by all),
    lasting as (
        select pairs.*, end_ps - greatest(start_ps, first_ps) as active_ps
        from pairs left join begun using (scheme, src, dst, start_ps) where counts),
    active as (
        select lasting.*, least(guaranteed_bytes, least(a.send_bps, b.receive_bps) * (active_ps / 8e12)) as entitled
        from lasting left join ends as a on a.scheme = lasting.scheme and a.host = src
            left join ends as b on b.scheme = lasting.scheme and b.host = dst)
"""
"""Pairs in the evaluated part of the run, with their entitlement, which starts with their first flow in an interval."""


def guarantees(results: Results, *, skip: float = SKIP) -> Table:
    """Throughput and guarantee of each VM: one row for each scheme, VM and direction with traffic.

    A VM is entitled to the throughput of an ideal static reservation: max-min shares of all hoses among pairs with
    traffic, limited by that traffic. So a VM is entitled to less than its hose if its only sender has a smaller hose or
    little to send.

    Args:
        results: Results of a scenario with tenants.
        skip: Share of the load to skip at its start, 0 or more and less than 1.

    Raises:
        ResultsError: The scenario has no tenants.
        ValueError: `skip` is out of range.

    """
    source = Source([results])
    checked(source, skip)
    try:
        given = parameters(source, skip)
        received, sent = (source.rows(_query(end, word), given) for end, word in (("dst", "receive"), ("src", "send")))
    finally:
        source.close()
    return Table.of_rows("guarantees", FIELDS, source.by_scheme(received + sent))


def _query(end: str, direction: str) -> str:
    return f"""{PAIRS}, {ACTIVE},
        intervals as (
            select active.scheme, name, any_value(ends.tenant) as tenant, any_value(vm) as vm, host,
                any_value({direction}_bps) as guarantee, end_ps - start_ps as span, sum(wire_bytes) as wire,
                sum(payload_bytes) as payload, sum(optimum_bytes) as optimum,
                least(sum(entitled), any_value({direction}_bps) * (max(active_ps) / 8e12)) as entitled
            from active join ends on ends.scheme = active.scheme and host = {end}
            group by active.scheme, name, host, start_ps, end_ps)
        select scheme, name, any_value(tenant), any_value(vm), '{direction}', any_value(guarantee),
            sum(entitled) * 8e12 / sum(span), sum(wire) * 8e12 / sum(span), sum(payload) * 8e12 / sum(span),
            sum(optimum) * 8e12 / sum(span), sum(wire) / sum(entitled), min(wire / entitled) filter (entitled > 0)
        from intervals group by scheme, name, host having any_value(guarantee) > 0 and sum(entitled) > 0
        order by any_value(tenant), any_value(vm)"""
