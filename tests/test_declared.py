"""Counters and stop reasons that reports take from the simulator's declarations."""

from __future__ import annotations

from incast import declared
from incast.sweep import runs

COUNTERS = {each.name: each for each in declared.counters()}


def test_one_thing_is_singular() -> None:
    assert COUNTERS["ttl_drops"].text(1) == "1 packet dropped: TTL expired"
    assert COUNTERS["isolations_refused"].text(1) == "1 flow not isolated: table full"
    assert COUNTERS["isolation_messages"].text(1200) == "1,200 isolation messages (CIP) sent"


def test_failures_are_those_of_the_simulator() -> None:
    assert {name for name, failure in declared.stops().items() if failure} == {"deadlock", "stalled"}
    scheme = {"stop": {"reason": "horizon", "text": "stopped"}, "counts": {"lossless_drops": 2, "ttl_drops": 3}}
    assert declared.bad_stop(scheme) == []
    assert declared.above_0(scheme, "failure") == ["2 lossless packets dropped: PFC headroom exceeded"]
    assert declared.above_0(scheme, "shown") == ["3 packets dropped: TTL expired"]


def test_runs_have_every_counter_and_lack_those_of_earlier_versions() -> None:
    scheme = {"counts": {"marks": 5}}
    found = {column.name: column.get({}, scheme) for column in runs.columns() if column.name in COUNTERS}
    assert list(found) == list(COUNTERS)
    assert (found["marks"], found["watchdog_drops"]) == (5, None)
    assert "hypervisor_messages" in runs.types({})
