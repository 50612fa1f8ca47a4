"""Findings about dropped packets."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from incast import declared
from incast.charts.source import Source
from incast.findings.finding import DROPS, LOSSLESS_DROPS, Finding
from incast.findings.words import above_0, counted, prefix_if_equal, sentence, share

ELSEWHERE = ("link_down_drops", "silent_drops", "watchdog_drops")
"""Counters that other rules report."""
HOSTS = "tier = 0"
SWITCHES = "tier is distinct from 0"
"""Conditions on the tier of a node; unknown ports are those of switches."""
MOSTLY = 0.5
"""Smallest share of drops at one place that is reported (our choice)."""


def drops(source: Source) -> Iterator[Finding]:
    """Dropped packets by reason, with the place of most drops if it has half of them or more.

    Links that failed and the watchdog have rules of their own. The place is missing if the table of drops is incomplete
    (`measure.max_drops`).
    """
    counts = {scheme: manifest["counts"] for scheme, manifest in source.manifests.items()}
    lossless = {scheme: int(mine.get("lossless_drops", 0)) for scheme, mine in counts.items()}
    if found := above_0(lossless):
        text = f"switches dropped {counted(found, 'lossless packet')}: the PFC headroom was exceeded"
        yield _finding(source, LOSSLESS_DROPS, f"{text}{_mostly(source, 'buffer', SWITCHES)}.", found)
    named = {
        each.name: each.description
        for each in declared.counters()
        if each.name.endswith("_drops") and not each.name.endswith("lossless_drops")
    }
    full = {
        scheme: mine["drops"] - sum(mine.get(name, 0) for name in named) - lossless[scheme]
        for scheme, mine in counts.items()
    }
    own = _of_hosts(source)
    if hosts := above_0({scheme: min(own.get(scheme, 0), value) for scheme, value in full.items()}):
        text = f"hosts dropped {counted_packets(source, hosts)} at their own full queues"
        yield _finding(source, DROPS, f"{text}{_mostly(source, 'buffer', HOSTS)}.", hosts)
    if switches := above_0({scheme: value - hosts.get(scheme, 0) for scheme, value in full.items()}):
        text = f"switches dropped {counted_packets(source, switches)} at full buffers"
        yield _finding(source, DROPS, f"{text}{_mostly(source, 'buffer', SWITCHES)}.", switches)
    for name, description in named.items():
        values = above_0({scheme: int(mine.get(name, 0)) for scheme, mine in counts.items()})
        if name in ELSEWHERE or not values:
            continue
        what = description.removeprefix("packets dropped").removeprefix(":").strip()
        reason = name.removesuffix("_drops").replace("_", "-")
        text = f"switches dropped {counted_packets(source, values, reason=what)}{_mostly(source, reason)}."
        yield _finding(source, DROPS, text, values)


def counted_packets(
    source: Source,
    values: Mapping[str, int],
    one: str = "packet",
    many: str | None = None,
    reason: str = "",
    order: Sequence[str] | None = None,
) -> str:
    """Counts of dropped or lost packets, with kinds and reason: ACKs count too, which UDP lacks."""
    controls = {control for scheme in values for control in source.manifests[scheme].get("controls", ())}
    kinds = f"data {'or ACK' if set(values.values()) == {1} else 'and ACKs'}" if controls - {"udp"} else ""
    notes = "; ".join(filter(None, (kinds, reason)))
    return f"{counted(values, one, many, order)}{f' ({notes})' if notes else ''}"


def _finding(source: Source, importance: int, text: str, values: dict[str, int]) -> Finding:
    return Finding("drops", importance, sentence(prefix_if_equal(values, source.schemes) + text), tuple(values))


def _of_hosts(source: Source) -> dict[str, int]:
    """Packets that hosts dropped at their own queues, by scheme."""
    return dict(source.rows(f"select scheme, sum(drops)::bigint from ports where {HOSTS} group by scheme"))


def _mostly(source: Source, reason: str, nodes: str = "true") -> str:
    """The egress port, or else the node, with most drops of all schemes, if it has half of them or more.

    `nodes` is a condition on the tier of the node.
    """
    if not source.has_all_drops:
        return ""
    rows = source.rows(
        "with names as (select port, any_value(node_name || ' to ' || peer_name) as link, any_value(tier) as tier "
        "from ports group by port) "
        "select coalesce(link, node_name), count(*), (sum(count(*)) over ())::bigint from drops left join names "
        f"on port = egress_port where reason = ? and {nodes} group by 1 order by 2 desc, 1 limit 1",
        [reason],
    )
    if not rows or rows[0][1] < MOSTLY * rows[0][2]:
        return ""
    place, here, all_ = rows[0]
    return f", {'all' if here == all_ else share(here / all_)} of them at {place}"
