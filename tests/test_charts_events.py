"""Events on time axes: those of the tables, in every panel, outside the data of the chart."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import incast
from conftest import write
from incast import charts, plot
from incast.charts.events import EVENTS, Event, _row, events
from test_findings_runs import FAILED

US = 1_000_000
SAMPLED = FAILED + '\n[measure]\nsample_every = "1us"\n'


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> incast.Results:
    """Results with a failure and samples."""
    folder = tmp_path_factory.mktemp("events")
    return incast.load(write(folder, SAMPLED)).run(folder / "results")


@pytest.fixture
def source(results: incast.Results) -> Iterator[charts.Source]:
    """Where charts find them."""
    source = charts.Source([results])
    yield source
    source.close()


def test_events_are_those_of_the_table_of_links(source: charts.Source) -> None:
    found = [(event.scheme, event.time_ps, f"{event.where} {event.what}") for event in events(source)]
    assert found == [
        (scheme, at * US, f"leaf0-spine0 {what}")
        for at, what in ((20, "down"), (40, "up"))
        for scheme in ("DCQCN", "HPCC")
    ]


def test_every_panel_has_the_events_and_the_data_has_none(source: charts.Source) -> None:
    chart = charts.queues(source)
    panels = {row[2] for row in chart.rows}
    assert {(row["link"], row["event_ps"]) for row in chart.events} == {
        (panel, at * US) for panel in panels for at in (20, 40)
    }
    assert "event" not in chart.to_csv()
    assert len(chart.to_vegalite()["data"]["values"]) == len(chart.rows) + len(chart.events)
    assert chart.about.endswith("Dotted lines are events: 20 us: leaf0-spine0 down; 40 us: leaf0-spine0 up.")
    by_scheme = charts.rates(source).events
    assert [(row["scheme"], row["event_ps"]) for row in by_scheme] == [
        (scheme, at * US) for scheme in ("DCQCN", "HPCC") for at in (20, 40)
    ]


def test_a_vector_file_has_a_line_for_each_event(source: charts.Source) -> None:
    chart = charts.queues(source)
    figure = plot.draw(chart)
    without = plot.draw(charts.Chart(**{**vars(chart), "events": ()})).axes
    for panel, bare in zip(figure.axes, without, strict=True):
        assert len(panel.lines) == len(bare.lines) + 2
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["DCQCN", "HPCC", "events: down, up"]


def test_of_many_events_the_first_are_marked(tmp_path: Path) -> None:
    flaps = ", ".join(
        f'{{ link = ["leaf0", "spine0"], at = "{each}us", until = "{each + 1}us" }}' for each in range(2, 82, 2)
    )
    scenario = SAMPLED.replace('{ link = ["leaf0", "spine0"], at = "20us", until = "40us" }', flaps)
    source = charts.Source([incast.load(write(tmp_path, scenario)).run(tmp_path / "results")])
    chart = charts.queues(source)
    source.close()
    assert len(chart.events) == EVENTS * len({row[2] for row in chart.rows})
    assert any(f"{EVENTS} of 80 events are marked" in note for note in chart.left_out)


@pytest.mark.parametrize(
    ("event", "text"),
    [
        (Event("A", 8_000_000_000, "watchdog acts", "T1 to L1", 1), "8 ms: watchdog acts at T1 to L1 and 1 more port"),
        (Event("A", 1_000_000, "down", "l0-s0", 2), "1 us: l0-s0 and 2 more links down"),
        (Event("A", 1_000_000, "storm begins", "h0"), "1 us: storm begins at h0"),
    ],
)
def test_events_begin_with_their_time(event: Event, text: str) -> None:
    assert _row(event, "")["event"] == text
