"""Findings about links that failed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from incast.charts.source import Source
from incast.findings.drops import counted_packets
from incast.findings.finding import FAILURE, Finding
from incast.findings.words import count, counted, joined, prefix, time, times

LINKS = 3
"""Most links that are named (our choice)."""
FOREVER = "to the end of the run"


@dataclass(frozen=True)
class Failure:
    """A time in which a link was down or lost packets silently."""

    link: tuple[str, str]
    """Nodes at both ends."""
    number: int
    """Number of the link: others may join the same nodes."""
    from_ps: int
    to_ps: int | None
    """End; `None` if the link stayed so."""
    silent: bool
    """True for a gray failure: the link stayed up but lost packets."""


def failures(source: Source) -> Iterator[Finding]:
    """Links that were down or lost packets silently, with packets lost, timeouts and NACKs of the run."""
    sums = {
        scheme: (timeouts, nacks)
        for scheme, timeouts, nacks in source.rows(
            "select scheme, sum(timeouts)::bigint, sum(nacks)::bigint from flows group by scheme"
        )
    }
    for found, schemes in alike(failures_of(source)).items():
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


def alike(of: Mapping[str, tuple[Failure, ...]]) -> dict[tuple[Failure, ...], list[str]]:
    """Schemes by their failures."""
    found: dict[tuple[Failure, ...], list[str]] = {}
    for scheme, mine in of.items():
        found.setdefault(mine, []).append(scheme)
    return found


def failures_of(source: Source) -> dict[str, tuple[Failure, ...]]:
    """Failures of links of each scheme that had any, by their start."""
    if not source.count("links"):
        return {}
    open_: dict[tuple[str, int, bool], tuple[tuple[str, str], int, int]] = {}
    found: dict[str, list[Failure]] = {}
    changes = source.rows("select scheme, link, a_name, b_name, change, time_ps from links order by time_ps, link")
    for scheme, link, a, b, change, at in source.by_scheme(changes):
        found.setdefault(scheme, [])
        if change in ("down", "silent"):
            open_.setdefault((scheme, link, change == "silent"), ((a, b), link, at))
        elif change in ("up", "clean") and (begun := open_.pop((scheme, link, change == "clean"), None)):
            found[scheme].append(Failure(*begun, at, change == "clean"))
    for (scheme, _, silent), begun in open_.items():
        found[scheme].append(Failure(*begun, None, silent))
    return {
        scheme: tuple(sorted(mine, key=lambda each: (each.from_ps, each.link)))
        for scheme, mine in found.items()
        if mine
    }


def _in_words(found: Sequence[Failure]) -> str:
    """Failed links, number of failures and their times."""
    names = [link for link, _ in dict.fromkeys((each.link, each.number) for each in found)]
    failed, noun = ("lost packets silently", "interval") if found[0].silent else ("down", "outage")
    ends = {(each.from_ps, each.to_ps) for each in found}
    if len(ends) == 1:
        start, end = ends.pop()
        when = f"{failed} from {time(start)} {f'to {time(end)}' if end is not None else FOREVER}"
    elif all(each.to_ps is None for each in found):
        when = f"{failed}, {FOREVER}"
    else:
        total = sum(each.to_ps - each.from_ps for each in found if each.to_ps is not None)
        forever = sum(each.to_ps is None for each in found)
        often = times(len(found)) if len(names) == 1 else f"in {count(len(found), noun)}"
        when = f"{failed} {often}, for {time(total)} "
        when += f"and, in {count(forever, noun)}, {FOREVER}" if forever else "in total"
    be = "" if found[0].silent else "was " if len(names) == 1 else "were "
    return f"{_named(names)} {be}{when}"


def _named(names: Sequence[tuple[str, str]]) -> str:
    """A link by its ends; several by their common node, or the first of them."""
    if len(names) == 1:
        return "-".join(names[0])
    if len(set(names)) == 1:
        return f"{len(names):,} parallel links {'-'.join(names[0])}"
    common = set(names[0]).intersection(*names[1:])
    if len(common) == 1:
        return f"{len(names):,} links of {common.pop()}"
    return f"{len(names):,} links ({joined(('-'.join(name) for name in names), LINKS)})"
