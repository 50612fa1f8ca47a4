"""Pictures of results as files."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import incast
from conftest import Command, write
from folders import make_sweep
from incast import charts, plot
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


def test_labels_are_drawn_apart(sampled: incast.Results) -> None:
    source = charts.Source([sampled])
    slowdowns = charts.slowdown(source, bins=6)
    figure = plot.draw(slowdowns, percentiles=["p50"])
    # All flows of the incast have one size.
    (axes,) = figure.axes
    for line in axes.lines:
        values = [row["p50"] for row in slowdowns.dicts() if row["scheme"] == str(line.get_label())]
        assert np.asarray(line.get_ydata()).tolist() == values
    assert [axes.get_title(loc="left") for axes in plot.draw(charts.cdf(source)).axes] == ["incast", "poisson"]
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


@pytest.mark.parametrize(("width", "height"), [(3.4, 2.6), (3.4, None), (2.5, 3.0), (None, None)])
@pytest.mark.parametrize("kind", ["slowdown", "cdf-fct", "queues"])
def test_nothing_that_is_drawn_lies_outside_the_page(
    kind: str, width: float | None, height: float | None, sampled: incast.Results
) -> None:
    """With six schemes of long names, and a long title."""
    source = charts.Source([sampled])
    made = {
        "slowdown": lambda: charts.slowdown(source, label="poisson"),
        "cdf-fct": lambda: charts.cdf(source, label="poisson"),
        "queues": lambda: charts.queues(source, ports=1),
    }
    chart = made[kind]()
    place = [field.name for field in chart.fields].index("scheme")
    first = [row for row in chart.rows if row[place] == chart.palette[0]]
    rows = [(*row[:place], name, *row[place + 1 :]) for name in LONG for row in first]
    title = "results of an evaluation of six congestion controls in a fabric that has a title of many words"
    options: dict[str, Any] = {"percentiles": ["p95"]} if kind == "slowdown" else {}
    figure = plot.draw(replace(chart, rows=rows, palette=LONG), width=width, height=height, title=title, **options)
    figure.canvas.draw()
    page, drawn = figure.get_size_inches(), figure.get_tightbbox()
    assert drawn.x0 >= -0.01
    assert drawn.y0 >= -0.01
    assert drawn.x1 <= page[0] + 0.01
    assert drawn.y1 <= page[1] + 0.01
    assert len(figure.legends[0].get_texts()) == len(LONG)
    sizes = {text.get_fontsize() for text in figure.legends[0].get_texts()}
    assert sizes == ({8.0} if width else {10.0})


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
    # A label alone.
    done = command("plot", sampled.path, "-o", "incast.svg", "--label", "incast")
    assert done.returncode == 0, done.stderr
    assert done.stderr.startswith("note: A distribution instead of slowdowns by size")
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
    source = charts.Source([sampled])
    made = [
        charts.slowdown(source),
        charts.cdf(source, "fct"),
        charts.cdf(source, "slowdown"),
        charts.queues(source),
        charts.rates(source),
        charts.pauses(source),
    ]
    heads = {"svg": b"<?xml", "pdf": b"%PDF", "png": b"\x89PNG"}
    for chart, ending in zip(made, ("svg", "pdf", "png", "svg", "svg", "pdf"), strict=True):
        files = [plot.save(plot.draw(chart), tmp_path / f"{number}-{chart.name}.{ending}") for number in (1, 2)]
        assert files[0].read_bytes() == files[1].read_bytes(), chart.name
        assert files[0].read_bytes().startswith(heads[ending])


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


def test_of_a_sweep(command: Command, tmp_path: Path) -> None:
    sweep = make_sweep(tmp_path / "load")
    chosen = command("plot", sweep, "--where", "load=0.3", "--where", "seed=2", "-o", "one.svg")
    assert chosen.returncode == 0, chosen.stderr
    whole = command("plot", sweep, "over", "--figure", "slowdown_p50", "-o", "all.svg")
    assert whole.returncode == 0, whole.stderr
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


def test_bad_input(results: Path, command: Command, tmp_path: Path) -> None:
    for wrong, said in (
        (["queues"], "measure.sample_every"),
        (["slowdown", "--ports", "3"], "--ports has no effect on slowdown"),
        (["slowdown", "--label", "nobody"], "only incast, poisson"),
        (["slowdown", "--bins", "0"], "--bins"),
        (["over"], "one run; the chart"),
        (["cake"], "cdf-fct"),
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


def test_without_matplotlib(results: Path, command: Command, tmp_path: Path) -> None:
    """A module of its name in the folder, which comes first, is what the interpreter finds."""
    hidden = write(tmp_path, "raise ImportError(\"No module named 'matplotlib'\")", "matplotlib.py")
    for chart in ("slowdown", "cdf-fct"):
        done = command("plot", results, chart)
        assert (done.returncode, done.stdout) == (3, "")
        assert done.stderr == "error: drawing needs matplotlib: pip install matplotlib (No module named 'matplotlib')\n"
    assert [file.name for file in tmp_path.iterdir() if file.suffix == ".svg"] == []
    hidden.unlink()
    assert command("plot", results).returncode == 0
