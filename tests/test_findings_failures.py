"""Rules of findings on failed links, on made-up tables."""

from __future__ import annotations

import pytest

from incast.findings.failures import failures
from incast.findings.slower import slower, with_losses
from made import Made, Row, manifest
from test_findings import BOTH, US, flows, texts


def test_a_link_that_was_down_twice() -> None:
    changes = [("down", 1), ("up", 2), ("down", 4), ("withdrawn", 5), ("up", 7), ("restored", 8)]
    links = [{"change": change, "time_ps": at * US} for change, at in changes]
    source = Made(
        {"A": manifest(counts={"link_down_drops": 3675})}, links=links, flows=[{"timeouts": 55, "nacks": 1}, {}]
    )
    assert texts(failures, source) == [
        "l0-s0 was down twice, for 4 us in total: 3,675 packets lost; in the whole run 55 timeouts and 1 NACK; "
        "no port was paused."
    ]


def test_parallel_links_are_told_apart() -> None:
    changes = [(0, "down", 3), (1, "down", 5), (0, "up", 6), (1, "up", 8)]
    links = [{"link": link, "change": change, "time_ps": at * US} for link, change, at in changes]
    assert texts(failures, Made(links=links, flows=[{}])) == [
        "2 parallel links l0-s0 were down in 2 outages, for 6 us in total: 0 packets lost; no port was paused."
    ]


def test_links_that_were_down_to_the_end() -> None:
    links: list[Row] = [{"link": place, "b_name": f"s{place}", "time_ps": (place + 1) * US} for place in range(2)]
    counts = {"link_down_drops": 2, "pauses": 1}
    source = Made({"A": manifest(counts=counts)}, links=links, flows=[{}])
    assert texts(failures, source) == ["2 links of l0 were down, to the end of the run: 2 packets lost."]
    source = Made({"A": manifest(counts=counts)}, links=[*links, {"change": "up", "time_ps": 21 * US}], flows=[{}])
    assert texts(failures, source) == [
        "2 links of l0 were down in 2 outages, for 20 us and, in 1 outage, to the end of the run: 2 packets lost."
    ]


def test_a_failed_switch_and_a_gray_failure() -> None:
    links: list[Row] = [{"link": place, "b_name": "s0", "a_name": f"l{place}", "time_ps": US} for place in range(3)]
    links += [{"link": 7, "a_name": "l9", "b_name": "s1", "change": "silent", "time_ps": 2 * US}]
    counts = {"link_down_drops": 2, "silent_drops": 1, "pauses": 1}
    source = Made({"A": manifest(counts=counts)}, links=links, flows=[{}])
    assert texts(failures, source) == [
        "3 links of s0 were down from 1 us to the end of the run: 2 packets lost.",
        "l9-s1 lost packets silently from 2 us to the end of the run: 1 packet lost.",
    ]


def test_schemes_with_other_failures_have_their_own_sentence() -> None:
    links = [{"scheme": "B", "time_ps": US}]
    source = Made({"A": manifest(), "B": manifest(counts={"pauses": 1})}, links=links, flows=[{}])
    assert texts(failures, source) == ["B: l0-s0 was down from 1 us to the end of the run: 0 packets lost."]


CONTROL = " Other causes are possible, such as load: compare with a run with --set 'network.failure=[]'."


@pytest.mark.parametrize(("hit", "said"), [(3.0, True), (1.4, False)])
def test_flows_during_an_outage_are_compared_with_the_others(hit: float, said: bool) -> None:
    links: list[Row] = [{"time_ps": 5 * US}, {"change": "up", "time_ps": 6 * US}]
    during = flows("A", [hit] * 20, start_ps=5 * US, finish_ps=6 * US)
    rows = [*during, *flows("A", [1.0] * 20, start_ps=7 * US, finish_ps=8 * US)]
    text = f"Flows during an outage had a mean slowdown of 3, the other flows of 1.{CONTROL}"
    assert texts(slower, Made(links=links, flows=rows)) == ([text] if said else [])
    gray: list[Row] = [{**row, "change": change} for row, change in zip(links, ("silent", "clean"), strict=True)]
    assert texts(slower, Made(links=gray, flows=rows)) == []


def test_flows_that_were_slow_before_an_outage_are_not_slow_because_of_it() -> None:
    # The ideal interval of 1 us has ended before the outage.
    links: list[Row] = [{"time_ps": 5 * US}, {"change": "up", "time_ps": 6 * US}]
    early = flows("A", [4.0] * 20, start_ps=2 * US, finish_ps=6 * US)
    rows = [*early, *flows("A", [1.0] * 20, start_ps=5 * US, finish_ps=6 * US)]
    assert texts(slower, Made(links=links, flows=rows)) == []


def test_values_during_an_outage_stand_in_the_order_of_schemes() -> None:
    links: list[Row] = [{"scheme": name, "change": change, "time_ps": at * US} for name in "AB"
                        for change, at in (("down", 5), ("up", 6))]  # fmt: skip
    rows = [row for name, hit in (("A", 4.0), ("B", 3.0)) for row in (
        *flows(name, [hit] * 20, start_ps=5 * US, finish_ps=6 * US),
        *flows(name, [hit - 2] * 20, start_ps=7 * US, finish_ps=8 * US))]  # fmt: skip
    assert texts(slower, Made(BOTH, links=links, flows=rows)) == [
        f"Flows during an outage had a mean slowdown of 4 (A) and 3 (B), the other flows of 2 (A) and 1 (B).{CONTROL}"
    ]


def test_flows_during_an_outage_are_compared_within_their_label() -> None:
    links: list[Row] = [{"time_ps": 5 * US}, {"change": "up", "time_ps": 6 * US}]
    spans = {True: {"start_ps": 5 * US, "finish_ps": 6 * US}, False: {"start_ps": 7 * US, "finish_ps": 8 * US}}
    # The outage does not change the slowdown of `slow`, which has most of its flows then; it doubles that of `bg`.
    rows = flows("A", [8.0] * 60, label="slow", **spans[True]) + flows("A", [8.0] * 20, label="slow", **spans[False])
    rows += flows("A", [2.0] * 20, label="bg", **spans[True]) + flows("A", [1.0] * 60, label="bg", **spans[False])
    assert texts(slower, Made(links=links, flows=rows)) == [
        f"Flows of label bg during an outage had a mean slowdown of 2, the other flows of this label of 1.{CONTROL}"
    ]


def test_iterations_during_an_outage_are_compared_by_their_time() -> None:
    links: list[Row] = [{"time_ps": 5 * US}, {"change": "up", "time_ps": 6 * US}]
    job = [{"flow": place, "label": "job", "start_ps": 4 * US, "finish_ps": 5 * US} for place in range(20)]
    during: Row = {"start_ps": 4 * US, "end_ps": 7 * US, "communication_ps": 3 * US}
    after: Row = {"iteration": 1, "start_ps": 8 * US, "end_ps": 9 * US}
    alone: Row = {"collective": 1, "start_ps": 4 * US, "end_ps": 5 * US}
    assert texts(slower, Made(links=links, flows=job, iterations=[during, after, alone])) == [
        "Iterations of label job during an outage communicated for 3 us on average, the other iterations for 1 us."
        + CONTROL
    ]


def lossy(count: int, size_of_others: int = 1000, dropped: int | None = None, lost: int = 0) -> Made:
    """Results with a gray failure, in which every second flow lost a packet."""
    links: list[Row] = [{"time_ps": 5 * US, "change": "silent"}, {"time_ps": 6 * US, "change": "clean"}]
    usual = {"start_ps": 5 * US, "finish_ps": 6 * US}
    rows = flows("A", [9.0, 2.0] * count, **usual)
    for row in rows[1::2]:
        row["size_bytes"] = size_of_others
    drops = [{"flow": row["flow"], "reason": "silent"} for row in rows[::2]]
    counts = {"drops": count if dropped is None else dropped, "silent_drops": lost}
    return Made({"A": manifest(counts=counts)}, links=links, flows=rows, drops=drops)


def test_flows_that_lost_packets_are_compared_with_others_of_their_size() -> None:
    text = (
        "5 flows that lost packets on failed links had a mean slowdown of 9, other flows of their label and size at "
        "that time of 2."
    )
    assert texts(with_losses, lossy(5)) == [text]
    assert texts(with_losses, lossy(4)) == []
    assert texts(with_losses, lossy(5, size_of_others=4000)) == []


def test_flows_with_a_recorded_drop_are_compared_with_flows_that_retransmitted_nothing() -> None:
    # Of each five flows with a recorded drop, a sixth that retransmitted may have lost a packet, too: it is in neither.
    complete, cut = lossy(6), lossy(5, dropped=6)
    links = [{**row, "scheme": name} for name in "AB" for row in cut.tables["links"]]
    unsure = {**cut.tables["flows"][1], "flow": 10, "slowdown_hpcc": 50.0, "retransmitted": 1, "timeouts": 0}
    rows = [*cut.tables["flows"], unsure, *({**row, "scheme": "B"} for row in complete.tables["flows"])]
    drops = [*cut.tables["drops"], *({**row, "scheme": "B"} for row in complete.tables["drops"])]
    counts = {"drops": 6, "silent_drops": 6}
    source = Made({name: manifest(counts=counts) for name in "AB"}, links=links, flows=rows, drops=drops)
    assert texts(with_losses, source) == [
        "5 (A) and 6 (B) flows that lost packets on failed links had a mean slowdown of 9, other flows of their label "
        "and size at that time of 2. For A, only the first 5 of 6 drops are recorded: flows that lost packets are "
        "those with a recorded drop, others those without a retransmission."
    ]


@pytest.mark.parametrize(
    ("recorded", "lost", "why"),
    [(4, 5, "only the first 4 of 60 drops are recorded"), (0, 5, "none of 60 drops is recorded"), (4, 4, None)],
)
def test_schemes_with_too_few_recorded_drops_are_named(recorded: int, lost: int, why: str | None) -> None:
    source = lossy(recorded, dropped=60, lost=lost)
    text = f"Flows of A that lost packets on failed links are not compared: {why} (`measure.max_drops`)."
    assert texts(with_losses, source) == ([text] if why else [])
