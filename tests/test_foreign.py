"""Files of strangers: only regular files are read, up to a limit, and nothing in them reaches a terminal raw."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import incast
from conftest import PATIENCE, ROOT, SMALL, Command, environment, write
from incast import _echo, _input, _markdown, integrity
from incast.analysis.dataset import open_analysis
from incast.cli import codes
from incast.comparison import reference
from incast.memory.recording import open_recording
from incast.sonic.document import JsonFile
from incast.study import explaining
from incast.study.mapped import open_map
from incast.study.results import FORMAT, KEYS, SINCE_3, of_study, open_study
from incast.sweep.folder import read_index

REST = '[scheme.A]\ncontrol = "hpcc"\n[[workload]]\n'
STAR = "[fabric.star]\nhosts = 8\n" + REST
NAMING = {
    "ns-3 topology": f'[fabric.ns3]\ntopology = "FILE"\n{REST}incast = {{ fan_in = 2, size = 1 }}\n',
    "htsim topology": f'[fabric.htsim]\ntopology = "FILE"\n{REST}incast = {{ fan_in = 2, size = 1 }}\n',
    "trace": f'{STAR}trace.file = "FILE"\n',
    "ns-3 flows": f'{STAR}ns3.flows = "FILE"\n',
    "htsim matrix": f'{STAR}htsim.file = "FILE"\n',
    "sizes": f'{STAR}poisson = {{ load = 0.1, sizes = {{ file = "FILE" }}, duration = "1us" }}\n',
    "blade trace": f'{STAR.replace("8", "16")}disaggregated = {{ trace = "FILE", duration = "1us" }}\n',
    "rules": f'{STAR}incast = {{ fan_in = 2, size = 1 }}\n[switch.tagging]\nenabled = true\nrules = "FILE"\n',
}
"""Scenarios that name a file."""
ESCAPES = "\x1b[31mred\x1b]0;title\x07\u202e"
TOO_MANY = f'{STAR}incast = {{ fan_in = 4, size = "1kB", every = "1ns", duration = "1s" }}\n'
"""Asks for 4e9 flows."""


@pytest.mark.parametrize("name", NAMING)
def test_a_scenario_names_no_device(tmp_path: Path, name: str) -> None:
    file = write(tmp_path, NAMING[name].replace("FILE", "/dev/zero"))
    with pytest.raises(incast.ScenarioError, match="it is a character device; allowed: a regular file") as raised:
        incast.load(file).warnings()
    line = next(number for number, text in enumerate(file.read_text().splitlines(), 1) if "/dev/zero" in text)
    assert (raised.value.file, raised.value.line) == (str(file), line)


def test_a_scenario_is_a_regular_file_of_bounded_size(tmp_path: Path, command: Command) -> None:
    os.mkfifo(tmp_path / "pipe.toml")
    (tmp_path / "zero.toml").symlink_to("/dev/zero")
    with (tmp_path / "large.toml").open("wb") as file:
        file.truncate(10**10)
    for name, why in {"pipe": "a named pipe", "zero": "a character device", "large": "more than 67 MB"}.items():
        done = command("show", f"{name}.toml")
        assert done.returncode == 2
        assert f"cannot read {name}.toml: it " in done.stderr
        assert why in done.stderr


def test_output_never_goes_into_a_pipe(tmp_path: Path, command: Command) -> None:
    write(tmp_path, SMALL)
    os.mkfifo(tmp_path / "pipe.csv")
    os.mkfifo(tmp_path / "pipe.toml")
    trace = ("trace", "scenario.toml", "-o", "pipe.csv", "--overwrite")
    dot = ("export", "dot", "scenario.toml", "-o", "pipe.csv", "--overwrite")
    for asked in (trace, dot, ("new", "pipe.toml", "--overwrite")):
        done = command(*asked)
        assert done.returncode == 2
        assert "is not a regular file and is never overwritten" in done.stderr


def test_the_pipe_of_a_shell_is_read(tmp_path: Path) -> None:
    file = write(tmp_path, SMALL)
    asked = [sys.executable, "-m", "incast", "show", "/dev/stdin"]
    with subprocess.Popen(["cat", file], stdout=subprocess.PIPE) as cat:
        done = subprocess.run(asked, stdin=cat.stdout, env=environment(), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "two schemes, eight hosts" in done.stdout


def test_text_that_is_not_utf8_is_located(tmp_path: Path) -> None:
    file = tmp_path / "latin1.toml"
    file.write_bytes(b'seed = 1\ntitle = "caf\xe9"\n')
    with pytest.raises(incast.ScenarioError, match="not UTF-8 text: byte 0xe9 in line 2, column 13") as raised:
        incast.load(file)
    assert raised.value.line == 2


def test_python_reads_regular_files_alone(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(incast.ComparisonError, match="it is a named pipe"):
        reference.check(pipe)
    with pytest.raises(incast.ScenarioError, match="it is a named pipe"):
        explaining.read(pipe, [], [])
    with pytest.raises(incast.ScenarioError, match="it is a character device"):
        _input.read_text("/dev/zero", incast.ScenarioError)
    large = tmp_path / "large"
    with large.open("wb") as file:
        file.truncate(_input.DOCUMENT + 1)
    with pytest.raises(incast.ScenarioError, match="it has more than 67 MB"):
        _input.read_text(large, incast.ScenarioError)
    with pytest.raises(incast.ScenarioError, match="it has more than 67 MB"):
        JsonFile(large)
    large.write_bytes(b"a\nb\xff")
    with pytest.raises(incast.ScenarioError, match="large:2:2: not UTF-8 text: byte 0xff"):
        _input.read_text(large, incast.ScenarioError)


def test_reading_takes_memory_for_the_file_alone(tmp_path: Path) -> None:
    file = tmp_path / "trace.csv"
    file.write_bytes(b"x" * 3_000_000)
    tracemalloc.start()
    try:
        assert _input.read_bytes(file, incast.ApplicationError) == file.read_bytes()
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    # Two copies of the file, and one piece.
    assert peak < 10_000_000


def test_the_index_of_a_sweep_is_a_regular_file(tmp_path: Path) -> None:
    from incast.sweep.folder import INDEX

    os.mkfifo(tmp_path / INDEX)
    with pytest.raises(incast.ResultsError):
        read_index(tmp_path)


@pytest.mark.parametrize(
    ("name", "command_line"),
    [
        ("study/explanations.md", ("study", "show", "study")),
        ("study/claims.toml", ("study", "show", "study")),
        ("study/load.toml", ("study", "show", "study")),
        ("study/study.json", ("study", "show", "study")),
        ("run/manifest.json", ("report", "run")),
        ("run/manifest.json", ("results", "run", "--verify")),
        ("swept/sweep.json", ("report", "swept")),
        ("swept/sweep.json", ("sweep", "sweep.toml", "-o", "swept")),
    ],
)
def test_a_pipe_in_a_folder_is_no_missing_file(
    name: str, command_line: tuple[str, ...], tmp_path: Path, command: Command
) -> None:
    shutil.copytree(ROOT / "tests" / "data" / "study", tmp_path / "study")
    write(tmp_path, SMALL)
    write(tmp_path, 'scenario = "scenario.toml"\n', "sweep.toml")
    (tmp_path / name).parent.mkdir(exist_ok=True)
    (tmp_path / name).unlink(missing_ok=True)
    os.mkfifo(tmp_path / name)
    done = command(*command_line)
    assert done.returncode == 2
    assert name.rpartition("/")[2] in done.stderr
    assert "it is a named pipe" in done.stderr


@pytest.mark.parametrize("depth", [_input.DEEPEST + 2, 100_000])
@pytest.mark.parametrize(
    ("name", "read"),
    [
        ("manifest.json", integrity.other_version),
        ("sweep.json", read_index),
        ("study.json", lambda folder: of_study(folder, None)),
        ("claims.json", open_study),
        ("map.json", open_map),
        ("analysis.json", open_analysis),
        ("summary.json", open_recording),
    ],
)
def test_nested_json_is_a_damaged_file(name: str, read: Callable[[Path], object], depth: int, tmp_path: Path) -> None:
    about: dict[str, Any] = dict.fromkeys((*KEYS, *SINCE_3), "")
    about |= {"format": FORMAT, "scale": "map" if name == "map.json" else "paper"}
    about |= {"wall_s": 1, "cpu_s": 1, "sweeps": []}
    (tmp_path / "study.json").write_text(json.dumps(about))
    (tmp_path / "trace.parquet").touch()
    for text in ("[" * depth + "]" * depth, '{"a":' * depth + "1" + "}" * depth):
        (tmp_path / name).write_text(text)
        if name == "manifest.json":
            assert read(tmp_path) is None
            continue
        with pytest.raises(incast.IncastError, match=f"{name}.*more than 32 objects and arrays in each other"):
            read(tmp_path)


CLAIM = {"id": "E1", "statement": "s", "source": "p", "origin": "ours", "verdict": "holds", "reason": None}
CHECK = {"metric": "m", "series": "", "label": "m", "unit": None, "verdict": "holds", "reason": None, "expect": "1"}
RANGE = {"value": 1, "low": None, "high": 2.5, "confidence": None, "seeds": 1, "per_seed": [1.0], "check": 0}


@pytest.mark.parametrize(
    ("part", "value", "said"),
    [
        ("claim", {"statement": 5}, r"claims\[0\]\.statement must be a text, not 5"),
        ("claim", {"verdict": "yes"}, r"claims\[0\]\.verdict must be one of 'holds', .*, not yes"),
        ("claim", {"checks": 7}, "not iterable"),
        ("check", {"seeds": 1.5}, r"claims\[0\]\.checks\[0\]\.seeds must be a whole number, not 1\.5"),
        ("check", {"high": "2"}, r"claims\[0\]\.checks\[0\]\.high must be a number, not 2"),
        ("check", {"per_seed": [None]}, r"claims\[0\]\.checks\[0\]\.per_seed\[0\] must be a number, not None"),
        ("manifest", {"wall_s": "long"}, "wall_s must be a number, not long"),
        ("manifest", {"sweeps": [1]}, r"sweeps\[0\] must be a text, not 1"),
        ("figure", {"rows": [{"cells": [[1]], "seeds": 1}]}, r"rows\[0\]\.cells\[0\] must be a text or a number"),
    ],
)
def test_claims_of_other_types_are_damage(part: str, value: dict[str, Any], said: str, tmp_path: Path) -> None:
    def given(name: str, usual: dict[str, Any]) -> dict[str, Any]:
        return usual | (value if part == name else {})

    about = dict.fromkeys((*KEYS, *SINCE_3), "") | {"format": FORMAT, "wall_s": 1, "cpu_s": 1.5, "sweeps": []}
    claim = given("claim", {**CLAIM, "explanation": None, "checks": [given("check", {**CHECK, **RANGE})]})
    table: dict[str, Any] = {"name": "t", "title": "t", "about": "", "columns": [], "rows": [], "missing": None}
    lists = {"claims": [], "charts": [], "tables": [given("figure", table)], "pauses": []}
    figure = {"id": "1", "title": "f", "source": "ours", "about": "", **lists}
    (tmp_path / "study.json").write_text(json.dumps(given("manifest", about)))
    (tmp_path / "claims.json").write_text(json.dumps({"claims": [claim], "figures": [figure]}))
    with pytest.raises(incast.ResultsError, match=f"not as incast writes it: .*{said}"):
        open_study(tmp_path)


def test_a_pipe_among_the_tables_of_a_sweep_is_damage(tmp_path: Path, command: Command) -> None:
    write(tmp_path, SMALL)
    assert command("sweep", write(tmp_path, 'scenario = "scenario.toml"\n', "sweep.toml"), "-o", "out").returncode == 0
    file = next((tmp_path / "out" / "runs").glob("*/flows.parquet"))
    file.unlink()
    os.mkfifo(file)
    done = command("results", "out", "--verify")
    assert done.returncode == 2
    assert "flows.parquet is damaged: it cannot be read: " in done.stderr
    assert "it is a named pipe" in done.stderr


def test_more_flows_than_a_run_can_have_are_refused(tmp_path: Path, command: Command) -> None:
    file = write(tmp_path, TOO_MANY)
    done = command("show", file)
    assert done.returncode == 2
    assert f"{file}:6:46 (workload[0].incast.every)" in done.stderr
    assert "small enough for 33554431 flows; this asks for about 4.000e9" in done.stderr


def limited(file: Path, megabytes: int) -> subprocess.CompletedProcess[str]:
    """`incast show FILE` in a process that may take so much more memory than it has after its imports."""
    code = """
import resource, sys
import incast.cli.commands, incast.cli.ends, incast.cli.show
from incast.cli import main
used = next(int(line.split()[1]) * 1024 for line in open("/proc/self/status") if line.startswith("VmSize"))
resource.setrlimit(resource.RLIMIT_AS, (used + int(sys.argv[2]) * 10**6,) * 2)
main(["show", sys.argv[1]])
"""
    asked = [sys.executable, "-c", code, str(file), str(megabytes)]
    return subprocess.run(asked, env=environment(), capture_output=True, text=True, timeout=PATIENCE, check=False)


@pytest.mark.skipif(sys.platform != "linux", reason="limits of the address space are those of Linux")
def test_the_limit_of_the_address_space_counts(tmp_path: Path) -> None:
    file = write(tmp_path, TOO_MANY.replace('"1s"', '"5ms"'))
    done = limited(file, 300)
    assert done.returncode == 2, done.stderr
    assert "about 2.000e7 take at least 1.4 GB; " in done.stderr
    assert "left of the address space (ulimit -v)" in done.stderr


@pytest.mark.skipif(sys.platform != "linux", reason="limits of the address space are those of Linux")
def test_out_of_memory_is_an_exit_code(tmp_path: Path) -> None:
    file = write(tmp_path, f"x = [{'1,' * 1_000_000}]\n")
    done = limited(file, 20)
    assert done.returncode == 3, done.stderr
    assert "error: out of memory" in done.stderr


def test_control_characters_in_names_are_refused(tmp_path: Path, command: Command) -> None:
    name = json.dumps(ESCAPES)
    file = write(tmp_path, SMALL.replace("[scheme.HPCC]", f"[scheme.{name}]").replace("two schemes", r"two\u0007"))
    done = command("show", file)
    assert done.returncode == 2
    assert r"the text `two\u0007, eight hosts` has a control character, U+0007" in done.stderr
    assert f"{file}:1:9 (title)" in done.stderr
    assert rf"the name `{_echo.visible(ESCAPES)}` has a control character, U+001B" in done.stderr
    assert not _echo.OF_A_LINE.search(done.stderr)
    with pytest.raises(incast.ScenarioError, match="U\\+001B"):
        incast.load(write(tmp_path, SMALL), [f"title={ESCAPES}"])


def test_messages_show_control_characters_and_are_short(tmp_path: Path, command: Command) -> None:
    text = SMALL.replace('"64kB"', f'"{"x" * 1_000_000}"').replace("fan_in = 6", r'fan_in = "\u001b[2J"')
    file = write(tmp_path, text)
    done = command("show", file)
    assert done.returncode == 2
    assert not _echo.OF_A_LINE.search(done.stderr)
    assert len(done.stderr) < 5_000
    done = command("show", file, "--set", f"workload[0].incast.fan_in={ESCAPES}")
    assert done.returncode == 2
    assert not _echo.OF_A_LINE.search(done.stderr)


def test_names_of_a_results_folder_are_shown_without_control_characters(
    results: Path, tmp_path: Path, command: Command
) -> None:
    folder = tmp_path / "o\x1b[2J'x"
    shutil.copytree(results, folder)
    file = folder / "manifest.json"
    manifest = json.loads(file.read_text())
    manifest["schemes"] = {f"{ESCAPES}{name}": scheme for name, scheme in manifest["schemes"].items()}
    for scheme in manifest["schemes"].values():
        scheme["stop"]["text"] += ESCAPES
    file.write_text(json.dumps(manifest))
    done = command("results", folder)
    assert not _echo.OF_A_LINE.search(done.stdout + done.stderr)
    assert r"red\u001b]0;title" in done.stdout + done.stderr
    if done.returncode == 0:
        assert r"o\u001b[2J\'x' --table flows" in done.stdout


INERT = {
    "a <script>alert(1)</script>": "a &lt;script>alert(1)&lt;/script>",
    "<svg onload=alert(1)>\n": "&lt;svg onload=alert(1)>\n",
    r"\\<b>": r"\\&lt;b>",
    "<!-- [a](javascript:alert(1)) -->": "&lt;!-- &#91;a](javascript:alert(1)) -->",
    "[a](java&#115;cript:alert(1))": "&#91;a](java&#115;cript:alert(1))",
    "[a][b]\n\n[b]: data:text/html,x": "&#91;a]&#91;b]\n\n&#91;b]: data:text/html,x",
    "<javascript:alert(1)>": "&lt;javascript:alert(1)>",
    "![a](https://example.org/a.png)": "&#33;[a](https://example.org/a.png)",
    "![a](//example.org/a.png)": "&#33;&#91;a](//example.org/a.png)",
    "| a |\n|---|\n| <b>x</b><br>y |": "| a |\n|---|\n| &lt;b>x&lt;/b><br>y |",
    "\x1b[31ma\u202e": "\\u001b[31ma\\u202e",
}
"""Markdown of others, and as a page has it."""
HARMLESS = """\
x < y, `<b>`, \\<b>, a<br>b, <https://example.org>, [a](https://example.org), [b](other.md#c), ![c](d-1.svg)

```html
<script>alert(1)</script>
```
"""


def test_markdown_of_others_has_no_html() -> None:
    assert {text: _markdown.inert(text) for text in INERT} == INERT
    assert _markdown.inert(HARMLESS) == HARMLESS


def test_pages_of_a_study_have_no_html(tmp_path: Path, command: Command) -> None:
    study = Path(shutil.copytree(ROOT / "tests" / "data" / "study", tmp_path / "study"))
    with (study / "explanations.md").open("a", encoding="utf-8") as file:
        file.write("\n## C1\n\n<img src=x onerror=alert(1)> [a](javascript:alert(1)) \x1b[31m\n")
    assert command("study", "run", study, "-o", "out", "--scale", "quick", "--quiet").returncode == 0
    assert command("study", "export", "out", "-o", "site").returncode == 0
    for page in ("out/claims.md", "site/study.md"):
        text = (tmp_path / page).read_text(encoding="utf-8")
        assert "&lt;img src=x onerror=alert(1)> &#91;a](javascript:alert(1)) \\u001b&#91;31m" in text, page


def test_words_for_a_shell() -> None:
    assert _echo.shell("results/a") == "results/a"
    assert _echo.shell("a b") == "'a b'"
    for name in ("a\x1b'b\\", "<script>\n", "é\t"):
        done = subprocess.run(["bash", "-c", f"printf %s {_echo.shell(name)}"], capture_output=True, check=True)
        assert done.stdout.decode() == name


def test_long_lines_and_messages_are_cut() -> None:
    assert _echo.lines("a\x1b\n\tb") == "a\\u001b\n\tb"
    text = "\n".join(["x" * 5_000, *"y" * 1_999])
    first = f"{'x' * 4_000}… (5000 characters)"
    assert _echo.lines(text).split("\n") == [first, *"y" * 1_999]
    assert _echo.first_lines(text).split("\n") == [first, *"y" * 999, "… (1,000 more lines)"]


def test_data_are_unchanged_unless_they_go_to_a_terminal(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    codes.write_data("a\x1b\n")
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    codes.write_data("a\x1b\n")
    assert capsys.readouterr().out == "a\x1b\na\\u001b\n"


def test_the_run_of_an_error_is_short(tmp_path: Path, command: Command) -> None:
    write(tmp_path, SMALL)
    axis = f'[[vary]]\npath = "{"x" * 4_000}"\nvalues = [1]\n'
    done = command("sweep", write(tmp_path, f'scenario = "scenario.toml"\n{axis}', "sweep.toml"), "--plan")
    assert done.returncode == 2
    assert "= in the run with xxx" in done.stderr
    assert len(done.stderr) < 1_000


def test_excerpts_show_the_place() -> None:
    line = "a" * 500 + "\x1bbad" + "z" * 500
    shown, indent, marks = _echo.excerpt(line, 502, 3)
    assert len(shown) == _echo.SHOWN + 2 + len(r"\u001b") - 1
    assert shown[len(indent) : len(indent) + marks] == "bad"
    assert _echo.excerpt("\tx", 2, 1) == ("\tx", "\t", 1)
    assert _echo.excerpt("", 1, 1) == ("", "", 1)


@pytest.mark.parametrize(
    "c", ["\x00", "\t", "\n", "\x7f", "\x85", "\xad", "\u061c", "\u200b", "\u2028", "\u202a", "\ufeff"]
)
def test_the_core_and_python_refuse_the_same_characters(tmp_path: Path, c: str) -> None:
    assert _echo.CONTROL.fullmatch(c)
    with pytest.raises(incast.ScenarioError, match=rf"U\+{ord(c):04X}"):
        incast.load(write(tmp_path, SMALL.replace("two schemes", rf"\u{ord(c):04x}")))
