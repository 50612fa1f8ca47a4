"""Findings about rate limits of hypervisors."""

from __future__ import annotations

from collections.abc import Iterator

from incast.charts import look
from incast.charts.source import Source
from incast.findings.finding import GUARANTEES, Finding
from incast.findings.words import prefix, sentence, share, spread, time
from incast.tenants.window import SKIP, SPAN, parameters

LAST = 0.1
"""Last share of the load in which limits are compared (our choice)."""
RISE = 1.05
"""Smallest ratio of the limits at the end and at the start of this part that is reported (our choice)."""
BUSY = 0.9
"""Share of the optimal throughput from which limits do not matter (our choice)."""


def rising(source: Source) -> Iterator[Finding]:
    """Schemes with rate limits that rose to the end of the load: a longer run would have more throughput.

    In the last tenth of the load the limits of pairs whose packets wait at each sample never fall together and rise by
    5 % or more. At the end they are at least 5 % above all before this tenth, without the first quarter of the load:
    limits that rise and are cut again and again have no final value. Throughput is below 90 % of the optimum. Pairs
    within a server do not count.
    """
    if not source.count("limits") or not source.count("throughput"):
        return
    values = {**parameters(source, SKIP), "last": LAST, "rise": RISE, "busy": BUSY}
    found = {scheme: row for scheme, *row in source.by_scheme(source.rows(_RISING, values))}
    if not found:
        return
    limits = spread({scheme: row[1] for scheme, row in found.items()}, look.rate)
    optimum = spread({scheme: row[2] for scheme, row in found.items()}, share)
    ends = spread({scheme: row[3] for scheme, row in found.items()}, time)
    text = (
        f"{prefix(list(found), source.schemes)}rate limits were still rising when the load ended, at {ends}: by "
        f"{spread({scheme: row[0] - 1 for scheme, row in found.items()}, share)} in its last tenth, to {limits} in "
        f"total. Throughput between servers was {optimum} of the optimum then; a longer load shows the final one."
    )
    yield Finding("limits", GUARANTEES - 2, sentence(text), tuple(found))


_RISING = f"""{SPAN},
    far as (
        select pairs.* from pairs join vms as a on a.scheme = pairs.scheme and a.host = pairs.src
            join vms as b on b.scheme = pairs.scheme and b.host = pairs.dst
        where a.server <> b.server),
    late as (
        select limits.*, loaded, count(distinct time_ps) over (partition by scheme) as times
        from limits join span using (scheme) where time_ps between (1 - $last) * loaded and loaded),
    held as (
        select scheme, pair from late join far using (scheme, pair) group by scheme, pair
        having min(waiting_packets) > 0 and count(*) = any_value(times)),
    sums as (
        select scheme, time_ps, any_value(loaded) as loaded, sum(limit_bps)::double as limit_bps
        from limits join held using (scheme, pair) join span using (scheme)
        where time_ps between $skip * loaded and loaded group by scheme, time_ps),
    steps as (
        select *, limit_bps < lag(limit_bps) over (partition by scheme order by time_ps) as falls from sums
        where time_ps >= (1 - $last) * loaded),
    risen as (
        select scheme, arg_max(limit_bps, time_ps) / arg_min(limit_bps, time_ps) as ratio,
            arg_max(limit_bps, time_ps) as limit_bps, any_value(loaded) as loaded
        from steps group by scheme
        having count(*) > 1 and not coalesce(bool_or(falls), false)),
    before as (
        select scheme, max(limit_bps) as highest from sums where time_ps < (1 - $last) * loaded group by scheme),
    used as (
        select scheme, sum(wire_bytes) / sum(optimum_bytes) as part
        from throughput join span using (scheme) join far using (scheme, src, dst)
        where start_ps >= (1 - $last) * loaded and end_ps <= loaded
        group by scheme having sum(optimum_bytes) > 0)
    select scheme, ratio, limit_bps, part, loaded
    from risen join used using (scheme) left join before using (scheme)
    where ratio >= $rise and part < $busy and limit_bps >= $rise * coalesce(highest, 0)
"""
