"""Findings about links that failed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from incast.charts.source import Source
from incast.findings.finding import FAILURE, Finding
from incast.findings.percentile import SLOWDOWN, Statistics, figure, statistics
from incast.findings.words import count, counted, joined, prefix, spread, time, times

SLOWER = 1.5
"""Smallest ratio of the slowdowns of flows during an outage and of the others that is reported (our choice)."""
LINKS = 3
"""Most links that are named (our choice)."""


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

    A second finding compares the slowdown of flows in progress during an outage with that of the other flows, if some
    scheme has a ratio of 1.5 or more: p99 of 100 flows or more under each scheme, or the mean of 20 to 99.
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
            parts = [counted(lost, "packet") + " lost"]
            for place, noun in enumerate(("timeout", "NACK")):
                values = {scheme: sums.get(scheme, (0, 0))[place] for scheme in schemes}
                parts += [counted(values, noun)] if any(values.values()) else []
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
    ends = sorted({(each.from_ps, each.to_ps) for each in found}, key=lambda each: each[0])
    if len(ends) == 1:
        start, end = ends[0]
        when = f"{failed} from {time(start)} {f'to {time(end)}' if end is not None else 'to the end of the run'}"
    else:
        total = sum(each.to_ps - each.from_ps for each in found if each.to_ps is not None)
        forever = sum(each.to_ps is None for each in found)
        often = times(len(found)) if len(names) == 1 else f"in {count(len(found), 'outage')}"
        when = f"{failed} {often}, for {time(total)} in total"
        when += f", {count(forever, 'of these outages', 'of these outages')} to the end of the run" if forever else ""
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


def _slower(source: Source, by_outages: dict[tuple[Outage, ...], list[str]]) -> Iterator[Finding]:
    """Slowdown of flows in progress during an outage, and of the others."""
    parts: dict[tuple[str, bool], Statistics] = {}
    for found, schemes in by_outages.items():
        rows = source.rows(
            f"""
            with spans as (select unnest($from) as from_ps, unnest($to) as to_ps),
            parts as (
                select scheme, {SLOWDOWN} as slowdown, exists (
                    select 1 from spans where start_ps <= to_ps and finish_ps >= from_ps) as hit
                from flows where slowdown_hpcc is not null and list_contains($schemes, scheme))
            select scheme, hit, {statistics("slowdown")} from parts group by scheme, hit
            """,
            {
                "from": [each.from_ps for each in found],
                "to": [2**62 if each.to_ps is None else each.to_ps for each in found],
                "schemes": schemes,
            },
        )
        parts |= {(scheme, hit): (flows, tail, mean) for scheme, hit, flows, tail, mean in rows}
    schemes = [scheme for scheme, hit in parts if hit and (scheme, False) in parts]
    chosen = figure({(scheme, hit): parts[scheme, hit] for scheme in schemes for hit in (True, False)})
    if chosen is None:
        return
    kind, values = chosen
    during, others = ({scheme: values[scheme, hit] for scheme in schemes} for hit in (True, False))
    if max(during[scheme] / others[scheme] for scheme in schemes) >= SLOWER:
        text = (
            f"Flows in progress during an outage had a {kind} slowdown of {spread(during)}, the other flows of "
            f"{spread(others)}."
        )
        yield Finding("failure", FAILURE - 1, text, tuple(schemes))
