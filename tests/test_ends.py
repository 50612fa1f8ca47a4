"""How the command ends: a documented exit code and a message, never a traceback."""

from __future__ import annotations

import ast
import errno
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import duckdb
import pytest

import incast
from conftest import PATIENCE, ROOT, SMALL, Start, environment, stop, write
from incast.cli import codes, commands, ends
from incast.cli.run import NotAlone, Whole
from incast.cli.signals import SIGNALS
from incast.sweep.pool import started

PACKAGE = ROOT / "python" / "incast"
INCAST = (sys.executable, "-m", "incast")


@pytest.fixture
def run(tmp_path: Path) -> Callable[..., subprocess.CompletedProcess[bytes]]:
    """Run a program in a folder of its own; arguments of any bytes."""

    def run_(*command: str | bytes | Path, **more: Any) -> subprocess.CompletedProcess[bytes]:
        streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "env": environment()}
        return subprocess.run(command, cwd=tmp_path, timeout=2 * PATIENCE, check=False, **{**streams, **more})

    return run_


Run = Callable[..., subprocess.CompletedProcess[bytes]]


# Every exception has a code.

NOT_FOUND = ModuleNotFoundError("No module named 'rich'", name="rich")
NOT_BUILT = ModuleNotFoundError("No module named 'incast._core'", name="incast._core")
ENDS = [
    (incast.ScenarioError("error: no"), codes.BAD_INPUT, "error: no\n"),
    (incast.ResultsExistError("x exists already; it was not changed"), codes.BAD_INPUT, "error: x exists already; use"),
    (incast.EnvironmentFailure("disk full"), codes.ENVIRONMENT, "error: disk full\n"),
    (incast.MissingLibraryError("this needs numpy: pip install numpy"), codes.ENVIRONMENT, "error: this needs numpy:"),
    (NOT_FOUND, codes.ENVIRONMENT, "error: incast needs rich: pip install rich\n"),
    (ImportError("broken", name="rich.console"), codes.ENVIRONMENT, "error: incast needs rich (broken)\n"),
    (NOT_BUILT, codes.ENVIRONMENT, "error: incast is not built for this Python"),
    (OSError(errno.ENOSPC, "No space left on device", "x.html"), codes.ENVIRONMENT, "error: x.html: No space left"),
    (OSError(errno.ENOSPC, "No space left on device", b"o\xffx"), codes.ENVIRONMENT, r"error: o\udcffx: No space left"),
    (OSError(errno.ENOSPC, "No space left on device"), codes.ENVIRONMENT, "error: No space left on device\n"),
    (BrokenPipeError(errno.EPIPE, "Broken pipe"), codes.ENVIRONMENT, "error: Broken pipe\n"),
    (MemoryError(), codes.ENVIRONMENT, "error: out of memory\n"),
    (duckdb.OutOfMemoryException("4 GB used"), codes.ENVIRONMENT, "error: out of memory: 4 GB used\n"),
    (duckdb.IOException("cannot write x"), codes.ENVIRONMENT, "error: cannot write x\n"),
    (UnicodeEncodeError("ascii", "é", 0, 1, "no"), codes.ENVIRONMENT, r"error: '\xe9' cannot be written in ascii"),
    (UnicodeEncodeError("utf-8", "o\udcffx", 1, 2, "no"), codes.BAD_INPUT, r"error: 'o\udcffx' is not valid UTF-8"),
    (incast.InternalError("scheme A: please report it"), codes.BUG, "error: scheme A: please report it\n"),
    (KeyboardInterrupt(), 130, "error: interrupted; nothing was written\n"),
    (ends.EndedError(signal.SIGTERM), 143, "error: interrupted; nothing was written\n"),
    (ends.EndedError(signal.SIGHUP), 129, "error: interrupted; nothing was written\n"),
]


def test_a_query_ends_by_the_signal_that_interrupted_it(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ends, "_received", [])
    with pytest.raises(ends.EndedError):
        ends._raise(signal.SIGTERM, None)
    assert ends.code_of(RuntimeError("Query interrupted")) == 143
    assert capfd.readouterr().err == "error: interrupted; nothing was written\n"


def test_a_signal_tells_what_a_command_has_written(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ends, "_received", [signal.SIGTERM])
    whole = f"error: interrupted; the run is whole in {tmp_path}\n"
    for error, code in [
        (KeyboardInterrupt(), 130),
        (ends.EndedError(signal.SIGTERM), 143),
        (RuntimeError("Query interrupted"), 143),
    ]:
        with pytest.raises(KeyboardInterrupt) as found, ends.keeping(partial(Whole, tmp_path)):
            raise error
        assert ends.code_of(found.value) == code
        assert capfd.readouterr().err == whole
    with pytest.raises(RuntimeError, match="another"), ends.keeping(partial(Whole, tmp_path)):
        raise RuntimeError("another")
    # The inner block knows more.
    with pytest.raises(NotAlone), ends.keeping(partial(Whole, tmp_path)), ends.keeping(partial(NotAlone, tmp_path)):
        raise KeyboardInterrupt


@pytest.mark.parametrize(
    ("error", "code", "says"), ENDS, ids=[f"{type(error).__name__}-{n}" for n, (error, *_) in enumerate(ENDS)]
)
def test_every_exception_has_a_code(
    error: BaseException, code: int, says: str, capfd: pytest.CaptureFixture[str]
) -> None:
    # As `main` does it.
    sys.stderr.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
    assert ends.code_of(error) == code
    out, errors = capfd.readouterr()
    assert errors.startswith(says)
    assert out == ""


# Bugs.

BUG = """
from incast.cli import commands, ends
def broken(tokens):
    raise KeyError("lost")
commands.run = broken
ends.run(["run", "mine.toml"])
"""


def test_a_bug_is_reported_in_a_file(run: Run, tmp_path: Path) -> None:
    done = run(sys.executable, "-c", BUG, env={**environment(), "TMPDIR": str(tmp_path)})
    assert done.returncode == codes.BUG
    (file,) = tmp_path.iterdir()
    text = f"error: internal error: KeyError: 'lost'\n = please report it, with the file {file} and the scenario\n"
    assert (done.stdout, done.stderr.decode()) == (b"", text)
    written = file.read_text(encoding="utf-8")
    assert written.startswith(f"incast {incast.__version__}, Python ")
    assert written.endswith("KeyError: 'lost'\n")
    assert "in broken" in written


def test_a_bug_without_a_place_for_the_file(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def full(**_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("tempfile.mkstemp", full)
    assert ends.code_of(KeyError("lost")) == codes.BUG
    errors = capsys.readouterr().err
    assert errors.startswith("error: internal error: KeyError: 'lost'\n")
    assert "please report it, with these lines" in errors


# Imports, before any command has begun.


@pytest.mark.parametrize("number", SIGNALS)
def test_a_signal_during_imports(start: Start, tmp_path: Path, number: signal.Signals) -> None:
    """The interpreter finds a library of the working folder first: it takes for ever to import."""
    write(tmp_path, "print('importing', flush=True)\nimport time\ntime.sleep(3600)\n", "cyclopts.py")
    process = start("show", "mine.toml")
    assert process.stdout is not None
    assert process.stdout.readline() == "importing\n"
    assert stop(process, number) == (128 + number, "error: interrupted; nothing was written\n")


def test_ctrl_c_in_code_that_python_compiles(run: Run) -> None:
    """Python itself would end by the signal, after the message."""
    program = "commands.run = lambda tokens: exec('raise KeyboardInterrupt')"
    done = run(sys.executable, "-c", f"from incast.cli import commands, ends; {program}; ends.run([])")
    assert (done.returncode, done.stderr) == (130, b"error: interrupted; nothing was written\n")


def test_a_signal_that_the_caller_ignores(run: Run, tmp_path: Path) -> None:
    """As under `nohup`."""
    write(
        tmp_path, "import os, signal\nos.kill(os.getpid(), signal.SIGHUP)\nraise ImportError('alive')\n", "cyclopts.py"
    )
    done = run(*INCAST, "run", "mine.toml", preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
    assert (done.returncode, done.stderr) == (3, b"error: incast needs a library (alive)\n")


def test_ctrl_c_while_a_worker_imports(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It reaches all processes of a terminal; the sweep itself ends its workers."""
    write(tmp_path, "print('importing', flush=True)\nprint(input(), flush=True)\n", "slow.py")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    with started("slow") as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "importing\n"
        process.send_signal(signal.SIGINT)
        assert process.communicate("goes on\n", timeout=PATIENCE)[0] == "goes on\n"
    assert process.returncode == 0
    assert signal.SIGINT not in signal.pthread_sigmask(signal.SIG_BLOCK, ())


# Standard streams.


@pytest.mark.parametrize(
    ("arguments", "code"), [(("show", "scenario.toml"), 0), (("run", "scenario.toml", "-q"), 0), (("show", "x"), 2)]
)
@pytest.mark.parametrize("closed", [">&-", "2>&-", "<&- >&- 2>&-"])
def test_closed_streams(run: Run, small: Path, closed: str, arguments: tuple[str, ...], code: int) -> None:
    done = run("sh", "-c", f'exec "$@" {closed}', "sh", *INCAST, *arguments)
    assert done.returncode == code, done.stderr
    assert b"Traceback" not in done.stderr
    assert (small.parent / "results").exists() == (arguments[0] == "run")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full")
def test_full_streams(run: Run, small: Path) -> None:
    with Path("/dev/full").open("wb") as full:
        for unbuffered in ("", "1"):
            for arguments in (("show", small), ("--help",)):
                done = run(*INCAST, *arguments, stdout=full, env={**environment(), "PYTHONUNBUFFERED": unbuffered})
                said = b"error: standard output: No space left on device\n"
                assert (done.returncode, done.stderr) == (3, said)
        assert run(*INCAST, "show", "gone.toml", stderr=full).returncode == 2


def test_a_reader_that_ends(run: Run) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    try:
        for arguments in (("schema",), ("--help",)):
            done = run(*INCAST, *arguments, stdout=writing)
            assert (done.returncode, done.stderr) == (0, b"")
    finally:
        os.close(writing)


# Commands to copy.

PLAIN = {"SECONDS", "cap", "command", "done.returncode", "kind", "state"}
"""Insertions that incast itself has written."""
NAMES = "|".join(name for name, *_ in commands.COMMANDS)
COPIED = re.compile(rf"incast (?:(?:{NAMES})\b|\0command\0)[^`\n]*")


def insertions(file: Path) -> Iterator[str]:
    """Expressions that the f-strings of a module insert into commands of incast."""
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.JoinedStr):
            inserted = [each.value for each in node.values if isinstance(each, ast.FormattedValue)]
            names = iter(ast.unparse(each) if isinstance(each, ast.Name) else str(n) for n, each in enumerate(inserted))
            parts = (each.value if isinstance(each, ast.Constant) else f"\0{next(names)}\0" for each in node.values)
            for found in COPIED.findall("".join(map(str, parts))):
                for name in found.split("\0")[1::2]:
                    yield ast.unparse(inserted[int(name)]) if name.isdigit() else name


def test_commands_to_copy_are_quoted() -> None:
    found = {each for file in PACKAGE.rglob("*.py") for each in insertions(file)}
    quoted = {each for each in found if each.startswith("shell(")}
    assert "shell(results.path)" in quoted
    assert found - quoted <= PLAIN


def test_a_folder_with_a_space_is_quoted(run: Run, small: Path) -> None:
    write(small.parent, 'scenario = "scenario.toml"\n[[vary]]\npath = "seed"\nvalues = [1]\n', "sweep.toml")
    assert run(*INCAST, "sweep", "sweep.toml", "-o", "a b").returncode == 0
    (first, *_) = sorted((small.parent / "a b" / "runs").iterdir())
    (first / "flows.parquet").write_bytes(b"")
    done = run(*INCAST, "results", "a b", "--verify")
    assert done.returncode == 2
    assert b"repeat the command `incast sweep ... -o 'a b'`" in done.stderr


# Names and text that are not UTF-8, and locales that are not.

C_LOCALE = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}


def test_the_c_locale(run: Run, tmp_path: Path) -> None:
    write(tmp_path, SMALL.replace("two schemes", "zwei Köpfe"))
    plain = {**environment(), **C_LOCALE}
    done = run(*INCAST, "show", "scenario.toml", env=plain)
    assert (done.returncode, done.stderr) == (0, b"")
    assert "zwei Köpfe".encode() in done.stdout
    done = run(*INCAST, "show", "scenario.toml", "--set", 'title="é"', env=plain)
    assert (done.returncode, done.stdout) == (2, b"")
    assert done.stderr.startswith(rb"""error: 'title="\udcc3\udca9"' is not valid UTF-8""")
    assert b"set PYTHONUTF8=1" in done.stderr


def test_names_of_folders_in_the_c_locale(run: Run, small: Path) -> None:
    plain = {**environment(), **C_LOCALE}
    out = "é".encode()
    assert run(*INCAST, "run", small, "-o", out, "-q", env=plain).returncode == 0
    for command in (("results", out), ("compare", out, "--scheme", "HPCC", "--with", "DCQCN")):
        done = run(*INCAST, *command, env=plain)
        assert (done.returncode, done.stderr) == (0, b"")
    assert b"\nfindings" in run(*INCAST, "results", out, env=plain).stdout


def test_an_argument_that_is_not_utf_8(run: Run, small: Path) -> None:
    done = run(*INCAST, "show", small, "--set", b'title="\xff"')
    assert (done.returncode, done.stdout) == (2, b"")
    assert done.stderr == (
        rb"""error: 'title="\udcff"' is not valid UTF-8""" + b"\n = allowed: text and names in UTF-8\n"
    )


def test_a_folder_that_is_not_utf_8(run: Run, small: Path) -> None:
    out = b"o\xffx"
    assert run(*INCAST, "run", small, "-o", out, "-q").returncode == 0
    assert run(*INCAST, "results", out).returncode == 0
    for command in (("report", out, "-o", "x.html"), ("application", out), ("results", out, "--table", "sharing")):
        done = run(*INCAST, *command)
        assert done.returncode == 2, done.stderr
        assert b"Traceback" not in done.stderr
    assert not (small.parent / "x.html").exists()
    write(small.parent, 'scenario = "scenario.toml"\n[[vary]]\npath = "seed"\nvalues = [1]\n', "sweep.toml")
    done = run(*INCAST, "sweep", "sweep.toml", "-o", b"s\xff")
    assert done.returncode == 2
    assert rb"cannot open s\udcff: the name is not valid UTF-8" in done.stderr
    assert sorted(path.name for path in small.parent.iterdir()) == ["o\udcffx", "scenario.toml", "sweep.toml"]


def test_explanations_that_are_not_utf_8(tmp_path: Path) -> None:
    study = Path(shutil.copytree(ROOT / "tests" / "data" / "study", tmp_path / "study"))
    file = study / "explanations.md"
    lines = len(file.read_text(encoding="utf-8").splitlines())
    for added, line, column in ((b"\xff", lines + 1, 1), ("é ".encode() + b"\xe9\n", lines + 1, 3)):
        before = file.read_bytes()
        file.write_bytes(before + added)
        with pytest.raises(incast.ScenarioError, match=r"byte 0x(ff|e9)") as failure:
            incast.load_study(study)
        assert f"{file}:{line}:{column}" in str(failure.value)
        file.write_bytes(before)


# Pages.


@pytest.fixture
def copied(results: Path, tmp_path: Path) -> Path:
    """Results, to be damaged."""
    return Path(shutil.copytree(results, tmp_path / "results"))


def test_a_page_of_results_with_a_damaged_scenario(run: Run, small: Path) -> None:
    """Charts of samples need the time between samples."""
    small.write_text(SMALL + '\n[measure]\nsample_every = "10us"\n', encoding="utf-8")
    assert run(*INCAST, "run", small, "-o", "results", "-q").returncode == 0
    file = small.parent / "results" / "scenario.toml"
    for content in (b"measure = [", b"\xff", b"measure = 1", b"", None):
        file.unlink()
        if content is not None:
            file.write_bytes(content)
        done = run(*INCAST, "report", "results", "-o", "x.html")
        assert done.returncode == 2, (content, done.stderr)
        assert done.stderr.startswith(b"error: results/scenario.toml")
        assert done.stderr.endswith(b"run the scenario again\n")
        assert not (small.parent / "x.html").exists()


def test_a_page_that_does_not_fit(run: Run, copied: Path) -> None:
    def limit() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, 10_000))

    done = run(*INCAST, "report", "results", "-o", "x.html", preexec_fn=limit)
    assert (done.returncode, done.stderr) == (3, b"error: cannot write x.html: File too large\n")
    done = run(*INCAST, "report", "results", "-o", "gone/x.html")
    assert (done.returncode, done.stderr) == (3, b"error: cannot write gone/x.html: No such file or directory\n")
    assert [path.name for path in copied.parent.iterdir()] == ["results"]


# The terminal's width.


def test_one_module_reads_the_width() -> None:
    reads = re.compile(r"get_terminal_size|\bConsole\(")
    found = {str(file.relative_to(PACKAGE)) for file in PACKAGE.rglob("*.py") if reads.search(file.read_text("utf-8"))}
    assert found == {"_terminal.py"}


@pytest.mark.parametrize("arguments", [("--help",), ("run", "--help"), ("list", "controls")])
def test_a_width_that_is_none(run: Run, arguments: tuple[str, ...]) -> None:
    terminal = {**environment(), "TERM": "xterm"}
    usual = run(*INCAST, *arguments, env={**terminal, "COLUMNS": "80"})
    assert usual.returncode == 0
    for columns in ("0", "19", "abc"):
        done = run(*INCAST, *arguments, env={**terminal, "COLUMNS": columns})
        assert (done.returncode, done.stderr) == (0, b"")
        assert done.stdout == usual.stdout, columns
    narrow, wide, widest, huge = (
        run(*INCAST, *arguments, env={**terminal, "COLUMNS": columns}) for columns in ("20", "199", "200", "9" * 30)
    )
    assert narrow.returncode == wide.returncode == widest.returncode == 0
    assert narrow.stdout != usual.stdout
    assert (huge.returncode, huge.stdout) == (0, widest.stdout)
    assert max(map(len, widest.stdout.decode().splitlines())) <= 200
    # Help fills the width; lists are narrower.
    assert ("--help" in arguments) == (wide.stdout != widest.stdout)
