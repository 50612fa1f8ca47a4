"""The study of Tagger at its smallest scale: that all of it runs, what holds, and what it has not measured is said."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

import incast
from conftest import ROOT, Command
from incast import analysis, tagger, testbed
from incast.analysis.kinds.changes import OfChanges, common, rules, swapped

STUDY = ROOT / "python" / "incast" / "studies" / "tagger"
SMALLEST = {
    **dict.fromkeys(("TG1", "TG2", "TG4", "TG11", "TG12", "TG13a"), "holds"),
    # Under other conditions than those the text must have had.
    **dict.fromkeys(("TG2b", "TG3e", "TG13b"), "fails"),
}
"""Claims that the smallest scale judges."""
OURS = ("TG2b", "TG3b", "TG3c", "TG3d", "TG3e", "TG4b", "TG5b", "TG7b", "TG13a", "TG13b", "TG14b", "TG16b")


@pytest.fixture(scope="module")
def study() -> incast.Study:
    return incast.load_study("tagger")


@pytest.fixture(scope="module")
def ran(study: incast.Study, tmp_path_factory: pytest.TempPathFactory) -> incast.StudyResults:
    """The study at its smallest scale."""
    return study.run(tmp_path_factory.mktemp("study") / "tagger", scale="smoke")


@pytest.mark.long
def test_all_of_it_runs(ran: incast.StudyResults) -> None:
    assert {name: len(sweep.done) for name, sweep in ran.sweeps.items()} == {
        "loop": 4,
        "trains": 4,
        "bounce": 4,
        "transitions": 6,
        "sharing": 3,
        "crossing": 3,
        "applications": 3,
        "update": 4,
    }
    done = {name: len(one.done) for name, one in ran.analyses.items()}
    cost = 2 if testbed.available() is None else 0
    assert done == {
        "table": 4,
        "graphs": 6,
        "rules": 8,
        "failures": 8,
        "misroutes": 4,
        "spread": 4,
        "users": 2,
        "changes": 8,
        "cost": cost,
    }
    published = [claim.id for claim in ran.claims if claim.id not in OURS]
    assert published == [f"TG{number}" for number in range(1, 17)]
    assert len(ran.claims) == len(published) + len(OURS)
    judged = {claim.id: claim.verdict for claim in ran.claims if claim.reason != "needs scale quick"}
    assert judged == SMALLEST


@pytest.mark.long
def test_every_metric_has_rows(study: incast.Study, ran: incast.StudyResults) -> None:
    cost = {name for name, metric in study.metrics.items() if metric.part == "cost"}
    lacking = {"classes_as_published_large"}  # no graph of 500 switches at this scale
    lacking |= set() if testbed.available() is None else cost
    for name, metric in study.metrics.items():
        part = ran.sweeps[metric.part] if metric.sweep else ran.analyses[metric.part]
        connection = part.connect()
        study.create_views(connection, metric.part)
        rows = connection.execute(metric.sql).fetchall()
        assert bool(rows) == (name not in lacking), name
        assert all(row[-1] is not None for row in rows), name


@pytest.mark.long
def test_tables_have_what_was_published_beside_ours(ran: incast.StudyResults) -> None:
    jellyfish, throughput, rtt = ran.tables
    names = [column.name for column in jellyfish.columns]
    assert names == ["switches", "ports", "reading", "diameter", "classes", "total", "most"]
    rows = {row.cells[:3]: [cell.mean for cell in row.cells[3:]] for row in jellyfish.rows}
    assert list(rows) == [(*size, who) for size in ((10, 12), (100, 32)) for who in ("published", "F", "Fm")]
    for theirs in tagger.published():
        mine = rows.get((theirs.switches, theirs.ports, "published"))
        assert mine in (None, [theirs.diameter, theirs.classes, theirs.total, theirs.most])
    found = tagger.row("Fm", 100, 32, 1)
    assert rows[100, 32, "Fm"] == [found.diameter, found.classes, found.total, found.most]
    if testbed.available() is None:
        published = {row.cells[1]: [cell and cell.mean for cell in row.cells[3::2]] for row in rtt.rows}
        assert published == {0: [None] * 3, 10: [77, 81, 104], 160: [75, 77, 104]}
        assert [row.cells[:2] for row in throughput.rows] == [("map", 0), ("map", 10), ("map", 160)]
        assert all(row.seeds == 2 for row in (*rtt.rows, *throughput.rows))
    else:
        assert "runs have no results: " in (rtt.missing or "")


def test_published_round_trip_times_are_all_there(study: incast.Study) -> None:
    """The draft's table, digit by digit."""
    rows = ((10, 77, 81, 104), (20, 79, 77, 99), (40, 77, 74, 106), (80, 81, 82, 101), (160, 75, 77, 104))
    figure = next(each for each in study.figures if each.id == "rtt")
    assert str(rows)[1:-1] in figure.table[0].sql
    published = figure.chart[0].published
    assert published is not None
    found = {(row["rules"], row["of"]): row["value"] for row in published.rows}
    assert found == {
        (rules, of): value
        for rules, *values in rows
        for of, value in zip(("mean", "median", "p99"), values, strict=True)
    }


def test_published_rules_are_those_of_the_table(study: incast.Study) -> None:
    """The marks of the charts have the figures of the draft's table."""
    figure = next(each for each in study.figures if each.id == "jellyfish")
    for chart, name in zip(figure.chart, ("classes", "total", "most"), strict=True):
        assert chart.published is not None
        found = {row["switches"]: row["value"] for row in chart.published.rows}
        assert found == {theirs.switches: getattr(theirs, name) for theirs in tagger.published()}


def test_rules_that_are_shared_both_ways_are_as_made() -> None:
    """The file is what the analysis of users checks: rules of the Clos scheme, tags 1 and 2 in each other's place."""
    cell = OfChanges(scenario="testbed.toml", paths="up-down", bounces=1, method="clos", classes=2)
    made = json.loads(swapped(rules(cell, STUDY)))
    assert made == json.loads((STUDY / "both_ways.json").read_text(encoding="utf-8"))


BOUNCED = ("H1 T1 L1 S1 L3 S2 L4 T4 H13", "H9 T3 L3 S2 L1 S1 L2 T1 H2")


def shortest_paths() -> Iterator[str]:
    """All shortest paths between the testbed's hosts."""
    pods = {"T1": 0, "T2": 0, "T3": 1, "T4": 1}
    leaves = (("L1", "L2"), ("L3", "L4"))
    for a, b in itertools.product(pods, repeat=2):
        if a == b:
            middles: list[tuple[str, ...]] = [(a,)]
        elif pods[a] == pods[b]:
            middles = [(a, leaf, b) for leaf in leaves[pods[a]]]
        else:
            middles = [(a, *way, b) for way in itertools.product(leaves[pods[a]], ("S1", "S2"), leaves[pods[b]])]
        sources, targets = ([f"H{4 * int(switch[1]) - 3 + number}" for number in range(4)] for switch in (a, b))
        for middle, src, dst in itertools.product(middles, sources, targets):
            if src != dst:
                yield " ".join((src, *middle, dst))


def test_rules_that_change_under_traffic_are_as_made(command: Command, tmp_path: Path) -> None:
    """Algorithm 2 with two orders of links, for shortest paths and two bounced ones in both directions."""
    back = [" ".join(reversed(path.split())) for path in BOUNCED]
    paths = tmp_path / "paths.txt"
    paths.write_text("\n".join([*shortest_paths(), *BOUNCED, *back]) + "\n", encoding="utf-8")
    made = {}
    for name, order in (("old", ("--order", "number")), ("new", ("--order", "random", "--seed", "2"))):
        asked = ("--paths", str(paths), *order, "--export", "json", "--output", str(tmp_path / name))
        assert command("deadlock", "tag", str(STUDY / "testbed.toml"), *asked).returncode == 0
        made[name] = (tmp_path / name / "rules.json").read_text(encoding="utf-8")
    for name, text in (*made.items(), ("common", common(made["old"], made["new"]))):
        assert json.loads(text) == json.loads((STUDY / f"update_{name}.json").read_text(encoding="utf-8")), name


def test_old_and_new_rules_are_cyclic_only_together(command: Command) -> None:
    def code(*names: str) -> int:
        files = (str(STUDY / f"update_{name}.json") for name in names)
        return command("deadlock", "verify", str(STUDY / "testbed.toml"), *files).returncode

    assert [code("old", "common"), code("common", "new"), code("old", "new")] == [0, 0, 1]


@pytest.mark.long
def test_explanations_say_when_and_at_which_scale(ran: incast.StudyResults) -> None:
    taken = ran.claims["TG2b"].taken
    assert taken is not None
    assert taken.startswith("Figures in this text: scale quick, 2026-11-")
    assert taken.endswith("; results: scale smoke.")
    assert taken in (ran.path / "report.html").read_text(encoding="utf-8")


@pytest.mark.long
def test_the_page_shows_pauses_spread_and_the_cycle_close(ran: incast.StudyResults) -> None:
    page = (ran.path / "report.html").read_text(encoding="utf-8")
    assert '<section id="deadlocks"' in page
    assert "Formation of the deadlock" in page


@pytest.mark.long
def test_the_queue_of_the_old_tag_loses_packets(ran: incast.StudyResults) -> None:
    """The wrong variant shows that the right one is needed."""
    rows = (
        ran.sweeps["transitions"]
        .connect()
        .sql("select queue, min(lossless_drops), max(lossless_drops) from runs group by all")
    )
    drops = {queue: (least, most) for queue, least, most in rows.fetchall()}
    assert drops["of the new tag"] == (0, 0)
    assert drops["of the old tag"][0] > 0


@pytest.mark.long
def test_what_watchdogs_drop_is_lost(study: incast.Study, ran: incast.StudyResults) -> None:
    """The chart of lossless packets that were dropped counts what a watchdog drops too."""
    for name in ("loop_drops", "bounce_drops", "held_drops"):
        metric = study.metrics[name]
        runs = ran.sweeps[metric.part].connect()
        runs.execute(
            "create or replace table runs as "
            "select * replace (3 as lossless_drops, 4 as watchdog_lossless_drops) from runs"
        )
        assert {row[-1] for row in runs.execute(metric.sql).fetchall()} == {7}, name


@pytest.mark.long
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
    # The rows of 10 and 100 switches have a total above the number of switches times the published largest switch.
    consistent = [row for row in tagger.published() if row.total <= row.switches * row.most]
    assert totals == {row.switches: row.total for row in consistent}
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
    assert "table 4, graphs 6, rules 8" in said.stdout
