"""Findings about links that failed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from incast.charts.source import Source
from incast.findings.completion import with_iterations
from incast.findings.drops import counted_packets
from incast.findings.finding import FAILURE, Finding
from incast.findings.percentile import SLOWDOWN, Statistics, figure, statistics
from incast.findings.words import count, counted, joined, prefix, spread, time, times

SLOWER = 1.5
"""Smallest ratio of the slowdowns of flows during an outage and of the others that is reported (our choice)."""
LINKS = 3
"""Most links that are named (our choice)."""
LABELS = 3
"""Most labels with a sentence about their slowdown: those with the largest ratios (our choice)."""
FOREVER = "to the end of the run"


@dataclass(frozen=True)
class Outage:
    """A time in which a link failed."""

    link: tuple[str, str]
    """Nodes at both ends."""
    from_ps: int
    to_ps: int | None
    """End; `None` if the link stayed so."""
    silent: bool
    """True for a gray failure: the link stayed up but lost packets."""


def failures(source: Source) -> Iterator[Finding]:
    """Links that were down or lost packets silently, with packets lost, timeouts and NACKs of the run.

    Further findings compare flows in progress during an outage with the other flows of their label, if some scheme has
    a ratio of slowdowns of 1.5 or more: p99 of 100 flows or more under each scheme, or the mean of 20 to 99. Labels
    with iterations have communication times of iterations instead.
    """
    by_outages: dict[tuple[Outage, ...], list[str]] = {}
    for scheme, found in outages(source).items():
        by_outages.setdefault(found, []).append(scheme)
    sums = {
        scheme: (timeouts, nacks)
        for scheme, timeouts, nacks in source.rows(
            "select scheme, sum(timeouts)::bigint, sum(nacks)::bigint from flows group by scheme"
        )
    }
    for found, schemes in by_outages.items():
        for silent, counter in ((False, "link_down_drops"), (True, "silent_drops")):
            mine = [each for each in found if each.silent == silent]
            if not mine:
                continue
            lost = {scheme: int(source.manifests[scheme]["counts"].get(counter, 0)) for scheme in schemes}
            parts = [counted_packets(source, lost, "packet lost", "packets lost", order=source.schemes)]
            recovery = []
            for place, noun in enumerate(("timeout", "NACK")):
                values = {scheme: sums.get(scheme, (0, 0))[place] for scheme in schemes}
                recovery += [counted(values, noun, order=source.schemes)] if any(values.values()) else []
            parts += [f"in the whole run {' and '.join(recovery)}"] if recovery else []
            if not any(source.manifests[scheme]["counts"].get("pauses") for scheme in source.schemes):
                parts.append("no port was paused")
            text = f"{prefix(schemes, source.schemes)}{_in_words(mine)}: {'; '.join(parts)}."
            yield Finding("failure", FAILURE, text, tuple(schemes))
    yield from _slower(source, by_outages)


def outages(source: Source) -> dict[str, tuple[Outage, ...]]:
    """Outages of each scheme that had any, by their start."""
    if not source.count("links"):
        return {}
    open_: dict[tuple[str, int, bool], tuple[tuple[str, str], int]] = {}
    found: dict[str, list[Outage]] = {}
    changes = source.rows("select scheme, link, a_name, b_name, change, time_ps from links order by time_ps, link")
    for scheme, link, a, b, change, at in source.by_scheme(changes):
        found.setdefault(scheme, [])
        if change in ("down", "silent"):
            open_.setdefault((scheme, link, change == "silent"), ((a, b), at))
        elif change in ("up", "clean") and (begun := open_.pop((scheme, link, change == "clean"), None)):
            found[scheme].append(Outage(*begun, at, change == "clean"))
    for (scheme, _, silent), begun in open_.items():
        found[scheme].append(Outage(*begun, None, silent))
    return {
        scheme: tuple(sorted(mine, key=lambda each: (each.from_ps, each.link)))
        for scheme, mine in found.items()
        if mine
    }


def _in_words(found: Sequence[Outage]) -> str:
    """Failed links, number of outages and their times."""
    names = list(dict.fromkeys(each.link for each in found))
    failed = "lost packets silently" if found[0].silent else "down"
    ends = {(each.from_ps, each.to_ps) for each in found}
    if len(ends) == 1:
        start, end = ends.pop()
        when = f"{failed} from {time(start)} {f'to {time(end)}' if end is not None else FOREVER}"
    elif all(each.to_ps is None for each in found):
        when = f"{failed}, {FOREVER}"
    else:
        total = sum(each.to_ps - each.from_ps for each in found if each.to_ps is not None)
        forever = sum(each.to_ps is None for each in found)
        often = times(len(found)) if len(names) == 1 else f"in {count(len(found), 'outage')}"
        when = f"{failed} {often}, for {time(total)} "
        when += f"and, in {count(forever, 'outage')}, {FOREVER}" if forever else "in total"
    be = "" if found[0].silent else "was " if len(names) == 1 else "were "
    return f"{_named(names)} {be}{when}"


def _named(names: Sequence[tuple[str, str]]) -> str:
    """A link by its ends; several by their common node, or the first of them."""
    if len(names) == 1:
        return "-".join(names[0])
    common = set(names[0]).intersection(*names[1:])
    if len(common) == 1:
        return f"{len(names):,} links of {common.pop()}"
    return f"{len(names):,} links ({joined(('-'.join(name) for name in names), LINKS)})"


@dataclass(frozen=True)
class _Contrast:
    """A figure of flows or iterations of one label in progress during an outage, and of the others, by scheme."""

    during: dict[str, float]
    others: dict[str, float]

    @property
    def ratio(self) -> float:
        """Largest ratio under a scheme."""
        return max(value / self.others[scheme] for scheme, value in self.during.items())


def _slower(source: Source, by_outages: dict[tuple[Outage, ...], list[str]]) -> Iterator[Finding]:
    """Labels that outages slowed most: times of their iterations or slowdowns of their flows."""
    collectives = with_iterations(source)
    several = len(source.labels) > 1
    order = source.schemes
    found = []
    for label, (kind, contrast) in _flows(source, by_outages).items():
        if label not in collectives:
            text = (
                f"Flows{f' of label {label}' if several else ''} in progress during an outage had a {kind} slowdown of "
                f"{spread(contrast.during, order=order)}, the other flows{' of this label' if several else ''} of "
                f"{spread(contrast.others, order=order)}."
            )
            found.append((contrast, text))
    for label, contrast in _iterations(source, by_outages).items():
        text = (
            f"Iterations of label {label} in progress during an outage communicated for "
            f"{spread(contrast.during, time, order)} on average, the other iterations for "
            f"{spread(contrast.others, time, order)}."
        )
        found.append((contrast, text))
    slow = sorted((each for each in found if each[0].ratio >= SLOWER), key=lambda each: -each[0].ratio)
    for contrast, text in slow[:LABELS]:
        yield Finding("failure", FAILURE - 1, text, tuple(contrast.during))


def _flows(source: Source, by_outages: dict[tuple[Outage, ...], list[str]]) -> dict[str, tuple[str, _Contrast]]:
    """Kind of figure and slowdowns of flows by label, of labels with enough flows of both kinds under some scheme."""
    query = f"""
        with {_SPANS}
        select label, scheme, hit, {statistics("slowdown")}
        from (
            select label, scheme, {SLOWDOWN} as slowdown, {_HIT.format(end="finish_ps")} as hit
            from flows where slowdown_hpcc is not null and list_contains($schemes, scheme))
        group by label, scheme, hit order by label
    """
    parts: dict[str, dict[tuple[str, bool], Statistics]] = {}
    for label, scheme, hit, *values in _rows(source, query, by_outages):
        parts.setdefault(label, {})[scheme, hit] = (values[0], values[1], values[2])
    found = {}
    for label, part in parts.items():
        both = {key: values for key, values in part.items() if (key[0], not key[1]) in part}
        if chosen := figure(both):
            found[label] = chosen[0], _contrast(chosen[1])
    return found


def _iterations(source: Source, by_outages: dict[tuple[Outage, ...], list[str]]) -> dict[str, _Contrast]:
    """Mean communication times of iterations by label, of collectives with iterations of both kinds."""
    if not source.count("iterations"):
        return {}
    query = f"""
        with {_SPANS},
        parts as (
            select *, {_HIT.format(end="end_ps")} as hit from iterations where list_contains($schemes, scheme)),
        compared as (select * from parts qualify count(distinct hit) over (partition by scheme, collective) = 2)
        select label, scheme, hit, avg(communication_ps) from compared group by label, scheme, hit order by label
    """
    parts: dict[str, dict[tuple[str, bool], float]] = {}
    for label, scheme, hit, mean in _rows(source, query, by_outages):
        parts.setdefault(label, {})[scheme, hit] = mean
    return {label: _contrast(part) for label, part in parts.items()}


_SPANS = "spans as (select unnest($from) as from_ps, unnest($to) as to_ps)"
_HIT = "exists (select 1 from spans where start_ps <= to_ps and {end} >= from_ps)"


def _rows(source: Source, query: str, by_outages: dict[tuple[Outage, ...], list[str]]) -> Iterator[tuple[Any, ...]]:
    """Rows of a query about flows or iterations during the outages of each scheme."""
    for found, schemes in by_outages.items():
        spans = {
            "from": [each.from_ps for each in found],
            "to": [2**62 if each.to_ps is None else each.to_ps for each in found],
        }
        yield from source.rows(query, {**spans, "schemes": schemes})


def _contrast(values: Mapping[tuple[str, bool], float]) -> _Contrast:
    """The contrast of figures by scheme and by presence during an outage."""
    of = {hit: {scheme: value for (scheme, when), value in values.items() if when == hit} for hit in (True, False)}
    return _Contrast(of[True], of[False])
