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
