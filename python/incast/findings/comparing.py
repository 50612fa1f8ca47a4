"""Findings that compare schemes."""

from __future__ import annotations

from collections.abc import Iterator

from incast.charts.source import Source
from incast.findings.completion import in_order
from incast.findings.finding import COMPARISON, PAUSES, Finding
from incast.findings.percentile import SLOWDOWN, figure, statistics
from incast.findings.ranking import classes, distinct, ranking
from incast.findings.transfers import noun, transfers
from incast.findings.words import joined, number, size

SHORT, LONG = 100_000, 1_000_000
"""Largest size of a short flow and smallest size of a long flow, in bytes (our choice)."""
DIFFER = 0.05
"""Smallest relative difference from the best scheme that is reported (our choice)."""
LABELS = 3
"""Most labels that are compared one by one; of more, all flows together (our choice)."""


def equal(source: Source) -> Iterator[Finding]:
    """Schemes under which every flow has the same start and completion time, if any flow completed."""
    flows = dict(source.rows("select scheme, count(*) from flows group by scheme having count(finish_ps) > 0"))
    for same in classes(source):
        if len(same) > 1 and same[0] in flows:
            count = flows[same[0]]
            what = f"all {count:,} flows have" if count > 1 else "the flow has"
            text = f"{joined(same)} are equal: {what} the same start and completion times."
            yield Finding("equal", COMPARISON + 2, text, tuple(same))


def comparison(source: Source) -> Iterator[Finding]:
    """The scheme with the lowest slowdown of each label, or of its short and long flows, and how far others are.

    Compares p99 of more than 100 flows, and the mean of 20 to 100, of flows that completed under every scheme; with
    more than three labels, all flows together. Short flows have up to 100 kB, long flows at least 1 MB; both are
    compared if a label has 20 of each. One more finding has all flows for which no scheme is 5 % above the best.
    Schemes with equal flows count as one. Of messages that several queue pairs carry (`qps`), each counts once.
    """
    alike = distinct(source)
    if len(alike) < 2:
        return
    near = []
    for kind, what, values in _compared(source, alike):
        found = ranking(values)
        if max(values.values()) < found.lowest * (1 + DIFFER):
            near.append(f"the {kind} slowdown of {what} ({number(found.lowest)})")
            continue
        verb = "has" if len(found.lead) == 1 else "have"
        text = (
            f"{joined(found.lead)} {verb} the lowest {kind} slowdown of {what}: {number(found.lowest)}, against "
            f"{found.against()}."
        )
        yield Finding("comparison", COMPARISON, text, tuple(values))
    if near:
        text = f"Schemes differ by less than {DIFFER * 100:g} % in {joined(near)}."
        yield Finding("comparison", PAUSES - 1, text, tuple(alike))


def _compared(source: Source, schemes: list[str]) -> Iterator[tuple[str, str, dict[str, float]]]:
    """Kind of figure, group of flows, and slowdown by scheme, of groups with enough flows."""
    labels, waiting = source.labels, in_order(source)
    alone = [label for label in labels if label not in waiting] if len(labels) <= LABELS else [None]
    for label in alone:
        of = f" of label {label}" if label is not None and len(labels) > 1 else ""
        flows = f"{noun(source, label)}s"
        parts = [
            _slowdowns(source, schemes, f"short {flows} (up to {size(SHORT)}){of}", label, 0, SHORT),
            _slowdowns(source, schemes, f"long {flows} (at least {size(LONG)}){of}", label, LONG, 2**62),
        ]
        if not all(parts):
            parts = [_slowdowns(source, schemes, f"{flows}{of}" if of else f"all {flows}", label, 0, 2**62)]
        yield from (part for part in parts if part)


def _slowdowns(
    source: Source, schemes: list[str], what: str, label: str | None, least: int, most: int
) -> tuple[str, str, dict[str, float]] | None:
    """Kind of figure, flows of these sizes that completed under every scheme, and their slowdown by scheme."""
    rows = source.rows(
        f"""
        with part as (
            select scheme, flow, slowdown_hpcc from {transfers(source)}
            where list_contains($schemes, scheme) and not backlogged and ($label is null or label = $label)
                and size_bytes between $least and $most),
        common as (
            select flow from part where slowdown_hpcc is not null group by flow having count(*) = len($schemes))
        select scheme, (select count(distinct flow) from part), {statistics(SLOWDOWN)}
        from part join common using (flow) group by scheme
        """,
        {"schemes": schemes, "label": label, "least": least, "most": most},
    )
    chosen = figure({scheme: (flows, tail, mean) for scheme, _, flows, tail, mean in rows})
    if chosen is None:
        return None
    kind, values = chosen
    _, all_, flows, *_ = rows[0]
    if flows < all_:
        what = f"the {flows:,} {what.removeprefix('all ')} that completed under every scheme"
    return kind, what, {scheme: values[scheme] for scheme in schemes}
