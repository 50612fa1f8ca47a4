"""Exit codes: one table, and every code of every command."""

from __future__ import annotations

import re
import shutil
import signal
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import pytest
from cyclopts import App

import incast
from conftest import RING, ROOT, SMALL, write
from incast import tagger
from incast.cli import codes, commands, ends
from test_cli import STORM

if TYPE_CHECKING:
    from conftest import Command


# The table.


def test_the_page_repeats_the_table() -> None:
    """With links."""
    page = (ROOT / "docs" / "exit-codes.md").read_text(encoding="utf-8")
    plain = re.sub(r"\[([^]]+)\]\([^)]+\)", r"\1", page).replace("`", "")
    rows = re.findall(r"^\| (\d[^|]*) \| ([^|]+) \| ([^|]+) \|$", plain, re.MULTILINE)
    assert rows == [(str(one.code), one.commands, one.text) for one in codes.TABLE]


def test_the_help_prints_the_table(command: Command) -> None:
    printed = command("--help").stdout.partition("Exit codes:")[2]
    assert " ".join(codes.explained().split()) == " ".join(printed.split())
    for one in codes.TABLE:
        assert one.text in " ".join(printed.split())
    assert max(map(len, codes.explained().splitlines())) <= codes.WIDTH


def test_the_table_has_all_codes() -> None:
    signals = {codes.SIGNALLED + signal.SIGINT, codes.SIGNALLED + signal.SIGTERM, "128 + n"}
    known = {codes.OK, codes.ENDED_BADLY, codes.BAD_INPUT, codes.ENVIRONMENT, codes.BUG}
    assert {one.code for one in codes.TABLE} == known | signals


# Every command.


def leaves(app: App, names: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """The commands of an app that have no subcommands."""
    inner = [name for name in app if not name.startswith("-")]
    if not inner:
        yield names
    for name in inner:
        yield from leaves(app[name], (*names, name))


COMMANDS = sorted(leaves(commands.app))
FAILURES = {
    codes.OK: None,
    codes.BAD_INPUT: incast.ScenarioError("error: no"),
    codes.ENVIRONMENT: incast.EnvironmentFailure("disk full"),
    codes.BUG: KeyError("lost"),
    codes.SIGNALLED + signal.SIGINT: KeyboardInterrupt(),
    codes.SIGNALLED + signal.SIGTERM: ends.EndedError(signal.SIGTERM),
    codes.SIGNALLED + signal.SIGHUP: ends.EndedError(signal.SIGHUP),
}


def test_all_commands_are_found() -> None:
    assert {("run",), ("study", "run"), ("deadlock", "verify"), ("memory", "record"), ("export", "ns3")} <= set(
        COMMANDS
    )


@pytest.mark.parametrize("names", COMMANDS, ids=" ".join)
def test_help_and_a_bad_command_line(command: Command, names: tuple[str, ...]) -> None:
    done = command(*names, "--help")
    assert (done.returncode, done.stderr) == (codes.OK, "")
    done = command(*names, "--no-such-option")
    assert (done.returncode, done.stdout) == (codes.BAD_INPUT, "")
    assert "Traceback" not in done.stderr
    assert done.stderr.startswith("error: ")


@pytest.mark.parametrize("code", FAILURES)
@pytest.mark.parametrize("names", COMMANDS, ids=" ".join)
def test_every_failure_of_every_command(
    names: tuple[str, ...], code: int, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Commands pass failures on; `test_ends.py` has what they print, and real ones."""
    failure = FAILURES[code]

    def failing() -> None:
        if failure is not None:
            raise failure

    app = commands.app
    for name in names:
        app = app[name]
    monkeypatch.setattr(app, "default_command", failing)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with pytest.raises(SystemExit) as ended:
        _run(names)
    assert ended.value.code == code


def _run(names: tuple[str, ...]) -> NoReturn:
    """Run a command and exit, as `ends.run` does after it has opened the streams."""
    try:
        code = commands.run(names)
    except BaseException as error:
        code = ends.code_of(error)
    raise SystemExit(code)


# Code 1.

STALL = """\
[fabric.star]
hosts = 3
[[workload]]
list = [{ src = 0, dst = 1, size = "1MB" }]
[network]
failure = [{ link = ["h1", "s0"], at = "20us" }]
[rdma]
rto = "none"
[scheme.A]
control = "dcqcn"
"""
DROPS = (
    SMALL.replace('control = "dcqcn"', 'control = "unlimited"').replace('size = "64kB"', 'size = "2MB"')
    + '\n[switch]\nheadroom = { bytes = "0B" }\nbuffer = "300kB"\n'
)
ENDINGS = {"A scheme ended": RING, "A scheme stalled": STALL, "A switch dropped": DROPS, "The PFC watchdog": STORM}
"""Scenarios, by the beginning of the cause."""
SWEEP = 'scenario = "scenario.toml"\n[[vary]]\npath = "seed"\nvalues = [1]\n'


def causes(code: int) -> list[codes.Cause]:
    """Causes of a code."""
    return [one for one in codes.TABLE if one.code == code]


def test_every_cause_of_code_1_is_tested() -> None:
    others = {"A simulation or an analysis failed", "The fabric can deadlock", "The rules allow a deadlock"}
    for one in causes(codes.ENDED_BADLY):
        assert any(one.text.startswith(begin) for begin in {*ENDINGS, *others}), one


@pytest.mark.parametrize("begin", ENDINGS)
@pytest.mark.parametrize("name", ["run", "sweep"])
def test_runs_that_end_badly(command: Command, tmp_path: Path, name: str, begin: str) -> None:
    file = write(tmp_path, ENDINGS[begin])
    if name == "sweep":
        file = write(tmp_path, SWEEP, "sweep.toml")
    done = command(name, file, "-o", "out")
    assert done.returncode == codes.ENDED_BADLY, done.stderr
    assert (tmp_path / "out").is_dir()
    assert "Traceback" not in done.stderr


def test_a_run_of_a_sweep_that_fails(command: Command, tmp_path: Path) -> None:
    write(tmp_path, SMALL)
    # Each value is possible; two of them are not possible together.
    hosts = '[[vary]]\npath = "fabric.star.hosts"\nvalues = [8, 4]\n'
    fan_in = '[[vary]]\npath = "workload[0].incast.fan_in"\nvalues = [3, 6]\n'
    write(tmp_path, 'scenario = "scenario.toml"\n' + hosts + fan_in, "sweep.toml")
    done = command("sweep", "sweep.toml", "-o", "out")
    assert done.returncode == codes.ENDED_BADLY, done.stderr
    assert "`6` is not possible" in done.stderr


def test_a_run_of_a_study_that_fails(command: Command, tmp_path: Path) -> None:
    study = Path(shutil.copytree(ROOT / "tests" / "data" / "study", tmp_path / "study"))
    scenario, sweep = study / "dumbbell.toml", study / "load.toml"
    incast_ = '[[workload]]\nincast = { fan_in = 2, size = "1kB" }\n'
    with scenario.open("a", encoding="utf-8") as file:
        file.write(incast_)
    head, _, scales = sweep.read_text(encoding="utf-8").partition("[scale")
    # As above: a run has more senders than hosts.
    vary = '[[vary]]\npath = "fabric.dumbbell.left"\nvalues = [4, 1]\n\n'
    vary += '[[vary]]\npath = "workload[1].incast.fan_in"\nvalues = [2, 6]\n\n'
    sweep.write_text(f"{head}{vary}[scale{scales}", encoding="utf-8")
    for asked in (("run", study, "--scale", "smoke", "-o", "out", "--quiet"), ("judge", study, "out", "--quiet")):
        done = command("study", *asked)
        assert done.returncode == codes.ENDED_BADLY, done.stderr
        assert "`6` is not possible" in done.stderr


TESTBED = ROOT / "scenarios" / "clos-testbed.toml"


def test_deadlocks_that_are_possible(command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert command("deadlock", "check", write(tmp_path, RING)).returncode == codes.ENDED_BADLY
    bounced = (TESTBED, "--paths", "up-down", "--bounces", 1)
    assert command("deadlock", "tag", *bounced, "--export", "json", "-o", "made").returncode == codes.OK
    done = command("deadlock", "verify", TESTBED, "made/rules.json", *bounced[1:], "--classes", 2)
    assert done.returncode == codes.ENDED_BADLY, done.stderr
    row = replace(tagger.row("F", 10, 12), verified=False)
    monkeypatch.setattr(tagger, "rows", lambda *_: [row])
    assert commands.run(["deadlock", "table", "--size", "10x12", "--format", "json"]) == codes.ENDED_BADLY
