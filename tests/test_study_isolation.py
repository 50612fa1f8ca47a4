"""The study of congestion isolation at its smallest scale: that all of it runs, and where flows are isolated."""

from __future__ import annotations

import tomllib

import pytest

import incast
from conftest import ROOT

STUDY = ROOT / "python" / "incast" / "studies" / "isolation"
RARE = {"pause_length_isolated", "pauses_left", "pauses_left_by_queue", "xoff_left", "xoff_gain", "in_vain_left"}
"""Metrics that may have no figure where nothing was paused."""


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> incast.StudyResults:
    """The study at its smallest scale."""
    return incast.load_study("isolation").run(tmp_path_factory.mktemp("study") / "isolation", scale="smoke")


def test_all_of_it_runs(ran: incast.StudyResults) -> None:
    assert {name: len(sweep.done) for name, sweep in ran.sweeps.items()} == {
        "solutions": 12,
        "scale": 12,
        "selection": 14,
        "controls": 40,
        "numbers": 42,
        "timeline": 3,
    }
    assert not any(sweep.failed for sweep in ran.sweeps.values())
    assert [claim.id for claim in ran.claims] == [f"CI{number}" for number in range(1, 20)]
    assert {claim.reason for claim in ran.claims} == {"needs scale quick"}


def test_nothing_is_lost_or_out_of_order(ran: incast.StudyResults) -> None:
    for name, sweep in ran.sweeps.items():
        found = sweep.connect()
        assert found.sql("select sum(lossless_drops) from runs").fetchall() == [(0,)], name
        apart = found.sql("select sum(discarded) from flows where scheme = '+isolation'").fetchall()
        assert apart in ([(0,)], [(None,)]), name


def test_metrics_run(ran: incast.StudyResults) -> None:
    """Metrics of flows after 2 ms have none in a run of a tenth of one; all others have figures."""
    metrics = tomllib.loads((STUDY / "claims.toml").read_text(encoding="utf-8"))["metric"]
    for name, metric in metrics.items():
        rows = ran.sweeps[metric["sweep"]].connect().execute(metric["sql"]).fetchall()
        late = "start_ps >= 2e9" in metric["sql"]
        assert bool(rows) or late or name in RARE, name


def test_isolation_is_where_it_is_asked_for(ran: incast.StudyResults) -> None:
    found = ran.sweeps["solutions"].connect()
    schemes = found.sql("select distinct scheme from isolations").fetchall()
    assert schemes == [("+isolation",)]
    sent = found.sql("select scheme, min(isolation_messages) > 0, max(isolation_messages) > 0 from runs group by all")
    assert {scheme: (least, most) for scheme, least, most in sent.fetchall() if scheme != "+isolation"} == {
        "PFC+ECN": (False, False),
        "+mice": (False, False),
    }
    chosen = (
        ran.sweeps["selection"]
        .connect()
        .sql("select selection, list(distinct reason order by reason) from isolations group by all")
    )
    reasons = dict(chosen.fetchall())
    assert "marks" in reasons["marks"]
    assert "counters" not in reasons["marks"]
    assert all("marks" not in reasons[one] for one in reasons if "largest" in one)


def test_the_page_has_the_timelines(ran: incast.StudyResults) -> None:
    page = (ran.path / "report.html").read_text(encoding="utf-8")
    assert "Queues that are paused at a time" in page
    assert "Every congestion control" in page
