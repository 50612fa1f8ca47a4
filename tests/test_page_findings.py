"""First sections of the page: findings, differing settings, provenance; what the page leaves out."""

from __future__ import annotations

import json
import re
import warnings
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser

import incast
from conftest import RING, SMALL, write
from incast import few, report
from incast.findings.words import bound
from incast.report.findings import listed
from incast.report.html import escape, table
from incast.report.settings import differing, merged, text
from incast.report.units import spaced
from test_findings_runs import FAILED
from test_page import browser as browser
from test_page import opened

SAMPLED = FAILED + '\n[measure]\nsample_every = "1us"\n\n[scheme.Copy]\ncontrol = "dcqcn"\n'
"""A failed link, with samples and a scheme that equals another."""
ASSETS = Path(report.__file__).parent / "assets"
VMS = """
[fabric.star]
hosts = 2

[vms]
slots = 1

[[tenant]]
name = "x"
vms = 2
guarantee = "1Gbps"

[[workload]]
tenant = "x"
list = [{ src = 1, dst = 0, size = "50kB" }]

[scheme.TCP]
transport = "tcp"
"""
BACKLOGGED = """
[fabric.star]
hosts = 3

[[workload]]
end = "100us"
list = [{ src = 1, dst = 0, size = "backlogged" }, { src = 2, dst = 0, size = "backlogged" }]

[scheme.TCP]
transport = "tcp"
"""
ONE_SIZE = """
[fabric.star]
hosts = 3

[[workload]]
incast = { fan_in = 2, size = "50kB" }

[scheme.DCQCN]
control = "dcqcn"
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Results with a failure, and their page."""
    folder = tmp_path_factory.mktemp("findings")
    incast.load(write(folder, SAMPLED)).run(folder / "results")
    report.write(folder / "results", folder / "page.html")
    return folder


def data(page: str) -> Any:
    """The data of a page."""
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)
    assert found
    return json.loads(found[1])


def of_page(folder: Path) -> Any:
    """The data of the only scenario of a page."""
    return data((folder / "page.html").read_text(encoding="utf-8"))["groups"][0]["variations"][0]


def test_findings_settings_and_charts_follow_each_other(folder: Path) -> None:
    page = (folder / "page.html").read_text(encoding="utf-8")
    order = [name for name in re.findall(r'<section id="([\w-]+)"', page) if name != "warnings"]
    assert order[:3] == ["findings", "settings", "slowdown"]
    assert order[-2:] == ["scenario", "counters"]
    findings = incast.open(folder / "results").findings()
    assert [finding.to_dict() for finding in findings] == of_page(folder)["findings"]
    first = page[page.index('<section id="findings"') : page.index('<section id="settings"')]
    assert first.count("<li>") == len(findings)
    assert escape(bound(findings[0].text)) in first
    assert "\N{NO-BREAK SPACE}us" in first


def test_provenance_has_date_build_seed_and_command(folder: Path) -> None:
    page = (folder / "page.html").read_text(encoding="utf-8")
    manifest = incast.open(folder / "results").manifest
    assert re.search(r"Results of \d{4}-\d\d-\d\d \d\d:\d\d UTC", page)
    assert f"incast {manifest['incast']} (build {manifest['build']}), seed {manifest['seed']}" in page
    assert f"<code>incast run {folder / 'results' / 'scenario.toml'} -o NEW</code>" in page


def test_settings_that_differ_are_listed(folder: Path) -> None:
    page = (folder / "page.html").read_text(encoding="utf-8")
    section = page[page.index('<section id="settings"') : page.index('<section id="slowdown"')]
    rows = [re.findall(r"<t[hd][^>]*>([^<]*)</t[hd]>", row) for row in re.findall(r"<tr>(.*?)</tr>", section)]
    assert rows[:2] == [["setting", "DCQCN", "HPCC", "Copy"], ["control", "dcqcn", "hpcc", "dcqcn"]]


def test_one_scheme_and_a_deadlock_fold_empty_sections(tmp_path: Path) -> None:
    incast.load(write(tmp_path, RING)).run(tmp_path / "results")
    page = report.write(tmp_path / "results", tmp_path / "page.html").read_text(encoding="utf-8")
    sections = re.findall(r'<section id="([\w-]+)"', page)
    assert not {"settings", "slowdown", "distributions", "queues", "rates"} & set(sections)
    assert "Not recorded: queues and rates over time (measure.sample_every). No flow completed." in page


def test_the_times_of_a_deadlock_are_among_the_findings_only(browser: Browser, tmp_path: Path) -> None:
    incast.load(write(tmp_path, RING)).run(tmp_path / "results")
    shown = opened(browser, report.write(tmp_path / "results", tmp_path / "page.html"))
    assert "Deadlock from " in shown.page.locator("#findings").inner_text()
    cycle = shown.page.locator("#deadlocks figure.cycle")
    assert cycle.locator("h3").all_text_contents() == ["Cycle under none"]
    assert cycle.locator("svg").count() == 1
    assert "eadlock from " not in shown.page.locator("#deadlocks").inner_text()
    assert shown.said == []


def test_lines_show_in_the_dark_and_paper_is_light(browser: Browser, tmp_path: Path) -> None:
    incast.load(write(tmp_path, RING)).run(tmp_path / "results")
    shown = opened(browser, report.write(tmp_path / "results", tmp_path / "page.html"), scheme="dark")
    page = shown.page
    strokes = page.locator("#figure-closing svg .mark-rule.role-mark line").evaluate_all(
        "(all) => all.map((each) => each.getAttribute('stroke'))"
    )
    text = page.evaluate("css('--text')")
    assert set(strokes) == {text}
    assert page.locator(".saves").first.is_visible()
    page.emulate_media(media="print")
    assert page.evaluate("css('--text')") != text
    assert page.locator(".saves:visible").count() == 0
    page.set_viewport_size({"width": 400, "height": 800})
    assert page.locator(".cycle svg").evaluate("(svg) => svg.getBoundingClientRect().right <= innerWidth")


def test_backlogged_flows_have_no_slowdown(tmp_path: Path) -> None:
    incast.load(write(tmp_path, BACKLOGGED)).run(tmp_path / "results")
    page = report.write(tmp_path / "results", tmp_path / "page.html").read_text(encoding="utf-8")
    assert "Backlogged flows have no slowdown." in page
    assert "No flow completed." not in page
    assert '<section id="slowdown"' not in page


def test_tenants_have_a_heading_for_each_chart(browser: Browser, tmp_path: Path) -> None:
    incast.load(write(tmp_path, VMS.replace("[scheme.TCP]", '[scheme.TCP]\nhypervisor = "reservation"'))).run(
        tmp_path / "results"
    )
    shown = opened(browser, report.write(tmp_path / "results", tmp_path / "page.html"))
    page = shown.page
    # In a section with one chart, the heading is one pixel wide, for screen readers.
    headings = page.locator("#tenants h3")
    widths = headings.evaluate_all("(all) => all.map((each) => each.getBoundingClientRect().width)")
    assert headings.all_text_contents() == ["VMs over time", "Guarantees"]
    assert min(widths) > 1
    assert page.locator("#counters th", has_text="packets dropped by limiters of hypervisors").count() == 1
    assert "no delay" in page.locator("#scenario").inner_text()
    assert "load of host links" not in page.locator("#scenario").inner_text()
    assert shown.said == []


def test_counters_without_values_are_left_out(browser: Browser, tmp_path: Path) -> None:
    incast.load(write(tmp_path, BACKLOGGED)).run(tmp_path / "results")
    shown = opened(browser, report.write(tmp_path / "results", tmp_path / "page.html"))
    names = shown.page.locator("#counters tbody th").all_text_contents()
    assert "packets dropped" in names
    assert [name for name in names if "slowdown" in name] == []


def test_a_distribution_is_drawn_once(tmp_path: Path) -> None:
    incast.load(write(tmp_path, ONE_SIZE)).run(tmp_path / "results")
    drawn = data(report.write(tmp_path / "results", tmp_path / "page.html").read_text(encoding="utf-8"))
    made = drawn["groups"][0]["variations"][0]["charts"]
    assert made["slowdown"][""]["whyEmpty"] == (
        "incast (50 kB): all flows have one size; their slowdowns are drawn as a distribution."
    )
    assert made["cdf-slowdown"][""]["whyEmpty"] is None


def test_bins_of_few_flows_have_a_note(tmp_path: Path) -> None:
    incast.load(write(tmp_path, SMALL)).run(tmp_path / "results")
    drawn = data(report.write(tmp_path / "results", tmp_path / "page.html").read_text(encoding="utf-8"))
    notes = drawn["groups"][0]["variations"][0]["charts"]["slowdown"][""]["leftOut"]
    assert notes[-1] == "p99 of up to 100 flows is their maximum, as is p95 of up to 20 flows."


@pytest.mark.parametrize(
    ("flows", "said"),
    [
        ([101, 500], ""),
        ([500, 100], "p99 of up to 100 flows is their maximum"),
        ([21], "p99 of up to 100 flows is their maximum"),
        ([20], "p99 of up to 100 flows is their maximum, as is p95 of up to 20 flows"),
        ([], ""),
    ],
)
def test_percentiles_of_few_flows_are_their_maximum(flows: list[int], said: str) -> None:
    # Elements are counted from 0: floor(0.99 * 100) = 99 is the last of 100, floor(0.99 * 101) = 99 is not of 101.
    assert few.note(flows) == said


def test_units_have_one_spelling(folder: Path) -> None:
    page = (folder / "page.html").read_text(encoding="utf-8")
    sections = page[page.index("<main") : page.index("</main>")]
    shown = re.sub(r"<pre.*?</pre>", "", sections, flags=re.DOTALL)
    assert "Gb/s" in shown
    assert not re.search(r"\d[kMGT]?bps\b|\d[numk]?s\b|µ", re.sub(r"<[^>]*>", " ", shown))


@pytest.mark.parametrize(
    ("given", "found"),
    [
        ("8 of 400Gbps and 1us", "8 of 400 Gb/s and 1 us"),
        ("12.8Tbps", "12.8 Tb/s"),
        ("102.5kB, 4KiB", "102.5 kB, 4 KiB"),
        ("h1s, leaf0 to 3spines", "h1s, leaf0 to 3spines"),
    ],
)
def test_units_are_spaced(given: str, found: str) -> None:
    assert spaced(given) == found


def test_choices_are_named_and_compared_among_equal_choices() -> None:
    trees = {
        "A": {"control": {"dcqcn": {"ai": "20Mbps"}}, "window": "off"},
        "B": {"control": {"dcqcn": {"ai": "40Mbps"}}, "window": "off"},
        "C": {"control": {"hpcc": {"eta": 0.95}}, "window": "off"},
    }
    assert list(differing(trees)) == [
        ("control", {"A": "dcqcn", "B": "dcqcn", "C": "hpcc"}),
        ("control.dcqcn.ai", {"A": "20 Mb/s", "B": "40 Mb/s"}),
    ]
    assert list(differing({"A": trees["A"], "B": trees["A"]})) == []


def test_a_scheme_overrides_the_shared_settings() -> None:
    assert merged({"a": {"x": 1, "y": 2}, "b": 3}, {"a": {"y": 5}}) == {"a": {"x": 1, "y": 5}, "b": 3}
    assert merged({"pfc_mode": {"static": {}}}, {"pfc_mode": {"dynamic": {}}}) == {"pfc_mode": {"dynamic": {}}}


@pytest.mark.parametrize(
    ("value", "found"),
    [
        (True, "true"),
        ({"flowlet": {"gap": "20us"}}, "flowlet (gap 20 us)"),
        ({"elasticswitch": {"slack": 0.1, "floor": 0.25, "hold": "1ms"}}, "elasticswitch"),
        ({"kmin": "100kB", "kmax": "400kB"}, "kmin 100 kB, kmax 400 kB"),
        ([], "none"),
        ({}, "none"),
        ([3, 4], "3; 4"),
        (0.5, "0.5"),
    ],
)
def test_values_of_settings_in_words(value: Any, found: str) -> None:
    assert text(value) == found


def test_names_of_fields_in_findings_are_code() -> None:
    finding = "This queue has no limit, unless `host.nic_queue` is `port`."
    assert listed([{"text": finding}]) == (
        "<ul><li>This queue has no limit, unless <code>host.nic_queue</code> is <code>port</code>.</li></ul>"
    )


def test_the_fabric_shows_a_scheme_with_pauses_first(browser: Browser, tmp_path: Path) -> None:
    scenario = """
[fabric.star]
hosts = 5
[[workload]]
incast = { fan_in = 4, size = "200kB", receiver = 0 }
[scheme.free]
control = "unlimited"
[scheme.paused]
control = "unlimited"
switch.buffer = "500kB"
"""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", incast.IncastWarning)
        incast.load(write(tmp_path, scenario)).run(tmp_path / "results")
    page = opened(browser, report.write(tmp_path / "results", tmp_path / "page.html")).page
    choices = page.locator("#fabric select")
    assert [choices.nth(place).input_value() for place in range(2)] == ["paused", "paused_share"]


def test_a_browser_shows_the_telling_measure_events_and_equal_schemes(browser: Browser, folder: Path) -> None:
    shown = opened(browser, folder / "page.html")
    assert shown.said == []
    page = shown.page
    measure = page.locator("#fabric select").nth(1)
    assert measure.input_value() == "drops"
    assert "packets dropped or lost" in measure.locator("option").all_text_contents()
    drops = {name: max(figures["drops"]) for name, figures in of_page(folder)["fabric"]["schemes"].items()}
    most = sorted(drops.items(), key=lambda each: -each[1])
    listed = ", ".join(f"{drop:,} ({name})" for name, drop in most)
    note = page.locator("#fabric .legend .note")
    assert note.text_content() == (f"The scale is the same for all schemes. Most packets dropped or lost: {listed}.")
    top = page.locator("#fabric .legend svg text").last
    assert top.text_content() == f"{most[0][1]:,}"
    page.locator("#fabric select").first.select_option(most[-1][0])
    page.locator("#fabric").get_by_label("scale").select_option("own")
    assert top.text_content() == f"{most[-1][1]:,}" != f"{most[0][1]:,}"
    assert f"The scale is that of {most[-1][0]} alone." in (note.text_content() or "")
    measure.select_option("utilisation")
    interval = bound(of_page(folder)["fabric"]["interval"])
    assert interval.endswith(", the longest run")
    assert f"Highest utilisation (of {interval}): " in (note.text_content() or "")
    events = bound("Dotted lines are events: 20 us: leaf0-spine0 down")
    assert events in (page.locator("#figure-queues").text_content() or "")
    assert page.locator("#figure-queues .mark-rule line").count() >= 2
    assert "Copy = DCQCN" in (page.locator("#figure-cdf-fct").text_content() or "")
    assert page.locator("#findings li").count() == len(incast.open(folder / "results").findings())
    page.context.close()


@pytest.mark.parametrize("width", [390, 1400])
def test_names_of_layers_stand_left_of_nodes_and_links(browser: Browser, tmp_path: Path, width: int) -> None:
    incast.load(write(tmp_path, VMS)).run(tmp_path / "results")
    page = opened(browser, report.write(tmp_path / "results", tmp_path / "page.html"), width=width).page
    assert page.locator("#fabric .layer").all_text_contents() == ["tier 2", "1 switch", "2 servers", "2 VMs"]
    ends = "elements => Math.max(...elements.map((each) => each.getBoundingClientRect().right))"
    starts = "elements => Math.min(...elements.map((each) => each.getBoundingClientRect().left))"
    right = page.locator("#fabric .layer").evaluate_all(ends)
    assert right < page.locator("#fabric svg [data-node], #fabric svg .links path").evaluate_all(starts)
    page.context.close()


def test_links_without_traffic_show_in_the_dark() -> None:
    ramps = re.findall(r'dark: \["(#[0-9a-f]{6})"', (ASSETS / "fabric.js").read_text(encoding="utf-8"))
    dark = (ASSETS / "page.css").read_text(encoding="utf-8").partition('data-theme="dark"')[2]
    ground = re.search(r"--ground: (#[0-9a-f]{6})", dark)
    assert ground
    assert len(ramps) == 2
    # At least 3:1, as WCAG 2 asks of graphics.
    assert min((luminance(ramp) + 0.05) / (luminance(ground[1]) + 0.05) for ramp in ramps) >= 3


def luminance(colour: str) -> float:
    """Relative luminance of a colour, as WCAG 2 defines it."""
    parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def test_names_and_headings_fit_a_narrow_window(browser: Browser, folder: Path) -> None:
    shown = opened(browser, folder / "page.html", width=390)
    page = shown.page
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert page.locator("#fabric svg text", has_text="leaf1").count() == 1
    outside = (
        "(all) => all.filter((each) => each.getBoundingClientRect().right > innerWidth).map((each) => each.textContent)"
    )
    assert page.locator("h1, h2, h3, h4, nav a").evaluate_all(outside) == []
    page.context.close()


def test_cells_of_more_than_a_few_words_keep_a_width() -> None:
    cells = table(["a", "b", "c", "d"], [["x", "y" * 24, "y" * 25, "y" * 61]], "")
    assert re.findall(r"<td( class=\"\w+\")?>", cells) == ["", ' class="medium"', ' class="long"']
