"""Progress as people see it."""

from __future__ import annotations

import io
from dataclasses import replace

import pytest
from rich.console import Console

from incast import Progress, SchemeProgress
from incast.cli import live

HALF = SchemeProgress(
    scheme="DCQCN",
    state="running",
    now_ps=1_500_000_000,
    events=10,
    packet_hops=2_000_000,
    flows_done=1_000,
    flows=2_000,
    bytes_acked=500,
    bytes=1_000,
)


@pytest.mark.parametrize(
    ("picoseconds", "text"),
    [
        (0, "0 ps"),
        (999, "999 ps"),
        (1_500, "1.5 ns"),
        (2_000_000, "2 us"),
        (12_345_000_000, "12.35 ms"),
        (10**12, "1 s"),
    ],
)
def test_simulated(picoseconds: int, text: str) -> None:
    assert live.simulated(picoseconds) == text


@pytest.mark.parametrize(("seconds", "text"), [(0.2, "0:00"), (61, "1:01"), (3_725, "1:02:05")])
def test_clock(seconds: float, text: str) -> None:
    assert live.clock(seconds) == text


def test_speed_and_remaining_time() -> None:
    speed = live.Speed()
    speed.note(10.0, replace(HALF, packet_hops=0, bytes_acked=250))
    speed.note(11.0, HALF)
    assert speed.hops() == 2_000_000
    assert speed.left() == 2.0
    text = live.status(HALF, speed)
    assert text == "1.5 ms simulated, 1,000/2,000 flows, 2.0 M packet-hops/s, 0:02 left"


def test_speed_forgets() -> None:
    speed = live.Speed()
    for second in range(20):
        speed.note(float(second), replace(HALF, packet_hops=second**2))
    assert len(speed.seen) <= live.SMOOTHING + 2


def test_standing_still() -> None:
    speed = live.Speed()
    speed.note(1.0, HALF)
    assert speed.hops() == 0.0
    assert speed.left() is None
    speed.note(2.0, HALF)
    assert speed.left() is None


def test_lines_without_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 0.0
    monkeypatch.setattr("time.monotonic", lambda: now)
    out = io.StringIO()
    with live.Live(Console(file=out, width=40)) as shown:
        for step in range(100):
            now = step * 0.1
            shown.update(Progress((replace(HALF, bytes_acked=step * 10, packet_hops=step),)))
        shown.update(Progress((replace(HALF, state="done", flows_done=2_000, bytes_acked=1_000),)))
        shown.update(Progress((replace(HALF, state="done", flows_done=2_000, bytes_acked=1_000),)))
    lines = out.getvalue().splitlines()
    assert len(lines) == 2, lines
    assert lines[0].startswith("DCQCN: 5")
    assert "left" in lines[0]
    assert lines[1] == "DCQCN: done, 1.5 ms simulated, 2,000/2,000 flows"


def test_bars_in_a_terminal() -> None:
    out = io.StringIO()
    console = Console(file=out, width=140, force_terminal=True, color_system=None)
    with live.Live(console) as shown:
        shown.update(Progress((HALF, replace(HALF, scheme="HPCC", state="done"))))
        assert shown._bars
        shown._bars.refresh()
    assert "DCQCN" in out.getvalue()
    assert "50%" in out.getvalue()
    assert "1,000/2,000 flows" in out.getvalue()


def test_quiet() -> None:
    out = io.StringIO()
    with live.Live(Console(file=out, force_terminal=True), quiet=True) as shown:
        shown.update(Progress((HALF,)))
    assert out.getvalue() == ""
