"""The study of Tagger at its smallest scale: that all of it runs, what holds, and what it has not measured is said."""

from __future__ import annotations

import tomllib

import pytest

import incast
from conftest import ROOT, Command
from incast import analysis, tagger, testbed

STUDY = ROOT / "python" / "incast" / "studies" / "tagger"
SMALLEST = ("TG1", "TG2", "TG3", "TG4", "TG11", "TG12")
"""Claims that the smallest scale judges."""


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> incast.StudyResults:
    """The study at its smallest scale."""
    return incast.load_study("tagger").run(tmp_path_factory.mktemp("study") / "tagger", scale="smoke")


def test_all_of_it_runs(ran: incast.StudyResults) -> None:
    assert {name: len(sweep.done) for name, sweep in ran.sweeps.items()} == {
        "loop": 2,
        "bounce": 2,
        "transitions": 6,
        "sharing": 2,
        "applications": 3,
    }
    done = {name: len(one.done) for name, one in ran.analyses.items()}
    cost = 2 if testbed.available() is None else 0
    assert done == {"table": 4, "rules": 8, "failures": 8, "spread": 4, "users": 2, "changes": 4, "cost": cost}
    assert [claim.id for claim in ran.claims] == [f"TG{number}" for number in range(1, 17)]
    judged = {claim.id: claim.outcome for claim in ran.claims if claim.reason != "needs scale quick"}
    assert judged == dict.fromkeys(SMALLEST, "holds")


def test_every_metric_has_rows(ran: incast.StudyResults) -> None:
    metrics = tomllib.loads((STUDY / "claims.toml").read_text(encoding="utf-8"))["metric"]
    # One number of rules above 0 has no line, and what cannot be measured has no figures.
    lacking = {"rtt_change"} | (set() if testbed.available() is None else {"throughput_change", "rtt", "throughput"})
    for name, metric in metrics.items():
        part = ran.sweeps[metric["sweep"]] if "sweep" in metric else ran.analyses[metric["analysis"]]
        rows = part.connect().execute(metric["sql"]).fetchall()
        assert bool(rows) == (name not in lacking), name
        assert all(row[-1] is not None for row in rows), name


def test_the_page_shows_pauses_spread_and_the_cycle_close(ran: incast.StudyResults) -> None:
    page = (ran.path / "report.html").read_text(encoding="utf-8")
    assert '<section id="deadlocks"' in page
    assert "How the deadlock closed" in page


def test_the_queue_of_the_old_tag_loses_packets(ran: incast.StudyResults) -> None:
    """What the wrong variant is there for: the right one is needed."""
    rows = (
        ran.sweeps["transitions"]
        .connect()
        .sql("select queue, min(lossless_drops), max(lossless_drops) from runs group by all")
    )
    drops = {queue: (least, most) for queue, least, most in rows.fetchall()}
    assert drops["of the new tag"] == (0, 0)
    assert drops["of the old tag"][0] > 0


def test_what_watchdogs_drop_is_lost(ran: incast.StudyResults) -> None:
    """The chart of lossless packets that were dropped counts what a watchdog drops too."""
    metrics = tomllib.loads((STUDY / "claims.toml").read_text(encoding="utf-8"))["metric"]
    for name in ("loop_drops", "bounce_drops", "held_drops"):
        runs = ran.sweeps[metrics[name]["sweep"]].connect()
        runs.execute(
            "create or replace table runs as "
            "select * replace (3 as lossless_drops, 4 as watchdog_lossless_drops) from runs"
        )
        assert {row[-1] for row in runs.execute(metrics[name]["sql"]).fetchall()} == {7}, name


def test_the_same_seed_is_the_same_row(ran: incast.StudyResults) -> None:
    rows = {(row["convention"], row["switches"]): row for row in ran.analyses["table"].rows}
    found = tagger.row("F", 100, 32, 1)
    mine = rows["F", 100]
    assert (mine["classes"], mine["total"], mine["most"], mine["verified"]) == (
        found.classes,
        found.total,
        found.most,
        True,
    )


def test_what_was_published_is_what_is_judged() -> None:
    """The table's figures, and the testbed's."""
    claims = {claim.id: claim for claim in incast.load_study("tagger").claims}
    totals = {check.at["switches"]: check.about for check in claims["TG6"].check}
    assert totals == {row.switches: row.total for row in tagger.published()}
    plan = analysis.read(STUDY / "table.toml", "quick")
    sizes = {(cell.columns["switches"], cell.columns["ports"]) for cell in plan.runs}
    assert sizes == {(row.switches, row.ports) for row in tagger.published()}
    testbed_file = incast.load(STUDY / "testbed.toml")
    assert isinstance(testbed_file.fabric, incast.schema.CustomFabric)
    hosts, switches = testbed_file.fabric.hosts, testbed_file.fabric.switches
    assert isinstance(hosts, list)
    assert (len(hosts), len(switches or ())) == (16, 10)
    assert {link.rate for link in testbed_file.fabric.links} == {"40Gbps"}


def test_the_commands_tell_of_it(command: Command) -> None:
    said = command("study", "show", "tagger")
    assert said.returncode == 0
    assert "smoke: " in said.stdout
    assert "table 4, rules 8" in said.stdout
