"""Findings that compare schemes."""

from __future__ import annotations

from collections.abc import Iterator

from incast.charts.source import Source
from incast.findings.completion import distance, in_order
from incast.findings.finding import COMPARISON, PAUSES, Finding
from incast.findings.percentile import SLOWDOWN, figure, statistics
from incast.findings.words import joined, number, size

SHORT, LONG = 100_000, 1_000_000
"""Largest size of a short flow and smallest size of a long flow, in bytes (our choice)."""
DIFFER = 0.05
"""Smallest relative difference from the best scheme that is reported (our choice)."""
LEAD = 0.01
"""Relative difference from the best scheme below which others share its place (our choice)."""
LABELS = 3
"""Most labels that are compared one by one; of more, all flows together (our choice)."""
OTHERS = 3
"""Most other schemes that are named next to the best (our choice)."""


def classes(source: Source) -> list[list[str]]:
    """Schemes grouped by equal flows: the same starts, completion times and acknowledged bytes of every flow."""
    rows = source.rows(
        "select scheme, sum(hash(flow, start_ps, finish_ps, acked_bytes))::varchar from flows group by scheme"
    )
    groups: dict[str, list[str]] = {}
    for scheme, digest in source.by_scheme(rows):
        groups.setdefault(digest, []).append(scheme)
    return list(groups.values())


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

    Compares p99 of 100 flows or more under each scheme, and the mean of 20 to 99; with more than three labels, all
    flows together. Short flows have up to 100 kB, long flows at least 1 MB; both are compared if a label has 20 of
    each. One more finding has all flows for which no scheme is 5 % above the best. Schemes with equal flows count as
    one.
    """
    alike = [same[0] for same in classes(source)]
    if len(alike) < 2:
        return
    near = []
    for kind, what, values in _compared(source, alike):
        (best, lowest), *others = sorted(values.items(), key=lambda each: each[1])
        if others[-1][1] < lowest * (1 + DIFFER):
            near.append(f"the {kind} slowdown of {what} ({number(lowest)})")
            continue
        lead = [best, *(scheme for scheme, value in others if value < lowest * (1 + LEAD))]
        others = others[len(lead) - 1 :]
        listed = others if len(others) <= OTHERS else [others[0], others[-1]]
        against = joined(f"{number(value)} under {scheme} ({distance(value, lowest)})" for scheme, value in listed)
        verb = "has" if len(lead) == 1 else "have"
        text = f"{joined(lead)} {verb} the lowest {kind} slowdown of {what}: {number(lowest)}, against {against}."
        yield Finding("comparison", COMPARISON, text, tuple(values))
    if near:
        text = f"Schemes differ by less than {DIFFER * 100:g} % in {joined(near)}."
        yield Finding("comparison", PAUSES - 1, text, tuple(alike))


def _compared(source: Source, schemes: list[str]) -> Iterator[tuple[str, str, dict[str, float]]]:
    """Kind of figure, group of flows, and slowdown by scheme, of groups with enough flows under each scheme."""
    labels, waiting = source.labels, in_order(source)
    alone = [label for label in labels if label not in waiting] if len(labels) <= LABELS else [None]
    for label in alone:
        of = f" of label {label}" if label is not None and len(labels) > 1 else ""
        parts = {
            f"short flows (up to {size(SHORT)}){of}": _slowdowns(source, schemes, label, 0, SHORT),
            f"long flows (at least {size(LONG)}){of}": _slowdowns(source, schemes, label, LONG, 2**62),
        }
        if not all(parts.values()):
            parts = {f"flows{of}" if of else "all flows": _slowdowns(source, schemes, label, 0, 2**62)}
        for what, found in parts.items():
            if found:
                yield found[0], what, found[1]


def _slowdowns(
    source: Source, schemes: list[str], label: str | None, least: int, most: int
) -> tuple[str, dict[str, float]] | None:
    """Kind of figure, and slowdown by scheme of flows of these sizes; `None` if they are too few under any scheme."""
    rows = source.rows(
        f"select scheme, {statistics(SLOWDOWN)} from flows where slowdown_hpcc is not null "
        "and ($label is null or label = $label) and size_bytes between $least and $most group by scheme",
        {"label": label, "least": least, "most": most},
    )
    found = {scheme: (flows, tail, mean) for scheme, flows, tail, mean in rows}
    return figure({scheme: found.get(scheme, (0, 0.0, 0.0)) for scheme in schemes})
