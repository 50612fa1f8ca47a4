"""Every command, as a user starts it."""

from __future__ import annotations

import csv
import io
import json
import subprocess
import sys
import tomllib
from pathlib import Path

import jsonschema
import pytest

import incast
from conftest import RING, ROOT, SMALL, Command, environment, write
from incast import charts
from incast.cli import commands, new, summary
from incast.cli.commands import joined
from incast.cli.run import examples

COMMANDS = [
    "new",
    "run",
    "show",
    "deadlock",
    "deadlock check",
    "deadlock tag",
    "deadlock verify",
    "list",
    "results",
    "import",
    "import ns3",
    "import sonic",
    "export",
    "export dot",
    "export ns3",
    "export sonic-buffers",
    "trace",
    "schema",
    "memory",
    "memory record",
    "memory inject",
    "memory traffic",
]


def test_version(command: Command) -> None:
    done = command("--version")
    assert done.returncode == 0
    assert done.stdout.strip() == incast.__version__


def test_help_is_broken_at_the_width_of_the_terminal() -> None:
    def example() -> None:
        """One line.

        Two
        lines.

        Parameters
        ----------
        x
            Of three
            lines, the third
            last.
        y
            Of one.

        """

    assert joined(example.__doc__ or "") == (
        "One line.\n\nTwo lines.\n\nParameters\n----------\nx\n    Of three lines, the third last.\ny\n    Of one."
    )


def test_help(command: Command) -> None:
    done = command("--help")
    assert done.returncode == 0
    for name in COMMANDS:
        assert name.split()[0] in done.stdout
    assert "Exit codes" in done.stdout
    listed = " ".join(done.stdout.replace("│", " ").split())
    for name, _, _, sentence in commands.COMMANDS:
        assert f"{name} {sentence}" in listed
        help_ = " ".join(commands.app[name].help.split())
        assert help_.startswith(sentence)
        assert help_[len(sentence) :][:1] in ("", " ")
        assert sentence.endswith(".")
        assert ". " not in sentence
    assert "Write a commented scenario" in command("new", "--help").stdout.partition("Parameters")[0]


@pytest.mark.parametrize("name", COMMANDS)
def test_help_has_an_example(command: Command, name: str) -> None:
    done = command(*name.split(), "--help")
    assert done.returncode == 0
    assert f"  incast {name}" in done.stdout.partition("Examples:")[2]


def test_computed_tables_are_listed(results: Path, command: Command) -> None:
    done = command("list", "tables", "alone")
    assert done.returncode == 0
    assert "mean_ps (ps): mean time of an iteration since the end" in done.stdout
    done = command("results", results, "--table", "slowdowns")
    assert done.returncode == 2
    assert "has no table `slowdowns`, only slowdown, flows, messages, ports" in done.stderr
    assert "vms" not in done.stderr
    assert "did you mean `slowdown`?" in done.stderr


def test_new(command: Command, tmp_path: Path) -> None:
    done = command("new", "mine.toml")
    assert done.returncode == 0, done.stderr
    for next_ in ("incast show mine.toml", "incast run mine.toml"):
        assert next_ in done.stdout
    first = (tmp_path / "mine.toml").read_text(encoding="utf-8")
    done = command("new", "mine.toml", "--template", "custom")
    assert done.returncode == 2
    assert "mine.toml exists already" in done.stderr
    assert "--overwrite" in done.stderr
    assert (tmp_path / "mine.toml").read_text(encoding="utf-8") == first
    assert command("new", "mine.toml", "--template", "custom", "--overwrite").returncode == 0
    assert (tmp_path / "mine.toml").read_text(encoding="utf-8") != first


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ([], "incast new mine.toml"),
        (["mine.toml", "-t", "leafspine"], "did you mean `leaf-spine`?"),
        (["mine.txt"], ".toml"),
    ],
)
def test_new_that_cannot_be(command: Command, tmp_path: Path, arguments: list[str], says: str) -> None:
    done = command("new", *arguments)
    assert done.returncode == 2
    assert says in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_new_where_nothing_can_be_written(command: Command) -> None:
    done = command("new", "gone/mine.toml")
    assert done.returncode == 3
    assert "gone/mine.toml" in done.stderr


@pytest.mark.parametrize("name", new.templates())
def test_templates(command: Command, tmp_path: Path, name: str) -> None:
    assert name in command("new", "--list").stdout
    command("new", "mine.toml", "--template", name)
    shown = json.loads(command("show", "mine.toml", "--format", "json").stdout)
    assert [one for one in shown["warnings"] if "no effect" in one["text"]] == []
    assert shown["estimate"]["cpu_seconds"] < 3, "a template is quick"
    done = command("run", "mine.toml")
    assert done.returncode == 0, done.stderr
    assert "incomplete" not in done.stdout
    text = (tmp_path / "mine.toml").read_text(encoding="utf-8")
    for hint in ("incast list fabrics", "incast list workloads", "incast list controls", "default"):
        assert hint in text, "it says where to look"


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ([], "give either a scenario file or --example NAME"),
        (["mine.toml", "--example", "quickstart"], "give either a scenario file or --example NAME"),
        (["--example", "quickstat"], "did you mean `quickstart`?"),
    ],
)
def test_run_without_a_scenario(command: Command, arguments: list[str], says: str) -> None:
    done = command("run", *arguments)
    assert done.returncode == 2
    assert says in done.stderr


def test_examples(command: Command, tmp_path: Path) -> None:
    assert list(examples()) == sorted(file.stem for file in (ROOT / "scenarios").glob("*.toml"))
    assert "quickstart\n    HPCC against DCQCN" in command("new", "--list").stdout
    assert command("new", "mine.toml", "--template", "incast16").returncode == 0
    assert (tmp_path / "mine.toml").read_text(encoding="utf-8") == examples()["incast16"]
    assert command("run", "--example", "incast16", "--quiet").returncode == 0
    assert (tmp_path / "results" / "incast16" / "flows.parquet").is_file()


def test_what_has_no_effect_is_told(command: Command, small: Path) -> None:
    line = small.read_text(encoding="utf-8").splitlines().index("[scheme.HPCC]") + 3
    small.write_text(small.read_text(encoding="utf-8") + 'ecn.kmin = "100kB"\n', encoding="utf-8")
    says = f"scheme.HPCC.ecn.kmin ({small}:{line}): has no effect: no control here reads ECN marks"
    assert f"warning    {says}" in command("show", small).stdout
    done = command("run", small, "--quiet")
    assert (done.returncode, done.stdout) == (0, "")
    assert f"warning: {says}" in done.stderr
    warnings = json.loads(command("show", small, "--format", "json").stdout)["warnings"]
    (warning,) = (one for one in warnings if "no effect" in one["text"])
    assert (warning["field"], warning["line"]) == ("scheme.HPCC.ecn.kmin", f"{small}:{line}")
    assert done.stderr.count("has no effect") == 1
    again = command("results", "results/scenario")
    assert (again.returncode, again.stderr) == (0, done.stderr.replace(str(small), small.name))


def test_run(command: Command, small: Path, tmp_path: Path) -> None:
    done = command("run", small)
    assert done.returncode == 0, done.stderr
    out = tmp_path / "results" / "scenario"
    for part in ("DCQCN", "HPCC", "p50", "p95", "p99", "results/scenario", "polars", "pandas"):
        assert part in done.stdout
    assert "every flow completed" in done.stdout
    assert "DCQCN" in done.stderr, "progress goes to stderr"
    assert set(incast.open(out).flows["scheme"]) == {"DCQCN", "HPCC"}


def test_run_quietly(command: Command, small: Path) -> None:
    done = command("run", small, "--quiet")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_run_with_seed_and_overrides(command: Command, small: Path, tmp_path: Path) -> None:
    done = command("run", small, "-o", "a", "--seed", 9, "--set", "workload[0].incast.fan_in=3", "-q", "--threads", 1)
    assert done.returncode == 0, done.stderr
    shown = json.loads(command("show", small, "--set", "seed=9", "--format", "json").stdout)
    assert shown["scenario"]["seed"] == 9
    labels = incast.open(tmp_path / "a").flows["label"]
    assert labels.count("incast") == 2 * 3


def test_deadlock_is_exit_code_1(command: Command, tmp_path: Path) -> None:
    done = command("run", write(tmp_path, RING), "-o", "out")
    assert done.returncode == 1, done.stderr
    assert "deadlock" in done.stderr
    assert "s0" in done.stderr, "it names the ports of the cycle"
    assert "Traceback" not in done.stderr
    assert len(incast.open(tmp_path / "out").flows) == 3, "results are written all the same"


def test_lossless_drops_are_exit_code_1(command: Command, tmp_path: Path) -> None:
    text = SMALL.replace('control = "dcqcn"', 'control = "unlimited"') + '\n[switch]\nheadroom = { bytes = "0B" }\n'
    text = text.replace('size = "64kB"', 'size = "2MB"') + 'buffer = "300kB"\n'
    done = command("run", write(tmp_path, text), "-o", "out")
    assert done.returncode == 1, done.stderr
    assert "lossless" in done.stderr
    assert any(incast.open(tmp_path / "out").drops["lossless"])


WATCHED = 'watchdog = { enabled = true, detection = "200us", restoration = "200us", poll = "50us" }'
STORM = RING.replace("[switch]", f"[switch]\n{WATCHED}") + '\n[simulation]\nhorizon = "3ms"\n'
"""The ring, whose deadlock a watchdog ends by dropping lossless packets."""


def test_what_a_watchdog_drops_is_exit_code_1(command: Command, tmp_path: Path) -> None:
    """The watchdog acts as configured, but a lossless priority lost packets; the headroom did not fail."""
    done = command("run", write(tmp_path, STORM), "-o", "out")
    assert done.returncode == 1, done.stderr
    results = incast.open(tmp_path / "out")
    scheme = results.manifest["schemes"]["none"]
    drops = list(results.drops.dicts())
    assert {row["reason"] for row in drops} == {"watchdog"}
    counts, packets = scheme["counts"], len(drops)
    assert (scheme["lossless_drops"], counts["lossless_drops"], counts["drops"]) == (0, 0, packets)
    assert (counts["watchdog_drops"], counts["watchdog_lossless_drops"]) == (packets, packets)
    assert counts["watchdog_bytes"] == sum(row["bytes"] for row in drops)
    assert f"and dropped {packets:,} packets." in " ".join(done.stdout.split())
    message = f"error: none: {packets:,} lossless packets dropped by the PFC watchdog (configured action: drop)"
    assert done.stderr.splitlines()[-1] == f"{message} (see drops.parquet)"
    rows = charts.counters(charts.Source([results])).dicts()
    found = {row["counter"]: row["value"] for row in rows}
    assert (found["lossless packets dropped: PFC headroom exceeded"], found["packets dropped by the PFC watchdog"]) == (
        0,
        packets,
    )


def test_what_a_watchdog_drops_is_in_the_runs_of_a_sweep(command: Command, tmp_path: Path) -> None:
    write(tmp_path, STORM)
    sweep = '[[vary]]\npath = "switch.watchdog.action"\nvalues = ["drop", "forward"]\n'
    done = command("sweep", write(tmp_path, f'scenario = "scenario.toml"\n{sweep}', "sweep.toml"), "-o", "out")
    opened = incast.open_sweep(tmp_path / "out")
    rows = opened.connect().sql(
        "select action, lossless_drops, watchdog_drops, watchdog_lossless_drops, watchdog_bytes from runs order by all"
    )
    (dropped, forwarded) = rows.fetchall()
    assert dropped[:2] == ("drop", 0)
    assert dropped[2] == dropped[3] > 0
    assert dropped[4] > dropped[2]
    # Packets sent in spite of the pause fit into the headroom here.
    assert forwarded[1:] == (0, 0, 0, 0)
    assert f"{dropped[2]:,} lossless packets dropped by the PFC watchdog" in done.stderr + done.stdout


def test_a_run_ends_with_its_findings(command: Command, tmp_path: Path) -> None:
    done = command("run", write(tmp_path, STORM), "-o", "out")
    _, _, end = done.stdout.partition("\nfindings:\n")
    said = " ".join(end.partition("\n\n")[0].split())
    assert said == " ".join(f"- {finding.text}" for finding in incast.open(tmp_path / "out").findings()[:6])
    assert all(len(line) <= 100 for line in end.partition("\n\n")[0].splitlines())


def test_lines_of_a_finding_begin_with_no_unit() -> None:
    assert summary.bullet(f"{'a' * 94} 14 % or more").splitlines() == [f"- {'a' * 94}", "  14 % or more"]


def test_horizon_is_no_failure(command: Command, small: Path) -> None:
    done = command("run", small, "--set", "simulation.horizon=20us")
    assert done.returncode == 0, done.stderr
    assert "horizon" in done.stdout


def test_show(command: Command, small: Path) -> None:
    done = command("show", small)
    assert done.returncode == 0, done.stderr
    assert "DCQCN" in done.stdout
    assert "8 hosts" in done.stdout


def test_show_toml_is_a_scenario(command: Command, small: Path, tmp_path: Path) -> None:
    text = command("show", small, "--format", "toml").stdout
    assert tomllib.loads(text)["seed"] == 7
    again = command("show", write(tmp_path, text, "again.toml"), "--format", "toml").stdout
    assert again == text


def test_schema_is_a_schema(command: Command, small: Path) -> None:
    schema = json.loads(command("schema").stdout)
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema)
    for file in [small, *ROOT.glob("scenarios/*.toml")]:
        validator.validate(tomllib.loads(file.read_text(encoding="utf-8")))
    assert not validator.is_valid({"fabric": {"star": {"hosts": 4, "bogus": 1}}, "workload": []})


@pytest.mark.parametrize(
    ("kind", "name", "says"),
    [
        ("fabrics", "leaf_spine", "uplink_rate"),
        ("workloads", "incast", "fan_in"),
        ("sizes", "websearch", "mean"),
        ("controls", "dcqcn", "alpha_interval"),
        ("profiles", "ns3", "ns-3"),
    ],
)
def test_list(command: Command, kind: str, name: str, says: str) -> None:
    assert name in command("list").stdout
    done = command("list", kind)
    assert done.returncode == 0, done.stderr
    assert name in done.stdout
    done = command("list", kind, name)
    assert done.returncode == 0, done.stderr
    assert says in done.stdout


def test_list_says_how_variants_differ(command: Command) -> None:
    done = command("list", "sizes", "websearch_hpcc")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("websearch\n")
    text = " ".join(done.stdout.split())
    assert "websearch_yaps 1,665,831 B (0.973 times)" in text
    assert "without interpolation 2,434,900 B" in text


def test_results_summary(command: Command, results: Path) -> None:
    done = command("results", results)
    assert done.returncode == 0, done.stderr
    for part in (
        "DCQCN",
        "HPCC",
        "p99",
        "/ ideal time of HPCC's formula; ",
        "flows.parquet",
    ):
        assert part in done.stdout


def test_results_of_rdma_and_tcp_have_exact_ideal_times(command: Command, tmp_path: Path) -> None:
    scenario = tmp_path / "two.toml"
    scenario.write_text(
        "[fabric.star]\nhosts = 2\n[[workload]]\nlist = [{ src = 0, dst = 1, size = '9kB' }]\n"
        "[scheme.HPCC]\ncontrol = 'hpcc'\n[scheme.TCP]\ntransport = 'tcp'\n"
    )
    done = command("run", scenario, "-o", tmp_path / "two")
    assert "slowdown = completion time / exact ideal time of the flow alone; " in done.stdout


def test_results_table(command: Command, results: Path) -> None:
    done = command("results", results, "--table", "flows", "--limit", 3)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert len(lines) == 4
    assert "size_bytes (B)" in lines[0]
    assert len({len(line.split()) for line in lines[1:]}) == 1
    assert "more of" in done.stderr


def test_results_csv(command: Command, results: Path) -> None:
    done = command("results", results, "--table", "flows", "--format", "csv")
    rows = list(csv.DictReader(io.StringIO(done.stdout)))
    flows = incast.open(results).flows
    assert len(rows) == len(flows)
    assert [int(row["size_bytes"]) for row in rows] == flows["size_bytes"]


def test_results_json(command: Command, results: Path) -> None:
    done = command("results", results, "--table", "ports", "--format", "json", "--limit", 2)
    rows = json.loads(done.stdout)
    assert len(rows) == 2
    assert rows[0]["rate_bps"] == 100_000_000_000


@pytest.mark.parametrize(
    ("path", "inside"),
    [
        ("network.failure", "until"),
        ("switch.watchdog", "detection"),
        ("ecn.by_rate", "kmin"),
        ("network.pause", "peer"),
    ],
)
def test_parameters_inside_parameters_are_listed(path: str, inside: str, command: Command) -> None:
    done = command("list", "sections", path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(path + "\n")
    assert f"\n{inside}: " in done.stdout
    assert any(inside == each["name"] for each in json.loads(
        command("list", "sections", path, "--format", "json").stdout)["parameters"])  # fmt: skip
    section = command("list", "sections", path.split(".")[0]).stdout
    assert f"\n        {inside}: " in section, "indented below its table"


def test_a_second_name_is_explained(command: Command) -> None:
    for given, said in (
        (["network", "failure"], "takes one name: write `network.failure` for a parameter inside `network`"),
        (["network.failur"], "there is no `failur` in `network`: it has routing, "),
        (["network.ttl.x"], "there is no `x` in `network.ttl`: it has no parameters inside"),
        (["netwrok.failure"], "unknown name `netwrok`, allowed sections: "),
    ):
        done = command("list", "sections", *given)
        assert (done.returncode, done.stdout) == (2, ""), given
        assert said in done.stderr


def test_results_slowdown(command: Command, results: Path) -> None:
    rows = json.loads(command("results", results, "--table", "slowdown", "--format", "json").stdout)
    assert {row["scheme"] for row in rows} == {"DCQCN", "HPCC"}


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_trace(command: Command, small: Path, tmp_path: Path, ending: str) -> None:
    done = command("trace", small, "-o", f"flows.{ending}")
    assert done.returncode == 0, done.stderr
    again = command("trace", small, "-o", f"flows.{ending}")
    assert again.returncode == 2
    assert f"flows.{ending} exists already" in again.stderr
    assert command("trace", small, "-o", f"flows.{ending}", "--overwrite").returncode == 0
    head, _, tail = SMALL.partition("[[workload]]")
    schemes = "[scheme" + tail.partition("[scheme")[2]
    replayed = write(tmp_path, f'{head}[[workload]]\ntrace = {{ file = "flows.{ending}" }}\n\n{schemes}', "again.toml")
    for file, out in ((small, "first"), (replayed, "second")):
        done = command("run", file, "-o", out, "-q")
        assert done.returncode == 0, done.stderr
    first, second = (incast.open(tmp_path / out).flows for out in ("first", "second"))
    for column in ("src", "dst", "size_bytes", "start_ps", "fct_ps", "label"):
        assert first[column] == second[column]


def test_trace_that_cannot_be_written(command: Command, small: Path, tmp_path: Path) -> None:
    done = command("trace", small, "-o", "gone/flows.csv")
    assert done.returncode == 3, done.stderr
    assert "gone" in done.stderr
    done = command("trace", small, "-o", "flows.xlsx")
    assert done.returncode == 2
    assert ".csv" in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["scenario.toml"]


def test_output_that_nobody_reads(results: Path) -> None:
    reader = f"{sys.executable} -m incast results {results} --table flows --format csv | head -1"
    done = subprocess.run(reader, shell=True, env=environment(), capture_output=True, text=True, check=False)
    assert done.stdout.startswith("scheme,")
    assert done.stderr == ""
