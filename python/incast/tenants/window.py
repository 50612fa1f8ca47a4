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


SPAN = """
    with runs as (
        select scheme, max(end_ps) as last, count(distinct start_ps) as intervals from throughput group by scheme),
    span as (
        select scheme, last, intervals, coalesce(min(start_ps) filter (start_ps >= round($skip * last)), 0) as first
        from throughput join runs using (scheme) group by scheme, last, intervals)
"""
"""Evaluated part of the run of each scheme: from `first` to `last`.

It consists of the intervals that start after the share `$skip` of the run. Without such intervals, as in a run without
samples, it is the whole run.
"""
PAIRS = f"""{SPAN},
    ends as (select distinct scheme, host, name, server, tenant, vm, send_bps, receive_bps from vms),
    pairs as (
        select throughput.*, src.server as src_server, dst.server as dst_server,
            coalesce(dst.tenant, src.tenant) as tenant, (start_ps >= first) as counts
        from throughput join span using (scheme)
            left join ends as src on src.scheme = throughput.scheme and src.host = throughput.src
            left join ends as dst on dst.scheme = throughput.scheme and dst.host = throughput.dst
    )
"""
"""Pairs with their servers and tenant; `counts` is true in the evaluated part of the run."""


def part(source: Source) -> str:
    """The part of the run that figures with the usual `SKIP` cover, as a sentence."""
    rows = source.rows(f"{SPAN} select first / last, intervals from span", {"skip": SKIP})
    shares = sorted(share for share, _ in rows)
    if any(shares):
        skipped = dict.fromkeys(f"{100 * share:.0f} %" for share in (shares[0], shares[-1]))
        return f"Without the first {' to '.join(skipped)} of the run."
    one = all(intervals == 1 for _, intervals in rows)
    why = "it is one interval" if one else f"no interval starts after its first {100 * SKIP:g} %"
    return f"Whole run, as {why}; a shorter measure.sample_every skips the start."
