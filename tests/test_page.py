"""The page of results in a browser: it needs nothing else, has the tables' data, and can be saved, read and steered."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import os
import re
import shutil
import signal
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

import incast
from conftest import PATIENCE, ROOT, SMALL, Command, Start, stop, system_browser, wait_until, write
from folders import CLAIMS, TINY, check, make_alphas, make_study, make_varied
from incast import charts, report, sweep
from incast.charts.series import NO_SAMPLES
from incast.charts.slowdown_seeds import Seeds
from incast.report.claims import MARKDOWN, article
from incast.study.results import FORMAT
from test_charts import SAMPLED

FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
WITH_CHARTS = ("slowdown", "cdf-fct", "cdf-slowdown", "queues", "rates", "pauses")


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """The browser that Playwright brings, else the system's Chromium."""
    with sync_playwright() as playwright:
        own = Path(playwright.chromium.executable_path)
        path = str(own) if own.exists() else system_browser()
        if path is None and not os.environ.get("CI"):
            pytest.skip("no browser")
        assert path, "no browser: playwright install chromium, or apt-get install chromium"
        browser = playwright.chromium.launch(executable_path=path, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Results with time series and pauses, and their page beside them."""
    folder = tmp_path_factory.mktemp("page")
    text = SAMPLED.replace("two schemes", "two </script><b>schemes</b>")
    incast.load(write(folder, text)).run(folder / "results")
    report.write(folder / "results", folder / "results.html")
    return folder


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of a study."""
    folder = tmp_path_factory.mktemp("study")
    return report.write(make_study(folder / "tiny"), folder / "tiny.html")


@dataclass
class Opened:
    """A page in a browser, with what it said and asked for."""

    page: Page
    said: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)

    def drawn(self) -> None:
        """Wait until every chart of the present choices is drawn."""
        self.page.wait_for_selector("html[data-drawn]", timeout=1000 * PATIENCE)

    def rows(self, chart: str) -> list[dict[str, Any]]:
        """The rows that Vega has drawn."""
        rows: list[dict[str, Any]] = self.page.evaluate("(name) => VIEWS.get(name).rows", chart)
        return rows

    def saved(self, chart: str, kind: str) -> bytes:
        """File that a button of a chart saves."""
        with self.page.expect_download() as download:
            self.page.locator(f"#figure-{chart}").get_by_role("button", name=re.compile(f"as {kind}$")).click()
        return Path(download.value.path()).read_bytes()


def opened(browser: Browser, file: Path, width: int = 1280, scheme: Any = "light") -> Opened:
    """A page in a window of its own, drawn."""
    page = browser.new_context(viewport={"width": width, "height": 850}, color_scheme=scheme).new_page()
    page.set_default_timeout(1000 * PATIENCE)
    found = Opened(page)
    page.on("console", lambda message: found.said.append(message.text))
    page.on("pageerror", lambda error: found.said.append(str(error)))
    page.on("request", lambda request: found.requests.append(request.url))
    page.goto(file.as_uri())
    found.drawn()
    return found


@pytest.fixture
def shown(browser: Browser, folder: Path) -> Iterator[Opened]:
    """The page of the results."""
    found = opened(browser, folder / "results.html")
    yield found
    found.page.context.close()


def test_nothing_is_asked_of_a_network_and_nothing_goes_wrong(shown: Opened, browser: Browser, study: Path) -> None:
    for page in (shown, opened(browser, study)):
        assert page.said == []
        assert [url for url in page.requests if not url.startswith(("file:", "data:", "blob:"))] == []


def test_the_page_of_a_map_draws_the_points_of_each_claim(browser: Browser, tmp_path: Path) -> None:
    found = incast.load_study(ROOT / "tests" / "data" / "map").map(tmp_path / "map", points=8)
    page = opened(browser, found.path / "map.html")
    assert page.said == []
    assert [row["verdict"] for row in page.rows("study-small-1")] == list(found["small"].verdicts)
    assert page.page.locator("#claims tbody tr").count() == len(found.claims)


def test_text_of_a_scenario_is_text(shown: Opened) -> None:
    assert shown.page.title() == "two </script><b>schemes</b>, eight hosts"
    assert shown.page.locator("h1").text_content() == shown.page.title()
    assert shown.page.locator("h1 b").count() == 0


def test_charts_have_the_data_of_the_tables(shown: Opened, folder: Path) -> None:
    source = charts.Source([incast.open(folder / "results")])
    expected = [
        charts.slowdown(source),
        charts.cdf(source, "fct"),
        charts.cdf(source, "slowdown"),
        charts.queues(source),
        charts.rates(source),
        charts.pauses(source),
    ]
    assert tuple(chart.name for chart in expected) == WITH_CHARTS
    for chart in expected:
        assert chart.rows
        assert list(map(rounded, shown.rows(chart.name))) == list(map(rounded, chart.dicts())), chart.name
        assert shown.page.locator(f"#figure-{chart.name} svg path").count() > 0


def rounded(row: dict[str, Any]) -> dict[str, Any]:
    """A row with as many digits as the page keeps."""
    return {name: float(f"{value:.7g}") if isinstance(value, float) else value for name, value in row.items()}


def test_every_chart_is_saved(shown: Opened) -> None:
    for chart in WITH_CHARTS:
        svg = shown.saved(chart, "SVG").decode()
        assert svg.startswith("<svg"), chart
        assert svg.rstrip().endswith("</svg>"), chart
        assert shown.saved(chart, "PNG").startswith(b"\x89PNG\r\n\x1a\n"), chart
        rows = list(csv.DictReader(io.StringIO(shown.saved(chart, "CSV").decode())))
        assert [{name: str(value) for name, value in row.items()} for row in shown.rows(chart)] == [
            {name: text(value) for name, value in row.items()} for row in rows
        ], chart


def text(value: str) -> str:
    """A figure of CSV as Python writes it."""
    return str(json.loads(value)) if re.fullmatch(r"-?[0-9.]+(e-?[0-9]+)?", value) else value


def test_the_fabric_is_drawn_and_saved(shown: Opened, folder: Path) -> None:
    figure = shown.page.locator("#figure-fabric")
    assert figure.locator("svg [data-node]").count() >= 9
    assert figure.locator("svg .links path").count() == 8
    assert shown.saved("fabric", "SVG").startswith(b"<svg")
    assert shown.saved("fabric", "PNG").startswith(b"\x89PNG\r\n\x1a\n")
    rows = list(csv.DictReader(io.StringIO(shown.saved("fabric", "CSV").decode())))
    expected = list(charts.fabric(charts.Source([incast.open(folder / "results")])).dicts())
    assert len(rows) == len(expected)
    for row, wanted in zip(rows, expected, strict=True):
        assert [row[name] for name in ("scheme", "node_name", "peer_name")] == [
            wanted[name] for name in ("scheme", "node_name", "peer_name")
        ]
        assert float(row["utilisation"]) == pytest.approx(wanted["utilisation"], rel=1e-6)
        assert float(row["paused_share"]) == pytest.approx(wanted["paused_share"], rel=1e-6)


def test_counters_are_a_table(shown: Opened, folder: Path) -> None:
    marks = {name: s["counts"]["marks"] for name, s in incast.open(folder / "results").manifest["schemes"].items()}
    row = shown.page.locator("#figure-counters tr", has_text="ECN marks")
    assert row.locator("td").all_text_contents() == [f"{count:,}" for count in marks.values()]


def test_numbers_have_a_space_before_the_percent_sign_and_zero_has_no_unit(shown: Opened) -> None:
    text = shown.page.locator("main").evaluate(
        "(main) => [...main.querySelectorAll('p, td, th, text, option')].map((each) => each.textContent).join('\\n')"
    )
    assert " %" in text
    assert re.findall(r"\S+%", text) == []
    assert re.findall(r"^0 (?:ps|B|b/s)$", text, re.MULTILINE) == []


def test_a_choice_of_flows_changes_the_charts(shown: Opened, folder: Path) -> None:
    shown.page.locator("#choices").get_by_label("flows").select_option("incast")
    shown.drawn()
    source = charts.Source([incast.open(folder / "results")])
    expected = charts.cdf(source, "fct", label="incast")
    assert [row["fct_ps"] for row in shown.rows("cdf-fct")] == [row[3] for row in expected.rows]


def test_the_keyboard_reaches_everything(shown: Opened) -> None:
    page = shown.page
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    seen = set()
    for _ in range(120):
        page.keyboard.press("Tab")
        seen.add(page.evaluate("document.activeElement.getAttribute('aria-label') ?? document.activeElement.id"))
    assert {"Save Queues over time as CSV", "Save Slowdown by flow size as SVG", "Dark colours"} <= seen
    svg = page.locator("#figure-fabric svg[tabindex]")
    svg.focus()
    page.keyboard.press("ArrowRight")
    first = page.locator("#figure-fabric .chosen").text_content()
    page.keyboard.press("ArrowDown")
    second = page.locator("#figure-fabric .chosen").text_content()
    assert first is not None
    assert second is not None
    assert first.startswith("s0, switch of tier 1")
    assert ", host:" in second
    page.keyboard.press("Escape")
    assert page.locator("#figure-fabric .chosen").text_content() == ""


def test_light_and_dark(browser: Browser, folder: Path) -> None:
    dark = opened(browser, folder / "results.html", scheme="dark")
    grounds = [dark.page.evaluate("getComputedStyle(document.body).backgroundColor")]
    first = dark.page.locator("#figure-slowdown svg").inner_html()
    dark.page.locator("#theme").press("Enter")
    dark.drawn()
    grounds.append(dark.page.evaluate("getComputedStyle(document.body).backgroundColor"))
    assert grounds == ["rgb(18, 22, 26)", "rgb(255, 255, 255)"]
    assert dark.page.locator("#figure-slowdown svg").inner_html() != first
    assert dark.page.locator("#theme").get_attribute("aria-pressed") == "false"
    assert dark.said == []


@pytest.mark.parametrize("width", [390, 768])
def test_it_fits_a_phone(width: int, browser: Browser, folder: Path, study: Path) -> None:
    for file in (folder / "results.html", study):
        page = opened(browser, file, width=width).page
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        wide = page.evaluate(
            "[...document.querySelectorAll('.plot')].filter((plot) => plot.scrollWidth > plot.clientWidth + 1)"
            ".map((plot) => plot.parentNode.id)"
        )
        assert wide == []


def test_everything_has_a_name_for_those_who_do_not_see_it(shown: Opened) -> None:
    nameless = shown.page.evaluate(
        "[...document.querySelectorAll('button, select, [role=img], [role=region], svg[tabindex]')].filter((each) => "
        "!(each.getAttribute('aria-label') || each.textContent.trim() || each.labels?.length)).map((e) => e.outerHTML)"
    )
    assert nameless == []
    assert shown.page.evaluate("document.documentElement.lang") == "en"


def test_claims_are_shown_whatever_their_verdict(browser: Browser, study: Path) -> None:
    page = opened(browser, study).page
    assert page.locator("#claims .lead").text_content() == "3 claims at scale smoke."
    kinds = page.locator("#claims table").first.locator("tbody tr")
    assert [kinds.nth(place).locator("td").last.text_content() for place in range(2)] == [
        "1 holds, 1 fails", "1 not measured"
    ]  # fmt: skip
    claims = page.locator("article.claim")
    assert [claims.nth(place).locator(".badge").text_content() for place in range(3)] == [
        "✓ holds", "✕ fails", "\N{EN DASH} not measured"
    ]  # fmt: skip
    sizes = {
        page.evaluate("(e) => getComputedStyle(e).fontSize", each) for each in page.query_selector_all(".claim .badge")
    }
    assert len(sizes) == 1
    assert "0.7123" in str(claims.nth(0).text_content())
    assert "0.65 to 0.77" in str(claims.nth(0).text_content())
    assert "1.2 to 1.3 ms" in str(claims.nth(1).text_content())
    assert claims.nth(1).locator(".explanation em").text_content() == "marks"
    assert "<script>alert(1)</script>" in str(claims.nth(1).locator(".explanation").text_content())
    assert "Sweep later has not started." in str(page.locator("#claims").text_content())
    assert "needs scale paper" in str(claims.nth(2).text_content())


def test_figures_have_published_values_and_verdicts(browser: Browser, study: Path) -> None:
    found = opened(browser, study)
    figure = found.page.locator("#figure-of-8a")
    assert figure.locator("h3").text_content() == "8a Slowdowns"
    assert figure.locator(".source").text_content() == "figure 8(a) <of a test>"
    links = figure.locator(".verdicts a")
    assert [links.nth(place).text_content() for place in range(2)] == ["✓ C1 holds", "✕ C2 fails"]
    assert [links.nth(place).get_attribute("href") for place in range(2)] == ["#claim-C1", "#claim-C2"]
    back = found.page.locator("#claim-C1 .note a")
    assert (back.text_content(), back.get_attribute("href")) == ("8a", "#figure-of-8a")
    rows = found.rows("study-8a-1")
    assert [(row["load"], row["scheme"], row["value"], row["source"]) for row in rows] == [
        (0.3, "HPCC", 2, "incast"),
        (0.3, "DCQCN", 4, "incast"),
        (0.3, "DCQCN", 5, "published"),
        (0.6, None, 3, "published"),
    ]
    assert figure.locator(".left-out").text_content() == "Not run at this scale: load 0.6."
    figure.locator("summary").click()
    figure.locator("tbody tr").first.wait_for()
    assert figure.locator("tbody tr").count() == 4
    assert found.said == []


def test_a_sweep_is_chosen_by_its_columns(browser: Browser, study: Path) -> None:
    found = opened(browser, study)
    sweep = study.parent / "tiny" / "fct"
    group = charts.groups.read_sweep(sweep)
    slowdowns = {one.values: charts.slowdown(one.source) for one in group.variations}
    over_seeds = Seeds({each.values[1]: each.source for each in group.variations if each.values[0] == 0.3}).chart()
    assert over_seeds is not None
    assert [tuple(row[name] for name in ("scheme", "bin", "seed", "flows")) for row in found.rows("slowdown")] == [
        (row["scheme"], row["bin"], row["seed"], row["flows"]) for row in over_seeds.dicts()
    ]
    assert "Points: mean over 2 seeds" in str(found.page.locator("#figure-slowdown .about").text_content())
    for section in ("counters", "fabric"):
        assert "Seed 1." in found.page.locator(f"#{section} .about").inner_text()
    assert "The details below are of load = 0.3, seed = 1." in found.page.locator("#scenario").inner_text()
    choices = found.page.locator("#choices")
    choices.get_by_label("load").select_option(label="0.6")
    choices.get_by_label("seed").select_option(label="2")
    found.drawn()
    assert [row["p99"] for row in found.rows("slowdown")] == [
        pytest.approx(row["p99"], rel=1e-6) for row in slowdowns[0.6, 2].dicts()
    ]
    found.page.locator("#over").get_by_label("figure").select_option("marks")
    found.drawn()
    assert len(found.rows("over")) == len(group.variations) * 2
    assert "the disk is full" in str(found.page.locator("#scenario").text_content())


def test_an_incomplete_row_of_panels_has_no_axis_without_a_panel(browser: Browser, tmp_path: Path) -> None:
    incast.load(write(tmp_path, f'{SAMPLED}\n[scheme.TIMELY]\ncontrol = "timely"\n')).run(tmp_path / "results")
    found = opened(browser, report.write(tmp_path / "results", tmp_path / "page.html"))
    assert {row["scheme"] for row in found.rows("rates")} == {"DCQCN", "HPCC", "TIMELY"}
    titles = found.page.locator("#figure-rates svg .role-axis-title text", has_text=re.compile("^time$"))
    assert titles.count() == 3
    assert found.said == []


def test_legends_fit_a_narrow_window(browser: Browser, tmp_path: Path) -> None:
    ring = '\n[[workload]]\nring_all_reduce = { size = "80kB", compute = "5us" }'
    text = SMALL.replace("[scheme.HPCC]", '[scheme."HPCC with a name of many words"]') + ring
    incast.load(write(tmp_path, text)).run(tmp_path / "results")
    found = opened(browser, report.write(tmp_path / "results", tmp_path / "page.html"), width=390)
    drawing = found.page.locator("#figure-iterations svg")
    ends = drawing.locator(".role-legend").evaluate_all(
        "(all) => all.map((each) => each.getBoundingClientRect().right)"
    )
    assert len(ends) == 2
    assert max(ends) <= drawing.evaluate("(svg) => svg.getBoundingClientRect().right")
    assert drawing.evaluate("(svg) => svg.getBoundingClientRect().width <= svg.closest('figure').clientWidth")
    assert found.said == []


def test_names_with_a_common_beginning_stay_different(browser: Browser, tmp_path: Path) -> None:
    name = "{} with the parameters of 2015 and a very long name indeed"
    text = SMALL.replace("scheme.DCQCN]", f'scheme."{name.format("DCQCN")} (a)"]')
    text = text.replace("scheme.HPCC]", f'scheme."{name.format("DCQCN")} (b)"]')
    text = text.replace("[workload.poisson]", f'label = "{name.format("Flows")}"\n[workload.poisson]')
    incast.load(write(tmp_path, text)).run(tmp_path / "results")
    found = opened(browser, report.write(tmp_path / "results", tmp_path / "page.html"))
    drawing = found.page.locator("#figure-slowdown svg")
    entries = drawing.locator(".role-legend-label text").all_text_contents()
    assert [entry[-3:] for entry in entries] == ["(a)", "(b)"]
    assert all(entry.startswith("DCQCN with") and "…" in entry for entry in entries)
    texts = drawing.locator("text").all_text_contents()
    ends = [text.rpartition(": ")[2] for text in texts if text.startswith("Flows with")]
    assert ends == ["median", "95th percentile", "99th percentile"]
    assert found.said == []


def test_values_of_a_sweep_are_ticks_with_all_digits(browser: Browser, tmp_path: Path) -> None:
    found = opened(browser, report.write(make_alphas(tmp_path / "alphas"), tmp_path / "page.html"))
    labels = found.page.locator("#figure-over .role-axis-label text")
    assert {"0.0625", "0.125", "1"} <= set(labels.all_text_contents())
    places = [labels.filter(has_text=re.compile(f"^{text}$")).bounding_box() for text in ("0\\.0625", "0\\.125", "1")]
    left, middle, right = (place["x"] + place["width"] / 2 for place in places if place)
    # log 2 : log 8
    assert (right - middle) / (middle - left) == pytest.approx(3, rel=0.1)
    assert found.said == []


def test_quantities_of_a_sweep_are_placed_as_numbers_with_their_unit(browser: Browser, tmp_path: Path) -> None:
    sizes = make_varied(tmp_path / "sizes", "ecn.kmin", ["80kB", "10kB", "20 KB"])
    found = opened(browser, report.write(sizes, tmp_path / "page.html"))
    labels = found.page.locator("#figure-over .role-axis-label text")
    shown = labels.evaluate_all("(all) => all.map((each) => [each.textContent, each.getBoundingClientRect().x])")
    placed = {text: x for text, x in shown if text.endswith("kB")}
    assert sorted(placed, key=placed.__getitem__) == ["10 kB", "20 kB", "80 kB"]
    # log 2 : log 4
    gaps = (placed["20 kB"] - placed["10 kB"]) / (placed["80 kB"] - placed["20 kB"])
    assert gaps == pytest.approx(1 / 2, rel=0.1)
    assert placed["80 kB"] - placed["10 kB"] > 0.8 * found.page.locator("#figure-over .plot").evaluate(
        "(plot) => plot.clientWidth"
    )
    # Tables and files have the values as the sweep has them.
    assert {row["kmin"] for row in found.rows("over")} == {"80kB", "10kB", "20 KB"}
    assert found.said == []


def test_values_with_many_digits_are_chosen_too(browser: Browser, tmp_path: Path) -> None:
    write(tmp_path, TINY, "tiny.toml")
    kmin = 'scenario = "tiny.toml"\n[[vary]]\npath = "ecn.kmin"\nvalues = ["10kB", "20kB"]\n'
    thirds = '[[vary]]\npath = "ecn.pmax"\nvalues = [0.333333333333, 0.666666666667]\n'
    done = sweep.run(sweep.read(write(tmp_path, kmin + thirds, "sweep.toml")), tmp_path / "thirds", jobs=1)
    found = opened(browser, report.write(done.path, tmp_path / "page.html"))
    assert {(row["pmax"], row["kmin"]) for row in found.rows("over")} == {(0.3333333, "10kB"), (0.3333333, "20kB")}
    assert found.said == []


def test_several_folders_on_one_page(browser: Browser, folder: Path, results: Path, tmp_path: Path) -> None:
    file = report.write([folder / "results", results], tmp_path / "both.html")
    found = opened(browser, file)
    choice = found.page.locator("#choices select").first
    assert len(choice.locator("option").all()) == 2
    choice.select_option("1")
    found.drawn()
    assert "No samples" in str(found.page.locator("#queues").text_content())
    assert found.said == []


def test_a_folder_has_only_the_sections_of_its_tables(
    browser: Browser, results: Path, study: Path, tmp_path: Path
) -> None:
    ring = '\n[[workload]]\nring_all_reduce = { size = "80kB", compute = "5us" }'
    incast.load(write(tmp_path, SMALL + ring)).run(tmp_path / "ring")
    sweep = study.parent / "tiny" / "fct"
    sweeps = opened(browser, report.write([sweep, sweep], tmp_path / "sweeps.html"))
    assert sweeps.page.locator("#choices").get_by_label("sweep").count() == 1
    found = opened(browser, report.write([tmp_path / "ring", sweep, results], tmp_path / "page.html"))
    visible = "(all) => all.filter((each) => each.checkVisibility()).length"
    seen = []
    for folder in ("0", "1", "2"):
        found.page.locator("#choices").get_by_label("folder").select_option(folder)
        found.drawn()
        parts = [found.page.locator(f"#{name}, nav a[href='#{name}']") for name in ("iterations", "over")]
        seen.append([part.evaluate_all(visible) for part in parts])
        assert "Omitted" not in found.page.locator("main").inner_text()
    # Section and link.
    assert seen == [[2, 0], [0, 2], [0, 0]]
    assert found.said == []


def test_what_a_page_of_many_scenarios_omits_is_in_its_notes(folder: Path, results: Path, tmp_path: Path) -> None:
    page = report.write([folder / "results", *[results] * 12], tmp_path / "many.html").read_text(encoding="utf-8")
    assert "omits findings, and queues, rates and pauses over time. Use <code>incast plot</code>, or" in page
    packed = re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)
    assert packed
    sampled, other = (group["variations"][0] for group in json.loads(packed[1])["groups"][:2])
    assert sampled["omitted"] == ["queues", "rates", "pauses"]
    assert other["omitted"] == []
    assert other["charts"]["queues"][""]["whyEmpty"] == NO_SAMPLES


def test_the_command(folder: Path, command: Command, tmp_path: Path) -> None:
    shutil.copytree(folder / "results", tmp_path / "mine")
    done = command("report", "mine")
    assert done.returncode == 0, done.stderr
    assert re.fullmatch(r"wrote mine\.html \(\d\.\d MB\); open it in a browser\n", done.stdout)
    assert (tmp_path / "mine.html").read_text(encoding="utf-8").startswith("<!doctype html>")
    again = command("report", "mine")
    assert (again.returncode, again.stdout) == (2, "")
    assert "mine.html exists already" in again.stderr
    assert command("report", "mine", "--overwrite").returncode == 0


def test_what_is_no_folder_of_results(folder: Path, command: Command, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "other").mkdir()
    write(tmp_path / "other", "x", "notes.txt")
    shutil.copytree(folder / "results", tmp_path / "other" / "run")
    write(tmp_path, "x", "file")
    for name, said in (
        ("empty", "the folder is empty"),
        ("nowhere", "no such folder"),
        ("file", "is a file"),
        ("other", "did you mean other/run?"),
    ):
        done = command("report", name, "-o", "page.html")
        assert (done.returncode, done.stdout) == (2, "")
        assert said in done.stderr
        assert done.stderr.startswith(f"error: {name}: ")
    assert not (tmp_path / "page.html").exists()


def changed(folder: Path, to: Path, file: str, old: str, new: str) -> None:
    """A copy of results with one file changed."""
    shutil.copytree(folder / "results", to)
    text = (to / file).read_text(encoding="utf-8")
    assert old in text
    (to / file).write_text(text.replace(old, new), encoding="utf-8")


def test_results_that_are_damaged(folder: Path, command: Command, tmp_path: Path) -> None:
    changed(folder, tmp_path / "later", "manifest.json", '"format": 1', '"format": 9')
    changed(folder, tmp_path / "torn", "manifest.json", "{", "")
    for table in ("flows", "ports", "queues"):
        shutil.copytree(folder / "results", tmp_path / table)
        whole = (tmp_path / table / f"{table}.parquet").read_bytes()
        (tmp_path / table / f"{table}.parquet").write_bytes(whole[: len(whole) // 2])
    shutil.copytree(folder / "results", tmp_path / "less")
    (tmp_path / "less" / "ports.parquet").unlink()
    for name, said in (
        ("later", "9"),
        ("torn", "manifest.json"),
        ("flows", "flows.parquet"),
        ("ports", "ports.parquet"),
        ("queues", "queues.parquet"),
        ("less", "ports.parquet"),
    ):
        done = command("report", name, "-o", "page.html")
        assert (done.returncode, done.stdout) == (2, ""), name
        assert said in done.stderr, name
        assert "Traceback" not in done.stderr
    assert [path.name for path in tmp_path.iterdir() if path.is_file()] == []


def test_a_study_without_its_claims(tmp_path: Path, command: Command) -> None:
    folder = make_study(tmp_path / "tiny")
    (folder / "claims.json").unlink()
    done = command("report", "tiny", "-o", "page.html")
    assert done.returncode == 2
    assert "no claims.json" in done.stderr
    study = (folder / "study.json").read_text(encoding="utf-8")
    (folder / "study.json").write_text(study.replace(f'"format": {FORMAT}', '"format": 99'), encoding="utf-8")
    done = command("report", "tiny", "-o", "page.html")
    assert done.returncode == 2
    assert "format 99" in done.stderr
    assert not (tmp_path / "page.html").exists()


def test_other_names_and_places(folder: Path, command: Command, tmp_path: Path) -> None:
    done = command("report", folder / "results", "-o", "page.pdf")
    assert done.returncode == 2
    assert "must end in .html" in done.stderr
    done = command("report", folder / "results", "-o", "no/such/place/page.html")
    assert done.returncode == 3
    assert "no/such/place" in done.stderr
    assert list(tmp_path.iterdir()) == []


def listens(process: int) -> bool:
    """True if a process handles SIGTERM: `incast` has begun."""
    status = Path(f"/proc/{process}/status").read_text(encoding="utf-8")
    caught = re.search(r"^SigCgt:\s*(\w+)$", status, re.MULTILINE)
    return caught is not None and int(caught[1], 16) >> (signal.SIGTERM - 1) & 1 == 1


def test_ctrl_c_leaves_nothing(tmp_path: Path, start: Start) -> None:
    folder = make_study(tmp_path / "tiny")
    before = set(tmp_path.iterdir())
    # So many that it is not done when the signal comes.
    process = start("report", *[folder] * 400, "-o", "page.html")
    wait_until(lambda: listens(process.pid))
    code, errors = stop(process, signal.SIGINT)
    # Python ends by the signal itself where it came while a string was compiled; a shell says 130 of both.
    assert code in (130, -signal.SIGINT)
    assert errors == "error: interrupted; nothing was written\n"
    assert set(tmp_path.iterdir()) == before


def test_the_libraries_are_those_of_the_note() -> None:
    vendor = Path(report.__file__).parent / "vendor"
    lines = (vendor / "SHA256SUMS").read_text(encoding="utf-8").splitlines()
    listed = {name: digest for digest, name in map(str.split, lines)}
    there = {file.name: file for file in vendor.iterdir() if file.suffix in (".js", ".LICENSE")}
    assert listed == {name: hashlib.sha256(file.read_bytes()).hexdigest() for name, file in there.items()}
    note = (vendor / "README.md").read_text(encoding="utf-8")
    assert all(f"`{name}`" in note for name in listed)


def test_many_figures_of_a_claim_are_counted_and_opened() -> None:
    verdicts = ["holds"] * 9 + ["fails"] * 3 + ["not measured"] * 2
    claim = {**CLAIMS[0], "checks": [check(f"figure {number}", verdict) for number, verdict in enumerate(verdicts)]}
    text = article(claim, [])
    assert "14 figures: 9 hold, 3 fail, 2 not measured." in text
    assert "<summary>All 14 figures</summary>" in text
    failing, everything = text.split("<details")
    assert failing.count("<tr>") == 1 + 3
    assert everything.count("<tr>") == 1 + 14


def test_units_of_claims_are_spaced_and_stay_with_their_number() -> None:
    claim = {**CLAIMS[0], "statement": "at 99 %", "setting": {"AI of HPCC": "50Mbps", "buffer": "32MiB"}}
    text = article(claim, [])
    assert "</span> at 99\N{NO-BREAK SPACE}%</h3>" in text
    assert "Open parameters: AI of HPCC 50 Mb/s, buffer 32 MiB." in text


def test_explanations_load_no_images() -> None:
    """Viewers without the page's content policy would load them from the network."""
    found = MARKDOWN.render("Its *marks* ![chart](http://127.0.0.1/x.png) <img src=x>")
    assert found == '<p>Its <em>marks</em> !<a href="http://127.0.0.1/x.png">chart</a> &lt;img src=x&gt;</p>\n'


def test_iterations_of_collectives_are_bars(browser: Browser, tmp_path: Path) -> None:
    """A bar for each scheme, iteration and part, with room for its colour."""
    ring = 'ring_all_reduce = { size = "80kB", iterations = 3, compute = "5us" }'
    head = SMALL.split("[[workload]]")[0]
    schemes = SMALL[SMALL.index("[scheme.DCQCN]") :]
    jobs = "".join(f'[[workload]]\nlabel = "{job}"\n{ring}\n' for job in ("first", "second"))
    incast.load(write(tmp_path, f"{head}{jobs}{schemes}")).run(tmp_path / "results")
    found = opened(browser, report.write(tmp_path / "results", tmp_path / "page.html"))
    assert len(found.rows("iterations")) == 2 * 2 * 3
    widths = "all => all.map(bar => bar.getBBox()).filter(box => box.height > 0).map(box => box.width)"
    bars = found.page.locator("#figure-iterations svg .mark-rect.role-mark path").evaluate_all(widths)
    # Compute is 0 in the first iterations.
    assert len(bars) == 2 * 2 * (3 + 2)
    assert min(bars) > 20
    assert found.said == []
