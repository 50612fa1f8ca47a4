"""The evaluated part of a run, and the rows of its throughput."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from incast._quantity import picoseconds
from incast.charts import look
from incast.charts.source import Source, read_scenario
from incast.errors import ResultsError

SKIP = 0.25
"""Share of the load that is skipped at its start, while rate limits converge (our choice)."""


def checked(source: Source, skip: float) -> None:
    """Raise if there is no throughput, or `skip` is out of range."""
    if not 0 <= skip < 1:
        raise ValueError(f"skip must be 0 or more and less than 1, got {skip}")
    path = source.results[0].path
    if not any("throughput" in each.tables for each in source.results):
        raise ResultsError(f"{path}: the scenario has no tenants ([[tenant]])")


def load_end(source: Source) -> int | None:
    """Time in ps when the last workload stops; `None` if a workload has neither a duration nor an end."""
    with read_scenario(source.results[0]) as tree:
        ends = [_end(entry) for entry in tree["workload"]]
    known = [end for end in ends if end is not None]
    return max(known) if len(known) == len(ends) > 0 else None


def _end(workload: Mapping[str, Any]) -> int | None:
    """End of a workload: its `end`, or that of its pattern's `duration` if it is earlier."""
    end = picoseconds(str(workload.get("end")))
    durations = (str(each["duration"]) for each in workload.values() if isinstance(each, dict) and "duration" in each)
    duration = next(map(picoseconds, durations), None)
    if duration is None:
        return end
    after = (picoseconds(str(workload.get("start"))) or 0) + duration
    return after if end is None else min(after, end)


def parameters(source: Source, skip: float) -> dict[str, object]:
    """Parameters of queries with `SPAN` or `PAIRS`."""
    return {"skip": skip, "load_end": load_end(source)}


SPAN = """
    with runs as (
        select scheme, max(end_ps) as ends, least(max(end_ps), coalesce($load_end::bigint, max(end_ps))) as loaded,
            count(distinct start_ps) as intervals
        from throughput group by scheme),
    inside as (
        select scheme, min(start_ps) as first, max(end_ps) as last from throughput join runs using (scheme)
        where start_ps >= round($skip * loaded) and end_ps <= loaded group by scheme),
    span as (
        select scheme, coalesce(first, 0) as first, coalesce(last, ends) as last, ends, loaded, intervals
        from runs left join inside using (scheme))
"""
"""Evaluated part of the run of each scheme: from `first` to `last`.

It consists of the intervals that start after the share `$skip` of the load and end by `$load_end`, or by the end of the
run if that is null. Without such intervals, as in a run without samples, it is the whole run.
"""
PAIRS = f"""{SPAN},
    ends as (select distinct scheme, host, name, server, tenant, vm, send_bps, receive_bps from vms),
    pairs as (
        select throughput.*, src.server as src_server, dst.server as dst_server,
            coalesce(dst.tenant, src.tenant) as tenant, (start_ps >= first and end_ps <= last) as counts
        from throughput join span using (scheme)
            left join ends as src on src.scheme = throughput.scheme and src.host = throughput.src
            left join ends as dst on dst.scheme = throughput.scheme and dst.host = throughput.dst
    )
"""
"""Pairs with their servers and tenant; `counts` is true in the evaluated part of the run."""


def part(source: Source) -> str:
    """The part of the run that figures with the usual `SKIP` cover, as a sentence."""
    end = load_end(source)
    rows = source.rows(f"{SPAN} select first, loaded, ends, intervals from span", {"skip": SKIP, "load_end": end})
    firsts, loads, ends, intervals = zip(*rows, strict=True)
    if any(firsts):
        skipped = _range([100 * first / load for first, load in zip(firsts, loads, strict=True)], "{:.0f} %".format)
        if end is not None:
            return f"Without the first {skipped} of the load, and without the time after its end at {look.time(end)}."
        differ = f", which ends at {_range(ends, look.time)}" if len(set(ends)) > 1 else ""
        return f"Without the first {skipped} of the run{differ}."
    if all(count == 1 for count in intervals):
        why = "it is one interval"
    elif end is None:
        why = f"no interval starts after its first {100 * SKIP:g} %"
    else:
        why = f"no interval is in the load (until {look.time(end)}) without its first {100 * SKIP:g} %"
    skips = "the start" if end is None else "the start and the time after the load"
    return f"Whole run, as {why}; a shorter measure.sample_every skips {skips}."


def _range(values: Iterable[float], write: Callable[[float], str]) -> str:
    """The lowest and the highest of some values, or both once if their texts are equal."""
    ordered = sorted(values)
    return " to ".join(dict.fromkeys(map(write, (ordered[0], ordered[-1]))))
