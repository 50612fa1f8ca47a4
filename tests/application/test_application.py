"""Application slowdown: models against arithmetic by hand, their input, and the output of the command."""

from __future__ import annotations

import csv
import io
import itertools
import json
import math
import sys
from contextlib import closing
from pathlib import Path

import numpy as np
import polars
import pytest

import incast
from conftest import Command, write
from incast import application, sweep
from incast.application.calibration import EVIDENCE
from incast.application.cli import rows as printed
from incast.application.memory import is_memory
from incast.application.table import COLUMNS
from incast.charts.over import rows_of
from incast.charts.source import Source
from incast.study import queries
from incast.study.tables import EmptyTables

PAGE_US = 4096 * 8 / 40e3
"""A page of 4 KB at 40 Gb/s, in microseconds."""

HEAD = '[fabric.star]\nhosts = 12\nrate = "40Gbps"\n'
MEMORY = """
[[workload]]
label = "memory"
poisson = { load = 0.3, sizes = "4096B", duration = "100us", hosts = "0-5" }
"""
OTHERS = """
[[workload]]
label = "disk"
list = [{ src = 6, dst = 7, size = "1MB" }]

[[workload]]
label = "memory-of-disk"
list = [{ src = 8, dst = 9, size = "1MB" }]
"""
SCHEMES = '\n[scheme.DCQCN]\ncontrol = "dcqcn"\n\n[scheme.HPCC]\ncontrol = "hpcc"\n'


def simulated(folder: Path, text: str) -> Path:
    """The results of a scenario."""
    return incast.load(write(folder, text)).run(folder / "results").path


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Results with memory flows and, on hosts of their own, others that take far longer."""
    return simulated(tmp_path_factory.mktemp("pages"), HEAD + MEMORY + OTHERS + SCHEMES)


def constant(latency_us: float) -> application.Latencies:
    """A network on which every fetch takes the same time."""
    return application.Latencies([latency_us] * 7, "us")


# The models.


def test_a_constant_latency_costs_its_product_with_the_rate_of_faults() -> None:
    for faults, latency_us in ((26_000.0, 1.96), (1.0, 1e6), (8_600.0, 0.1)):
        expected = faults * latency_us * 1e-6
        assert application.Paging(faults).slowdown(constant(latency_us)) == pytest.approx(expected, rel=1e-9)
        for batch in (2, 4, 100):
            batched = application.Paging(faults, batch=batch).slowdown(constant(latency_us))
            assert batched == pytest.approx(expected / batch, rel=1e-9)


def test_twice_the_faults_cost_twice_as_much() -> None:
    sample = application.Latencies([1, 2, 3, 10, 40], "us")
    for batch in (1, 4):
        once = application.Paging(5_000, batch=batch).slowdown(sample)
        assert application.Paging(10_000, batch=batch).slowdown(sample) == pytest.approx(2 * once, rel=1e-12)


def test_hidden_faults_and_prefetching_lower_the_rate() -> None:
    model = application.Paging(10_000, hidden=0.5, depth=2)
    assert model.exposed_faults_per_s == 2_500
    assert model.slowdown(constant(4)) == pytest.approx(0.01, rel=1e-9)


def test_overhead_is_waited_for_once_in_a_batch() -> None:
    model = application.Paging(20_000, batch=2)
    assert model.slowdown(constant(3), 1e-6) == pytest.approx(10_000 * 4e-6, rel=1e-9)
    store = application.ClosedLoop(0.5, 10e-6)
    assert store.slowdown(constant(3), 1e-6) == pytest.approx(0.5 * 4 / 10, rel=1e-9)


def test_a_key_value_store_loses_throughput() -> None:
    model = application.ClosedLoop(faults_per_operation=0.5, service_s=10e-6)
    slowdown = model.slowdown(constant(5))
    assert slowdown == pytest.approx(0.25, rel=1e-9)
    assert model.exposed_faults_per_s == pytest.approx(50_000, rel=1e-12)
    assert model.throughput_loss(slowdown) == pytest.approx(0.2, rel=1e-9)
    assert application.Paging(1).throughput_loss(0.25) is None


@pytest.mark.parametrize("value", [-1, 0, math.nan, math.inf, "1", True, None])
@pytest.mark.parametrize("field", ["faults_per_s", "faults_per_operation", "service_s"])
def test_rates_are_above_zero(field: str, value: float) -> None:
    model = application.Paging if field == "faults_per_s" else application.ClosedLoop
    others = {} if field == "faults_per_s" else {"faults_per_operation": 1.0, "service_s": 1.0}
    with pytest.raises(incast.ApplicationError, match=field) as raised:
        model(**others | {field: value})  # type: ignore[arg-type]
    assert raised.value.field == field
    assert "above 0" in str(raised.value)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        *(("batch", value) for value in (0, -1, 1.5, 1.0, math.nan, True)),
        *(("hidden", value) for value in (-0.1, 1, 1.5, math.nan)),
        *(("depth", value) for value in (0, 0.5, -1, math.inf)),
    ],
)
def test_other_parameters_have_limits(field: str, value: float) -> None:
    with pytest.raises(incast.ApplicationError, match=field):
        application.Paging(1.0, **{field: value})  # type: ignore[arg-type]


@pytest.mark.parametrize("overhead_s", [-1e-9, math.nan, math.inf])
def test_an_overhead_is_a_time(overhead_s: float) -> None:
    for model in (application.Paging(1), application.ClosedLoop(1, 1)):
        with pytest.raises(incast.ApplicationError, match="overhead_s"):
            model.slowdown(constant(1), overhead_s)


# Latencies.


@pytest.mark.parametrize("b", [1, 2, 3, 4])
def test_the_mean_of_the_longest_is_exact(b: int) -> None:
    values = [7.0, 1.0, 1.0, 20.0, 3.5]
    longest = [max(drawn) for drawn in itertools.product(values, repeat=b)]
    assert application.Latencies(values).mean_of_max(b) == pytest.approx(sum(longest) / len(longest), rel=1e-13)


def test_of_four_exponential_latencies_the_longest_takes_25_twelfths_of_the_mean() -> None:
    drawn = np.random.default_rng(5).exponential(2e-6, 400_000)
    sample = application.Latencies(drawn)
    assert sample.mean_of_max(4) / sample.mean() == pytest.approx(1 + 1 / 2 + 1 / 3 + 1 / 4, rel=0.01)


def test_draws_have_the_distribution_of_the_sample() -> None:
    sample = application.Latencies([1, 2, 4, 8])
    rng = np.random.default_rng(3)
    assert sample.draw(rng, (3, 5)).shape == (3, 5)
    many = 200_000
    counts = np.full(many, 3)
    for drawn, b in ((sample.draw(rng, many), 1), (sample.draw_max(rng, counts), 3)):
        for place, value in enumerate(sample.values_s, 1):
            share = (place / 4) ** b - ((place - 1) / 4) ** b
            error = 5 * math.sqrt(share * (1 - share) / many)
            assert (drawn == value).mean() == pytest.approx(share, abs=error), (b, value)


def test_quantiles_are_those_of_all_tables() -> None:
    sample = application.Latencies([5, 1, 4, 2, 3], "ns")
    assert [sample.quantile(p) for p in (0, 0.2, 0.5, 0.99, 1)] == [1e-9, 2e-9, 3e-9, 5e-9, 5e-9]
    with pytest.raises(incast.ApplicationError, match="0 to 1"):
        sample.quantile(1.1)


def test_units() -> None:
    for unit, factor in (("s", 1), ("ms", 1e3), ("us", 1e6), ("ns", 1e9), ("ps", 1e12)):
        assert application.Latencies([2 * factor], unit).mean() == pytest.approx(2, rel=1e-15)  # type: ignore[arg-type]
    with pytest.raises(incast.ApplicationError, match="did you mean `us`"):
        application.Latencies([1], "uss")  # type: ignore[arg-type]


@pytest.mark.parametrize("values", [[], [1, -1], [math.nan], [math.inf]])
def test_a_sample_is_of_times(values: list[float]) -> None:
    with pytest.raises(incast.ApplicationError):
        application.Latencies(values)


# What feeds them.


@pytest.mark.parametrize(
    ("label", "memory"),
    [("memory", True), ("wordcount-memory", True), ("disk", False), ("memory-of-disk", False), ("nomemory", False)],
)
def test_memory_flows_are_told_by_their_label(label: str, memory: bool) -> None:
    assert is_memory(label) is memory


def test_only_memory_flows_count(pages: Path, tmp_path: Path) -> None:
    alone = simulated(tmp_path, HEAD + MEMORY + SCHEMES)
    for scheme in ("DCQCN", "HPCC"):
        found = application.Latencies.of(pages, scheme)
        flows = incast.open(pages).flows.to_polars().filter(polars.col("scheme").cast(polars.String) == scheme)
        of_memory = flows.filter(polars.col("label").cast(polars.String) == "memory")["fct_ps"]
        assert len(found) == len(of_memory) > 20
        assert found.mean() == pytest.approx(of_memory.mean() / 1e12, rel=1e-12)  # type: ignore[operator]
        assert flows["fct_ps"].mean() / 1e12 > 1.2 * found.mean(), "the others would be seen"  # type: ignore[operator]
        assert list(found.values_s) == list(application.Latencies.of(alone, scheme).values_s)
    rows = application.application_slowdown(pages)
    assert {row.labels for row in rows} == {("memory",)}
    assert [row.slowdown for row in rows] == [row.slowdown for row in application.application_slowdown(alone)]
    with pytest.raises(incast.ApplicationError, match="unknown label of memory flows"):
        application.Latencies.of(pages, "HPCC", ["disk"])


def test_an_application_takes_its_own_flows(tmp_path: Path) -> None:
    flows = (("wordcount-memory", 0, "4kB"), ("memory", 2, "40kB"))
    text = "".join(
        f'\n[[workload]]\nlabel = "{label}"\nlist = [{{ src = {src}, dst = {src + 1}, size = "{size}" }}]\n'
        for label, src, size in flows
    )
    folder = simulated(tmp_path, HEAD + text + SCHEMES)
    found = {row.application: row for row in application.application_slowdown(folder, scheme="HPCC")}
    assert found["wordcount"].labels == ("wordcount-memory",)
    assert found["graphlab"].labels == ("wordcount-memory", "memory")
    assert found["graphlab"].latency_mean_s > found["wordcount"].latency_mean_s
    assert (found["wordcount"].flows, found["graphlab"].flows) == (1, 2)


def test_results_without_memory_flows(results: Path) -> None:
    with pytest.raises(incast.ApplicationError, match="its labels are incast, poisson"):
        application.application_slowdown(results)


def test_unfinished_flows_are_told(tmp_path: Path, command: Command) -> None:
    sizes = '{ src = 0, dst = 1, size = "4kB" }, { src = 2, dst = 3, size = "9MB" }'
    flows = f'[[workload]]\nlabel = "memory"\nlist = [{sizes}]'
    folder = simulated(tmp_path, f'{HEAD}{flows}\n{SCHEMES}\n[simulation]\nhorizon = "50us"\n')
    found = application.Latencies.of(folder, "HPCC")
    assert (len(found), found.unfinished) == (1, 1)
    assert found.warning is not None
    assert "1 of 2 memory flows did not complete" in found.warning
    assert all(row.unfinished == 1 and row.warning for row in application.application_slowdown(folder))
    done = command("application", folder, "--scheme", "HPCC", "--format", "csv")
    assert done.returncode == 0
    assert done.stderr.count("warning: ") == done.stderr.count("1 of 2 memory flows") == 1


def test_fetches_that_were_cancelled_are_not_missing(tmp_path: Path) -> None:
    flows = '[[workload]]\nlabel = "memory"\nend = "20us"\nall_to_all = { size = "16kB", iterations = 50 }\n'
    folder = simulated(tmp_path, HEAD + flows + SCHEMES)
    assert incast.open(folder).flows["status"].count("cancelled") > 100
    assert application.Latencies.of(folder, "HPCC").unfinished == 0


def test_fetches_that_never_started_are_not_missing(tmp_path: Path) -> None:
    """The horizon comes before most iterations: they are neither fetches without a time, nor in a share of flows."""
    flows = '[[workload]]\nlabel = "memory"\nall_to_all = { size = "16kB", iterations = 50 }\n'
    folder = simulated(tmp_path, HEAD + flows + SCHEMES + '[simulation]\nhorizon = "50us"\n')
    results = incast.open(folder)
    rows = zip(results.flows["scheme"], results.flows["status"], strict=True)
    of_scheme = [status for scheme, status in rows if scheme == "HPCC"]
    counts = {status: of_scheme.count(status) for status in set(of_scheme)}
    assert counts["not-started"] > 100
    assert "cancelled" not in counts
    stop = results.manifest["schemes"]["HPCC"]["stop"]
    assert (stop["not_started"], stop["unfinished"]) == (counts["not-started"], counts.get("incomplete", 0))
    assert f"; {counts['not-started']:,} flows had not started" in stop["text"]
    assert application.Latencies.of(folder, "HPCC").unfinished == counts.get("incomplete", 0)
    started = counts["completed"] + counts.get("incomplete", 0)
    with closing(Source([results])) as source:
        share = {row[0]: row[5] for row in rows_of((), source)}["HPCC"]
    assert share == counts["completed"] / started


def test_results_in_which_no_memory_flow_completes(tmp_path: Path) -> None:
    flows = '\n[[workload]]\nlabel = "memory"\nlist = [{ src = 2, dst = 3, size = "9MB" }]\n'
    folder = simulated(tmp_path, f'{HEAD}{flows}{SCHEMES}\n[simulation]\nhorizon = "50us"\n')
    with pytest.raises(incast.ApplicationError, match="none of the 1 flows"):
        application.application_slowdown(folder)


def test_several_schemes_are_not_mixed(pages: Path) -> None:
    with pytest.raises(incast.ApplicationError, match="DCQCN, HPCC"):
        application.Latencies.of(pages)
    rows = application.application_slowdown(pages, applications=["wordcount"])
    assert [row.scheme for row in rows] == ["DCQCN", "HPCC"]
    assert rows[0].slowdown != rows[1].slowdown


# Calibrations.


def test_the_requirement_is_what_its_rates_were_made_from() -> None:
    rates = {row["application"]: row for row in application.calibration_rows() if row["calibration"] != "seed_draft"}
    class_a, class_b = ["wordcount", "terasort", "graphlab", "memcached"], ["bdb", "timely", "herd"]
    assert sorted(rates) == sorted([*class_a, *class_b])
    for letter, names, latency_us, loss in (("A", class_a, 5, 0.05), ("B", class_b, 3, 0.08)):
        assert {rates[name]["class"] for name in names} == {letter}
        rows = application.application_slowdown(constant(latency_us + PAGE_US), "osdi16_requirement", names)
        assert [row.slowdown for row in rows] == pytest.approx([loss] * len(names), rel=5e-3)
        assert {row.evidence for row in rows} == {"fitted"}


def draft_losses(latency_us: float) -> dict[str, float]:
    """Losses by the calibration of the draft, in per cent, by application."""
    rows = application.application_slowdown(constant(latency_us), "seed_draft")
    assert all((row.throughput_loss is None) == (row.application not in ("memcached", "herd")) for row in rows)
    return {row.application: 100 * row.slowdown for row in rows}


def test_the_draft_gives_its_published_losses_at_the_simulated_page_times() -> None:
    """One rate per application fits both scales: within 0.1 points for word count, 0.7 for graphlab."""
    for scale, times_us in {"datacenter": (4.190, 4.166), "rack": (2.258, 2.247)}.items():
        published = {"datacenter": (9.1, 4.9), "rack": (5.0, 3.4)}[scale]
        wordcount, graphlab = draft_losses(times_us[0])["wordcount"], draft_losses(times_us[1])["graphlab"]
        assert wordcount == pytest.approx(published[0], abs=0.1)
        assert graphlab == pytest.approx(published[1], abs=0.7)


@pytest.mark.parametrize("page_us", [2.25, 4.2])
def test_assumed_rates_of_the_draft_agree_with_its_text(page_us: float) -> None:
    losses = draft_losses(page_us)
    assert max(losses[name] for name in ("terasort", "memcached", "bdb", "herd")) < 9.1
    assert 0 < losses["memcached"] - losses["terasort"] < 1


def test_every_rate_says_what_it_is_worth() -> None:
    rows = application.calibration_rows()
    assert [list(row) for row in rows] == [list(COLUMNS)] * len(rows)
    for row in rows:
        assert (row["fitted_to"] is None) != (row["assumed"] is None), row
        assert row["evidence"] == ("fitted" if row["fitted_to"] else "assumed")
        assert row["source"]
        if row["kind"] == "closed_loop":
            product = row["exposed_faults_per_s"] * row["service_s"]
            assert product == pytest.approx(row["faults_per_operation"], rel=1e-12)
    assert {row["evidence"] for row in rows} < set(EVIDENCE), "none is a prediction"


def test_a_calibration_of_ones_own() -> None:
    mine = application.Calibration("mine", (application.Application("db", "", application.Paging(1_000)),))
    (row,) = application.application_slowdown(constant(10), mine)
    assert (row.calibration, row.application, row.evidence, row.basis) == ("mine", "db", "prediction", None)
    assert row.slowdown == pytest.approx(0.01, rel=1e-9)


def test_names_that_are_unknown(pages: Path) -> None:
    for arguments, near in (
        ({"calibration": "seed_drft"}, "seed_draft"),
        ({"applications": ["wordcout"]}, "wordcount"),
        ({"calibration": "osdi16_requirement", "applications": ["Timly"]}, "timely"),
        ({"scheme": "HPC"}, "HPCC"),
    ):
        with pytest.raises(incast.ApplicationError, match=f"did you mean `{near}`"):
            application.application_slowdown(pages, **arguments)


def test_sql_of_sweeps_and_metrics_knows_the_calibrations(tmp_path: Path) -> None:
    write(tmp_path, HEAD + MEMORY + OTHERS + SCHEMES)
    plan = write(tmp_path, 'scenario = "scenario.toml"\n[[vary]]\npath = "seed"\nvalues = [1]\n', "seeds.toml")
    done = sweep.run(sweep.read(plan), tmp_path / "out")
    asked = """
        select scheme, application, exposed_faults_per_s * avg(fct_ps) / 1e12 as value from flows, calibrations
        where label = 'memory' and calibration = 'seed_draft' group by scheme, application, exposed_faults_per_s
    """
    with done.connect() as connection:
        found = {(row["scheme"], row["application"]): row["value"] for row in queries.rows(connection, asked)}
        assert connection.execute("select count(*) from calibrations").fetchall() == [(13,)]
    expected: dict[tuple[str | None, str], float] = {}
    for run in done.runs:
        rows = application.application_slowdown(done.results(run))
        expected |= {(row.scheme, row.application): row.slowdown for row in rows}
    assert len(found) == 12
    assert found == pytest.approx(expected, rel=1e-12)
    with EmptyTables().database({"seed": [1]}) as empty:
        assert queries.columns(empty, asked) == ("scheme", "application", "value")


def test_closed_forms_need_no_numpy(pages: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = application.application_slowdown(pages)
    monkeypatch.setitem(sys.modules, "numpy", None)
    assert application.application_slowdown(pages) == expected
    trace = write(tmp_path, "thread,fetches,compute_s\n0,1,1\n", "faults.csv")
    asked = printed.Asked(None, None, trace, 0.0, None, 1, 2)
    with pytest.raises(incast.MissingLibraryError) as raised:
        printed.found(pages, asked)
    assert str(raised.value) == "a replay (extra incast[application]) needs numpy: pip install numpy"


# The command.


def test_the_command_names_the_calibration_in_every_format(pages: Path, command: Command) -> None:
    arguments = ("application", pages, "--calibration", "osdi16_requirement", "--application", "herd")
    text = command(*arguments).stdout
    assert text.startswith("calibration osdi16_requirement: ")
    assert "fitted: " in text
    assert "contradict each other" in text
    expected = application.application_slowdown(pages, "osdi16_requirement", ["herd"])
    for rows in (
        json.loads(command(*arguments, "--format", "json").stdout),
        list(csv.DictReader(io.StringIO(command(*arguments, "--format", "csv").stdout))),
    ):
        assert [(row["calibration"], row["scheme"], row["evidence"]) for row in rows] == [
            ("osdi16_requirement", "DCQCN", "fitted"),
            ("osdi16_requirement", "HPCC", "fitted"),
        ]
        assert [float(row["slowdown"]) for row in rows] == [row.slowdown for row in expected]
        assert [float(row["throughput_loss"]) for row in rows] == [row.throughput_loss for row in expected]


def test_the_command_replays_a_trace(pages: Path, command: Command, tmp_path: Path) -> None:
    write(tmp_path, "thread,fetches,compute_us\n" + "0,1,200\n" * 50, "faults.csv")
    options = ("--overhead", "1.5us", "--scheme", "HPCC", "--seed", "3", "--repetitions", "40", "--format", "json")
    (row,) = json.loads(command("application", pages, "--trace", "faults.csv", *options).stdout)
    assert (row["calibration"], row["application"], row["evidence"]) == ("trace faults", "faults", "prediction")
    expected = application.Paging(5_000).slowdown(application.Latencies.of(pages, "HPCC"), 1.5e-6)
    assert row["slowdown"] == pytest.approx(expected, abs=5 * row["standard_error"])
    assert row["exposed_faults_per_s"] == pytest.approx(5_000)


def test_the_command_lists_the_calibrations(command: Command) -> None:
    text = command("application", "--list").stdout
    for part in ("seed_draft", "osdi16_requirement", "21,900", "8,600", "fitted to 9.1 %", "contradict each other"):
        assert part in text
    assert json.loads(command("application", "--list", "--format", "json").stdout) == application.calibration_rows()


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ((), "missing results folder"),
        (("gone",), "gone"),
        (("PAGES", "--calibration", "osdi16_requirements"), "did you mean `osdi16_requirement`"),
        (("--list", "--calibration", "seed"), "allowed: seed_draft, osdi16_requirement"),
        (("PAGES", "--application", "memcache"), "did you mean `memcached`"),
        (("PAGES", "--scheme", "HPPC"), "did you mean `HPCC`"),
        (("PAGES", "--overhead", "5"), "a time of 0 or more"),
        (("PAGES", "--overhead", "-5us"), "error: "),
        (("PAGES", "--seed", "1"), "--seed needs --trace"),
        (("PAGES", "--trace", "gone.csv"), "gone.csv"),
        (("PAGES", "--trace", "bad.csv"), "--> bad.csv:2:5"),
        (("PAGES", "--trace", "bad.csv", "--application", "herd"), "--application cannot be used"),
        (("PAGES", "--trace", "bad.csv", "--repetitions", "1"), "error: "),
        (("RESULTS",), "its labels are incast, poisson"),
    ],
)
def test_the_command_tells_what_is_wrong(
    pages: Path, results: Path, command: Command, tmp_path: Path, arguments: tuple[str, ...], says: str
) -> None:
    write(tmp_path, "thread,fetches,compute_us\n" + "0,1,x\n", "bad.csv")
    folders = {"PAGES": str(pages), "RESULTS": str(results)}
    done = command("application", *(folders.get(argument, argument) for argument in arguments))
    assert done.returncode == 2, done.stderr
    assert says in done.stderr
    assert done.stderr.startswith("error: ")
    assert "Traceback" not in done.stderr
    assert done.stdout == ""
