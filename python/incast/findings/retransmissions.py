"""Findings about retransmissions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from incast.charts.source import Source
from incast.findings.drops import counted_packets
from incast.findings.finding import RETRANSMISSIONS, Finding
from incast.findings.words import counted, prefix, prefix_if_equal, sentence, share, spread

PART = 0.01
"""Smallest share of retransmissions among sent packets that is reported (our choice)."""
TIMES = 2.0
"""Smallest number of retransmissions for each lost packet that is reported (our choice)."""


def retransmissions(source: Source) -> Iterator[Finding]:
    """Schemes that resent at least 1 % of their packets, and at least two for each lost packet."""
    found = {each.scheme: each for each in _resent(source) if each.lost and each.packets >= TIMES * each.lost}
    if found:
        missing = counted_packets(source, {scheme: each.lost for scheme, each in found.items()}, "lost packet")
        text = f"{_in_words(source, found)}, for {missing}."
        yield Finding("retransmissions", RETRANSMISSIONS, text, tuple(found))


def spurious(source: Source) -> Iterator[Finding]:
    """Schemes that resent at least 1 % of their packets although none was lost, by cause."""
    # Packets in a deadlock wait for ever.
    without_loss = [
        each for each in _resent(source) if not (each.lost or source.manifests[each.scheme].get("deadlocks"))
    ]
    for cause, why in _SPURIOUS.items():
        found = {each.scheme: each for each in without_loss if each.cause == cause}
        if found:
            text = f"{_in_words(source, found)}, although no packet was lost: {why}."
            yield Finding("spurious", RETRANSMISSIONS, text, tuple(found))


_SPURIOUS = {
    "timeouts": "timeouts expired before the ACKs arrived. A timeout above the longest delay avoids this",
    "tokens": "receivers gave tokens again before the packets arrived. A larger phost.reissue_after avoids this",
    "order": "hosts took late or reordered packets for lost. Selective repeat, or a larger tolerance of reordering, "
    "avoids this",
}
"""Explanations of retransmissions without loss, by cause."""


@dataclass(frozen=True)
class _Resent:
    """Retransmissions of a scheme, with numbers of packets."""

    scheme: str
    packets: int
    cause: str
    sent: int
    lost: int


def _resent(source: Source) -> Iterator[_Resent]:
    """Retransmissions of the schemes that resent at least 1 % of their packets."""
    rows = source.rows(
        "select scheme, sum(retransmitted)::bigint, sum(timeouts)::bigint, sum(packets)::bigint from flows "
        "group by scheme"
    )
    # A hypervisor that refuses a packet loses it before the network.
    refused = dict(source.rows(_REFUSED)) if source.count("pairs") else {}
    for scheme, resent, timeouts_, sent in source.by_scheme(rows):
        if resent and resent >= PART * sent:
            lost = int(source.manifests[scheme]["counts"]["drops"]) + refused.get(scheme, 0)
            # Announcements send no data again: tokens of the receiver do.
            tokens = _effect(source, scheme) == "phost"
            cause = "tokens" if tokens else "timeouts" if timeouts_ else "order"
            yield _Resent(scheme, resent, cause, sent, lost)


_REFUSED = "select scheme, sum(refused_packets)::bigint from pairs group by scheme"


def _in_words(source: Source, found: Mapping[str, _Resent]) -> str:
    """Schemes, packets, and their share of the sent packets."""
    again = counted({scheme: each.packets for scheme, each in found.items()}, "packet")
    part = spread({scheme: each.packets / each.sent for scheme, each in found.items()}, share)
    return sentence(f"{prefix(list(found), source.schemes)}hosts resent {again}, {part} of those sent")


def timeouts(source: Source) -> Iterator[Finding]:
    """Timeouts by their effect, unless links failed: then the finding about failures has their number."""
    if source.count("links"):
        return
    rows = source.rows(
        "select scheme, sum(timeouts)::bigint, count(*) filter (timeouts > 0), count(*) from flows group by scheme"
    )
    found: dict[str, dict[str, list[int]]] = {}
    for scheme, *values in source.by_scheme(rows):
        if values[0]:
            found.setdefault(_effect(source, scheme), {})[scheme] = values
    for effect, of_schemes in found.items():
        events, hit, all_ = ({scheme: each[place] for scheme, each in of_schemes.items()} for place in range(3))
        flows = "as many flows" if events == hit else counted(hit, "flow")
        verb, event, rest = EFFECTS[effect]
        text = f"hosts {verb} {counted(events, event)}{rest}, in {flows} of {spread(all_)}."
        yield Finding(
            "timeouts", RETRANSMISSIONS, sentence(prefix_if_equal(events, source.schemes) + text), tuple(of_schemes)
        )


EFFECTS = {
    "": ("had", "retransmission timeout", ""),
    "fastpass": ("repeated", "request", " to the arbiter after a timeout"),
    "phost": ("repeated", "announcement", " of flows after a timeout"),
    "mixed": ("had", "timeout", ""),
}
"""Effects of timeouts by transport, as verb, noun and rest; those of other transports retransmit."""


def _effect(source: Source, scheme: str) -> str:
    """The effect of the timeouts of a scheme; `mixed` if its transports differ in it."""
    effects = {name if name in EFFECTS else "" for name in source.manifests[scheme].get("controls", ())}
    return "mixed" if len(effects) > 1 else next(iter(effects), "")
