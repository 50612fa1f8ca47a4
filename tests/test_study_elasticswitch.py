"""The study of ElasticSwitch at its smallest scale: that all of it runs, and what it has not measured is said."""

from __future__ import annotations

from pathlib import Path

import pytest

import incast
from conftest import ROOT

STUDY = ROOT / "python" / "incast" / "studies" / "elasticswitch"


@pytest.mark.long
def test_smoke(tmp_path: Path) -> None:
    out = tmp_path / "elasticswitch"
    study = incast.load_study("elasticswitch")
    found = study.run(out, scale="smoke")
    assert {name: len(sweep.done) for name, sweep in found.sweeps.items()} == {
        "many": 24,
        "mapreduce": 18,
        "shuffles": 6,
        "tuning": 4,
        "marks": 16,
        "conserving": 16,
        "short": 8,
        "buffers": 6,
    }
    assert list(dict.fromkeys(claim.id.rstrip("b") for claim in found.claims)) == [f"ES{n}" for n in range(1, 23)]
    assert {(claim.verdict, claim.reason) for claim in found.claims} == {("not measured", "needs scale quick")}
    page = (out / "report.html").read_text(encoding="utf-8")
    assert '<section id="tenants"' in page
    for name, metric in study.metrics.items():
        connection = found.sweeps[metric.part].connect()
        study.create_views(connection, metric.part)
        rows = connection.execute(metric.sql).fetchall()
        assert rows or name == "jain", name
        assert all(row[-1] is not None for row in rows), name


def test_what_was_published_is_what_is_judged() -> None:
    """The constants of the text's section 7, as the scenarios run them."""
    scenario = incast.load(STUDY / "two_tenants.toml")
    assert scenario.scheme is not None
    assert scenario.tenant is not None
    hypervisor = scenario.scheme["ElasticSwitch"].hypervisor
    assert isinstance(hypervisor, incast.schema.ElasticSwitchParams)
    rate = hypervisor.rate
    assert rate is not None
    assert (rate.period, hypervisor.partition_period) == ("15ms", "60ms")
    assert (rate.decrease, rate.recovery, rate.step, rate.time_scale) == (0.4, 0.75, "500kbps", 1.5)
    assert (rate.forget, rate.caution, rate.min_growth) == (0.75, 0.5, 0.3)
    assert [tenant.guarantee for tenant in scenario.tenant] == ["450Mbps", "450Mbps"]
    shuffle = incast.load(STUDY / "mapreduce_tree.toml")
    # 1 Gb/s of a rack's link up, less the headroom, for 16 VMs.
    assert shuffle.tenant is not None
    assert shuffle.tenant[0].guarantee == "56.25Mbps" == f"{1000 * 0.9 / 16:g}Mbps"
