"""Which part of a run is looked at, and the rows of its throughput."""

from __future__ import annotations

from incast.charts.source import Source
from incast.errors import ResultsError

SKIP = 0.25
"""Share of a run that is left out at its beginning (our choice): limits are found in it."""


def checked(source: Source, skip: float) -> None:
    """Raise if there is nothing to look at."""
    if not 0 <= skip < 1:
        raise ValueError(f"skip={skip} is out of range (allowed: 0 or more, less than 1: a share of the run)")
    path = source.results[0].path
    if not any("throughput" in each.tables for each in source.results):
        raise ResultsError(f"{path}: the scenario has no tenants: only those with [[tenant]] have this")


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
"""Pairs with their servers and tenant, and whether an interval counts: if it ends after the share `$skip` of the run.

So a run without samples, which is one interval, counts as a whole.
"""
