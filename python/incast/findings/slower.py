"""Findings about flows that failures of links slowed."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from incast._echo import shell
from incast.charts.source import Source, read_scenario
from incast.findings.completion import with_iterations
from incast.findings.failures import Failure, alike, failures_of
from incast.findings.finding import FAILURE, Finding
from incast.findings.percentile import SLOWDOWN, Statistics, figure, statistics
from incast.findings.words import prefix_if_equal, sentence, spread, time

SLOWER = 1.5
"""Smallest ratio to the slowdown or time of the others that is reported (our choice)."""
HIT = 5
"""Fewest flows that lost packets whose slowdown is reported (our choice): they are all, not a sample."""
LABELS = 3
"""Most labels with a sentence about their iterations: those with the largest ratios (our choice)."""
BARE = re.compile(r"[A-Za-z0-9_-]+")
"""Names that paths of a scenario have without quotation marks."""


@dataclass(frozen=True)
class _Contrast:
    """A figure of the flows or iterations that a failure may have slowed, and of others, by scheme."""

    hit: Mapping[str, float]
    others: Mapping[str, float]

    @property
    def ratio(self) -> float:
        """Largest ratio under a scheme."""
        return max((value / self.others[scheme] for scheme, value in self.hit.items()), default=0)


def with_losses(source: Source) -> Iterator[Finding]:
    """Flows that lost packets on failed links, if they were 1.5 times as slow as others at that time under a scheme.

    Others have the same label, and a size between the same powers of two: loss hits large flows more often. Their ideal
    interval overlaps that of a failure; the real one would select slow flows. If a scheme's table of drops has only the
    first (`measure.max_drops`), flows in it are compared with flows that retransmitted nothing.
    """
    failed, partial = failures_of(source), source.first_drops
    rows = source.by_scheme(list(_rows(source, _LOSSES, failed, partial=list(partial))))
    found = {scheme: values for scheme, *values in rows if values[0] >= HIT}
    lost = {scheme for scheme in failed if _of_links(source.manifests[scheme]) >= HIT}
    unknown = [scheme for scheme in source.schemes if scheme in lost and scheme in partial and scheme not in found]
    contrast = _Contrast({name: row[1] for name, row in found.items()}, {name: row[2] for name, row in found.items()})
    sentences = []
    if contrast.ratio >= SLOWER:
        order, flows = source.schemes, {name: row[0] for name, row in found.items()}
        sentences.append(
            f"{prefix_if_equal(flows, order)}{spread(flows, order=order)} flows that lost packets on failed links had "
            f"a mean slowdown of {spread(contrast.hit, order=order)}, other flows of their label and size at that time "
            f"of {spread(contrast.others, order=order)}."
        )
        sentences += [
            f"For {scheme}, {_recorded(partial[scheme])}: flows that lost packets are those with a recorded drop, "
            "others those without a retransmission."
            for scheme in found
            if scheme in partial
        ]
    sentences += [
        f"Flows of {scheme} that lost packets on failed links are not compared: {_recorded(partial[scheme])} "
        "(`measure.max_drops`)."
        for scheme in unknown
    ]
    if sentences:
        named = found if contrast.ratio >= SLOWER else ()
        yield Finding("failure", FAILURE - 1, " ".join(sentences), (*named, *unknown))


def _of_links(manifest: Mapping[str, Any]) -> int:
    """Packets lost on failed links."""
    return sum(int(manifest["counts"].get(name, 0)) for name in ("link_down_drops", "silent_drops"))


def _recorded(drops: tuple[int, int]) -> str:
    """A clause about a table of drops that has only the first."""
    recorded, all_ = drops
    if not recorded:
        return f"none of {all_:,} drops is recorded"
    return f"only the first {recorded:,} of {all_:,} drops are recorded"


def slower(source: Source) -> Iterator[Finding]:
    """Flows and iterations during outages that were 1.5 times as slow as the others of their label under a scheme.

    Of flows, the label with the largest ratio: p99 of 100 flows or more, or the mean of 20 to 99; a flow counts as
    during an outage if its ideal interval is. Gray failures are no outages. The load may be the cause, so each finding
    has the options of a run without failures.
    """
    outages = {scheme: tuple(each for each in mine if not each.silent) for scheme, mine in failures_of(source).items()}
    outages = {scheme: mine for scheme, mine in outages.items() if mine}
    collectives, order = with_iterations(source), source.schemes
    several = len(source.labels) > 1
    flows = [
        (
            contrast,
            f"flows{f' of label {label}' if several else ''} during an outage had a {kind} slowdown of "
            f"{spread(contrast.hit, order=order)}, the other flows{' of this label' if several else ''} of "
            f"{spread(contrast.others, order=order)}",
        )
        for label, (kind, contrast) in _flows(source, outages).items()
        if label not in collectives
    ]
    of_iterations = [
        (
            contrast,
            f"iterations of label {label} during an outage communicated for {spread(contrast.hit, time, order)} on "
            f"average, the other iterations for {spread(contrast.others, time, order)}",
        )
        for label, contrast in _iterations(source, outages).items()
    ]
    for found, most in ((flows, 1), (of_iterations, LABELS)):
        slow = sorted((each for each in found if each[0].ratio >= SLOWER), key=lambda each: -each[0].ratio)
        for contrast, text in slow[:most]:
            schemes = tuple(contrast.hit)
            caveat = (
                f"Other causes are possible, such as load: compare with a run with {without_failures(source, schemes)}."
            )
            text = sentence(prefix_if_equal(contrast.hit, order) + text)
            yield Finding("failure", FAILURE - 1, f"{text}. {caveat}", schemes)


def without_failures(source: Source, schemes: tuple[str, ...]) -> str:
    """Options of the command for a run without failures."""
    fields = []
    for results in source.results:
        with read_scenario(results) as tree:
            for scheme in results.manifest["schemes"]:
                own = tree["scheme"][scheme].get("network", {}).get("failure")
                name = scheme if BARE.fullmatch(scheme) else json.dumps(scheme, ensure_ascii=False)
                if scheme in schemes:
                    fields.append("network.failure" if own is None else f"scheme.{name}.network.failure")
    return " ".join(f"--set {shell(f'{field}=[]')}" for field in dict.fromkeys(fields or ["network.failure"]))


def _flows(source: Source, outages: dict[str, tuple[Failure, ...]]) -> dict[str, tuple[str, _Contrast]]:
    """Kind of figure and slowdowns of flows by label, of labels with enough flows of both kinds under some scheme."""
    query = f"""
        with {_SPANS}
        select label, scheme, hit, {statistics("slowdown")}
        from (
            select label, scheme, {SLOWDOWN} as slowdown, {_DURING.format(end=_IDEAL_END)} as hit
            from flows where slowdown_hpcc is not null and list_contains($schemes, scheme))
        group by label, scheme, hit order by label
    """
    parts: dict[str, dict[tuple[str, bool], Statistics]] = {}
    for label, scheme, hit, *values in _rows(source, query, outages):
        parts.setdefault(label, {})[scheme, hit] = (values[0], values[1], values[2])
    found = {}
    for label, part in parts.items():
        both = {key: values for key, values in part.items() if (key[0], not key[1]) in part}
        if chosen := figure(both):
            found[label] = chosen[0], _contrast(chosen[1])
    return found


def _iterations(source: Source, outages: dict[str, tuple[Failure, ...]]) -> dict[str, _Contrast]:
    """Mean communication times of iterations by label, of collectives with iterations of both kinds."""
    if not source.count("iterations"):
        return {}
    query = f"""
        with {_SPANS},
        parts as (
            select *, {_DURING.format(end="end_ps")} as hit from iterations where list_contains($schemes, scheme)),
        compared as (select * from parts qualify count(distinct hit) over (partition by scheme, collective) = 2)
        select label, scheme, hit, avg(communication_ps) from compared group by label, scheme, hit order by label
    """
    parts: dict[str, dict[tuple[str, bool], float]] = {}
    for label, scheme, hit, mean in _rows(source, query, outages):
        parts.setdefault(label, {})[scheme, hit] = mean
    return {label: _contrast(part) for label, part in parts.items()}


_SPANS = "spans as (select unnest($from) as from_ps, unnest($to) as to_ps)"
_DURING = "exists (select 1 from spans where start_ps <= to_ps and {end} >= from_ps)"
_IDEAL_END = "start_ps + (finish_ps - start_ps) / slowdown_hpcc"
_LOSSES = f"""
    with {_SPANS},
    losses as (select distinct scheme, flow from drops where reason in ('link-down', 'silent')),
    parts as (
        select scheme, label, floor(log2(size_bytes)) as magnitude, {SLOWDOWN} as slowdown,
            losses.flow is not null as hit, retransmitted + timeouts > 0 as resent,
            {_DURING.format(end=_IDEAL_END)} as during
        from flows left join losses using (scheme, flow)
        where slowdown_hpcc is not null and list_contains($schemes, scheme)),
    others as (
        select scheme, label, magnitude, avg(slowdown) as usual from parts
        where not hit and during and not (resent and list_contains($partial, scheme)) group by all)
    select scheme, count(*), avg(slowdown), avg(usual)
    from parts join others using (scheme, label, magnitude) where hit group by scheme
"""


def _rows(
    source: Source, query: str, failures: dict[str, tuple[Failure, ...]], **values: object
) -> Iterator[tuple[Any, ...]]:
    """Rows of a query about flows or iterations during the failures of each scheme, with further values."""
    for found, schemes in alike(failures).items():
        spans = {
            "from": [each.from_ps for each in found],
            "to": [2**62 if each.to_ps is None else each.to_ps for each in found],
        }
        yield from source.rows(query, {**spans, **values, "schemes": schemes})


def _contrast(values: Mapping[tuple[str, bool], float]) -> _Contrast:
    """The contrast of figures by scheme and by presence during an outage."""
    of = {hit: {scheme: value for (scheme, when), value in values.items() if when == hit} for hit in (True, False)}
    return _Contrast(of[True], of[False])
