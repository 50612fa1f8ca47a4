"""The study of HPCC's key results at its smallest scale: that all of it runs, and says what it has not measured."""

from __future__ import annotations

from pathlib import Path

import pytest

import incast


@pytest.mark.long
def test_smoke(tmp_path: Path) -> None:
    out = tmp_path / "hpcc"
    study = incast.load_study("hpcc")
    found = study.run(out, scale="smoke")
    assert {name: len(sweep.done) for name, sweep in found.sweeps.items()} == {
        "fct": 72,
        "windows": 8,
        "incast": 3,
        "queue": 8,
        "ending": 5,
        "joining": 5,
        "failures": 6,
    }
    assert {claim.id.rstrip("bcd") for claim in found.claims} == {f"E{number}" for number in range(1, 25)}
    assert found.claims["E20"].verdict == "holds"
    others = [claim for claim in found.claims if claim.id != "E20"]
    assert {claim.verdict for claim in others} == {"not measured"}
    assert {claim.reason for claim in others} == {"needs scale quick", "needs scale paper"}
    assert (out / "report.html").stat().st_size > 500_000

    for name, metric in study.metrics.items():
        connection = found.sweeps[metric.part].connect()
        study.create_views(connection, metric.part)
        rows = connection.execute(metric.sql).fetchall()
        assert rows, name
        assert all(row[-1] is not None for row in rows), name


def test_bounds_are_those_of_the_statements() -> None:
    claims = {claim.id: claim for claim in incast.load_study("hpcc").claims}
    # 70 % of payload and 77.7 % of all bytes: a ratio of 1.11.
    assert [check.above for check in claims["E18"].check] == [pytest.approx(77.7 / 70)]
    assert "at most 15 %" in claims["E10"].statement
    assert [(check.above, check.below) for check in claims["E10"].check] == [(1, None)] * 2 + [(None, 1.15)] * 2
    assert "by half" in claims["E21"].statement
    assert [check.below for check in claims["E21"].check] == [0.5] * 2
