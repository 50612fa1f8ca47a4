"""The study of congestion isolation at its smallest scale: that all of it runs, and where flows are isolated."""

from __future__ import annotations

import itertools
import tomllib

import pytest
from playwright.sync_api import Browser

import incast
from conftest import ROOT
from test_page import browser, opened

__all__ = ["browser"]
STUDY = ROOT / "python" / "incast" / "studies" / "isolation"
RARE = {
    "pause_length_isolated", "pauses_left", "pauses_left_by_queue", "pauses_normalised", "xoff_left", "xoff_gain",
    "victim_left",
}  # fmt: skip
"""Metrics that may have no figure where nothing was paused."""
OWN_QUEUES = ("pFabric", "pHost", "Fastpass", "ideal")
"""Schemes whose queues have no PFC."""
REFUSED = "flows are isolated from each other's pauses, and there is no PFC here"
"""Messages of the loader about them with isolation."""
SCHEMES = tuple(tomllib.loads((STUDY / "controls_clos.toml").read_text(encoding="utf-8"))["scheme"])
"""All that the table has, in its order."""
PANELS = """(name) => [...document.querySelectorAll(
    `#figure-${name} svg .mark-group.role-scope.cell > g > path.background`
)].map((each) => {
    const box = each.getBoundingClientRect();
    return [box.x, box.y, box.width, box.height];
})"""
"""Left, top, width and height of each panel of a chart."""
COLOURS = """() => {
    const charts = DATA.figures.flatMap((figure) => figure.charts);
    for (const group of DATA.groups)
        if (group.name !== "controls")
            charts.push(...Object.values(group.variations[0].charts).map((each) => each[""]));
    const found = [];
    const look = (key, value) => {
        const place = Array.isArray(value?.domain) ? value.domain.indexOf("+isolation") : -1;
        if (place >= 0 && String(value.range?.[0]).startsWith("#")) found.push(value.range[place]);
        return value;
    };
    for (const chart of charts) if (chart?.spec != null) JSON.stringify(DATA.specs[chart.spec], look);
    return found;
}"""
"""The colours of isolation in all charts of the page. The sweep of other controls has no such scheme."""


@pytest.fixture(scope="module")
def study() -> incast.Study:
    return incast.load_study("isolation")


@pytest.fixture(scope="module")
def ran(study: incast.Study, tmp_path_factory: pytest.TempPathFactory) -> incast.StudyResults:
    """The study at its smallest scale."""
    return study.run(tmp_path_factory.mktemp("study") / "isolation", scale="smoke")


@pytest.mark.long
def test_all_of_it_runs(ran: incast.StudyResults) -> None:
    assert {name: len(sweep.done) for name, sweep in ran.sweeps.items()} == {
        "solutions": 66,
        "scale": 12,
        "selection": 16,
        "controls": 80,
        "numbers": 46,
        "timeline": 3,
    }
    assert not any(sweep.failed for sweep in ran.sweeps.values())
    assert [claim.id for claim in ran.claims if claim.origin != "ours"] == [
        *(f"CI{number}" for number in range(1, 12)),
        "CI11b",
        *(f"CI{number}" for number in range(12, 21)),
    ]
    assert {claim.reason for claim in ran.claims} == {"needs scale quick"}


@pytest.mark.long
def test_nothing_is_lost_or_out_of_order(ran: incast.StudyResults) -> None:
    for name, sweep in ran.sweeps.items():
        found = sweep.connect()
        assert found.sql("select sum(lossless_drops) from runs").fetchall() == [(0,)], name
        discarded = found.sql("select sum(discarded) from flows where scheme = '+isolation'").fetchall()
        assert discarded in ([(0,)], [(None,)]), name


@pytest.mark.long
def test_metrics_run(study: incast.Study, ran: incast.StudyResults) -> None:
    """In 0.1 ms no flow starts after the warm-up and no message of 4 MB ends; all other metrics have figures."""
    for name, metric in study.metrics.items():
        connection = ran.sweeps[metric.part].connect()
        study.create_views(connection, metric.part)
        rows = connection.execute(metric.sql).fetchall()
        late = "from regional" in metric.sql or name in ("victims", "incast_fct")
        assert bool(rows) or late or name in RARE, name


@pytest.mark.long
def test_isolation_is_where_it_is_asked_for(ran: incast.StudyResults) -> None:
    found = ran.sweeps["solutions"].connect()
    schemes = found.sql("select distinct scheme from isolations order by scheme").fetchall()
    assert schemes == [("+isolation",), ("+isolation, last",)]
    sent = found.sql("select scheme, min(isolation_messages) > 0, max(isolation_messages) > 0 from runs group by all")
    assert {scheme: (least, most) for scheme, least, most in sent.fetchall()} == {
        "PFC+ECN": (False, False),
        "+mice": (False, False),
        "+isolation": (True, True),
        "+isolation, last": (True, True),
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


@pytest.mark.long
def test_every_scheme_is_run_with_isolation_or_refused(ran: incast.StudyResults) -> None:
    """The study leaves out the schemes that the loader refuses because they lack PFC."""
    done = ran.sweeps["controls"].connect().sql("select distinct scheme, isolation from runs").fetchall()
    schemes = {scheme for scheme, _ in done}
    assert {scheme for scheme, isolation in done if isolation == "without"} == schemes
    assert schemes - {scheme for scheme, isolation in done if isolation == "with"} == set(OWN_QUEUES)
    for scheme in OWN_QUEUES:
        with pytest.raises(incast.ScenarioError, match=REFUSED):
            incast.load(STUDY / "controls_clos.toml", [f"scheme.{scheme}.switch.isolation.enabled=true"]).check()
    (table,) = (each for each in ran.tables if each.title.startswith("Congestion controls"))
    assert [row.cells[0] for row in table.rows] == [scheme for scheme in SCHEMES if scheme in schemes]
    assert {row.cells[1] for row in table.rows if row.cells[0] in OWN_QUEUES} == {f"refused: {REFUSED}"}
    assert {row.cells[1] for row in table.rows if row.cells[0] not in OWN_QUEUES} == {"runs"}
    assert table.title in (ran.path / "report.html").read_text(encoding="utf-8")


@pytest.mark.long
def test_incasts_last_longer_than_the_run_and_have_sixteen_senders_each(ran: incast.StudyResults) -> None:
    trees = (
        ran.sweeps["solutions"]
        .connect()
        .sql("""
            select incasts, seed, dst, count(distinct src), count(*) filter (start_ps is not null),
                bool_or(src // 8 = dst // 8)
            from flows where label = 'incast-request' and traffic = 'data mining' and scheme = '+mice' group by all
        """)
        .fetchall()
    )
    assert {tree[3:] for tree in trees} == {(16, 16, False)}
    for seed in (1, 2):
        receivers = {number: {tree[2] for tree in trees if tree[:2] == (number, seed)} for number in ("1", "2", "4")}
        assert receivers == {"1": {0}, "2": {0, 64}, "4": {0, 32, 64, 96}}


@pytest.mark.long
def test_ratios_have_a_row_for_each_number_of_incasts(study: incast.Study, ran: incast.StudyResults) -> None:
    """Each figure of a run with isolation is divided by those of the same traffic, seed and incasts without it."""
    connection = ran.sweeps["solutions"].connect()
    study.create_views(connection, "solutions")
    rows = connection.sql("""
        select incasts, traffic, scheme, than, seed, value from left_by_incasts
        where figure = 'CNPs of servers' and traffic in ('data mining', 'cache follower')
    """).fetchall()
    assert len(rows) == len({row[:5] for row in rows}) == 3 * 2 * 2 * 2 * 2
    sums = {
        tuple(row[:4]): row[4]
        for row in connection.sql(
            "select incasts, traffic, scheme, seed, sum(marks) from flows group by all"
        ).fetchall()
    }
    for incasts, traffic, scheme, than, seed, value in rows:
        expected = sums[incasts, traffic, scheme, seed] / sums[incasts, traffic, than, seed]
        assert value == pytest.approx(expected)


@pytest.mark.long
def test_a_shared_threshold_divides_mice_from_elephants(ran: incast.StudyResults) -> None:
    """52 % of a cache follower's flows have at most 100 kB, 60 % at most 200 kB: priority 4."""
    rows = (
        ran.sweeps["solutions"]
        .connect()
        .sql("""
            select traffic, max(size_bytes) filter (priority = 4), min(size_bytes) filter (priority = 3)
            from flows where scheme = '+mice' and label = 'regional' group by all
        """)
    )
    for traffic, largest_mouse, smallest_elephant in rows.fetchall():
        threshold = 200_000 if traffic.endswith("200 kB") else 100_000
        assert largest_mouse <= threshold < smallest_elephant, traffic


@pytest.mark.long
def test_the_page_has_the_solutions_above_each_other(ran: incast.StudyResults, browser: Browser) -> None:
    found = opened(browser, ran.path / "report.html")
    assert found.said == []
    pauses = found.rows("study-timeline-1")
    with_pauses = {row["scheme"] for row in pauses}
    expected = ran.sweeps["timeline"].connect().sql("select distinct scheme from pauses").fetchall()
    assert with_pauses == {scheme for (scheme,) in expected} == {"PFC+ECN", "+mice", "+isolation"}
    for name in ("study-timeline-1", "study-timeline-2"):
        panels = found.page.evaluate(PANELS, name)
        assert len(panels) == 3, name
        assert len({(round(x), round(width)) for x, _, width, _ in panels}) == 1, name
        for (_, above, _, height), (_, below, _, _) in itertools.pairwise(panels):
            assert below > above + height, name
    choices = found.page.locator("#choices")
    choices.get_by_label("sweep").select_option(label="timeline: Pauses over time")
    found.drawn()
    assert found.rows("pauses") == pauses


@pytest.mark.long
def test_a_scheme_has_one_colour_on_the_page(ran: incast.StudyResults, browser: Browser) -> None:
    found = opened(browser, ran.path / "report.html")
    colours = found.page.evaluate(COLOURS)
    assert len(colours) > 10
    assert len(set(colours)) == 1
