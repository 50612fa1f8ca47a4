"""Findings about the time in which the flows of a group complete."""

from __future__ import annotations

from collections.abc import Iterator

from incast.charts.source import Source
from incast.findings.finding import COMPARISON, Finding
from incast.findings.ranking import LEAD, distinct, ranking
from incast.findings.transfers import noun, transfers
from incast.findings.words import count, joined, time

FEW = 20
"""Fewest flows for which slowdowns are compared in place of completion times (our choice)."""
SINGLE = 3
"""Most labels of one flow that are compared (our choice)."""


def completion(source: Source) -> Iterator[Finding]:
    """Time from the first start to the last completion of a label, under the fastest schemes and the others.

    For labels with flows that wait for each other, and for 1 to 19 flows in a comparison of schemes; for those of one
    flow unless there are more than three. Flows that start at different times without waiting for each other have the
    mean of their own times instead: the last start would decide the time of all. All flows of the label must complete
    under every scheme; backlogged flows, which end at a fixed time, are not included. Labels with iterations have the
    finding `iterations` instead. Schemes with equal flows count as one. UDP has no last ACK: if only some of the
    schemes have UDP, all are compared by their last delivery. Of messages that several queue pairs carry (`qps`), each
    counts once.
    """
    udp = {scheme: "udp" in source.manifests[scheme].get("controls", ()) for scheme in source.schemes}
    ends, verb, does, do = ("finish_ps", "complete", "completes", "complete")
    if len({*udp.values()}) > 1:
        ends, verb, does, do = ("delivered_ps", "deliver", "is delivered", "are delivered")
    several, waiting, collectives = len(source.labels) > 1, in_order(source), with_iterations(source)
    by_label = _times(source, ends, waiting)
    alike = distinct(source)
    least = 1 if sum(flows == 1 for flows, _, _ in by_label.values()) <= SINGLE else 2
    for label, (flows, spread, times) in by_label.items():
        compared = least <= flows < FEW and len(source.schemes) > 1
        if len(times) < len(source.schemes) or label in collectives or not (label in waiting or compared):
            continue
        found = ranking({scheme: times[scheme] for scheme in alike})
        one = noun(source, label)
        what, ended = (one, does) if flows == 1 else (count(flows, one), do)
        what += f" of label {label}" if several else ""
        mean, best, average = ("mean ", "fastest", " on average") if spread else ("", "first", "")
        took = time(found.lowest) + average
        if found.others:
            first = f"{verb}s" if len(found.lead) == 1 else verb
            text = f"{joined(found.lead)} {first} the {what} {best}: in {took}, against {found.against(time)}."
        elif len({times[scheme] for scheme in found.lead}) == 1:
            text = f"The {what} {ended} in {took}."
        else:
            within = f"less than {LEAD * 100:g} %"
            text = f"Schemes differ by {within} in the {mean}time in which the {what} {ended} ({time(found.lowest)})."
        yield Finding("completion", COMPARISON + 1, text, tuple(times))


def _times(source: Source, ends: str, waiting: set[str]) -> dict[str, tuple[int, bool, dict[str, float]]]:
    """Flows of each label, whether their starts are spread, and times by scheme: of all flows together, or their mean.

    Only of schemes under which all flows of the label complete.
    """
    rows = source.rows(
        f"""
        select scheme, label, count(*), max({ends}) - min(start_ps), avg({ends} - start_ps),
            max(start_ps) - min(start_ps), count(*) filter (status <> 'completed')
        from {transfers(source)} where not backlogged group by scheme, label
        """
    )
    by_label: dict[str, list[tuple[str, int, float, float, float]]] = {label: [] for label in source.labels}
    for scheme, label, flows, last, mean, starts, left in source.by_scheme(rows):
        if not left and last is not None:
            by_label[label].append((scheme, flows, last, mean, starts))
    found = {}
    for label, of_schemes in by_label.items():
        if of_schemes:
            spread = label not in waiting and any(starts > LEAD * last for _, _, last, _, starts in of_schemes)
            times = {scheme: mean if spread else last for scheme, _, last, mean, _ in of_schemes}
            found[label] = (of_schemes[-1][1], spread, times)
    return found


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
