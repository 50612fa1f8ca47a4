"""Rules of findings on made-up tables: each says what is in the tables, and is silent otherwise."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import incast
from incast.findings import findings_of
from incast.findings.backlogged import backlogged
from incast.findings.chains import paused_by, trees
from incast.findings.comparing import comparison, equal
from incast.findings.completion import completion, iterations
from incast.findings.deadlocks import deadlocks
from incast.findings.drops import drops
from incast.findings.failures import failures
from incast.findings.finding import COMPARISON, LONG_PAUSES, PAUSES
from incast.findings.overload import overload
from incast.findings.own_queue import own_queues
from incast.findings.pauses import pauses
from incast.findings.quiet import quiet
from incast.findings.ranking import classes, distance
from incast.findings.retransmissions import retransmissions, spurious, timeouts
from incast.findings.storms import watchdog
from incast.findings.stuck import stuck
from incast.findings.tags import made_lossy
from incast.findings.unfinished import unfinished
from incast.findings.victims import victims
from incast.findings.words import counted, joined, number, share, spread
from made import Made, Row, manifest

US = 1_000_000
BOTH = {"A": manifest(), "B": manifest()}


def texts(rule: Any, source: Made) -> list[str]:
    """The sentences of a rule."""
    return [finding.text for finding in rule(source)]


def flows(scheme: str, slowdowns: list[float], **more: Any) -> list[dict[str, Any]]:
    """A flow for each slowdown."""
    usual = ({"slowdown_hpcc": value, "finish_ps": round(value * US)} for value in slowdowns)
    return [{"scheme": scheme, "flow": place, **each, **more} for place, each in enumerate(usual)]


def test_values_of_schemes_are_listed_lowest_first() -> None:
    assert spread({"A": 1418}) == "1,418"
    assert spread({"A": 3, "B": 3}) == "3"
    assert spread({"A": 1418, "B": 38, "C": 38}) == "38 (B, C) and 1,418 (A)"
    assert spread({name: float(place) for place, name in enumerate("ABCDE")}) == "0 (A) to 4 (E)"
    assert counted({"A": 1}, "packet") == "1 packet"
    assert counted({"A": 1, "B": 0}, "packet") == "0 (B) and 1 (A) packets"
    assert joined(["a", "b", "c", "d"], 3) == "a, b and 2 others"


@pytest.mark.parametrize(
    ("value", "text"), [(1418.4, "1,418"), (999.6, "1,000"), (61.849, "61.8"), (0.1249, "0.125"), (7, "7")]
)
def test_numbers_have_three_digits(value: float, text: str) -> None:
    assert number(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (1, "100 %"),
        (0.99999, "more than 99.9 %"),
        (0.0001, "less than 0.1 %"),
        (0, "0 %"),
        (0.4987, "49.9 %"),
        (22.345, "2,234 %"),
    ],
)
def test_shares_are_never_rounded_to_all_or_nothing(value: float, text: str) -> None:
    assert share(value) == text


@pytest.mark.parametrize(
    ("value", "text"), [(2.0, "2 times"), (1.996, "+100 %"), (1.0996, "+10 %"), (1.0004, "+0.04 %")]
)
def test_distances_are_percentages_or_factors(value: float, text: str) -> None:
    assert distance(value, 1.0) == text


def test_deadlocks_name_the_cycle_and_its_end() -> None:
    cycle = [{"node": "T1", "peer": "L1"}, {"node": "L1", "peer": "T1"}]
    one = {"closed_ps": 6_649_638_400, "cycle": cycle, "stuck_queues": 2, "stuck_hosts": 1}
    ended = {**one, "ended_ps": 8_100_000_000}
    source = Made({"A": manifest("deadlock", deadlocks=[one]), "B": manifest(deadlocks=[ended, one]), "C": manifest()})
    about = "2 paused queues wait for each other (T1 to L1 and L1 to T1); 2 queues of switches and 1 host port were"
    assert texts(deadlocks, source) == [
        f"A: deadlock from 6.65 ms to the end of the run: {about} stuck.",
        f"B: deadlock from 6.65 ms to 8.1 ms: {about} stuck; 1 more deadlock followed.",
    ]
    assert texts(deadlocks, Made({"A": manifest("deadlock", deadlocks=[one])}))[0].startswith("Deadlock from")


# h0 and h2 wait for s0, which waits for s1, whose port to h1 is congested; h3 waits for another port.
CHAIN = [
    {"port": 10, "node_name": "s0", "peer_name": "s1", "start_ps": 1 * US, "end_ps": 9 * US, "culprit_port": 20},
    {"port": 0, "node_name": "h0", "peer_name": "s0", "start_ps": 2 * US, "end_ps": 8 * US, "culprit_port": 10},
    {"port": 2, "node_name": "h2", "peer_name": "s0", "start_ps": 3 * US, "end_ps": 4 * US, "culprit_port": 10},
    {"port": 3, "node_name": "h3", "peer_name": "s0", "start_ps": 5 * US, "end_ps": None, "culprit_port": 11},
]


def test_chains_of_pauses_end_at_their_root() -> None:
    found = [(tree.root, tree.ports, tree.paused_ps, tree.longest) for tree in trees(Made(pauses=CHAIN))]
    assert found == [("s1 to h1", 3, 15 * US, "s0 to s1"), ("s0 to h1", 1, 5 * US, "h3 to s0")]


def test_chains_of_pauses_go_on_in_another_priority() -> None:
    # s1 gave the packets that s0 sent with priority 3 priority 4, and s2 paused these.
    rows = [
        {"port": 20, "node_name": "s1", "peer_name": "s2", "start_ps": 1 * US, "end_ps": 9 * US, "priority": 4,
         "culprit_port": 30, "culprit_priority": 4},
        {"port": 20, "node_name": "s1", "peer_name": "s2", "start_ps": 1 * US, "end_ps": 9 * US, "culprit_port": 31},
        {"port": 10, "node_name": "s0", "peer_name": "s1", "start_ps": 2 * US, "end_ps": 8 * US, "culprit_port": 20,
         "culprit_priority": 4},
    ]  # fmt: skip
    found = [(tree.root_port, tree.ports, tree.paused_ps) for tree in trees(Made(pauses=rows))]
    assert found == [(30, 2, 14 * US), (31, 1, 8 * US)]


def test_a_root_has_the_pauses_of_all_priorities() -> None:
    rows = [{**CHAIN[0], "priority": priority, "culprit_priority": priority} for priority in (3, 4)]
    assert [(tree.ports, tree.paused_ps) for tree in trees(Made(pauses=rows))] == [(1, 16 * US)]


def test_a_pause_that_ended_before_is_no_cause() -> None:
    late = [{**CHAIN[0], "end_ps": 2 * US}, {**CHAIN[1], "start_ps": 3 * US}]
    assert [tree.root for tree in trees(Made(pauses=late))] == ["s0 to h1", "s1 to h1"]


def test_queues_that_stay_paused_without_a_deadlock() -> None:
    # s1 pauses s0 because of its lossy priority 1 to s2, and s0 pauses h0 because of its paused queue to s1.
    rows = [
        {"port": 10, "node_name": "s0", "peer_name": "s1", "priority": 4, "start_ps": 6 * US, "culprit_port": 20,
         "culprit_priority": 1, "culprit_peer_name": "s2"},
        {"port": 2, "node_name": "h0", "peer_name": "s0", "start_ps": 5 * US, "culprit_port": 10,
         "culprit_priority": 4, "culprit_peer_name": "s1"},
    ]  # fmt: skip
    sent = {"port": 20, "tier": 1, "node_name": "s1", "tx_bytes": 1000}
    text = (
        "PFC paused 2 queues to the end of the run, without a deadlock. s0 to s1 (priority 4), paused from 6 us, waits "
        "for s1 to s2 (priority 1), which was not paused"
    )
    assert texts(stuck, Made(pauses=rows, ports=[sent])) == [
        f"{text}: the scheduler sent only other priorities of this port."
    ]
    assert texts(stuck, Made(pauses=rows, ports=[sent, {**sent, "priority": 1}])) == [f"{text}."]
    closed = [{"ended_ps": None}]
    assert texts(stuck, Made({"A": manifest(deadlocks=closed)}, pauses=rows, ports=[sent])) == []
    assert texts(stuck, Made(pauses=[{**rows[0], "start_ps": 9.5 * US}], ports=[sent])) == []
    assert texts(stuck, Made(pauses=[{**rows[0], "end_ps": 9 * US}], ports=[sent])) == []
    slow = {"port": 10, "node_name": "s0", "peer_name": "h0", "culprit_port": 0, "culprit_peer_name": "s0"}
    assert texts(stuck, Made(pauses=[slow], ports=[sent, {"tx_bytes": 1000}])) == []


# h0 pauses s0; s0 pauses s1 by a packet to h1 (port 11), which is not paused; s1 pauses h2.
# h9 pauses s1 at port 21, and s1 pauses h3.
STORMY = [
    {"port": 10, "node_name": "s0", "peer_name": "h0", "start_ps": 1 * US, "end_ps": 9 * US, "culprit_port": 0,
     "culprit_peer_name": "s0"},
    {"port": 20, "node_name": "s1", "peer_name": "s0", "start_ps": 2 * US, "end_ps": 8 * US, "culprit_port": 11},
    {"port": 21, "node_name": "s1", "peer_name": "h9", "start_ps": 2 * US, "culprit_port": 9,
     "culprit_peer_name": "s1"},
    {"port": 2, "node_name": "h2", "peer_name": "s1", "start_ps": 3 * US, "end_ps": 5 * US, "culprit_port": 20},
    {"port": 3, "node_name": "h3", "peer_name": "s1", "start_ps": 4 * US, "end_ps": 9 * US, "culprit_port": 21},
    {"port": 2, "node_name": "h2", "peer_name": "s1", "start_ps": 9 * US, "culprit_port": 20},
]  # fmt: skip


def test_a_storm_is_followed_past_a_culprit_that_is_not_paused() -> None:
    filled = [{"port": port, "peak_queue_bytes": 9000} for port in (10, 20, 21)]
    source = Made(pauses=STORMY, ports=filled)
    # Ports 10, 20 and 2, for 8, 6 and 2 us; of h9: ports 21 and 3, the first to the end of the run at 10 us.
    found = {("h0", 3, "A"): (3, 8 * US), ("h9", 3, "A"): (3, 8 * US)}
    storms = [("h0", 3), ("h9", 3), ("h0", 4)]
    assert paused_by(source, storms, ["A"]) == found
    # Without a shared buffer, or packets in the paused queue, the other culprit is the cause.
    alone = {("h0", 3, "A"): (1, 8 * US), ("h9", 3, "A"): (2, 8 * US)}
    assert paused_by(source, storms, []) == alone
    assert paused_by(Made(pauses=STORMY, ports=[{"port": 10}]), storms, ["A"]) == alone


def test_storms_of_many_pauses_are_followed() -> None:
    # DuckDB refuses some joins in recursion, but only of many rows.
    def hop(node: str, peer: str, port: int, start: int, **culprit: Any) -> Row:
        return {"node_name": node, "peer_name": peer, "port": port, "start_ps": start, "end_ps": start + 8, **culprit}

    rows = []
    for start in range(0, 20_000, 10):
        rows.append(hop("s0", "h0", 10, start, culprit_port=0, culprit_peer_name="s0"))
        rows.append(hop("s1", "s0", 20, start + 1, culprit_port=11))
    # 2,000 pauses of 8 ps each.
    source = Made(pauses=rows, ports=[{"port": 10, "peak_queue_bytes": 9000}])
    assert paused_by(source, [("h0", 3)], ["A"]) == {("h0", 3, "A"): (2, 16_000)}


def test_pauses_have_the_longest_port_and_the_root() -> None:
    ports = [
        {**{name: each[name] for name in ("port", "node_name", "peer_name")}, "paused_ps": paused * US}
        for each, paused in zip(CHAIN, (8, 6, 1, 5), strict=True)
    ]
    source = Made(pauses=CHAIN, ports=[*ports, {"port": 99}], flows=[{}])
    (finding,) = pauses(source)
    assert finding.text == (
        "PFC paused 4 ports, the longest for 8 us, 80 % of the run (s0 to s1); s1 to h1 was the root of 75 % of "
        "the paused time."
    )
    assert texts(pauses, Made()) == []
    # A pause at the end of the run has no length.
    assert texts(pauses, Made(pauses=[{}], ports=[{}], flows=[{}])) == []


def test_pauses_are_shares_of_the_run_of_their_scheme() -> None:
    # A slow flow makes A's run long.
    manifests = {"A": manifest(end_ps=40 * US), "B": manifest(end_ps=10 * US)}
    rows: list[Row] = [{"scheme": "A", "paused_ps": 2 * US, "node_name": "h1"}, {"scheme": "B", "paused_ps": US}]
    starts: list[Row] = [{"scheme": name} for name in "AB"]
    ends: list[Row] = [{**row, "start_ps": 0, "end_ps": US} for row in starts]
    (finding,) = pauses(Made(manifests, pauses=ends, ports=rows, flows=starts))
    # B: 1 us of 10 us; A: 2 us of 40 us.
    assert finding.text.startswith(
        "PFC paused 1 port, for 1 us (B) and 2 us (A), up to 10 % of the run of B, 10 us (h1 to s0 under A)"
    )
    # 50 ns of 10 us are short, whatever the length of the longest run.
    short = [{**rows[0], "paused_ps": 0}, {**rows[1], "paused_ps": US // 20}]
    (finding,) = pauses(Made(manifests, pauses=ends, ports=short, flows=starts))
    assert finding.text.startswith("B: PFC paused 1 port, for 50 ns, 0.5 % of the run, 10 us (h0 to s0)")
    assert finding.importance == PAUSES


def test_watchdog_storms_have_their_first_port() -> None:
    counts = {"watchdog_drops": 12}
    storms: list[Row] = [{"start_ps": 2 * US}, {"port": 1, "node_name": "s0", "peer_name": "h1", "start_ps": US}]
    source = Made({"A": manifest(counts=counts), "B": manifest()}, storms=storms)
    assert texts(watchdog, source) == [
        "A: the PFC watchdog detected 2 storms at 2 ports, first s0 to h1 at 1 us, and dropped 12 packets."
    ]


def test_drops_have_a_reason_and_the_place_of_most() -> None:
    counts = {"drops": 5, "ttl_drops": 1, "lossless_drops": 0}
    rows: list[Row] = [{"egress_port": 7}] * 3
    rows += [{"egress_port": 8}, {"reason": "ttl", "node_name": "s9", "egress_port": None}]
    ports: list[Row] = [
        {"port": place, "node_name": "s0", "peer_name": f"h{place}", "tier": 1, "drops": drops_here}
        for place, drops_here in ((7, 3), (8, 1))
    ]
    source = Made({"A": manifest(counts=counts)}, drops=rows, ports=ports)
    assert texts(drops, source) == [
        "Switches dropped 4 packets at full buffers, 75 % of them at s0 to h7.",
        "Switches dropped 1 packet (TTL expired), all of them at s9.",
    ]
    # An incomplete table of drops does not say where most were.
    source = Made({"A": manifest(counts={**counts, "drops": 50})}, drops=rows, ports=ports)
    assert texts(drops, source)[0] == "Switches dropped 49 packets at full buffers."


def test_lost_packets_are_data_and_acks_except_with_udp_alone() -> None:
    mixed = {"A": manifest(counts={"drops": 1, "ttl_drops": 1}, controls=["tcp", "udp"])}
    assert texts(drops, Made(mixed)) == ["Switches dropped 1 packet (data or ACK; TTL expired)."]
    udp = {"B": manifest(counts={"drops": 3}, controls=["udp"])}
    assert texts(drops, Made(udp)) == ["Switches dropped 3 packets at full buffers."]
    both = {"A": manifest(counts={"drops": 2}, controls=["tcp"]), **udp}
    flows: list[Row] = [{"scheme": "A", "packets": 100, "retransmitted": 9}]
    assert texts(drops, Made(both)) == ["Switches dropped 2 (A) and 3 (B) packets (data and ACKs) at full buffers."]
    assert texts(retransmissions, Made(both, flows=flows)) == [
        "A: hosts resent 9 packets, 9 % of those sent, for 2 lost packets (data and ACKs)."
    ]
    down: list[Row] = [{"change": "down"}]
    lost = {"A": manifest(counts={"drops": 2, "link_down_drops": 2}, controls=["tcp"])}
    assert " 2 packets lost (data and ACKs)" in texts(failures, Made(lost, links=down))[0]


def test_drops_of_hosts_are_not_those_of_switches() -> None:
    rows: list[Row] = [{"egress_port": 7}, *[{"node_name": "h0", "egress_port": 0}] * 3]
    ports: list[Row] = [{"drops": 3}, {"port": 7, "node_name": "s0", "peer_name": "h7", "tier": 1, "drops": 1}]
    assert texts(drops, Made({"A": manifest(counts={"drops": 4})}, drops=rows, ports=ports)) == [
        "Hosts dropped 3 packets at their own full queues, all of them at h0 to s0.",
        "Switches dropped 1 packet at full buffers, all of them at s0 to h7.",
    ]


def test_lossless_drops_come_before_others() -> None:
    (finding,) = drops(Made({"A": manifest(counts={"drops": 2, "lossless_drops": 2})}))
    assert finding.text == "Switches dropped 2 lossless packets: the PFC headroom was exceeded."
    assert finding.importance > 90


def test_drops_on_failed_links_have_another_rule() -> None:
    assert texts(drops, Made({"A": manifest(counts={"drops": 2, "link_down_drops": 2})})) == []


def test_packets_that_tags_make_lossy_are_counted() -> None:
    source = Made({"A": manifest(counts={"made_lossy": 120_000}), "B": manifest()}, flows=[{}, {"scheme": "B"}])
    assert texts(made_lossy, source) == [
        "A: Tagger's rules made 120,000 packets lossy: they do not expect the paths of these packets, which full "
        "buffers can drop."
    ]


def test_unfinished_flows_have_reason_and_signs() -> None:
    left = {"status": "incomplete", "finish_ps": None, "dst_name": "h9"}
    rows: list[Row] = [{}, {}, {}, {}, {**left, "acked_bytes": 0, "timeouts": 2}, {**left}, {"status": "not-started"}]
    rows += [{**left, "backlogged": True}, {"status": "cancelled", "finish_ps": None}]
    rows = [{**row, "flow": flow} for flow, row in enumerate(rows)]
    source = Made({"A": manifest("horizon", end_ps=5_000 * US)}, flows=rows)
    assert texts(unfinished, source) == [
        "3 flows of 7 did not complete by the horizon, 5 ms: 1 had no byte acknowledged; 1 had timeouts; 1 did not "
        "start; 66.7 % of them go to h9."
    ]
    assert texts(unfinished, Made(flows=[{}])) == []
    # The same flow under two schemes is no common sender of several.
    both = [{**row, "scheme": name} for row in (rows[0], rows[4]) for name in "AB"]
    assert [" of them " in text for text in texts(unfinished, Made(BOTH, flows=both))] == [False]


def test_unfinished_flows_of_schemes_that_stopped_for_other_reasons() -> None:
    rows = [{"scheme": name, "status": "incomplete", "finish_ps": None} for name in "AB"]
    source = Made({"A": manifest("deadlock"), "B": manifest("horizon")}, flows=[*rows, {}])
    (text,) = texts(unfinished, source)
    assert text == "A: 1 of 2 flows did not complete (deadlock). B: 1 of 1 (horizon, 10 us)."
    (text,) = texts(unfinished, Made(BOTH | {"B": manifest("horizon")}, flows=[{**row, "timeouts": 1} for row in rows]))
    assert text.endswith(". Of these, 1 had timeouts.")


@pytest.mark.parametrize(("lost", "said"), [(5, True), (50, False), (0, False)])
def test_more_retransmissions_than_losses(lost: int, said: bool) -> None:
    source = Made(
        {"A": manifest(counts={"drops": lost}), "B": manifest()}, flows=[{"packets": 1000, "retransmitted": 60}]
    )
    text = "A: hosts resent 60 packets, 6 % of those sent, for 5 lost packets."
    assert texts(retransmissions, source) == ([text] if said else [])
    alone = Made({"A": manifest(counts={"drops": 5})}, flows=[{"packets": 1000, "retransmitted": 60}])
    assert texts(retransmissions, alone) == ["Hosts resent 60 packets, 6 % of those sent, for 5 lost packets."]


def test_retransmissions_without_loss_are_spurious() -> None:
    rows: list[Row] = [
        {"packets": 1000, "retransmitted": 60, "timeouts": 2},
        {"scheme": "B", "packets": 1000, "retransmitted": 10},
        {"scheme": "C", "packets": 1000, "retransmitted": 9},
        {"scheme": "D", "packets": 1000, "retransmitted": 60},
        {"scheme": "in a deadlock", "packets": 1000, "retransmitted": 60, "timeouts": 60},
    ]
    others = {"D": manifest(counts={"drops": 1}), "in a deadlock": manifest(deadlocks=[{"ended_ps": None}])}
    source = Made({**BOTH, "C": manifest(), **others}, flows=rows)
    assert texts(spurious, source) == [
        "A: hosts resent 60 packets, 6 % of those sent, although no packet was lost: timeouts expired before the ACKs "
        "arrived. A timeout above the longest delay avoids this.",
        "B: hosts resent 10 packets, 1 % of those sent, although no packet was lost: hosts took late or reordered "
        "packets for lost. Selective repeat, or a larger tolerance of reordering, avoids this.",
    ]


def test_timeouts_are_counted_with_their_flows() -> None:
    rows = [{"timeouts": 3}, {"timeouts": 1}, {}]
    assert texts(timeouts, Made(flows=rows)) == ["Hosts had 4 retransmission timeouts, in 2 flows of 3."]
    assert texts(timeouts, Made(flows=rows, links=[{}])) == []


def test_timeouts_of_requests_are_no_retransmission_timeouts() -> None:
    schemes = {"ph": ["phost"], "fp": ["fastpass"], "fp4": ["fastpass"], "tcp": ["tcp"], "both": ["dcqcn", "phost"]}
    source = Made(
        {scheme: manifest(controls=controls) for scheme, controls in schemes.items()},
        flows=[
            {"scheme": scheme, "timeouts": count} for scheme in schemes for count in (1, 3 if scheme == "fp4" else 0)
        ],
    )
    assert texts(timeouts, source) == [
        "ph: hosts repeated 1 announcement of flows after a timeout, in as many flows of 2.",
        "Hosts repeated 1 (fp) and 4 (fp4) requests to the arbiter after a timeout, in 1 (fp) and 2 (fp4) flows of 2.",
        "tcp: hosts had 1 retransmission timeout, in as many flows of 2.",
        "both: hosts had 1 timeout, in as many flows of 2.",
    ]


def test_announcements_of_flows_cause_no_retransmissions() -> None:
    rows = [{"packets": 1000, "retransmitted": 60, "timeouts": 2}]
    (text,) = texts(spurious, Made({"A": manifest(controls=["phost"])}, flows=rows))
    assert text.endswith("A larger phost.reissue_after avoids this.")


def test_victims_need_a_share_of_the_blocked_time() -> None:
    rows = [{"victim_ps": 30 * US, "blocked_ps": 60 * US}, {"host_blocked_ps": 40 * US}]
    text = (
        "PFC blocked 1 flow as victims, for 30 us summed over packets, at hosts over flows: 30 % of the blocked "
        "time had its root cause elsewhere."
    )
    assert texts(victims, Made(waits=rows)) == [text]
    assert texts(victims, Made(waits=[{"blocked_ps": 60}])) == []
    (found,) = victims(Made(waits=rows))
    assert LONG_PAUSES > found.importance > COMPARISON
    # B has samples of waits, but PFC blocked none of its flows.
    (found,) = victims(Made(BOTH, waits=[*rows, {"scheme": "B"}]))
    assert (found.text, found.schemes) == (f"A: {text}", ("A",))


def test_flows_of_a_deadlock_are_no_victims() -> None:
    rows = [{"scheme": name, "victim_ps": 30 * US, "blocked_ps": 60 * US} for name in "AB"]
    (text,) = texts(victims, Made({"A": manifest(deadlocks=[{"ended_ps": None}]), "B": manifest()}, waits=rows))
    assert text.startswith(
        "B: PFC blocked 1 flow as victims, for 30 us summed over packets, at hosts over flows: 50 % "
    )


def test_a_busy_tier_limits_flows() -> None:
    capacity = 100_000_000_000 * 10 // 8 // US
    rows: list[Row] = [{"port": place, "tx_bytes": part * capacity // 100} for place, part in enumerate((100, 92))]
    rows += [{"port": 5, "node_name": "s0", "peer_name": "h0", "tier": 1, "tx_bytes": capacity}]
    source = Made(ports=rows, flows=[{}])
    assert texts(overload, source) == [
        "The 2 links from hosts to tier 1 were 96 % utilised on average: they limit flows."
    ]
    dropping = {"A": manifest(counts={"drops": 30})}
    sent = [{**row, "tx_packets": 40} for row in rows]
    assert texts(overload, Made(dropping, ports=sent, flows=[{}])) == [
        "The 2 links from hosts to tier 1 were 96 % utilised on average, but 37.5 % of hosts' packets were dropped."
    ]
    both = [{**row, "scheme": scheme} for row in sent for scheme in "AB"]
    rest: list[Row] = [{"scheme": "A"}, {"scheme": "B"}]
    assert texts(overload, Made({**dropping, "B": manifest()}, ports=both, flows=rest)) == [
        "B: the 2 links from hosts to tier 1 were 96 % utilised on average: they limit flows.",
        "A: the 2 links from hosts to tier 1 were 96 % utilised on average, but 37.5 % of hosts' packets were dropped.",
    ]
    idle = [{**row, "scheme": "B", "tx_bytes": capacity // 10} for row in rows]
    assert texts(overload, Made(BOTH, ports=[*rows, *idle], flows=[{}, {"scheme": "B"}])) == [
        "A: the 2 links from hosts to tier 1 were 96 % utilised on average: they limit flows."
    ]


def test_busy_tiers_of_runs_of_different_lengths_have_these() -> None:
    # 100 Gb/s for 10 us are 125,000 B; B sent as much in 20 us.
    rows = [{"scheme": name, "port": port, "tx_bytes": 125_000} for name in "AB" for port in (0, 1)]
    rows += [{"scheme": name, "port": 5, "node_name": "s0", "peer_name": "h0", "tier": 1} for name in "AB"]
    source = Made({"A": manifest(), "B": manifest(end_ps=20 * US)}, ports=rows, flows=[{}, {"scheme": "B"}])
    assert texts(overload, source) == [
        "A: the 2 links from hosts to tier 1 were 100 % utilised on average over a run of 10 us: they limit flows."
    ]


def test_waits_in_the_own_queue_of_a_host() -> None:
    def source(own: int, at_switch: int) -> Made:
        port = {"rate_bps": 10**9}
        host = {**port, "port": 0, "node_name": "h0", "tier": 0, "peak_queue_bytes": own}
        return Made(ports=[host, {**port, "port": 1, "node_name": "s0", "tier": 1, "peak_queue_bytes": at_switch}])

    # 125 kB at 1 Gb/s take 1 ms.
    assert texts(own_queues, source(250_000, 25_000)) == [
        "Packets waited up to 2 ms in the queue of their own host (h0: 250 kB), at switches up to 200 us. This queue "
        "has no limit, unless `host.nic_queue` is `port` and `switch.queues` has a limit."
    ]
    assert texts(own_queues, source(124_000, 0)) == []
    assert texts(own_queues, source(250_000, 26_000)) == []


def test_equal_schemes_are_named() -> None:
    rows = [{"scheme": scheme, "flow": flow} for scheme in "ABC" for flow in (0, 1)]
    rows[-1]["finish_ps"] = 2 * US
    manifests = {name: manifest() for name in "ABC"}
    assert texts(equal, Made(manifests, flows=rows)) == [
        "A and B are equal: all 2 flows have the same start and completion times."
    ]
    assert texts(equal, Made(BOTH, flows=[{**row, "finish_ps": None} for row in rows[:4]])) == []


def test_the_best_scheme_is_named_with_the_distance_of_the_others() -> None:
    rows = [*flows("A", [2.0] * 101), *flows("B", [2.0] * 99 + [5.0] * 2)]
    assert texts(comparison, Made(BOTH, flows=rows)) == [
        "A has the lowest p99 slowdown of all flows: 2, against 5 under B (2.5 times)."
    ]
    # p99 of 100 flows is their maximum.
    rows = [*flows("A", [2.0] * 100), *flows("B", [2.0] * 99 + [42.0])]
    assert texts(comparison, Made(BOTH, flows=rows)) == [
        "A has the lowest mean slowdown of all flows: 2, against 2.4 under B (+20 %)."
    ]
    rows = [*flows("A", [2.0] * 101), *flows("B", [2.0] * 99 + [2.05] * 2)]
    assert texts(comparison, Made(BOTH, flows=rows)) == [
        "Schemes differ by less than 5 % in the p99 slowdown of all flows (2)."
    ]


def test_schemes_are_compared_by_flows_that_completed_under_each() -> None:
    # The 20 flows that B did not complete are slow under A.
    rows = [*flows("A", [1.0] * 101 + [9.0] * 20), *flows("B", [2.0] * 101 + [0.0] * 20)]
    for row in rows[-20:]:
        row |= {"slowdown_hpcc": None, "finish_ps": None, "status": "incomplete"}
    assert texts(comparison, Made(BOTH, flows=rows)) == [
        "A has the lowest p99 slowdown of the 101 flows that completed under every scheme: 1, against 2 under B "
        "(2 times)."
    ]


def test_short_and_long_flows_are_compared_by_themselves() -> None:
    rows = []
    for scheme, short, long_ in (("A", 2.0, 4.0), ("B", 3.0, 3.0)):
        rows += flows(scheme, [short] * 20, size_bytes=100_000)
        rows += [{**row, "flow": row["flow"] + 20} for row in flows(scheme, [long_] * 20, size_bytes=1_000_000)]
    assert texts(comparison, Made(BOTH, flows=rows)) == [
        "A has the lowest mean slowdown of short flows (up to 100 kB): 2, against 3 under B (+50 %).",
        "B has the lowest mean slowdown of long flows (at least 1 MB): 3, against 4 under A (+33 %).",
    ]


def test_comparisons_have_one_seed(results: Path) -> None:
    found = incast.open(results).findings()
    assert [finding.kind for finding in found][-1] == "seed"
    text = "Schemes are compared with one seed (7); a sweep over seeds shows if their order holds."
    assert [(finding.text, finding.schemes) for finding in found if finding.kind == "seed"] == [
        (text, ("DCQCN", "HPCC"))
    ]
    source = Made(flows=flows("A", [1.0] * 20))
    assert "seed" not in {finding.kind for finding in findings_of(source)}


def test_one_scheme_and_few_flows_are_not_compared() -> None:
    assert texts(comparison, Made(flows=flows("A", [1.0] * 30))) == []
    assert texts(comparison, Made(BOTH, flows=[*flows("A", [1.0] * 19), *flows("B", [2.0] * 19)])) == []


def test_completion_of_few_flows_and_of_flows_that_wait() -> None:
    rows = [
        {"scheme": name, "flow": flow, "finish_ps": end * US} for name, end in (("A", 3), ("B", 2)) for flow in (0, 1)
    ]
    assert texts(completion, Made(BOTH, flows=rows)) == [
        "B completes the 2 flows first: in 2 us, against 3 us under A (+50 %)."
    ]
    # UDP's flows end without an ACK.
    schemes = {"A": manifest(controls=["tcp"]), "B": manifest(controls=["udp"])}
    delivered = [{**row, "delivered_ps": 2 * US} for row in rows]
    assert texts(completion, Made(schemes, flows=delivered)) == ["The 2 flows are delivered in 2 us."]
    delivered[0]["delivered_ps"] = delivered[1]["delivered_ps"] = 5 * US // 2
    assert texts(completion, Made(schemes, flows=delivered)) == [
        "B delivers the 2 flows first: in 2 us, against 2.5 us under A (+25 %)."
    ]
    # The last start would decide the time of both flows.
    spread: list[Row] = [
        {"scheme": name, "flow": flow, "start_ps": flow * 100 * US, "finish_ps": (flow * 100 + took) * US}
        for name, took in (("A", 3), ("B", 2))
        for flow in (0, 1)
    ]
    assert texts(completion, Made(BOTH, flows=spread)) == [
        "B completes the 2 flows fastest: in 2 us on average, against 3 us under A (+50 %)."
    ]
    many = [{"flow": flow, "dependency": flow or None, "finish_ps": 4 * US} for flow in range(30)]
    assert texts(completion, Made(flows=many)) == ["The 30 flows complete in 4 us."]
    assert texts(completion, Made(flows=[{**row, "dependency": None} for row in many])) == []
    assert texts(completion, Made(flows=[*many, {"status": "incomplete", "finish_ps": None}])) == []
    assert texts(completion, Made(BOTH, flows=[{**row, "backlogged": True} for row in rows])) == []


def test_messages_of_several_queue_pairs_are_compared_as_a_whole() -> None:
    # Under A one of the two queue pairs of a message is early, but the message is late.
    rows: list[Row] = [
        {"scheme": name, "flow": 2 * message + pair, "message": message, "finish_ps": end * US, "slowdown_hpcc": end}
        for name, ends in (("A", (1.0, 4.0)), ("B", (3.0, 3.0)))
        for message in range(20)
        for pair, end in enumerate(ends)
    ]
    messages: list[Row] = [{"scheme": name, "message": message} for name in "AB" for message in range(20)]
    assert texts(comparison, Made(BOTH, flows=rows, messages=messages)) == [
        "B has the lowest mean slowdown of all messages: 3, against 4 under A (+33 %)."
    ]
    one = Made(BOTH, flows=[row for row in rows if row["message"] == 0], messages=messages)
    assert texts(completion, one) == ["B completes the message first: in 3 us, against 4 us under A (+33 %)."]


def test_a_flow_with_a_label_of_its_own_is_compared() -> None:
    labels = ("web", "rpc", "db", "log")
    ends = {"A": 3, "B": 2, "C": 4}
    schemes = {name: manifest() for name in ends}
    rows = [
        {"scheme": name, "flow": flow, "label": label, "finish_ps": end * US}
        for flow, label in enumerate(labels)
        for name, end in ends.items()
    ]
    assert texts(completion, Made(schemes, flows=rows[:3])) == [
        "B completes the flow first: in 2 us, against 3 us under A (+50 %) and 4 us under C (2 times)."
    ]
    three = texts(completion, Made(schemes, flows=rows[:9]))
    assert [text.partition(" first")[0] for text in three] == [
        f"B completes the flow of label {label}" for label in labels[:3]
    ]
    assert texts(completion, Made(schemes, flows=rows)) == []
    near = [{**row, "finish_ps": 100 * US + US * (row["scheme"] == "B") // 2} for row in rows[:2]]
    assert texts(completion, Made(BOTH, flows=near)) == [
        "Schemes differ by less than 1 % in the time in which the flow completes (100 us)."
    ]
    udp = {"A": manifest(controls=["tcp"]), "B": manifest(controls=["udp"])}
    assert texts(completion, Made(udp, flows=[{**row, "delivered_ps": US} for row in rows[:2]])) == [
        "The flow is delivered in 1 us."
    ]


def test_backlogged_flows_have_their_goodput_and_fairness() -> None:
    goodputs = {"A": (30, 10), "B": (20, 20)}
    rows: list[Row] = [
        {"scheme": name, "flow": flow, "backlogged": True, "goodput_bps": each * 10**9}
        for name, mine in goodputs.items()
        for flow, each in enumerate(mine)
    ]
    assert texts(backlogged, Made(BOTH, flows=rows)) == [
        "The 2 backlogged flows had a mean goodput of 20 Gb/s, the slowest 10 Gb/s (A) and 20 Gb/s (B); Jain's index "
        "of fairness is 0.8 (A) and 1 (B)."
    ]
    other: Row = {"flow": 2, "label": "other"}
    assert texts(backlogged, Made(flows=[rows[0], other])) == [
        "The backlogged flow of label all had a goodput of 30 Gb/s."
    ]
    assert texts(backlogged, Made(flows=[other])) == []


def test_iterations_are_compared_by_their_mean() -> None:
    rows = [
        {"scheme": name, "iteration": number, "communication_ps": time * US}
        for name, times in (("A", (2, 4)), ("B", (1, 3)))
        for number, time in enumerate(times)
    ]
    ends: list[Row] = [{"scheme": "A"}, {"scheme": "B", "finish_ps": 2 * US}]
    assert texts(iterations, Made(BOTH, iterations=rows, flows=ends)) == [
        "B has the shortest iterations of label job: 2 us of communication on average, against 3 us under A (+50 %)."
    ]
    assert texts(iterations, Made(BOTH, iterations=rows[:3], flows=ends)) == [
        "B has the shortest iterations of label job (of the 1 that completed under every scheme): 1 us of "
        "communication on average, against 2 us under A (2 times)."
    ]
    alone = "An iteration of label job communicates for 3 us on average."
    assert texts(iterations, Made(iterations=rows[:2], flows=ends[:1])) == [alone]
    assert texts(iterations, Made(BOTH, iterations=rows[:2], flows=ends)) == []
    assert texts(iterations, Made()) == []
    flows = [{"flow": flow, "label": "job", "dependency": flow or None} for flow in range(30)]
    assert texts(completion, Made(flows=flows, iterations=rows[:2])) == []


def test_schemes_within_1_percent_share_the_lead() -> None:
    schemes = {name: manifest() for name in "ABCD"}
    # B has the flows of A; C takes 0.5 % longer, D 10 %.
    ends = {"A": 40_000_000, "B": 40_000_000, "C": 40_200_000, "D": 44_000_000}
    flows = [{"scheme": name, "flow": flow, "finish_ps": end} for name, end in ends.items() for flow in (0, 1)]
    times: list[Row] = [{"scheme": name, "communication_ps": end} for name, end in ends.items()]
    assert texts(completion, Made(schemes, flows=flows)) == [
        "A and C complete the 2 flows first: in 40 us, against 44 us under D (+10 %)."
    ]
    assert texts(iterations, Made(schemes, flows=flows, iterations=times)) == [
        "A and C have the shortest iterations of label job: 40 us of communication on average, against 44 us under D "
        "(+10 %)."
    ]
    three = {name: manifest() for name in "ABC"}
    near = Made(three, flows=flows[:6], iterations=times[:3])
    assert texts(completion, near) == [
        "Schemes differ by less than 1 % in the time in which the 2 flows complete (40 us)."
    ]
    assert texts(iterations, near) == [
        "Schemes differ by less than 1 % in the mean communication of iterations of label job (40 us)."
    ]
    same = Made(BOTH, flows=flows[:4], iterations=times[:2])
    assert texts(completion, same) == ["The 2 flows complete in 40 us."]


def test_a_quiet_run_is_said_to_be_quiet() -> None:
    assert texts(quiet, Made({"A": manifest(completed=2)})) == [
        "All 2 flows completed without a dropped packet; no port was paused."
    ]
    assert texts(quiet, Made({"A": manifest(completed=2, counts={"drops": 1})})) == []
    ended = {"A": manifest(completed=127, counts={"pauses": 1}), "B": manifest(completed=1230, counts={"pauses": 1})}
    assert texts(quiet, Made(ended)) == ["All 127 to 1,230 flows completed without a dropped packet."]
    ended["A"]["stop"]["cancelled"] = 1144
    ended["B"]["stop"]["cancelled"] = 5
    assert texts(quiet, Made(ended)) == [
        "All started flows (127 to 1,230) completed without a dropped packet; 5 to 1,144 were cancelled "
        "at the end of their workload entry."
    ]
    assert texts(quiet, Made()) == []


def test_the_most_important_findings_come_first() -> None:
    cycle = [{"node": "T1", "peer": "L1"}, {"node": "L1", "peer": "T1"}]
    one = {"closed_ps": US, "cycle": cycle, "stuck_queues": 2, "stuck_hosts": 0}
    counts = {"drops": 3, "ttl_drops": 3}
    source = Made({"A": manifest("deadlock", deadlocks=[one], counts=counts)}, flows=[{}, {"status": "incomplete"}])
    assert [finding.kind for finding in findings_of(source)] == ["deadlock", "unfinished", "drops"]
    assert classes(source) == [["A"]]
