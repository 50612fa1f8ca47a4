"""Pictures of results as files."""

from __future__ import annotations

import math
import shutil
import subprocess
import sys
import warnings
from collections.abc import Iterable
from dataclasses import replace
from itertools import combinations, pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.collections import LineCollection
from matplotlib.text import Text
from matplotlib.transforms import Bbox

import incast
from conftest import PATIENCE, SMALL, Command, Start, environment, write
from folders import make_alphas, make_sweep
from incast import charts, plot, plot_kinds, plot_style, plot_text
from incast.charts import groups
from incast.charts.closing import BEHIND, ON_CYCLE, PASSING
from incast.charts.kinds import Kind
from incast.charts.over import FIGURES, of_rows, over
from incast.charts.slowdown import of_one_size
from test_charts import SAMPLED


@pytest.fixture(scope="module")
def sampled(tmp_path_factory: pytest.TempPathFactory) -> incast.Results:
    """Results with time series, of a switch that pauses."""
    folder = tmp_path_factory.mktemp("sampled")
    return incast.load(write(folder, SAMPLED)).run(folder / "results")


def test_slowdowns_are_drawn(sampled: incast.Results) -> None:
    chart = charts.slowdown(charts.Source([sampled]), bins=6, label="poisson")
    figure = plot.draw(chart, percentiles=["p50", "p99"])
    for axes, percentile in zip(figure.axes, ("p50", "p99"), strict=True):
        for line, scheme in zip(axes.lines, ("DCQCN", "HPCC"), strict=True):
            mine = [row[percentile] for row in chart.dicts() if row["scheme"] == scheme]
            assert np.asarray(line.get_ydata()).tolist() == mine
        assert axes.get_yscale() == "log"
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["DCQCN", "HPCC"]


@pytest.mark.parametrize(
    ("name", "value", "says"),
    [
        (
            "MPLBACKEND",
            "nonsense\x1b",
            "is `nonsense\\u001b`, which is no backend of matplotlib\n = allowed: a backend such as",
        ),
        (
            "SOURCE_DATE_EPOCH",
            "abc",
            "is `abc`\n = allowed: seconds since 1970, a whole number from 0 to 253402300799\n",
        ),
        ("SOURCE_DATE_EPOCH", "-1", "is `-1`\n = allowed: seconds since 1970"),
        ("SOURCE_DATE_EPOCH", "253402300800", "is `253402300800`\n = allowed: seconds since 1970"),
    ],
)
def test_a_wrong_environment_variable_is_named(
    sampled: incast.Results, tmp_path: Path, name: str, value: str, says: str
) -> None:
    # A process of its own imports matplotlib with the variable.
    arguments = [sys.executable, "-m", "incast", "plot", str(sampled.path), "-o", str(tmp_path / "a.svg")]
    done = subprocess.run(arguments, env=environment() | {name: value}, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert f"error: the environment variable {name} {says}" in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_the_latest_date_of_files_is_no_error(sampled: incast.Results, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "253402300799")
    figure = sampled.plot("slowdown")
    assert all(plot.encoded(figure, suffix) for suffix in (".svg", ".pdf", ".png"))


@pytest.mark.parametrize(
    ("highest", "shown"),
    [
        (1.8, ["1", "1.5", "2"]),
        (4, ["1", "2", "3", "4"]),
        (35, ["1", "2", "5", "10", "20"]),
        (900, ["1", "10", "100", "1000"]),
    ],
)
def test_slowdowns_have_enough_ticks(sampled: incast.Results, highest: float, shown: list[str]) -> None:
    chart = charts.slowdown(charts.Source([sampled]), bins=6, label="poisson")
    place = [each.name for each in chart.fields].index("p99")
    rows = [(*row[:place], highest, *row[place + 1 :]) for row in chart.rows]
    figure = plot.draw(replace(chart, rows=rows), percentiles=["p99"])
    figure.draw_without_rendering()
    (axes,) = figure.axes
    low, high = axes.get_ylim()
    labels = [text for text in axes.get_yticklabels(which="both") if low <= text.get_position()[1] <= high]
    assert [text.get_text() for text in labels if text.get_text()] == shown


def test_labels_are_drawn_apart(sampled: incast.Results) -> None:
    source = charts.Source([sampled])
    slowdowns = charts.slowdown(source, bins=6)
    figure = plot.draw(slowdowns, percentiles=["p50"])
    # All flows of the incast have one size.
    (axes,) = figure.axes
    for line in axes.lines:
        values = [row["p50"] for row in slowdowns.dicts() if row["scheme"] == str(line.get_label())]
        assert np.asarray(line.get_ydata()).tolist() == values
    distributions = plot.draw(charts.cdf(source))
    assert [axes.get_title(loc="left") for axes in distributions.axes] == ["incast", "poisson"]
    # A line at 1 is drawn whole.
    assert all(axes.get_ylim()[1] > 1 for axes in distributions.axes)
    for label in ("poisson", "all"):
        assert len(plot.draw(charts.cdf(source, label=label)).axes) == 1


LONG = (
    "DCQCN with a window",
    "HPCC (other window)",
    "TIMELY+w",
    "DCTCP",
    "HPCC-PINT",
    "PFC only, without any control at all",
)


def rows_of(kind: str) -> list[dict[str, Any]]:
    """Rows of a chart with many schemes and long names, as the kind of chart has them."""
    links = ["spine12 -> leaf104", "leaf104 -> spine12", "leaf7 -> h1023"]
    spans = [{"link": link, "start_ps": i * 10**8, "end_ps": i * 10**8 + 10**8} for i in range(3) for link in links]
    steps = range(1, 9)
    sizes = {"size_min_bytes": 1, "p50": 1.5, "p95": 12.5, "p99": 1234.5}
    values: dict[str, list[dict[str, Any]]] = {
        "slowdown": [{"label": "background", "bin": i, "size_max_bytes": 3**i * 1000, **sizes} for i in steps],
        "cdf-fct": [{"label": "background", "share": i / 8, "fct_ps": 7**i * 10**5} for i in steps],
        "cdf-slowdown": [{"label": "background", "share": i / 8, "slowdown_hpcc": 3**i} for i in steps],
        "iterations": [{"who": "all-reduce", "iteration": i, "communication_ps": i * 10**8, "compute_ps": 10**8}
                       for i in steps],
        "queues": [{"link": link, "time_ps": i * 10**8, "queue_bytes": i * 10**6} for link in links for i in steps],
        "rates": [{"who": f"h{i} -> h1023", "time_ps": i * 10**8, "acked_bps": i * 10**10} for i in steps],
        "pauses": [{**span, "paused_ps": 10**7} for span in spans],
        "closing": [
            {**span, "part": part, "closed_ps": 10**8}
            for span, part in zip(spans, 3 * [ON_CYCLE, BEHIND, PASSING], strict=True)
        ],
        "vms": [{"who": f"tenant12.vm{i % 2}", "time_ps": i * 10**9, "wire_bps": i * 10**9, "guarantee_bps": 5 * 10**9}
                for i in steps],
        "guarantees": [{"share": i / 8, "satisfaction": i**2 / 8} for i in steps],
        "over": [{"workload[0].poisson.load": i, "paused_share": i / 80, "slowdown_p99": 1234.5 * i} for i in steps],
    }  # fmt: skip
    schemes = LONG[:2] if kind in ("rates", "pauses", "closing") else LONG
    return [{"scheme": scheme, **row} for scheme in schemes for row in values[kind]]


@pytest.mark.parametrize(("width", "height"), [(3.3, None), (3.3, 2.6), (2.5, 3.0), (None, None)])
@pytest.mark.parametrize("kind", plot_kinds.DRAWN)
def test_nothing_that_is_drawn_lies_outside_the_page(
    kind: str, width: float | None, height: float | None, sampled: incast.Results
) -> None:
    """All charts, with schemes of long names and a long title: text of 7 points or more, the legend inside."""
    if height and kind in ("queues", "pauses", "closing", "rates", "vms"):
        height *= 1.5  # Of several panels.
    rows = rows_of(kind)
    fields = tuple(charts.Field(name, name) for name in rows[0])
    chart = replace(
        charts.cdf(charts.Source([sampled])),
        name=kind,
        fields=fields,
        rows=[tuple(row.values()) for row in rows],
        palette=tuple(dict.fromkeys(row["scheme"] for row in rows)),
    )
    title = "results of an evaluation of six congestion controls in a fabric that has a title of many words"
    options: dict[str, dict[str, Any]] = {
        "slowdown": {} if height is None else {"percentiles": ["p95"]},
        "over": {"x": "workload[0].poisson.load", "of": "paused_share" if (width or 9) > 3 else "slowdown_p99"},
    }
    with warnings.catch_warnings():
        # Matplotlib warns of a layout without room for the panels.
        warnings.simplefilter("error")
        figure = plot.draw(chart, width=width, height=height, title=title, **options.get(kind, {}))
        figure.canvas.draw()
    page, drawn = figure.get_size_inches(), figure.get_tightbbox()
    assert drawn.x0 >= -0.01
    assert drawn.y0 >= -0.01
    assert drawn.x1 <= page[0] + 0.01
    assert drawn.y1 <= page[1] + 0.01
    if height is None:
        assert all(min(axes.get_window_extent().size) > 0.2 * figure.dpi for axes in figure.axes)
    names = {
        "closing": [ON_CYCLE, BEHIND, PASSING, "the cycle closes"],
        "rates": [f"h{i} -> h1023" for i in range(1, 9)],
        "iterations": [*LONG, "lighter: compute"],
        "vms": [*LONG, "guarantee"],
    }
    if kind != "pauses":
        shown = [text.get_text() for text in figure.legends[0].get_texts()]
        # A name that is longer than the legend is cut.
        assert all(name.startswith(text.rstrip("…")) for name, text in zip(names.get(kind, LONG), shown, strict=True))
    texts = [text for text in figure.findobj(Text) if text.get_visible() and text.get_text()]
    assert min(float(text.get_fontsize()) for text in texts) >= 7
    # Matplotlib sets exponents smaller.
    assert [text.get_text() for text in texts if "^" in text.get_text()] == []


@pytest.mark.parametrize(
    ("width", "height", "columns"), [(3.3, None, 1), (3.3, 3.4, 3), (4.5, None, 3), (None, None, 3)]
)
def test_titles_and_ticks_of_slowdowns_do_not_overlap(
    width: float | None, height: float | None, columns: int, sampled: incast.Results
) -> None:
    """The three percentiles are below each other on a narrow page with space for it."""
    chart = charts.slowdown(charts.Source([sampled]), label="poisson")
    figure = plot.draw(chart, width=width, height=height, title="of eight hosts")
    figure.canvas.draw()
    assert len({round(axes.get_window_extent().x0) for axes in figure.axes}) == columns
    small = columns == 3 and (width or 9) < 5
    words = ("p50", "p95", "p99") if small else ("median", "95th percentile", "99th percentile")
    titles = [text.get_window_extent() for text in figure.findobj(Text) if text.get_text() in words]
    assert len(titles) == 3
    assert not any(one.overlaps(other) for one, other in combinations(titles, 2))
    assert max(title.x1 for title in titles) <= figure.bbox.x1
    for axes in figure.axes:
        ticks = axes.get_xticks()
        assert len(ticks) >= 2
        left, right = axes.transData.transform([(ticks[0], 1), (ticks[1], 1)])[:, 0]
        # Lines of text slanted by 40 degrees; level text on a small page.
        height_px = plot_text.SMALL / 72 * figure.dpi
        assert small or (right - left) * math.sin(math.radians(40)) >= height_px
        assert_apart(label.get_window_extent() for label in axes.get_xticklabels() if small)


def assert_apart(extents: Iterable[Bbox]) -> None:
    """No text is over another."""
    assert [pair for pair in combinations(extents, 2) if pair[0].overlaps(pair[1])] == []


def test_a_small_page_has_space_for_its_panels(sampled: incast.Results) -> None:
    """Two labels, one of them with flows of one size, in a column of a paper."""
    source = charts.Source([sampled])
    chart = charts.slowdown(source)
    figure = plot.draw(chart, below=of_one_size(source, chart), width=3.3, height=2.6)
    figure.canvas.draw()
    assert min(axes.get_window_extent().height for axes in figure.axes) > 0.3 * figure.dpi
    # One title for three panels.
    assert [axes.get_xlabel() for axes in figure.axes] == ["", "flow size up to", "", "slowdown"]
    for axes in figure.axes[:3]:
        assert [label.get_rotation() for label in axes.get_xticklabels()] == [0.0] * len(axes.get_xticks())
        shown = [label.get_window_extent() for label in axes.get_yticklabels(which="both")
                 if label.get_visible() and label.get_text()]  # fmt: skip
        assert_apart(shown)
        assert len(shown) >= 2


def test_long_labels_stay_above_their_panels(sampled: incast.Results) -> None:
    chart = charts.slowdown(charts.Source([sampled]))
    place = [field.name for field in chart.fields].index("label")
    names = [80 * "a" + end for end in "xy"]
    long = [(*row[:place], name, *row[place + 1 :]) for name in names for row in chart.rows]
    figure = plot.draw(replace(chart, rows=long))
    figure.canvas.draw()
    for axes in figure.axes:
        (title,) = (text for text in axes.findobj(Text) if text.get_text() == axes.get_title(loc="left") != "")
        assert title.get_window_extent().x1 <= axes.get_window_extent().x1 + 1
    shown = [axes.get_title(loc="left").split(":")[0] for axes in figure.axes]
    assert len(set(shown)) == len(names)
    assert all("…" in name for name in shown)


def test_the_least_height_is_named(sampled: incast.Results) -> None:
    source = charts.Source([sampled])
    chart = charts.slowdown(source)
    below = of_one_size(source, chart)
    with pytest.raises(incast.ResultsError, match=r"choose a larger width or height, such as a height of \d") as raised:
        plot.draw(chart, below=below, width=3.3, height=1.5)
    least = float(str(raised.value).rsplit(" ", 1)[1])
    plot.draw(chart, below=below, width=3.3, height=least)
    with pytest.raises(incast.ResultsError):
        plot.draw(chart, below=below, width=3.3, height=least - 0.11)


def test_ticks_of_bins_that_lie_unevenly_do_not_overlap(sampled: incast.Results) -> None:
    """Most flows of one size leave bins without flows."""
    chart = charts.slowdown(charts.Source([sampled]), label="poisson")
    place = [field.name for field in chart.fields].index("bin")
    figure = plot.draw(replace(chart, rows=[row for row in chart.rows if row[place] in (0, 17, 18, 19)]), width=3.3)
    assert [axes.get_xticks().tolist() for axes in figure.axes] == 3 * [[0, 19]]
    # 20 bins: ticks are at least 19 / 8 * 1.1 = 2.6 bins apart, so 3.
    assert plot_kinds.spaced(range(20), 8) == [1, 4, 7, 10, 13, 16, 19]


@pytest.mark.parametrize("width", [2, 2.5, 3, 6])
def test_times_do_not_overlap(width: float, sampled: incast.Results) -> None:
    chart = charts.queues(charts.Source([sampled]), ports=1)
    place = [field.name for field in chart.fields].index("time_ps")
    late = [(*row[:place], row[place] // 1000 + 6_649_900_000, *row[place + 1 :]) for row in chart.rows]
    (axes,) = (figure := plot.draw(replace(chart, rows=late), width=width)).axes
    figure.canvas.draw()
    extents = [label.get_window_extent() for label in axes.get_xticklabels()]
    assert len(extents) >= 2
    assert all(left.x1 < right.x0 for left, right in pairwise(extents))


def test_a_picture_that_is_too_small_is_refused(results: Path, command: Command, tmp_path: Path) -> None:
    done = command("plot", results, "-o", "small.svg", "--width", "1")
    assert (done.returncode, done.stdout) == (2, "")
    assert "--width" in done.stderr
    assert "must be >= 2" in done.stderr.lower()
    done = command("plot", results, "-o", "small.svg", "--width", "2", "--height", "0.5")
    said = "error: 2 x 0.5 inches are too small for the panels and texts of this chart: choose a larger width or height"
    assert done.returncode == 2
    assert done.stderr.splitlines()[-1].startswith(said)
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(incast.ResultsError, match="width must be at least 2 inches, got 1"):
        incast.open(results).plot(width=1)
    with pytest.raises(incast.ResultsError, match="width must be at least 2 inches, got 0"):
        incast.open(results).plot(width=0)
    with pytest.raises(incast.ResultsError, match=r"height must be at least 0\.5 inches, got 0"):
        incast.open(results).plot(height=0)


def test_ticks_of_a_late_part_of_a_run_are_distinct(sampled: incast.Results) -> None:
    """Flows of ns-3 begin at 2 s."""
    chart = charts.queues(charts.Source([sampled]), ports=1)
    place = [field.name for field in chart.fields].index("time_ps")
    late = [(*row[:place], row[place] + 2 * 10**12, *row[place + 1 :]) for row in chart.rows]
    labels = {}
    for name, rows in (("early", chart.rows), ("late", late)):
        (axes,) = plot.draw(replace(chart, rows=rows), width=3.3).axes
        labels[name] = [text.get_text() for text in axes.get_xticklabels()]
        assert len(set(labels[name])) == len(labels[name]) > 2
        assert axes.get_xlabel() == {"early": "time", "late": "time after 2 s"}[name]
    assert labels["early"] == labels["late"]


def test_a_name_wider_than_the_page_is_cut(sampled: incast.Results) -> None:
    chart = charts.cdf(charts.Source([sampled]), label="poisson")
    rows = [("x" * 200, *row[1:]) for row in chart.rows if row[0] == "HPCC"]
    figure = plot.draw(replace(chart, rows=rows, palette=("x" * 200,)), width=3, title="y" * 200)
    figure.canvas.draw()
    drawn = figure.get_tightbbox()
    assert drawn.x0 >= -0.01
    assert drawn.x1 <= 3.01


def test_flows_of_one_size_are_drawn_as_a_distribution(
    sampled: incast.Results, command: Command, tmp_path: Path
) -> None:
    source = charts.Source([sampled])
    chart = charts.slowdown(source)
    below = of_one_size(source, chart)
    assert below
    assert below.rows == charts.cdf(source, "slowdown", label="incast").rows
    figure = plot.draw(chart, below=below, percentiles=["p50"], width=3.4, title="two labels")
    assert [axes.get_title(loc="left") for axes in figure.axes] == ["poisson: median", "incast"]
    figure.canvas.draw()
    page, drawn = figure.get_size_inches(), figure.get_tightbbox()
    assert min(drawn.x0, drawn.y0, page[0] - drawn.x1, page[1] - drawn.y1) >= -0.01
    # Bins of 1 or 2 flows.
    done = command("plot", sampled.path, "-o", "median.svg", "--percentile", "p50")
    assert "their maximum" not in done.stderr
    done = command("plot", sampled.path, "-o", "tails.svg", "--percentile", "p95", "--percentile", "p50")
    assert done.stderr.splitlines()[-1] == "note: p95 of up to 20 flows is their maximum."
    # A label alone.
    done = command("plot", sampled.path, "-o", "incast.svg", "--label", "incast")
    assert done.returncode == 0, done.stderr
    assert done.stderr.startswith("note: incast (64 kB): all flows have one size")
    command("plot", sampled.path, "cdf-slowdown", "-o", "cdf.svg", "--label", "incast")
    assert (tmp_path / "incast.svg").read_bytes() == (tmp_path / "cdf.svg").read_bytes()


def test_queues_are_drawn(sampled: incast.Results) -> None:
    figure = plot.draw(charts.queues(charts.Source([sampled]), ports=2))
    peaks: dict[int, int] = {}
    for row in sampled.table("queues").dicts():
        peaks[row["port"]] = max(row["queue_bytes"], peaks.get(row["port"], 0))
    drawn = [max(np.max(np.asarray(line.get_ydata())) for line in axes.lines) for axes in figure.axes]
    assert drawn == sorted(peaks.values(), reverse=True)[:2]


def test_pauses_are_drawn(sampled: incast.Results) -> None:
    figure = plot.draw(charts.pauses(charts.Source([sampled]), ports=100))
    bars = sum(len(collection.get_paths()) for axes in figure.axes for collection in axes.collections)
    assert bars == len(sampled.pauses)
    assert bars > 0


def test_a_scheme_has_one_colour_in_all_charts(sampled: incast.Results) -> None:
    source = charts.Source([sampled])
    colours = [
        {str(line.get_label()): line.get_color() for axes in figure.axes for line in axes.lines}
        for figure in map(plot.draw, (charts.slowdown(source), charts.cdf(source), charts.queues(source)))
    ]
    assert colours[0] == colours[1] == colours[2]
    assert len(set(colours[0].values())) == 2


def test_the_same_results_give_the_same_file(sampled: incast.Results, tmp_path: Path) -> None:
    """SVG is compared with the command's below."""
    chart = charts.pauses(charts.Source([sampled]))
    for ending, head in {"pdf": b"%PDF", "png": b"\x89PNG"}.items():
        files = [plot.save(plot.draw(chart), tmp_path / f"{number}.{ending}") for number in (1, 2)]
        assert files[0].read_bytes() == files[1].read_bytes(), ending
        assert files[0].read_bytes().startswith(head)


def test_the_axis_of_rates_names_the_payload(sampled: incast.Results) -> None:
    chart = charts.rates(charts.Source([sampled]))
    assert {axes.get_ylabel() for axes in plot.draw(chart).axes} == {"acknowledged payload"}
    assert chart.spec is not None
    assert chart.spec["spec"]["encoding"]["y"]["title"] == "acknowledged payload"


def test_the_command(sampled: incast.Results, command: Command, tmp_path: Path) -> None:
    for chart in ("slowdown", "queues"):
        done = command("plot", sampled.path, chart, "-o", f"{chart}.svg")
        assert (done.returncode, done.stdout) == (0, f"wrote {chart}.svg\n"), done.stderr
    assert {file.name for file in tmp_path.iterdir()} == {"slowdown.svg", "queues.svg"}


def test_a_title_of_ones_own(sampled: incast.Results, command: Command, tmp_path: Path) -> None:
    files = {}
    for name, given in {"usual": [], "own": ["--title", "mine"], "none": ["--title", ""]}.items():
        done = command("plot", sampled.path, "cdf-fct", "-o", f"{name}.svg", *given)
        assert done.returncode == 0, done.stderr
        files[name] = (tmp_path / f"{name}.svg").read_text(encoding="utf-8")
    # Matplotlib writes every text as a comment before its outlines.
    assert "<!-- two schemes, eight hosts -->" in files["usual"]
    assert "<!-- mine -->" in files["own"]
    for name in ("own", "none"):
        assert "<!-- two schemes, eight hosts -->" not in files[name]


def test_a_scenario_without_title_has_none_in_its_picture(command: Command, tmp_path: Path) -> None:
    """The name of a folder is none either."""
    untitled = SAMPLED.replace('title = "two schemes, eight hosts"\n', "")
    incast.load(write(tmp_path, untitled)).run(tmp_path / "my-folder")
    done = command("plot", "my-folder", "cdf-fct", "-o", "a.svg")
    assert done.returncode == 0, done.stderr
    drawn = (tmp_path / "a.svg").read_text(encoding="utf-8")
    assert "completion time" in drawn
    assert "my-folder" not in drawn
    assert "two schemes" not in drawn


def test_the_command_says_what_a_picture_leaves_out(command: Command, tmp_path: Path) -> None:
    write(tmp_path, SMALL + '[simulation]\nhorizon = "60us"\n')
    write(tmp_path, 'scenario = "scenario.toml"\n[[vary]]\npath = "seed"\nvalues = [1, 2]\n', "load.toml")
    done = command("sweep", "load.toml", "-o", "load", "-q")
    assert done.returncode == 0
    flows = incast.sweep.open_sweep(tmp_path / "load").table("flows")
    unfinished = flows.filter("finish_ps is null").aggregate("seed, scheme, count(*)").fetchall()
    counts = sorted(count for _, _, count in unfinished)
    runs = f"{counts[0]} to {counts[-1]} unfinished flows"
    assert f"\nwarning: 4 of 4 runs stopped at the horizon with {runs}; percentiles omit them\n" in done.stderr
    whole = command("plot", "load", "over")
    of_few = "note: p99 of up to 100 flows is their maximum.\n"
    assert whole.stderr == f"note: 4 of 4 runs ended with {runs}; slowdowns omit them.\n{of_few}"
    assert command("plot", "load", "over", "--figure", "drops", "-o", "drops.svg").stderr == ""
    one = command("plot", "load", "cdf-fct", "--where", "seed=1")
    of_seed = {scheme: count for seed, scheme, count in unfinished if seed == 1}
    said = f"{of_seed['DCQCN']} (DCQCN), {of_seed['HPCC']} (HPCC)"
    assert one.stderr == f"note: Unfinished flows are not counted: {said}.\n"
    picture = (tmp_path / "cdf-fct.svg").read_text(encoding="utf-8")
    assert {f"<!-- Unfinished flows are not counted: {said}. -->", "<!-- share of completed flows -->"} <= {
        line.strip() for line in picture.splitlines()
    }


def test_a_long_note_in_a_picture_has_several_lines(sampled: incast.Results) -> None:
    note = f"Unfinished flows are not counted: {', '.join(f'{count} (scheme {count})' for count in range(10))}."
    chart = replace(charts.cdf(charts.Source([sampled])), incomplete=note)
    for width in (3.4, 7):
        figure = plot.draw(chart, width=width)
        title = figure.legends[0].get_title()
        assert " ".join(title.get_text().split()) == note
        extent = title.get_window_extent()
        assert 0 <= extent.x0 < extent.x1 <= figure.bbox.width


def test_of_a_sweep(command: Command, tmp_path: Path) -> None:
    sweep = make_sweep(tmp_path / "load")
    chosen = command("plot", sweep, "--where", "load=0.3", "--where", "seed=2", "-o", "one.svg")
    assert chosen.returncode == 0, chosen.stderr
    whole = command("plot", sweep, "over", "--figure", "slowdown_p50", "-o", "all.svg")
    failed = "warning: 1 of 9 runs is not finished (1 failed); repeat the command of the sweep to resume\n"
    bars = "note: Points: means over seeds. Bars: minimum to maximum over seeds.\n"
    assert (whole.returncode, whole.stderr) == (0, failed + bars)
    one = command("plot", sweep, "over", "--where", "seed=2", "-o", "seed.svg")
    assert (one.returncode, one.stderr) == (0, f"{failed}note: p99 of up to 100 flows is their maximum.\n")
    for wrong, said in (
        (["slowdown"], "4 scenarios match; choose one"),
        (["slowdown", "--where", "lod=1"], "did you mean `load`"),
        (["slowdown", "--where", "load=1"], "only 0.3, 0.6"),
        (["slowdown", "--where", "load"], "COLUMN=VALUE"),
        (["over", "--over", "lood"], "no column `lood`"),
    ):
        done = command("plot", sweep, *wrong, "-o", "wrong.svg")
        assert done.returncode == 2, wrong
        assert said in done.stderr
    assert not (tmp_path / "wrong.svg").exists()


def test_a_sweep_with_missing_runs_is_announced(command: Command, tmp_path: Path) -> None:
    sweep = make_sweep(tmp_path / "load")
    one = "1 of 9 runs is not finished (1 failed); repeat the command of the sweep to resume"
    assert command("report", sweep, "-o", "page.html").stderr == f"warning: {sweep}: {one}\n"
    assert f'<ul class="warnings"><li>{one}</li>' in (tmp_path / "page.html").read_text(encoding="utf-8")
    first = incast.sweep.open_sweep(sweep).runs[0]
    assert first.label == "load=0.3, seed=1, DCQCN"
    shutil.rmtree(sweep / "runs" / first.key)
    missing = "2 of 9 runs are not finished (1 failed); repeat the command of the sweep to resume\n"
    rows = command("results", sweep, "--format", "csv")
    assert (rows.stdout.count("\n"), rows.stderr) == (8, f"warning: {missing}")
    drawn = command("plot", sweep, "over", "--figure", "marks", "-o", "all.svg")
    assert drawn.stderr == (
        f"warning: {missing}note: The means are over different runs: load=0.3, DCQCN without seed=1.\n"
        "note: Points: means over seeds. Bars: minimum to maximum over seeds.\n"
    )
    of_seeds = command("plot", sweep, "over", "--over", "seed", "--where", "load=0.30", "-o", "seeds.svg")
    few = "note: p99 of up to 100 flows is their maximum.\n"
    assert (of_seeds.returncode, of_seeds.stderr) == (0, f"warning: {missing}{few}"), "no means"


def test_values_of_like_ratios_have_ticks_of_their_own(tmp_path: Path) -> None:
    group = groups.read_sweep(make_alphas(tmp_path / "alphas"))
    chart = over(["alpha"], [(one.values, one.source) for one in group.variations], ["DCQCN", "HPCC"])
    (axes,) = plot.draw(chart, x="alpha").axes
    assert axes.get_xscale() == "log"
    assert [label.get_text() for label in axes.get_xticklabels()] == ["0.0625", "0.125", "1"]


def test_quantities_are_numbers_in_order() -> None:
    rows = [
        (buffer, "HPCC", *[value] * len(FIGURES)) for buffer, value in (("30MB", 3.0), ("300kB", 1.0), ("3MB", 2.0))
    ]
    (axes,) = plot.draw(of_rows(["buffer"], rows, (), ()), x="buffer").axes
    assert axes.get_xscale() == "log"
    (line,) = axes.lines[:1]
    assert np.asarray(line.get_xdata()).tolist() == [3e5, 3e6, 3e7]
    assert np.asarray(line.get_ydata()).tolist() == [1, 2, 3]
    assert [label.get_text() for label in axes.get_xticklabels()] == ["300 kB", "3 MB", "30 MB"]
    # Without a number, values are names in the order of the sweep.
    for names in (["none", "300kB"], ["2us", "300kB"], [True, False]):
        rows = [(name, "HPCC", *[1.0] * len(FIGURES)) for name in names]
        (axes,) = plot.draw(of_rows(["mixed"], rows, (), ()), x="mixed").axes
        assert [label.get_text() for label in axes.get_xticklabels()] == [str(name) for name in names]


def test_a_share_is_1_at_most() -> None:
    rows = [(load, "HPCC", *[share] * len(FIGURES)) for load, share in ((0.2, 1.0), (0.5, 0.4))]
    for of, top in (("completed_share", 1), ("paused_share", 1), ("slowdown_p99", 1.03)):
        (axes,) = plot.draw(of_rows(["load"], rows, (), ()), x="load", of=of).axes
        assert axes.get_ylim() == pytest.approx((0.37, top))


def test_bad_input(results: Path, command: Command, tmp_path: Path) -> None:
    for wrong, said in (
        (["queues"], "measure.sample_every"),
        (["slowdown", "--ports", "3"], "--ports has no effect on slowdown"),
        (["slowdown", "--label", "nobody"], "only incast, poisson"),
        (["slowdown", "--bins", "0"], "--bins"),
        (["over"], "one run; the chart"),
        (["cake"], "cdf-fct"),
        (["slowdown", "--title", "a\udcff"], "--title: the text is not in the encoding of the terminal; allowed: text"),
        (["slowdown", "--title", "a" * 1001], "--title: the text has 1,001 characters; allowed: at most 1,000"),
        (["slowdown", "--title", "a\x1b[31m"], r"the text `a\u001b[31m` has a control character, U+001B; allowed:"),
        (["slowdown", "-o", "a.gif"], ".svg, .pdf, .png"),
    ):
        done = command("plot", results, *wrong)
        assert (done.returncode, done.stdout) == (2, ""), wrong
        assert said in done.stderr, wrong
    assert list(tmp_path.iterdir()) == []
    write(tmp_path, "mine", "slowdown.svg")
    done = command("plot", results)
    assert done.returncode == 2
    assert "slowdown.svg exists already" in done.stderr
    assert (tmp_path / "slowdown.svg").read_text(encoding="utf-8") == "mine"
    assert command("plot", results, "--overwrite").returncode == 0


def test_without_matplotlib(results: Path, start: Start, tmp_path: Path) -> None:
    """A module of its name in the folder, which comes first, is what a new interpreter finds."""
    hidden = write(tmp_path, "raise ImportError(\"No module named 'matplotlib'\")", "matplotlib.py")
    for chart in ("slowdown", "cdf-fct"):
        process = start("plot", results, chart)
        out, error = process.communicate(timeout=PATIENCE)
        assert (process.returncode, out) == (3, "")
        assert error == "error: drawing needs matplotlib: pip install matplotlib (No module named 'matplotlib')\n"
    assert [file.name for file in tmp_path.iterdir() if file.suffix == ".svg"] == []
    hidden.unlink()
    assert start("plot", results).wait(PATIENCE) == 0


@pytest.mark.parametrize("kind", ["slowdown", "cdf-fct", "cdf-slowdown", "queues", "rates", "pauses"])
def test_results_draw_what_the_command_draws(
    sampled: incast.Results, kind: Kind, command: Command, tmp_path: Path
) -> None:
    file = tmp_path / "command.svg"
    assert command("plot", sampled.path, kind, "-o", file).returncode == 0
    figure = sampled.plot(kind)
    assert plot.save(figure, tmp_path / "python.svg").read_bytes() == file.read_bytes()


def test_a_notebook_shows_a_figure_of_results(sampled: incast.Results) -> None:
    figure = sampled.plot(label="poisson", bins=4, percentiles=["p99"], width=4, title="")
    assert len(figure.axes) == 1
    assert figure.get_figwidth() == 4
    assert "<svg" in figure._repr_svg_()  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("kind", "options", "message"),
    [
        ("slowdowns", {}, "no chart is named `slowdowns`, only slowdown, .*; did you mean `slowdown`"),
        ("queues", {"bins": 3}, "bins has no effect on queues, only on slowdown"),
        ("queues", {"ports": 0}, "ports must be at least 1, got 0"),
        ("slowdown", {"percentiles": ("p42",)}, "no percentile is named `p42`, only p50, p95, p99"),
        ("slowdown", {"label": "web"}, "has no flows labelled `web`, only incast, poisson"),
        ("closing", {}, "No deadlocks"),
    ],
)
def test_results_refuse_a_chart(sampled: incast.Results, kind: Kind, options: dict[str, Any], message: str) -> None:
    with pytest.raises(incast.ResultsError, match=message):
        sampled.plot(kind, **options)


@pytest.mark.parametrize(
    ("limits", "shown"),
    [((1, 200), ["1", "10", "100"]), ((12, 240), ["20", "100", "200"]), ((500, 3e7), ["10³", "10⁴", "10⁷"]),
     ((2e-5, 9e-5), ["2·10⁻⁵", "3·10⁻⁵"])],
)  # fmt: skip
def test_labels_of_logarithmic_axes_have_no_formulas(limits: tuple[float, float], shown: list[str]) -> None:
    with plot_style.matplotlib().rc_context(plot_text.text_size(6)):
        figure = plot_style.matplotlib("figure").Figure(figsize=(6, 3))
        axes = figure.subplots()
        axes.set(yscale="log", ylim=limits)
        plot_text.label_powers(axes.yaxis)
        figure.draw_without_rendering()
        labels = [text.get_text() for text in axes.get_yticklabels(which="both")]
    assert set(shown) <= set(labels)
    assert not any("$" in label for label in labels)


def test_a_legend_has_every_name_as_long_as_it_fits() -> None:
    names = ["HPCC", "_mine", "DCQCN with a window and a name that no column of a paper holds"]
    rows = [(load, name, *[1.0] * len(FIGURES)) for name in names for load in (0.1, 0.5)]
    figure = plot.draw(of_rows(["load"], rows, (), ()), width=2.5, x="load")
    shown = [text.get_text() for text in figure.legends[0].get_texts()]
    assert shown[:2] == ["HPCC", " _mine"]
    begin, end = shown[2].split("…")
    assert names[2].startswith(begin)
    assert names[2].endswith(end)
    assert len(begin) > 5 < len(end)
    assert [axes.get_xticks().tolist() for axes in figure.axes] == [[0.1, 0.5]]


def test_characters_that_the_font_lacks_get_one_note(tmp_path: Path, command: Command) -> None:
    file = write(tmp_path, SMALL.replace("[scheme.HPCC]", '[scheme."数据"]'))
    incast.load(file).run(tmp_path / "results")
    done = command("plot", tmp_path / "results", "-o", "a.png")
    assert done.returncode == 0
    assert done.stderr.splitlines()[-1] == "note: the font of pictures lacks 数 据: boxes in their place"


def test_runs_of_equal_results_have_a_mean_without_a_range() -> None:
    """3 · 99.91561973517233 / 3 is more than 99.91561973517233 in floating point."""
    value = 99.91561973517233
    assert sum([value] * 3) / 3 != value
    rows = [(kmin, seed, "HPCC", *[value] * len(FIGURES)) for kmin in (1, 2) for seed in (1, 2, 3)]
    (axes,) = plot.draw(of_rows(["kmin", "seed"], rows, (), ()), x="kmin").axes
    assert np.asarray(axes.lines[0].get_ydata()).tolist() == [value, value]
    assert axes.get_ylabel().replace("\n", " ").endswith("of all flows, mean and 95 % confidence interval")


def test_three_runs_have_a_confidence_interval() -> None:
    """Student's t: 2 degrees of freedom, 4.303; the standard deviation of 11, 12 and 13 is 1."""
    rows = [(kmin, seed, "HPCC", *[10.0 + seed] * len(FIGURES)) for kmin in (1, 2) for seed in (1, 2, 3)]
    half = 4.30265 / math.sqrt(3)
    for chosen, ends in ((rows, (12 - half, 12 + half)), ([*rows[:3], *rows[4:]], (11, 13))):
        (axes,) = plot.draw(of_rows(["kmin", "seed"], chosen, (), ()), x="kmin").axes
        (bars,) = (each for each in axes.collections if isinstance(each, LineCollection))
        assert np.asarray(bars.get_segments()[0])[:, 1].tolist() == pytest.approx(ends)
        kind = "95 % confidence interval" if chosen is rows else "range of runs"
        assert axes.get_ylabel().replace("\n", " ").endswith(kind)
    # Of 0, 0 and 1 the interval would begin below 0.
    rows = [(1, seed, "HPCC", *[float(seed == 3)] * len(FIGURES)) for seed in (1, 2, 3)]
    (axes,) = plot.draw(of_rows(["kmin", "seed"], rows, (), ()), x="kmin", of="completed_share").axes
    (bars,) = (each for each in axes.collections if isinstance(each, LineCollection))
    assert np.asarray(bars.get_segments()[0])[:, 1].tolist() == pytest.approx([0, 1])


def test_figures_of_a_sweep_by_label(command: Command, tmp_path: Path) -> None:
    sweep = make_sweep(tmp_path / "load")
    runs = incast.open_sweep(sweep)
    for label in ("poisson", "all"):
        rows = list(runs.figures(label).dicts())
        assert len(rows) == len(runs.done)
        for run in runs.done:
            (slow,) = runs.results(run).slowdown(bins=1, label=label).dicts()
            (row,) = (row for row in rows if {name: row[name] for name in run.choice} == run.choice)
            assert (row["slowdown_p99"], row["slowdown_mean"]) == (slow["p99"], slow["mean"])
    printed = command("results", sweep, "--label", "poisson", "--format", "csv").stdout
    assert printed == runs.figures("poisson").to_csv()
    names = [column.name for column in runs.figures("poisson").columns]
    assert names[-5:] == ["slowdown_p50", "slowdown_p95", "slowdown_p99", "slowdown_mean", "completed_share"]
    shown = command("results", sweep)
    assert shown.returncode == 0, shown.stderr
    *lines, note = shown.stdout.splitlines()
    assert (len(lines), note) == (1 + len(runs.done), "p99 of up to 100 flows is their maximum.")
    done = command("plot", sweep, "over", "--label", "poisson", "-o", "label.svg")
    assert done.returncode == 0, done.stderr
    for wrong, said in (
        (["plot", sweep, "over", "--label", "poisson", "--figure", "marks"], "no effect on the figure marks, only on"),
        (["plot", sweep, "over", "--label", "poison"], "did you mean `poisson`?"),
        (["results", sweep, "--table", "flows"], "its table here is figures"),
        (["results", runs.results(runs.done[0]).path, "--table", "ports", "--label", "poisson"], "only on slowdown"),
    ):
        refused = command(*wrong)
        assert (refused.returncode, refused.stdout) == (2, "")
        assert said in refused.stderr


def test_values_close_together_have_ticks_without_overlapping_labels() -> None:
    sizes = ("0B", "10kB", "20kB", "25kB", "26kB", "27kB", "28kB", "28334B")
    rows = [(size, "HPCC", *[1.0] * len(FIGURES)) for size in sizes]
    figure = plot.draw(of_rows(["headroom"], rows, (), ()), x="headroom")
    figure.canvas.draw()
    (axes,) = figure.axes
    assert len(axes.get_xticks()) == len(sizes)
    labels = [label for label in axes.get_xticklabels() if label.get_visible()]
    assert [label.get_text() for label in labels] == ["0 B", "10 kB", "20 kB", "25 kB", "28.3 kB"]
    extents = [label.get_window_extent() for label in labels]
    assert all(left.x1 < right.x0 for left, right in pairwise(extents))


def test_names_are_cut_where_they_do_not_differ() -> None:
    # 8 of 14 letters: the middle goes.
    assert plot_text.cut("DCQCN 2015 (a)", ["DCQCN 2015 (b)"], 8) == "DCQC…(a)"
    # The difference is in the middle: it stays, after two letters that stand before it.
    assert plot_text.cut("DCQCN of a 40G NIC, vendor", ["DCQCN of a 25G NIC, vendor"], 8) == "DC…a 40G…"
    assert plot_text.cut("DCQCN of 2015", [], 4) == "DC…15"
