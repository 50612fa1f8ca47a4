"""The evaluated part of a run, and the rows of its throughput."""

from __future__ import annotations

from incast.charts.source import Source
from incast.errors import ResultsError

SKIP = 0.25
"""Share of a run that is skipped at its start, while rate limits converge (our choice)."""


def checked(source: Source, skip: float) -> None:
    """Raise if there is no throughput, or `skip` is out of range."""
    if not 0 <= skip < 1:
        raise ValueError(f"skip must be 0 or more and less than 1, got {skip}")
    path = source.results[0].path
    if not any("throughput" in each.tables for each in source.results):
        raise ResultsError(f"{path}: the scenario has no tenants ([[tenant]])")


PAIRS = """
    with span as (select scheme, max(end_ps) as last from throughput group by scheme),
    ends as (select distinct scheme, host, name, server, tenant, vm, send_bps, receive_bps from vms),
    pairs as (
        select throughput.*, src.server as src_server, dst.server as dst_server,
            coalesce(dst.tenant, src.tenant) as tenant, (end_ps > $skip * last) as counts
        from throughput join span using (scheme)
            left join ends as src on src.scheme = throughput.scheme and src.host = throughput.src
            left join ends as dst on dst.scheme = throughput.scheme and dst.host = throughput.dst
    )
"""
"""Pairs with their servers and tenant. An interval counts if it ends after the share `$skip` of the run.

So a run without samples, which is one interval, counts as a whole.
"""
