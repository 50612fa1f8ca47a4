"""Findings about the time until the last flow of a group completes."""

from __future__ import annotations

from collections.abc import Iterator

from incast.charts.source import Source
from incast.findings.finding import COMPARISON, Finding
from incast.findings.ranking import LEAD, distinct, ranking
from incast.findings.words import count, joined, time

FEW = 20
"""Fewest flows for which slowdowns are compared in place of completion times (our choice)."""
SINGLE = 3
"""Most labels of one flow that are compared (our choice)."""


def completion(source: Source) -> Iterator[Finding]:
    """Time from the first start to the last completion of a label, under the fastest schemes and the others.

    For labels with flows that wait for each other, and for 1 to 19 flows in a comparison of schemes; for those of one
    flow unless there are more than three. All flows of the label must complete under every scheme; backlogged flows,
    which end at a fixed time, are not included. Labels with iterations have the finding `iterations` instead. Schemes
    with equal flows count as one. UDP has no last ACK: if only some of the schemes have UDP, all are compared by their
    last delivery.
    """
    udp = {scheme: "udp" in source.manifests[scheme].get("controls", ()) for scheme in source.schemes}
    ends, verb, does, do = ("finish_ps", "complete", "completes", "complete")
    if len({*udp.values()}) > 1:
        ends, verb, does, do = ("delivered_ps", "deliver", "is delivered", "are delivered")
    rows = source.rows(
        f"""
        select label, scheme, count(*), (max({ends}) - min(start_ps))::bigint,
            count(*) filter (status <> 'completed'), min(min(flow)) over (partition by label)
        from flows where not backlogged group by label, scheme order by 6, label
        """
    )
    by_label: dict[str, dict[str, int]] = {}
    counts: dict[str, int] = {}
    for label, scheme, flows, took, left, _ in rows:
        if not left and took is not None:
            by_label.setdefault(label, {})[scheme] = took
            counts[label] = flows
    several, waiting, collectives = len(source.labels) > 1, in_order(source), with_iterations(source)
    alike = distinct(source)
    least = 1 if sum(flows == 1 for flows in counts.values()) <= SINGLE else 2
    for label, times in by_label.items():
        compared = least <= counts[label] < FEW and len(source.schemes) > 1
        if len(times) < len(source.schemes) or label in collectives or not (label in waiting or compared):
            continue
        found = ranking({scheme: times[scheme] for scheme in alike})
        flows, ended = ("flow", does) if counts[label] == 1 else (count(counts[label], "flow"), do)
        what = flows + (f" of label {label}" if several else "")
        took = time(found.lowest)
        if found.others:
            first = f"{verb}s" if len(found.lead) == 1 else verb
            text = f"{joined(found.lead)} {first} the {what} first: in {took}, against {found.against(time)}."
        elif len({times[scheme] for scheme in found.lead}) == 1:
            text = f"The {what} {ended} in {took}."
        else:
            text = f"Schemes differ by less than {LEAD * 100:g} % in the time in which the {what} {ended} ({took})."
        yield Finding("completion", COMPARISON + 1, text, tuple(times))


def iterations(source: Source) -> Iterator[Finding]:
    """Mean communication time of a collective's iterations, under the schemes with the shortest and the others.

    Of iterations that completed under every scheme. Schemes with equal flows count as one.
    """
    if not source.count("iterations"):
        return
    alike = distinct(source)
    for label, common, all_, times in _mean_times(source):
        found = ranking({scheme: times[scheme] for scheme in alike})
        of = f"of label {label}" + (f" (of the {common:,} that completed under every scheme)" if common < all_ else "")
        lowest = time(found.lowest)
        if found.others:
            verb = "has" if len(found.lead) == 1 else "have"
            text = (
                f"{joined(found.lead)} {verb} the shortest iterations {of}: {lowest} of communication on average, "
                f"against {found.against(time)}."
            )
        elif len({times[scheme] for scheme in found.lead}) == 1:
            text = f"An iteration {of} communicates for {lowest} on average."
        else:
            text = (
                f"Schemes differ by less than {LEAD * 100:g} % in the mean communication of iterations {of} ({lowest})."
            )
        yield Finding("iterations", COMPARISON + 1, text, tuple(times))


def _mean_times(source: Source) -> Iterator[tuple[str, int, int, dict[str, float]]]:
    """By label: iterations that completed under every scheme and under any, mean time of the first by scheme."""
    rows = source.rows(
        """
        with counted as (
            select *, count(*) over (partition by collective, iteration) = $schemes as common,
                count(distinct (collective, iteration)) over (partition by label) as completed
            from iterations)
        select label, any_value(completed), scheme, count(*), avg(communication_ps) from counted where common
        group by label, scheme order by min(collective), label
        """,
        {"schemes": len(source.schemes)},
    )
    by_label: dict[str, tuple[int, int, dict[str, float]]] = {}
    for label, completed, scheme, common, mean in rows:
        by_label.setdefault(label, (common, completed, {}))[2][scheme] = mean
    for label, (common, completed, times) in by_label.items():
        yield label, common, completed, {scheme: times[scheme] for scheme in source.schemes}


def with_iterations(source: Source) -> set[str]:
    """Labels with a completed iteration."""
    if not source.count("iterations"):
        return set()
    return {label for (label,) in source.rows("select distinct label from iterations")}


def in_order(source: Source) -> set[str]:
    """Labels with flows that wait for other flows."""
    return {label for (label,) in source.rows("select distinct label from flows where dependency is not null")}
