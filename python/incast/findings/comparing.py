"""Findings that compare schemes."""

from __future__ import annotations

from collections.abc import Iterator

from incast.charts.source import Source
from incast.findings.completion import distance, in_order
from incast.findings.finding import COMPARISON, PAUSES, Finding
from incast.findings.percentile import SLOWDOWN, p99
from incast.findings.words import joined, number, size

FLOWS = 20
"""Fewest completed flows that are compared (our choice)."""
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
    """The scheme with the lowest p99 slowdown of each label, or of its short and long flows, and how far others are.

    Compares labels with 20 flows or more under each scheme; with more than three labels, all flows together. Short
    flows have up to 100 kB, long flows at least 1 MB; both are compared if a label has 20 of each. One more finding has
    all flows for which no scheme is 5 % above the best. Schemes with equal flows count as one.
    """
    alike = [same[0] for same in classes(source)]
    if len(alike) < 2:
        return
    near = []
    for what, values in _compared(source, alike):
        (best, lowest), *others = sorted(values.items(), key=lambda each: each[1])
        if others[-1][1] < lowest * (1 + DIFFER):
            near.append(f"{what} ({number(lowest)})")
            continue
        lead = [best, *(scheme for scheme, value in others if value < lowest * (1 + LEAD))]
        others = others[len(lead) - 1 :]
        listed = others if len(others) <= OTHERS else [others[0], others[-1]]
        against = joined(f"{number(value)} under {scheme} ({distance(value, lowest)})" for scheme, value in listed)
        verb = "has" if len(lead) == 1 else "have"
        text = f"{joined(lead)} {verb} the lowest p99 slowdown of {what}: {number(lowest)}, against {against}."
        yield Finding("comparison", COMPARISON, text, tuple(values))
    if near:
        text = f"Schemes differ by less than {DIFFER * 100:g} % in the p99 slowdown of {joined(near)}."
        yield Finding("comparison", PAUSES - 1, text, tuple(alike))


def _compared(source: Source, schemes: list[str]) -> Iterator[tuple[str, dict[str, float]]]:
    """Groups of flows and their p99 slowdown by scheme, of groups with enough flows under each of these schemes."""
    labels, waiting = source.labels(), in_order(source)
    alone = [label for label in labels if label not in waiting] if len(labels) <= LABELS else [None]
    for label in alone:
        of = f" of label {label}" if label is not None and len(labels) > 1 else ""
        short, long_ = _p99(source, label, 0, SHORT), _p99(source, label, LONG, 2**62)
        found = {f"short flows (up to {size(SHORT)}){of}": short, f"long flows (at least {size(LONG)}){of}": long_}
        if not all(set(schemes) <= set(values) for values in found.values()):
            found = {f"flows{of}" if of else "all flows": _p99(source, label, 0, 2**62)}
        for what, values in found.items():
            if set(schemes) <= set(values):
                yield what, {scheme: values[scheme] for scheme in schemes}


def _p99(source: Source, label: str | None, least: int, most: int) -> dict[str, float]:
    """p99 slowdown by scheme, of flows of these sizes; without schemes that have too few."""
    return dict(
        source.rows(
            f"select scheme, {p99(SLOWDOWN)} from flows where slowdown_hpcc is not null "
            "and ($label is null or label = $label) and size_bytes between $least and $most "
            "group by scheme having count(*) >= $flows",
            {"label": label, "least": least, "most": most, "flows": FLOWS},
        )
    )
