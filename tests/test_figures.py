"""Figures of studies: published values next to ours, verdicts of their claims, and pictures of them."""

from __future__ import annotations

import json
import shutil
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.colors import to_hex
from matplotlib.patches import Rectangle

import incast
from conftest import ROOT, Command
from incast import plot_study
from incast.charts import look
from incast.charts.chart import Chart, Field
from incast.charts.study import of_study
from incast.study.description import Metric, Published, StudyChart
from incast.study.drawing import Bar, DrawnChart, Mark, draw
from incast.study.drawing_figures import DrawnFigure, Figures
from incast.study.figures import Measured, PlannedRun
from incast.study.series import places

TINY = ROOT / "tests" / "data" / "study"
SWITCHES = {"switches": [10, 100, 500], "seed": [1, 2]}
"""The values of columns at any scale."""
METRIC = Metric(about="rules of all switches", sql="", sweep="table", unit="rules")
CHART = StudyChart(
    metric="rules",
    x="switches",
    series="reading",
    published=Published(source="table 1", rows=[{"switches": 10, "value": 116}, {"switches": 500, "value": 36508}]),
)


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> incast.StudyResults:
    """The tiny study's results at its smallest scale."""
    return incast.load_study(TINY).run(tmp_path_factory.mktemp("study") / "out", scale="smoke")


def drawn(chart: StudyChart = CHART, sizes: tuple[int, ...] = (10, 100)) -> DrawnChart:
    """A chart of a sweep that runs these sizes."""
    runs = [PlannedRun({"switches": size, "seed": seed}, done=True) for size in sizes for seed in (1, 2)]
    rows: list[dict[str, Any]] = [
        {**run.columns, "reading": "F", "value": float(run.columns["switches"] + run.columns["seed"])} for run in runs
    ]
    return draw(chart, METRIC, Measured(("switches", "reading", "seed", "value"), rows, runs), SWITCHES)


def test_published_values_stand_next_to_ours() -> None:
    chart = drawn()
    assert [(bar.x, bar.value) for bar in chart.bars] == [(10, 11.5), (100, 101.5)]
    assert chart.published == (
        Mark(x=10, series=None, panel=None, value=116.0),
        Mark(x=500, series=None, panel=None, value=36508.0),
    )
    assert chart.along() == [10, 100, 500]
    found = of_study("rules-1", chart)
    assert list(found.dicts())[1:3] == [
        {
            "switches": 100, "reading": "F", "value": 101.5, "low": pytest.approx(101.5 - 6.353, abs=1e-3),
            "high": pytest.approx(101.5 + 6.353, abs=1e-3), "seeds": 2, "source": "incast",
        },
        {
            "switches": 10, "reading": None, "value": 116.0, "low": None, "high": None, "seeds": None,
            "source": "published",
        },
    ]  # fmt: skip
    assert "Hollow diamonds: published values (table 1)." in found.about
    assert found.spec is not None
    *_, marks = found.spec["layer"]
    # The axis holds all of them.
    assert marks["encoding"]["y"]["scale"]["domain"] == [0.0, pytest.approx(36508 * 1.05)]
    assert (marks["mark"]["shape"], marks["mark"]["filled"], marks["mark"]["stroke"]) == ("diamond", False, look.INK)
    assert "xOffset" not in marks["encoding"]


def test_values_of_other_scales_are_noted() -> None:
    assert drawn().absent == ("switches 500",)
    assert of_study("rules-1", drawn()).left_out == ("Not run at this scale: switches 500.",)
    assert drawn(sizes=(10, 100, 500)).absent == ()
    chosen = drawn(replace(CHART, where={"switches": [10, 500]}))
    assert ([bar.x for bar in chosen.bars], chosen.missing, chosen.absent) == ([10], (), ("switches 500",))
    nothing = drawn(replace(CHART, where={"switches": [500]}, published=None))
    assert of_study("rules-1", nothing).why_empty == (
        "Rules of all switches. Nothing to draw: this scale does not run switches 500."
    )


def test_a_distribution_has_its_values_along_the_horizontal_axis() -> None:
    chart = of_study("rules-1", drawn(replace(CHART, cdf=True, log=True)))
    assert chart.spec is not None
    line, intervals, _ = chart.spec["layer"]
    assert (line["mark"]["type"], intervals["mark"]["type"]) == ("line", "rule")
    assert (line["encoding"]["x"]["field"], line["encoding"]["y"]["field"]) == ("value", "switches")
    assert line["encoding"]["x"]["scale"]["type"] == "log"
    assert line["encoding"]["order"]["field"] == "switches"


def test_results_have_the_figures_of_the_study(ran: incast.StudyResults) -> None:
    assert [(figure.id, figure.claims, figure.source) for figure in ran.figures] == [
        ("1", ("C1", "C2"), "figure 1"),
        ("table-1", (), "ours"),
    ]
    assert ran.figures["table-1"] == ran.figures[1]
    # The table has the heading of its figure.
    (table,) = ran.tables
    assert (table.title, table.about) == ("Tails and packets", "Of all flows.")
    (chart,) = ran.figures["1"].charts
    assert chart.published == (
        Mark(x=0.2, series="HPCC", panel=None, value=2.0),
        Mark(x=0.4, series=None, panel=None, value=3.5),
    )
    again = incast.open_study(ran.path)
    assert list(again.figures) == list(ran.figures)
    with pytest.raises(incast.ResultsError, match=r"no figure `tabel-1`, only 1, table-1; did you mean `table-1`\?"):
        ran.figures["tabel-1"]
    written = json.loads((ran.path / "claims.json").read_text(encoding="utf-8"))
    assert [figure["id"] for figure in written["figures"]] == ["1", "table-1"]
    assert written.keys() == {"study", "scale", "until_decided", "claims", "figures"}


def test_the_page_has_verdicts_next_to_figures(ran: incast.StudyResults) -> None:
    page = (ran.path / "report.html").read_text(encoding="utf-8")
    start = page.index('<article class="figure" id="figure-of-1"')
    figure = page[start : page.index("</article>", start)]
    assert '<span class="id">1</span> Tails' in figure
    assert '<p class="source">figure 1</p>' in figure
    assert '<a href="#claim-C1">' in figure
    assert '<a href="#claim-C2">' in figure
    assert "#claim-C3" not in figure
    assert start < page.index('id="figure-of-table-1"') < page.index('id="table-tails"')


def test_results_of_the_earlier_format_are_judged_again(ran: incast.StudyResults, tmp_path: Path) -> None:
    out = Path(shutil.copytree(ran.path, tmp_path / "out"))
    manifest = json.loads((out / "study.json").read_text(encoding="utf-8"))
    (out / "study.json").write_text(json.dumps({**manifest, "format": 2}), encoding="utf-8")
    with pytest.raises(
        incast.ResultsError, match=r"format 2, .* reads format 3; `incast study judge study .*out` judges"
    ):
        incast.open_study(out)
    assert list(incast.load_study(TINY).judge(out).figures) == list(ran.figures)
    assert list(incast.open_study(out).figures) == list(ran.figures)


def test_a_figure_is_drawn_for_a_paper(ran: incast.StudyResults) -> None:
    picture = ran.plot("1", width=3.4)
    (axes,) = picture.axes
    (chart,) = ran.figures["1"].charts
    heights = [np.asarray(bar.get_height()).item() for bar in axes.patches if isinstance(bar, Rectangle)]
    assert sorted(heights) == pytest.approx(sorted(bar.value for bar in chart.bars))
    marks = [line for line in axes.lines if line.get_markerfacecolor() == look.GROUND]
    assert [np.asarray(line.get_ydata()).item() for line in marks] == [2.0, 3.5]
    # The mark of HPCC stands at its bar, left of the middle of load 0.2; the other one has no scheme.
    first, second = (np.asarray(line.get_xdata()).item() for line in marks)
    assert first < 0
    assert second == pytest.approx(1)
    names = [text.get_text() for legend in picture.subfigs[0].legends for text in legend.get_texts()]
    assert names == ["HPCC", "DCQCN", "published"]
    with pytest.raises(incast.ResultsError, match=r"nothing to draw: it is a table, see tables/tails\.csv"):
        ran.plot("table-1")


def test_long_headings_legends_and_titles_fit_a_figure() -> None:
    names = [f"a scheme with name number {number}" for number in range(5)]
    bars = tuple(
        Bar(x=x, series=name, panel=None, value=1, low=None, high=None, seeds=1) for x in ("p", "q") for name in names
    )
    titles: dict[str, Any] = {
        "title": "time that queues are paused " * 4,
        "y_title": "mean time over all queues of switches",
    }
    about: dict[str, Any] = {"about": "", "unit": "", "x": "x", "series": "scheme", "panels": None, "missing": ()}
    chart = DrawnChart(bars=bars, order=tuple(names), **titles, **about)
    picture = plot_study.draw(
        DrawnFigure(id="1", title="", source="", about="", charts=(chart, chart)), {}, width=4.5, title=""
    )
    picture.canvas.draw()
    width, height = picture.get_size_inches()
    within = picture.get_tightbbox()
    assert min(within.x0, within.y0, width - within.x1, height - within.y1) >= -0.01
    for axes in picture.axes:
        assert axes.yaxis.label.get_window_extent().height <= axes.get_window_extent().height


def bars_of(*names: str, x: str = "p", panel: Any = None) -> tuple[Bar, ...]:
    """A bar of height 1 for each scheme."""
    return tuple(Bar(x=x, series=name, panel=panel, value=1, low=None, high=None, seeds=1) for name in names)


def figure_of(id_: str, *orders: tuple[str, ...], series: str = "scheme") -> DrawnFigure:
    """A figure with a chart for each order of series."""
    about: dict[str, Any] = {"about": "", "unit": "", "x": "x", "series": series, "panels": None, "missing": ()}
    charts = tuple(DrawnChart(title="a chart", bars=bars_of(*order), order=order, **about) for order in orders)
    return DrawnFigure(id=id_, title="", source="", about="", charts=charts)


def legends(picture: Any) -> list[dict[str, Any]]:
    """Names of the legend of each chart, in order, with their colours."""
    return [
        {
            text.get_text(): patch.get_facecolor()
            for text, patch in zip(legend.get_texts(), legend.get_patches(), strict=True)
        }
        for part in picture.subfigs
        for legend in part.legends
    ]


def test_a_scheme_has_one_colour_and_one_place_in_all_figures_of_a_study() -> None:
    figures = Figures([figure_of("1", ("C",)), figure_of("2", ("B", "A", "C"), ("C", "A")), figure_of("3", ("A", "C"))])
    everywhere = places(figures)
    drawn_ = [legends(plot_study.draw(figure, {}, everywhere)) for figure in figures]
    # The first order that has two schemes gives theirs.
    assert [[list(names) for names in each] for each in drawn_] == [
        [["C"]],
        [["B", "A", "C"], ["A", "C"]],
        [["A", "C"]],
    ]
    colours: dict[str, set[Any]] = {}
    for names in (names for each in drawn_ for names in each):
        for name, colour in names.items():
            colours.setdefault(name, set()).add(colour)
    assert [len(colours[name]) for name in "ABC"] == [1, 1, 1]
    assert len(set.union(*colours.values())) == 3
    assert Figures(list(figures))[1] == figures[1]


def test_more_schemes_than_colours_differ_within_each_figure() -> None:
    names = [f"scheme {number}" for number in range(9)]
    figures = Figures([figure_of("1", tuple(names[:7])), figure_of("2", (names[0], *names[7:]))])
    found = places(figures)["scheme"]
    assert [found[name] for name in names[:7]] == [0, 1, 2, 3, 4, 5, 6]
    assert [found[name] for name in (names[0], *names[7:])] == [0, 1, 2]


def test_numbers_and_quantities_are_named_and_legends_of_other_columns_have_a_title() -> None:
    about: dict[str, Any] = {"title": "a chart", "about": "", "unit": "", "missing": ()}
    bars = (*bars_of("on", "off", x="64kB", panel="20"), *bars_of("on", "off", x="1MB", panel="100"))
    chart = DrawnChart(x="buffer", series="isolation", panels="senders", bars=bars, order=("on", "off"), **about)
    figure = DrawnFigure(id="1", title="", source="", about="", charts=(chart,))
    picture = plot_study.draw(figure, {})
    (part,) = picture.subfigs
    assert [axes.get_title(loc="left") for axes in part.axes] == ["senders 20", "senders 100"]
    assert {axes.get_xlabel() for axes in part.axes} == {"buffer"}
    assert part.legends[0].get_title().get_text() == "isolation:"
    flows = figure_of("1", ("flow 1", "flow 2"), series="flow")
    assert plot_study.draw(flows, {}).subfigs[0].legends[0].get_title().get_text() == ""
    spec = of_study("1", chart).spec
    assert spec is not None
    assert spec["facet"]["header"] == {"labelExpr": "\"senders\" + ' ' + datum.label"}
    assert spec["spec"]["layer"][0]["encoding"]["x"]["title"] == "buffer"


@pytest.mark.parametrize(("value", "tick"), [(1_900_000, "1,500,000"), (0.3, "0.15")])
def test_ticks_of_values_have_no_exponents(value: float, tick: str) -> None:
    figure = figure_of("1", ("A",))
    (chart,) = figure.charts
    high = replace(figure, charts=(replace(chart, bars=(replace(chart.bars[0], value=value),)),))
    (axes,) = plot_study.draw(high, {}).axes
    labels = [label.get_text() for label in axes.get_yticklabels()]
    assert tick in labels
    assert not any("e" in label for label in labels)


def test_the_command_draws_a_figure(ran: incast.StudyResults, command: Command, tmp_path: Path) -> None:
    for wrong, said in (
        (["--figure", "11"], "there is no figure `11`"),
        ([], "--study needs --figure ID: 1, table-1"),
        (["--figure", "table-1"], "it is a table, see tables/tails.csv"),
        (["--figure", "1", "-o", "a.gif"], ".svg, .pdf, .png"),
        (["--figure", "1", "--bins", "3"], "--bins has no effect on a figure of a study"),
        (["--figure", "1", "--where", "load=0.2"], "--where has no effect on a figure of a study"),
    ):
        done = command("plot", "--study", ran.path, *wrong)
        assert (done.returncode, done.stdout) == (2, ""), wrong
        assert said in done.stderr, wrong
    done = command("plot", ran.path / "load", "--study", ran.path, "--figure", "1")
    assert (done.returncode, "has no effect with --study" in done.stderr) == (2, True)
    done = command("plot")
    assert (done.returncode, "no results folder to draw" in done.stderr) == (2, True)
    done = command("plot", ran.path / "load", "over", "--figure", "slowdown_p98")
    assert done.returncode == 2
    assert "did you mean `slowdown_p99`?" in done.stderr
    assert list(tmp_path.iterdir()) == []
    done = command("plot", "--study", ran.path, "--figure", "1")
    assert (done.returncode, done.stdout) == (0, "wrote 1.svg\n")
    first = (tmp_path / "1.svg").read_bytes()
    command("plot", "--study", ran.path, "--figure", "1", "--overwrite")
    assert (tmp_path / "1.svg").read_bytes() == first


@dataclass(frozen=True)
class Bad:
    """A mistake, the text at its place, and parts of its message."""

    old: str
    new: str
    at: str
    says: tuple[str, ...]


BAD = {
    "a claim": Bad('["C1", "C2"]', '["C1", "C22"]', "C22", ("no claim `C22`", "did you mean `C2`")),
    "an id twice": Bad('id = "table-1"', 'id = "1"', 'id = "1"', ("two figures `1`",)),
    "an id": Bad('id = "table-1"', 'id = "table 1"', "table 1", ("`table 1` is not a valid name of a figure",)),
    "nothing in it": Bad(
        '[[figure]]\nid = "table-1"',
        '[[figure]]\nid = "2"\ntitle = "x"\nsource = "x"\nabout = "x"\n\n[[figure]]\nid = "table-1"',
        "[[figure]]",
        ("figure `2` is empty", "[[figure.chart]]"),
    ),
    "a published column": Bad("{ load = 0.4,", "{ laod = 0.4,", "laod", ("no column `laod`", "did you mean `load`")),
    "a published value of no run": Bad(
        "{ load = 0.4,", "{ load = 0.5,", "load = 0.5", ("no run has load `0.5`, at any scale",)
    ),
    "a published series of no run": Bad(
        'scheme = "HPCC", value', 'scheme = "HPC", value', '"HPC"', ("no run has scheme `HPC`", "did you mean `HPCC`")
    ),
    "a row without a value": Bad("value = 3.5", "", "{ load = 0.4", ("the row has no `value`",)),
    "a row without x": Bad("{ load = 0.4, value", "{ value", "{ value = 3.5", ("the row has no `load`",)),
    "a value that is text": Bad("value = 3.5", 'value = "3.5"', '"3.5"', ("`3.5` is no value", "a number")),
    "no rows": Bad(
        '''rows = [
  { load = 0.2, scheme = "HPCC", value = 2 },
  { load = 0.4, value = 3.5 },
]''',
        "rows = []",
        "rows = []",
        ("no published value", "one or more rows"),
    ),
    "a chosen value": Bad(
        'x = "load"', 'x = "load"\nwhere = { load = [0.2, 0.5] }', "0.5", ("no run has load `0.5`, at any scale",)
    ),
    "a chosen column": Bad(
        'x = "load"', 'x = "load"\nwhere = { lod = 0.2 }', "lod", ("no column `lod`", "did you mean `load`")
    ),
    "two kinds of lines": Bad(
        'x = "load"', 'x = "load"\nlines = true\ncdf = true', "lines", ("`lines` and `cdf` cannot be used together",)
    ),
    "a logarithmic axis of bars": Bad('x = "load"', 'x = "load"\nlog_x = true', "log_x", ("`log_x` needs `lines`",)),
    "a table twice": Bad(
        '[[figure.table]]\nname = "tails"',
        '[[figure.table]]\nname = "tails"\nsweep = "load"\nrows = ["load"]\nsql = "select load, 1 as one from runs"\n\n'
        '[[figure.table]]\nname = "tails"',
        'name = "tails"',
        ("two tables `tails`",),
    ),
    "a chart without a figure": Bad(
        '[[claim]]\nid = "C1"', '[[chart]]\n\n[[claim]]\nid = "C1"', "chart", ("`chart`", "figure")
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD)
def test_mistakes_are_located(name: str, tmp_path: Path) -> None:
    bad = BAD[name]
    study = Path(shutil.copytree(TINY, tmp_path / "study"))
    text = (study / "claims.toml").read_text(encoding="utf-8")
    assert bad.old in text
    changed = text.replace(bad.old, bad.new, 1)
    (study / "claims.toml").write_text(changed, encoding="utf-8")
    with pytest.raises(incast.ScenarioError) as caught:
        incast.load_study(study)
    said = str(caught.value)
    assert all(each in said for each in bad.says), said
    place = next(line for line in said.splitlines() if "claims.toml:" in line)
    line = int(place.rsplit(":", 2)[1])
    assert bad.at in changed.splitlines()[line - 1], said


@pytest.mark.parametrize("names", [("XOFF 40 kB", "XOFF 40 kB, resume offset 9 kB", "XOFF 24.5 kB", "dynamic"), "abcd"])
def test_every_name_below_a_chart_is_shown(names: tuple[str, ...]) -> None:
    about: dict[str, Any] = {"about": "", "unit": "%", "missing": (), "title": ""}
    bars = tuple(bar for name in names for bar in bars_of("PFC", x=name))
    chart = DrawnChart(x="train", series="scheme", panels=None, bars=bars, order=("PFC",), **about)
    figure = DrawnFigure(id="1", title="", source="", about="", charts=(chart,))
    (axes,) = plot_study.draw(figure, {}).axes
    shown = [label.get_text().replace("\n", " ") for label in axes.get_xticklabels() if label.get_visible()]
    assert shown == list(names)


def of_bars(*bars: Bar, **more: Any) -> DrawnChart:
    """A chart of these bars, of one scheme unless `order` has others."""
    about: dict[str, Any] = {"title": "a chart", "about": "", "unit": "", "missing": (), "order": (bars[0].series,)}
    return DrawnChart(**{"x": "x", "series": "scheme", "panels": None, "bars": bars, **about, **more})


def picture_of(*charts: DrawnChart, **options: Any) -> Any:
    """The picture of a figure with these charts."""
    return plot_study.draw(DrawnFigure(id="1", title="", source="", about="", charts=charts), {}, **options)


@pytest.mark.parametrize(("value", "low", "high"), [(1.0, 0.9, 1.0), (0.35, 0.2, 0.57), (-2.0, -3.0, -1.0)])
def test_bars_and_their_intervals_end_within_the_axis(value: float, low: float, high: float) -> None:
    chart = of_bars(replace(bars_of("PFC")[0], value=value, low=low, high=high))
    bottom, top = picture_of(chart).axes[0].get_ylim()
    assert bottom < low
    assert high < top


def test_intervals_of_a_logarithmic_axis_are_shown_as_far_as_a_decade() -> None:
    (bar,) = bars_of("PFC")
    chart = of_bars(replace(bar, value=15.0, low=6.0, high=24.0), replace(bar, x="q", value=20.0, low=0.01, high=1e9))
    bottom, top = picture_of(replace(chart, log=True)).axes[0].get_ylim()
    assert (bottom, top) == pytest.approx((1.5 / 1.05, 200 * 1.05))


@pytest.mark.parametrize("cdf", [False, True])
def test_a_triangle_shows_that_an_interval_goes_on_below_a_logarithmic_axis(cdf: bool) -> None:
    (bar,) = bars_of("PFC")
    found = replace(bar, x=1, value=15.0, low=6.0, high=24.0), replace(bar, x=2, value=20.0, low=-1.0, high=30.0)
    for bars, ends in ((found, [(2, 6 / 1.05)]), (found[:1], [])):
        chart = replace(of_bars(*bars), log=True, cdf=cdf)
        (axes,) = picture_of(chart).axes
        marker = "<" if cdf else "v"
        drawn = [line.get_xydata()[0].tolist() for line in axes.lines if line.get_marker() == marker]
        places = [(low, x) if cdf else (x - 1, low) for x, low in ends]
        assert [tuple(each) for each in drawn] == [pytest.approx(place) for place in places]
        spec = of_study("tails-1", chart).spec
        assert spec
        shapes = [layer["mark"].get("shape") for layer in spec["layer"]]
        assert shapes.count("triangle-left" if cdf else "triangle-down") == len(ends)


@pytest.mark.parametrize(
    ("name", "count", "lines", "turned"),
    [
        ("load {} of XOFF 40 kB", 2, "load {} of XOFF 40 kB", 0),
        ("buffer {} of 16 MB and load of 20 %", 5, "buffer {} of\n16 MB and load\nof 20 %", 0),
        ("senders-per-receiver-{}", 9, "senders-per-receiver-{}", 40),
        ("senders-per-receiver-{}", 25, "senders-per-receiver-{}", 90),
    ],
)
def test_names_are_level_in_lines_where_they_fit(name: str, count: int, lines: str, turned: int) -> None:
    bars = [bar for place in range(count) for bar in bars_of("PFC", x=name.format(place))]
    labels = picture_of(of_bars(*bars)).axes[0].get_xticklabels()
    assert [label.get_text() for label in labels] == [lines.format(place) for place in range(count)]
    assert {label.get_rotation() for label in labels} == {turned}


def test_long_names_and_legends_leave_panels_their_height() -> None:
    schemes = tuple(f"a scheme with a long name {number}" for number in range(5))
    bars = [bar for x in ("senders-per-receiver-and-rack", "b", "c", "d") for bar in bars_of(*schemes, x=x)]
    chart = of_bars(*bars, order=schemes)
    for picture in (picture_of(chart), picture_of(chart, of_bars(*bars_of("PFC")))):
        picture.draw_without_rendering()
        assert min(axes.get_window_extent().height for axes in picture.axes) > 1.5 * picture.dpi
    # A height of one's own stays.
    assert picture_of(chart, height=3).get_figheight() == 3


def test_a_measured_0_is_a_line_and_intervals_stand_out_from_bars() -> None:
    zero = replace(bars_of("PFC")[0], value=0.0)
    one = replace(bars_of("PFC", x="q")[0], low=0.5, high=1.2)
    (axes,) = picture_of(of_bars(zero, one)).axes
    intervals, zeros = axes.collections
    assert {to_hex(colour) for colour in intervals.get_edgecolor()} == {look.INK}
    left, right = zeros.get_segments()[0]
    first = axes.patches[0]
    assert (left[0], right[0], left[1]) == pytest.approx((first.get_x(), first.get_x() + first.get_width(), 0))
    assert len(zeros.get_segments()) == 1
    # Bars have no border, so they are alike in the legend.
    assert len({bar.get_linewidth() for bar in axes.patches}) == 1


def test_a_legend_has_the_order_of_the_bars() -> None:
    bars = (*bars_of("A", "C", panel="first"), *bars_of("A", "B", "C", panel="second"))
    picture = picture_of(of_bars(*bars, order=("A", "B", "C"), panels="of"))
    assert [list(names) for names in legends(picture)] == [["A", "B", "C"]]


@pytest.mark.parametrize(("more", "fill"), [({}, look.GROUND), ({"log": True}, "none"), ({"lines": True}, "none")])
def test_published_values_do_not_hide_points_and_lines(more: dict[str, Any], fill: str) -> None:
    bars = [replace(bar, x=1) for bar in bars_of("PFC")]
    chart = of_bars(*bars, published=(Mark(x=1, series=None, panel=None, value=1.0),), published_source="", **more)
    marks = [line for line in picture_of(chart).axes[0].lines if line.get_label() == "published"]
    assert [line.get_markerfacecolor() for line in marks] == [fill]
    spec = of_study("1", chart).spec
    assert spec is not None
    assert spec["layer"][-1]["mark"].get("fill", "none") == fill


def test_a_line_of_hundreds_of_points_has_few_marks() -> None:
    bars = [replace(bar, x=number) for number in range(200) for bar in bars_of("PFC")]
    line = picture_of(of_bars(*bars, lines=True)).axes[0].lines[0]
    assert len(bars) / line.get_markevery() <= 40


def test_pauses_have_the_order_of_the_schemes_and_a_heading_next_to_other_charts() -> None:
    field_names = ("scheme", "port", "link", "priority", "start_ps", "end_ps", "paused_ps", "intervals")
    rows = [(scheme, 0, "a to b", 3, 0, 10, 10, 1) for scheme in ("+mice", "PFC")]
    pauses = Chart("pauses", "PFC pauses over time", "", tuple(Field(name, "") for name in field_names), rows,
                   palette=("PFC", "+mice"))  # fmt: skip
    places_of = {"scheme": {"PFC": 0, "+mice": 1}}
    chart = of_bars(*bars_of("PFC"))
    page = plot_study.Page(charts=[chart], pauses=[pauses], places=places_of, title="", width=7, height=None)
    picture, _ = page.draw([3.2, 3.2])
    _, below = picture.subfigs
    assert below.get_suptitle() == "PFC pauses over time"
    assert [axes.get_title(loc="left") for axes in below.axes] == ["PFC", "+mice"]
