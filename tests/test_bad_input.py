"""Errors in input: one message with the place, exit code 2, and no files left behind."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from cyclopts import App

from conftest import SMALL, Command, write
from incast.cli import commands

STAR = "[fabric.star]\nhosts = 4\n"
SCHEME = '[scheme.DCQCN]\ncontrol = "dcqcn"\n'


def flow(text: str, more: str = "") -> str:
    """A scenario of one flow on four hosts."""
    return f"{STAR}{more}\n[[workload]]\nlist = [\n    {{ {text} }},\n]\n\n{SCHEME}"


@dataclass
class Bad:
    """A scenario that is wrong, and what has to be said about it."""

    text: str
    at: str | None
    """Part of the line that is to be named; `None` where the fault has no line."""
    says: tuple[str, ...]
    """Text that the message contains."""


GOOD_FLOW = 'src = 0, dst = 1, size = "1kB"'
CASES = {
    "unknown field": Bad(SMALL.replace("fan_in", "fanin"), "fanin", ("fanin", "fan_in")),
    "renamed field": Bad(SMALL.replace("[[workload]]", '[[workload]]\ntag = "x"'), "tag =", ("`tag` is now `label`",)),
    "renamed section of a scheme": Bad(
        SMALL + 'control_by_tag.x = "hpcc"\n', "control_by_tag", ("`control_by_tag` is now `control_by_label`",)
    ),
    "renamed profile": Bad(
        SMALL.replace('control = "hpcc"', 'control.hpcc.profile = "reference"'),
        "profile",
        ("`reference` is now `ns3`",),
    ),
    "unknown section": Bad(SMALL + "\n[swich]\nbuffer = 1\n", "[swich]", ("swich", "switch")),
    "unknown control": Bad(SMALL.replace('"hpcc"', '"hpc"'), '"hpc"', ("hpc", "hpcc")),
    "wrong unit": Bad(SMALL.replace('"100us"', '"100Gbps"'), "100Gbps", ("100Gbps", "200ns")),
    "no unit": Bad(SMALL.replace('"100us"', "100"), "duration", ("100", "200ns")),
    "negative rate": Bad(SMALL.replace("hosts = 8", 'hosts = 8\nrate = "-100Gbps"'), "-100Gbps", ("-100Gbps",)),
    "zero rate": Bad(SMALL.replace("hosts = 8", 'hosts = 8\nrate = "0Gbps"'), "0Gbps", ("rate",)),
    "negative seed": Bad(SMALL.replace("seed = 7", "seed = -7"), "seed", ("-7",)),
    "load of zero": Bad(SMALL.replace("load = 0.3", "load = 0.0"), "load = 0.0", ("load",)),
    "host out of range": Bad(flow('src = 0, dst = 4, size = "1kB"'), "dst = 4", ("dst", "4")),
    "zero-size flow": Bad(flow("src = 0, dst = 1, size = 0"), "size = 0", ("size", "0")),
    "flow to itself": Bad(flow('src = 2, dst = 2, size = "1kB"'), "dst = 2", ("2",)),
    "start after the horizon": Bad(
        flow(GOOD_FLOW + ', start = "2ms"', '\n[simulation]\nhorizon = "1ms"\n'),
        "start",
        ("start", "end of the simulation", "1ms"),
    ),
    "priority out of range": Bad(flow(GOOD_FLOW + ", priority = 8"), "priority", ("priority", "8")),
    "TOML syntax": Bad("[fabric.star\nhosts = 4\n", "[fabric.star", ("]",)),
    "TOML duplicate key": Bad("seed = 1\nseed = 2\n" + SMALL.replace("seed = 7\n", ""), "seed = 2", ("seed",)),
    "no fabric": Bad(SMALL.replace("[fabric.star]\nhosts = 8\n", ""), None, ("fabric",)),
    "no scheme": Bad(flow(GOOD_FLOW).replace(SCHEME, ""), None, ("scheme",)),
    "disconnected fabric": Bad(
        '[fabric.custom]\nhosts = 4\nswitches = ["s0", "s1"]\nlinks = [\n'
        '    { a = "h0", b = "s0" }, { a = "h1", b = "s0" },\n'
        '    { a = "h2", b = "s1" }, { a = "h3", b = "s1" },\n]\n\n'
        f'[[workload]]\nlist = [{{ src = 0, dst = 2, size = "1kB" }}]\n\n{SCHEME}',
        "fabric",
        ("disconnected", "s0", "h2"),
    ),
    "unknown node": Bad(
        '[fabric.custom]\nhosts = 2\nswitches = ["s0"]\nlinks = [\n    { a = "h0", b = "s0" },\n'
        f'    {{ a = "h9", b = "s0" }},\n]\n\n[[workload]]\nlist = [{{ {GOOD_FLOW} }}]\n\n{SCHEME}',
        "h9",
        ("h9",),
    ),
    "packets that end on their way": Bad(
        SMALL + "\n[network]\nttl = 1\n", "ttl = 1", ("switches on their path: 1", "allowed: 2 or more")
    ),
    "trace that is not there": Bad(
        SMALL + '\n[[workload]]\ntrace = { file = "gone.csv" }\n', "gone.csv", ("gone.csv",)
    ),
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())
@pytest.mark.parametrize("verb", ["run", "show"])
def test_is_located(command: Command, tmp_path: Path, case: Bad, verb: str) -> None:
    file = write(tmp_path, case.text)
    done = command(verb, file.name)
    assert_told(done.stderr, done.returncode, case)
    assert done.stdout == ""
    assert sorted(path.name for path in tmp_path.iterdir()) == ["scenario.toml"], "nothing is left behind"


def assert_told(text: str, code: int, case: Bad) -> None:
    """The message is a located diagnostic."""
    assert code == 2, text
    assert text.startswith("error: ")
    assert "Traceback" not in text
    assert "panicked" not in text
    for part in case.says:
        assert part in text
    if case.at is not None:
        line = next(number for number, line in enumerate(case.text.splitlines(), 1) if case.at in line)
        assert re.search(rf"--> scenario\.toml:{line}:\d+", text), text


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("plot", "RESULTS", "slowdown", "--tag", "incast"), "option `--tag` is now `--label`"),
        (
            ("deadlock", "check", "scenario.toml", "--paths", "random", "--each", 2),
            "option `--each` is now `--per-pair`",
        ),
        (("compare", "RESULTS", "fct.txt", "--table", "lone"), "`lone` is now `unmatched`"),
        (("list", "balancers"), "`balancers` is now `load_balancers`"),
    ],
)
def test_options_of_earlier_versions_are_named(arguments: tuple[object, ...], message: str, command: Command) -> None:
    done = command(*arguments)
    assert done.returncode == 2
    assert message in done.stderr


def test_override_is_located(command: Command, small: Path) -> None:
    done = command("run", small, "--set", "switch.bufer=1MB")
    assert done.returncode == 2
    assert "--set" in done.stderr
    assert "did you mean `buffer`" in done.stderr


@pytest.mark.parametrize("text", ["switch", "=1", "switch.buffer", "workload[9].label=x", "a..b=1"])
def test_override_that_is_none(command: Command, small: Path, text: str) -> None:
    done = command("run", small, "--set", text)
    assert done.returncode == 2
    assert "--set" in done.stderr
    assert "Traceback" not in done.stderr


def test_file_that_is_not_there(command: Command, tmp_path: Path) -> None:
    done = command("run", "gone.toml")
    assert done.returncode == 2
    assert "gone.toml" in done.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("output", ["", ".", "/", "a/.."])
def test_a_results_folder_without_a_name(output: str, command: Command, small: Path) -> None:
    done = command("run", small, "-o", output, "--overwrite")
    assert done.returncode == 2
    assert done.stderr == f"error: {Path(output)} cannot become a results folder: it has no name; name a new folder\n"


def test_a_sweep_is_no_scenario(command: Command, tmp_path: Path, small: Path) -> None:
    sweep = tmp_path / "load.toml"
    sweep.write_text(f'scenario = "{small}"\n[[vary]]\npath = "seed"\nvalues = [1, 2]\n', encoding="utf-8")
    for verb, file, note in (
        ("run", sweep, f"the file is a sweep: incast sweep {sweep}"),
        ("show", sweep, f"the file is a sweep: incast sweep {sweep}"),
        ("sweep", small, f"the file is a scenario: incast run {small}"),
    ):
        done = command(verb, file)
        assert done.returncode == 2, done.stdout
        assert done.stderr.endswith(f"\n  = {note}\n")
    wrong = tmp_path / "wrong.toml"
    wrong.write_text(SMALL + "x = 1\n", encoding="utf-8")
    assert "the file is" not in command("run", wrong).stderr


def test_file_that_is_no_text(command: Command, tmp_path: Path) -> None:
    (tmp_path / "scenario.toml").write_bytes(b"\xff\xfe\x00seed")
    done = command("run", "scenario.toml")
    assert done.returncode == 2
    assert "scenario.toml" in done.stderr


def test_folder_in_place_of_a_file(command: Command, tmp_path: Path) -> None:
    done = command("run", tmp_path)
    assert done.returncode == 2
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        ["run"],
        ["run", "a.toml", "b.toml"],
        ["run", "a.toml", "--bogus"],
        ["run", "a.toml", "--seed", "x"],
        ["bogus"],
        ["list", "bogus"],
        ["list", "controls", "bogus"],
        ["import", "ns3"],
        ["import", "htsim"],
        ["show", "a.toml", "--format", "yaml"],
        ["results", "a", "--limit", "-1"],
        ["trace", "a.toml"],
    ],
    ids=" ".join,
)
def test_command_line(command: Command, arguments: list[str]) -> None:
    done = command(*arguments)
    assert done.returncode == 2, done.stderr
    assert done.stderr.startswith("error: ")
    assert "Traceback" not in done.stderr


def commands_of(app: App) -> Iterator[App]:
    """An app and its commands."""
    yield app
    for name in app:
        if not name.startswith("-"):
            yield from commands_of(app[name])


def test_every_whole_number_has_an_upper_bound() -> None:
    # The command checks code points itself.
    options = {
        (app.name, argument.names[0]): argument.parameter.validator
        for app in commands_of(commands.app)
        if app.default_command is not None
        for argument in app.assemble_argument_collection(parse_docstring=False)
        if "int" in re.findall(r"\w+", str(argument.hint)) and argument.names[0] != "--dscp"
    }
    assert len(options) > 20
    for option, validators in options.items():
        assert isinstance(validators, tuple), option
        assert validators, option
        with pytest.raises(ValueError, match=r"Must be <= \d+"):
            validators[0](int, 10**20)


@pytest.mark.parametrize(
    "arguments",
    [
        ("run", "a.toml", "--threads"),
        ("results", "a", "--limit"),
        ("deadlock", "check", "a.toml", "--failures"),
    ],
    ids=" ".join,
)
def test_a_whole_number_above_its_bound_is_named(arguments: tuple[str, ...], command: Command) -> None:
    done = command(*arguments, 10**20)
    assert done.returncode == 2
    assert f'Invalid value "100000000000000000000" for {arguments[-1]}. Must be <= ' in done.stderr


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("report",), "missing argument FOLDER\n"),
        (("import", "ns3", "--topology", "a"), "missing option --flows\n"),
        (("results", "r", "--limit"), "--limit needs a value\n"),
        (("run", "a.toml", "b.toml", "c"), "unexpected arguments `b.toml`, `c`\n"),
        (("schema", "b"), "unexpected argument `b`\n"),
        (("results", "r", "--limit", "1.5"), "Invalid value for --limit: must be a whole number, got `1.5`\n"),
        (("results", "r", "--limit", "many"), "Invalid value for --limit: must be a whole number, got `many`\n"),
        (("plot", "slowdown", "r"), "write `r slowdown`, not `slowdown r`\n"),
        (("plot", "r", "--width", "wide"), "Invalid value for --width: must be a number, got `wide`\n"),
        (("deadlock", "tag", "a", "--dscp", "x"), "Invalid value for --dscp: must be a whole number, got `x`\n"),
    ],
)
def test_command_lines_that_lack_something_or_have_too_much(
    arguments: tuple[str, ...], said: str, command: Command
) -> None:
    done = command(*arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"error: {said}Try: incast {arguments[0]}")


def test_a_file_is_no_folder_of_results(command: Command, tmp_path: Path) -> None:
    write(tmp_path, SMALL)
    done = command("results", "scenario.toml")
    assert (done.returncode, done.stderr) == (
        2,
        "error: scenario.toml is a file, not the folder of results: `incast run` writes such a folder for a scenario\n",
    )


def test_results_that_are_none(command: Command, tmp_path: Path, results: Path) -> None:
    done = command("results", tmp_path)
    assert done.returncode == 2
    assert str(tmp_path) in done.stderr
    done = command("results", tmp_path / "gone")
    assert done.returncode == 2
    done = command("results", results, "--table", "flow")
    assert done.returncode == 2
    assert "flows" in done.stderr
