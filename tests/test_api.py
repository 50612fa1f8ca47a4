"""The Python API."""

from __future__ import annotations

import contextlib
import copy
import json
import math
import os
import pickle
import pty
import re
import signal
import subprocess
import sys
import threading
import time
import warnings
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import incast
from conftest import LONG, PATIENCE, SMALL, wait_until, write
from incast import schema


@pytest.fixture
def scenario(small: Path) -> incast.Scenario:
    """The small scenario as an object."""
    return incast.load(small)


def test_added_columns_fit_their_type(scenario: incast.Scenario) -> None:
    with pytest.raises(ValueError, match=r"column 'big': whole numbers must be from -2\^63 to 2\^63 - 1"):
        scenario.run(columns={"big": 2**63})
    with pytest.raises(ValueError, match="column 'x': a number must be finite, got nan"):
        scenario.run(columns={"x": math.nan})
    nothing: Any = None
    with pytest.raises(TypeError, match="column 'x': a text, a number or a bool is expected, got None"):
        scenario.run(columns={"x": nothing})


def test_a_scenario_is_copied(scenario: incast.Scenario) -> None:
    """Also to other processes; a relative file stays in its folder."""
    for twin in (copy.copy(scenario), copy.deepcopy(scenario), pickle.loads(pickle.dumps(scenario))):
        assert (twin, twin.key()) == (scenario, scenario.key())
    deep = copy.deepcopy(scenario)
    assert deep.scheme is not None
    deep.scheme.clear()
    assert scenario.scheme


@pytest.mark.parametrize("seed", [True, 1.0])
def test_numbers_of_another_kind_are_refused_even_if_python_takes_them_for_equal(small: Path, seed: Any) -> None:
    scenario = incast.load(small, ["seed=1"])
    assert scenario.seed == seed
    scenario.seed = seed
    with pytest.raises(
        incast.ScenarioError, match=r"^error: seed: .* where a whole number of 0 to 9223372036854775807 is expected"
    ):
        scenario.check()


def test_results_are_copied_and_pickled(scenario: incast.Scenario, tmp_path: Path) -> None:
    results = scenario.run(tmp_path / "out")
    for twin in (copy.copy(results), copy.deepcopy(results), pickle.loads(pickle.dumps(results))):
        assert twin.manifest == results.manifest
        assert list(twin.flows.rows()) == list(results.flows.rows())
    assert len(dir(results)) == len(set(dir(results)))
    temporary = scenario.run()
    with pytest.raises(incast.ResultsError, match="temporary folder is deleted with them; name a folder"):
        pickle.dumps(temporary)
    twin = copy.deepcopy(temporary)
    del temporary
    assert list(twin.flows.rows()) == list(results.flows.rows())


def test_load(scenario: incast.Scenario) -> None:
    assert scenario.title == "two schemes, eight hosts"
    assert isinstance(scenario.fabric, schema.Star)
    assert scenario.fabric.hosts == 8
    assert scenario.fabric.rate == "100Gbps", "defaults are filled in"
    assert scenario.scheme
    assert list(scenario.scheme) == ["DCQCN", "HPCC"]
    assert isinstance(scenario.scheme["HPCC"].control, schema.HpccParams)
    assert scenario.rdma
    assert scenario.rdma.rto == "4ms"
    assert scenario.switch is None, "left to the schemes: a transport brings the switches that it is meant for"


def test_load_with_overrides(small: Path) -> None:
    assert incast.load(small, ["seed=9"]).seed == 9


def test_change_and_run(scenario: incast.Scenario, tmp_path: Path) -> None:
    assert isinstance(scenario.fabric, schema.Star)
    scenario.fabric.hosts = 12
    scenario.scheme = {"HPCC": schema.Scheme(control=schema.HpccParams(eta=0.9))}
    results = scenario.run(tmp_path / "out")
    assert set(results.flows["scheme"]) == {"HPCC"}
    assert max(results.flows["src"]) > 7


@pytest.mark.parametrize("detection", ["counters", schema.FlowDetectionCounters(flows=2)])
def test_flows_found_by_counters(scenario: incast.Scenario, tmp_path: Path, detection: schema.FlowDetection) -> None:
    """By a name alone, and with some of the parameters."""
    incast_of = scenario.workload[0].incast
    assert incast_of
    incast_of.size = "200kB"  # six of them fill a queue beyond the 400 kB from which on counters look
    scenario.switch = schema.SwitchParams(lossless=[2, 3], isolation=schema.IsolationParams(detection=detection))
    assert scenario.switch.isolation
    scenario.switch.isolation.enabled = True
    scenario.scheme = {"free": schema.Scheme(control="unlimited")}
    results = scenario.run(tmp_path / "out")
    assert "counters" in set(results.table("isolations").to_pandas()["reason"])


def test_build_in_python() -> None:
    scenario = incast.Scenario(
        fabric=schema.LeafSpine(leaves=2, spines=2, hosts_per_leaf=2),
        workload=[schema.WorkloadSpec(incast=schema.Incast(fan_in=3, size="10kB"))],
        scheme={"none": schema.Scheme(control="unlimited")},
    )
    results = scenario.run()
    assert len(results.flows) == 3
    assert results.path.exists()


def test_temporary_results_go_with_their_object(scenario: incast.Scenario) -> None:
    results = scenario.run()
    path = results.path
    assert len(results.flows) > 0
    del results
    assert not path.exists()


def ring(hosts: Any) -> incast.Scenario:
    """A ring on chosen hosts."""
    return incast.Scenario(
        fabric=schema.Star(hosts=8),
        workload=[
            schema.WorkloadSpec(ring_all_reduce=schema.RingAllReduce(size="10kB", ranks=schema.Ranks(hosts=hosts)))
        ],
        scheme={"none": schema.Scheme(control="unlimited")},
    )


@pytest.mark.parametrize(
    "hosts", [range(2, 6), (2, 3, 4, 5), np.arange(2, 6), [np.int64(each) for each in (2, 3, 4, 5)]]
)
def test_any_sequence_of_integers_is_a_list(hosts: Any) -> None:
    assert ring(hosts).to_tree() == ring([2, 3, 4, 5]).to_tree()
    ring(hosts).check()


def test_numbers_of_numpy_are_numbers() -> None:
    eight: Any = np.int32(8)
    star = schema.Star(hosts=eight, rate=np.str_("10Gbps"))
    assert json.dumps(star.to_tree()) == '{"hosts": 8, "rate": "10Gbps"}'


@pytest.mark.parametrize(
    ("hosts", "field"), [({1, 2}, "hosts"), ([1, object()], "hosts[1]"), (map(int, "12"), "hosts")]
)
def test_a_value_that_no_file_can_hold_is_named_with_its_field(hosts: Any, field: str) -> None:
    for call in (ring(hosts).check, ring(hosts).run, ring(hosts).to_tree):
        with pytest.raises(incast.ScenarioError) as caught:
            call()
        assert caught.value.field == f"workload[0].ring_all_reduce.ranks.{field}"
        assert str(caught.value).startswith(f"{caught.value.field}: expected a number, a text, a sequence or a table")


def nested(hosts: list[Any]) -> list[Any]:
    """A list that contains itself."""
    hosts.append(hosts)
    return hosts


BEYOND = f"expected a whole number from {-(2**63)} to {2**63 - 1}, got "


@pytest.mark.parametrize(
    ("value", "says"),
    [
        (math.nan, "expected a finite number, got nan"),
        (np.float64("inf"), "expected a finite number, got inf"),
        (2**64, f"{BEYOND}18446744073709551616"),
        (-(10**30), f"{BEYOND}-{10**30}"),
        (2**999, f"{BEYOND}a number of 1000 bits"),
        ("\udcff", r"expected text that UTF-8 can hold, got '\udcff'"),
        ({"\udcff": 1}, r"expected text that UTF-8 can hold, got '\udcff'"),
    ],
)
def test_a_value_that_json_cannot_hold_is_named_with_its_field(value: Any, says: str) -> None:
    with pytest.raises(incast.ScenarioError) as caught:
        ring([0, value]).check()
    assert str(caught.value) == f"workload[0].ring_all_reduce.ranks.hosts[1]: {says}"


def test_a_scenario_that_contains_itself_is_refused(scenario: incast.Scenario) -> None:
    says = "expected at most 100 tables and lists within each other; does it contain itself?"
    with pytest.raises(incast.ScenarioError, match=re.escape(says)) as caught:
        ring(nested([1])).check()
    assert caught.value.field == f"workload[0].ring_all_reduce.ranks.hosts{'[1]' * 7}..."
    scenario.scheme["A"] = scenario  # type: ignore[index,assignment]
    with pytest.raises(incast.ScenarioError, match=re.escape(says)) as caught:
        scenario.run()
    assert caught.value.field == f"{'.'.join(['scheme.A'] * 6)}..."


def test_round_trip(scenario: incast.Scenario) -> None:
    assert incast.Scenario.from_tree(scenario.to_tree()) == scenario


def test_misspelt_field(scenario: incast.Scenario) -> None:
    with pytest.raises(AttributeError):
        scenario.sed = 3  # type: ignore[attr-defined]
    with pytest.raises(TypeError, match="hots"):
        schema.Star(hots=3)  # type: ignore[call-arg]


def test_errors_say_where(tmp_path: Path) -> None:
    file = write(tmp_path, SMALL.replace("hosts = 8", 'hosts = 8\nrate = "-1Gbps"'))
    with pytest.raises(incast.ScenarioError) as caught:
        incast.load(file)
    assert (caught.value.file, caught.value.line, caught.value.field) == (str(file), 6, "fabric.star.rate")
    assert "-1Gbps" in str(caught.value)
    assert isinstance(caught.value, incast.IncastError)


def test_errors_of_changed_scenarios_name_the_field(scenario: incast.Scenario) -> None:
    assert isinstance(scenario.fabric, schema.Star)
    scenario.fabric.rate = "fast"
    with pytest.raises(incast.ScenarioError) as caught:
        scenario.check()
    assert caught.value.field == "fabric.star.rate"
    scenario.fabric = "star"  # type: ignore[assignment]
    with pytest.raises(incast.ScenarioError):
        scenario.run()


def test_files_are_found_beside_the_scenario(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    (folder / "flows.csv").write_text("src,dst,size_bytes,start_ns\n0,1,1000,0\n")
    text = '[fabric.star]\nhosts = 2\n[[workload]]\ntrace = { file = "flows.csv" }\n[scheme.x]\ncontrol = "unlimited"\n'
    write(folder, text)
    monkeypatch.chdir(tmp_path)
    assert len(incast.load("elsewhere/scenario.toml").run().flows) == 1


def test_exists(scenario: incast.Scenario, tmp_path: Path) -> None:
    scenario.run(tmp_path / "out")
    with pytest.raises(incast.ResultsExistError):
        scenario.run(tmp_path / "out")
    scenario.run(tmp_path / "out", overwrite=True)


def test_open(results: Path) -> None:
    opened = incast.open(results)
    assert opened.path == results
    assert {"flows", "ports"} <= set(opened.tables)
    with pytest.raises(incast.ResultsError, match="flows"):
        opened.table("flow")
    with pytest.raises(incast.ResultsError):
        incast.open(results.parent)


def test_every_table_is_an_attribute(results: Path) -> None:
    opened = incast.open(results)
    for name in opened.tables:
        assert getattr(opened, name) is opened.table(name), name
    # Those that this run did not need as well.
    assert {"flows", "vms"} <= set(dir(opened))
    with pytest.raises(incast.ResultsError, match="vms"):
        _ = opened.vms


def test_environment(scenario: incast.Scenario, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(incast.EnvironmentFailure):
        scenario.run(tmp_path / "file" / "out")


def test_progress(scenario: incast.Scenario) -> None:
    seen: list[incast.Progress] = []
    scenario.run(progress=seen.append)
    last = seen[-1]
    assert {scheme.scheme for scheme in last.schemes} == {"DCQCN", "HPCC"}
    for scheme in last.schemes:
        assert scheme.state == "done"
        assert scheme.flows_done == scheme.flows > 0
        assert scheme.bytes_acked == scheme.bytes
        assert scheme.packet_hops > 0
        assert scheme.now_ps > 0
        assert scheme.fraction == 1.0


def test_progress_is_told_while_running(tmp_path: Path) -> None:
    seen: list[incast.Progress] = []

    def hops() -> list[int]:
        return [progress.schemes[0].packet_hops for progress in seen if progress.schemes]

    # However seldom a busy machine lets the simulation go on between two calls.
    def callback(progress: incast.Progress) -> None:
        seen.append(progress)
        if len(set(hops())) == 3:
            raise StopIteration("enough")

    with pytest.raises(StopIteration, match="enough"):
        incast.load(write(tmp_path, LONG)).run(tmp_path / "out", progress=callback)
    assert hops() == sorted(hops())
    assert not (tmp_path / "out").exists()


def test_values_of_other_types_are_named(tmp_path: Path) -> None:
    """Without a message, a text is read letter by letter, a mapping key by key, and a number as yes."""
    file = write(tmp_path, SMALL)
    for overrides in ("seed=7", {"seed": 7}, [7]):
        with pytest.raises(
            TypeError,
            match=re.escape(f'overrides must be a list such as ["switch.buffer=16MB", "seed=7"], got {overrides!r}'),
        ):
            incast.load(file, overrides)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="progress must be a function, True, False or None, got 3"):
        incast.load(file).run(progress=3)  # type: ignore[arg-type]
    with pytest.raises(incast.ResultsError, match="label must be a text, got 3"):
        incast.load(file).run().slowdown(label=3)  # type: ignore[arg-type]


def test_unknown_names_of_the_package_lead_to_ours() -> None:
    for name, instead in [
        ("run", "; write `incast.load(FILE).run()`"),
        ("load_studies", "; did you mean `load_study`?"),
        ("xyzzy", ""),
    ]:
        with pytest.raises(
            AttributeError, match=re.escape(f"module `incast` has no attribute `{name}`{instead}") + "$"
        ):
            getattr(incast, name)


def on_a_terminal(file: Path, statement: str) -> str:
    """Output of Python to a terminal for a scenario that runs with a statement."""
    reader, terminal = pty.openpty()
    text = f"import incast; scenario = incast.load({str(file)!r}); {statement}"
    child = subprocess.Popen([sys.executable, "-c", text], stdin=terminal, stdout=terminal, stderr=terminal)
    os.close(terminal)
    written = b""
    # Linux reports the end of a terminal as an error.
    with contextlib.suppress(OSError):
        while piece := os.read(reader, 65536):
            written += piece
    os.close(reader)
    assert child.wait() == 0, written
    return written.decode()


def test_a_run_on_a_terminal_shows_bars(small: Path) -> None:
    shown = on_a_terminal(small, "scenario.run()")
    assert "DCQCN" in shown
    assert "flows" in shown
    assert on_a_terminal(small, "scenario.run(progress=False)") == ""
    assert on_a_terminal(small, "scenario.run(progress=lambda _: None)") == ""


def test_a_run_elsewhere_shows_nothing_unless_asked(
    scenario: incast.Scenario, capfd: pytest.CaptureFixture[str]
) -> None:
    scenario.run()
    assert capfd.readouterr() == ("", "")
    scenario.run(progress=True)
    shown = capfd.readouterr()
    assert shown.out == ""
    assert "DCQCN: done" in shown.err


def test_a_run_in_a_notebook_shows_bars(scenario: incast.Scenario, monkeypatch: pytest.MonkeyPatch) -> None:
    """With a stand-in for IPython, of the functions that are called."""
    seen: list[str] = []

    class Handle:
        def update(self, data: dict[str, str], *, raw: bool) -> None:
            assert raw
            seen.append(data["text/plain"])

    def display(data: dict[str, str], *, raw: bool, display_id: bool) -> Handle:
        assert display_id
        Handle().update(data, raw=raw)
        return Handle()

    shell = SimpleNamespace(kernel=object())
    stand_in = SimpleNamespace(get_ipython=lambda: shell, display=SimpleNamespace(display=display))
    monkeypatch.setitem(sys.modules, "IPython", stand_in)
    scenario.run(progress=False)
    assert seen == []
    scenario.run()
    assert seen[-1] == "", "gone when all is done"
    last = [line.split() for line in seen[-2].splitlines()]
    assert {line[0] for line in last} == {"DCQCN", "HPCC"}
    assert {line[1:3] == ["#" * 24, "100%"] for line in last} == {True}


INTERRUPTED = """\
import signal
import incast
signal.signal(signal.SIGINT, signal.default_int_handler)
try:
    incast.load("scenario.toml").run("out", progress=False)
except KeyboardInterrupt:
    print("interrupted")
"""


def test_ctrl_c(tmp_path: Path) -> None:
    write(tmp_path, LONG)
    python = [sys.executable, "-c", INTERRUPTED]
    with subprocess.Popen(python, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
        try:
            # The folder for results is there when the run begins.
            wait_until(lambda: process.poll() is not None or any(tmp_path.glob(".out*")))
            process.send_signal(signal.SIGINT)
            printed, _ = process.communicate(timeout=PATIENCE)
        finally:
            process.kill()
    assert (printed, process.returncode) == ("interrupted\n", 0)
    assert [path.name for path in tmp_path.iterdir()] == ["scenario.toml"]


class Enough(Exception):
    """Ends a run."""


def test_a_run_needs_a_thread(tmp_path: Path) -> None:
    for threads in (0, 65_537, 10**30, 1.5):
        with pytest.raises(ValueError, match=f"threads must be a whole number from 1 to 65536, got {threads}"):
            incast.load(write(tmp_path, SMALL)).run(tmp_path / "out", threads=threads)  # type: ignore[arg-type]
    assert not (tmp_path / "out").exists()


def test_other_threads_go_on(tmp_path: Path) -> None:
    """Another thread is at work between calls of progress, not only during them."""
    counted, calls = 0, 0
    done = threading.Event()

    def count() -> None:
        nonlocal counted
        while not done.is_set():
            counted += 1
            time.sleep(0)

    def progress(_: incast.Progress) -> None:
        nonlocal calls
        calls += 1
        if counted > 10_000 or calls == 500:
            raise Enough

    other = threading.Thread(target=count)
    scenario = incast.load(write(tmp_path, LONG))
    other.start()
    try:
        with pytest.raises(Enough):
            scenario.run(progress=progress)
    finally:
        done.set()
        other.join()
    assert counted > 10_000, "the interpreter was held"


def test_shown(scenario: incast.Scenario) -> None:
    assert "DCQCN" in scenario.summary()
    assert "seed = 7" in scenario.whole()
    assert '"seed":7' in scenario.whole("json")


SPRAYED = """
[fabric.leaf_spine]
leaves = 2
spines = 2
hosts_per_leaf = 2
[network]
load_balancing = "spray"
[[workload]]
list = [{ src = 0, dst = 2, size = "2kB" }]
[scheme.A]
control = "hpcc"
[scheme.B]
control = "dcqcn"
"""
"""A scenario with warnings: one for all schemes, one for one."""


def test_a_run_warns_and_its_results_keep_the_warnings(tmp_path: Path) -> None:
    file = write(tmp_path, SPRAYED)
    scenario = incast.load(file)
    texts = scenario.warnings()
    assert [text.rpartition(" (")[2] for text in texts] == ["all 2 schemes)", "scheme A)"]
    with pytest.warns(incast.IncastWarning) as found:
        results = scenario.run(tmp_path / "results")
    assert [str(one.message) for one in found] == texts
    assert {one.filename for one in found} == {__file__}, "the line of the caller is shown"
    bare = [text.replace(str(file), file.name) for text in texts]
    assert incast.open(results.path).warnings() == results.warnings() == bare
    kept = results.manifest["warnings"]
    assert [one["schemes"] for one in kept] == [["A", "B"], ["A"]]
    assert {(one["field"], one["line"]) for one in kept} == {("network.load_balancing", f"{file.name}:7")}
    html = results._repr_html_()
    assert html.index("INT records") < html.index("<table>")
    with warnings.catch_warnings():
        warnings.simplefilter("error", incast.IncastWarning)
        with pytest.raises(incast.IncastWarning):
            scenario.run(tmp_path / "refused")
    assert not (tmp_path / "refused").exists()


def test_the_scenario_of_results(scenario: incast.Scenario, tmp_path: Path) -> None:
    results = scenario.run(tmp_path / "results")
    again = results.scenario()
    assert again.whole() == (results.path / "scenario.toml").read_text(encoding="utf-8")
    assert again.run(tmp_path / "again").flows.to_csv() == results.flows.to_csv()


def test_warnings(scenario: incast.Scenario) -> None:
    assert scenario.warnings() == []
    poisson = scenario.workload[1].poisson
    assert poisson
    poisson.load = 1.5
    assert any("load" in warning for warning in scenario.warnings())
