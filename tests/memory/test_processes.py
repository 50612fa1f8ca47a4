"""Processes around a recorded program: those that are left, those that cannot be served, and those of other users."""

from __future__ import annotations

import os
import resource
import shutil
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

import incast
from conftest import PATIENCE, Command, Start, environment, wait_until
from incast import memory
from incast.memory.supervised import Supervised
from memory.compiling import Compiled
from memory.running import LISTS, record, running_in, served

ONCE = """\
rm -f stays*
env -i sh -c ': > stays1; exec sleep 100' &
env -i setsid sh -c ': > stays2; exec sleep 100' &
(setsid sh -c ': > stays3; exec sleep 100' &)
until test -e stays1 -a -e stays2 -a -e stays3; do sleep 0.01; done
"""
"""Starts three processes that say nothing of where they come from, and waits until they run."""

BUSY = "while set -- $(cat /proc/$!/stat); test ${14} -lt 50; do sleep 0.05; done"
"""Waits until the last process in the background has had half a second of a processor."""


def in_folder(folder: Path, script: str) -> list[str]:
    return ["sh", "-c", f"cd {folder}; {script}"]


def names() -> set[str]:
    """The names of all processes."""
    found = set()
    for file in Path("/proc").glob("[0-9]*/comm"):
        with suppress(OSError):
            found.add(file.read_text().strip())
    return found


# Those that are left.


@served
def test_what_has_left_the_environment_and_the_session_is_ended_too(tmp_path: Path) -> None:
    found, _ = record(tmp_path, list(in_folder(tmp_path, f"{ONCE}exit 3")))
    assert (found.code, found.summary.ended) == (3, 3)
    assert running_in(tmp_path) == []


@served
@pytest.mark.parametrize("plain", [True, False])
def test_a_case_leaves_nothing_to_those_after_it(tmp_path: Path, plain: bool) -> None:
    """A server that stays would answer in the runs after."""
    others = (
        'for each in /proc/[0-9]*; do test "$(readlink $each/cwd)" = "$PWD" && cat $each/comm; done | grep -q sleep'
    )
    command = in_folder(tmp_path, f"{others} && exit 9; {ONCE}")
    memory.inject(command, [memory.Delays.constant(3_000, "3us")], repetitions=2, plain=plain)
    assert running_in(tmp_path) == []


@served
@pytest.mark.parametrize("plain", [True, False])
def test_what_goes_on_without_its_first_thread_is_ended_too(tmp_path: Path, compiled: Compiled, plain: bool) -> None:
    """Also, its processor time counts as the command's, not as other work's."""
    program = tmp_path / f"outlives{plain}"
    shutil.copy(compiled("outlives"), program)
    # Until it has had half a second of a processor.
    command = ["sh", "-c", f"{program} stay now & {BUSY}"]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    if plain:
        memory.inject(command, [], repetitions=1)
    else:
        record(tmp_path, list(command))
    assert program.name not in names()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime > 0.3


@served
def test_children_of_the_caller_are_its_own(tmp_path: Path) -> None:
    with subprocess.Popen(["sleep", "100"]) as own:
        record(tmp_path, list(in_folder(tmp_path, ONCE)))
        assert own.poll() is None
        own.kill()


@served
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_plain_run_can_be_ended(start: Start, tmp_path: Path, number: signal.Signals) -> None:
    script = f"cd {tmp_path}; sleep 100 & env -i setsid sleep 100 & touch ready; exec sleep 100"
    process = start("memory", "inject", "--latency", "5us", "-o", "runs.csv", "--", "sh", "-c", script)
    wait_until((tmp_path / "ready").exists)
    process.send_signal(number)
    printed, errors = process.communicate(timeout=PATIENCE)
    assert (process.returncode, printed) == (128 + number, ""), errors
    assert errors == "error: interrupted; nothing was written\n"
    assert [path.name for path in tmp_path.iterdir()] == ["ready"]
    assert running_in(tmp_path) == []


def test_an_interrupt_while_a_command_starts_ends_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It runs, and incast has not heard of it yet."""
    heard = Supervised._next

    def interrupted(_: Supervised) -> tuple[str, list[str]]:
        monkeypatch.setattr(Supervised, "_next", heard)
        wait_until((tmp_path / "ready").exists)
        raise KeyboardInterrupt

    monkeypatch.setattr(Supervised, "_next", interrupted)
    command = in_folder(tmp_path, "sleep 100 & touch ready; exec sleep 100")
    with pytest.raises(KeyboardInterrupt), Supervised(command, "/bin/sh", {}):
        pass
    assert running_in(tmp_path) == []


@served
def test_a_program_that_cannot_be_started_leaves_nothing(tmp_path: Path) -> None:
    longest = ["true", "x" * (1 << 18)]
    with pytest.raises(incast.ApplicationError, match="true` cannot be started: Argument list too long"):
        record(tmp_path, list(longest))


# Those that cannot be served.

MANY = """\
mkfifo go
exec 3<>go
for i in $(seq 40); do sh -c 'exec < go; : > started$0; read line' $i 3>&- & done
until test $(ls | grep -c started) = 40; do sleep 0.05; done
exec 3>&-
wait
rm go started*
ulimit -n
"""
"""Has forty processes at a time."""
LIMITED = f"{sys.executable} -c '{LISTS}'; (ulimit -v 400000; exec sleep 0); echo $?; touch ran"


@served
def test_a_process_that_cannot_be_instrumented_is_told_and_the_rest_recorded(command: Command, tmp_path: Path) -> None:
    done = command("memory", "record", "-o", "out", "--", "sh", "-c", LIMITED)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "126\n"
    assert (tmp_path / "ran").exists()
    summary = memory.open_recording(tmp_path / "out").summary
    assert summary.fetches > 1000
    assert len(summary.failures) == 1
    assert summary.failures[0].startswith("`sleep` could not be served and was ended: no address space")
    assert f"warning: {summary.failures[0]}" in done.stderr
    assert "not started" not in done.stderr.partition("warning:")[2]


@served
def test_a_measurement_of_which_a_part_did_not_run_is_none(command: Command) -> None:
    done = command("memory", "inject", "--latency", "5us", "--repetitions", 1, "--", "sh", "-c", LIMITED)
    assert done.returncode == 3
    assert "`sleep` could not be served and was ended: no address space" in done.stderr
    assert done.stdout == ""


@served
def test_what_could_not_be_served_is_not_said_to_fit(compiled: Compiled, tmp_path: Path) -> None:
    """A static program that another one starts has no memory served: that is another thing than memory that fits."""
    found, _ = record(tmp_path, ["env", compiled("walker", "-static"), 4096, 2])
    lines = list(found.summary.lines())
    assert any(line.startswith("note: no memory was served: ") for line in lines)
    assert not any("fit into" in line for line in lines)


@served
def test_programs_of_other_users_are_told(tmp_path: Path, compiled: Compiled) -> None:
    """They are not served, and run as ever."""
    if os.getuid() != 0 or (runuser := shutil.which("runuser")) is None:
        with pytest.raises(incast.EnvironmentFailure, match="nothing was recorded"):
            record(tmp_path, ["env", "-i", "sh", "-c", "true"], only=["sh"])
        return
    shutil.copy(memory.library.LIBRARY, tmp_path / "library.so")
    script = f"{compiled('walker')} 512 2; {runuser} -u nobody -- sh -c 'echo as nobody'"
    found, printed = record(tmp_path, ["sh", "-c", script])
    assert "as nobody" in printed
    if found.summary.other_users:
        assert any("of another user was not served" in line for line in found.summary.lines())
    else:  # The library lies where that user may not read.
        assert "cannot be preloaded" in printed


@served
@pytest.mark.parametrize("files", [40, 60])
def test_when_there_are_no_files_left_nothing_fails(tmp_path: Path, files: int) -> None:
    limit = lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (files, files))  # noqa: E731
    run = [sys.executable, "-m", "incast", "memory", "record", "-o", "out", "--", "sh", "-c", f"{MANY}exit 4"]
    done = subprocess.run(
        run,
        cwd=tmp_path,
        env=environment(),
        capture_output=True,
        text=True,
        timeout=2 * PATIENCE,
        check=False,
        preexec_fn=limit,
    )
    assert (done.returncode, done.stdout) == (4, f"{files}\n"), done.stderr
    assert "warning: some new processes were not served: the limit of open files" in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["out"]
    assert memory.open_recording(tmp_path / "out").summary.not_heard == 1


@served
def test_incast_may_open_more_files_than_the_program(tmp_path: Path) -> None:
    limit = lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (40, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))  # noqa: E731
    run = [sys.executable, "-m", "incast", "memory", "record", "-o", "out", "--", "sh", "-c", MANY]
    done = subprocess.run(
        run,
        cwd=tmp_path,
        env=environment(),
        capture_output=True,
        text=True,
        timeout=2 * PATIENCE,
        check=False,
        preexec_fn=limit,
    )
    assert (done.returncode, done.stdout) == (0, "40\n"), done.stderr
    summary = memory.open_recording(tmp_path / "out").summary
    assert summary.not_heard == 0
    assert len(summary.processes) > 40


@served
def test_a_plain_run_that_ends_otherwise_is_not_used(tmp_path: Path) -> None:
    asked = memory.Instrument()
    script = 'test -z "$INCAST_MEMORY"'
    with (tmp_path / "printed").open("wb") as printed:
        found = memory.record(["sh", "-c", script], tmp_path / "out", asked, quiet=printed, plain=True)
    assert (found.code, found.summary.plain_codes, found.summary.plain_s) == (1, [0], None)
    note = "exit code 0 without the instrument, but 1 with it"
    assert any(note in line for line in found.summary.lines())


@served
def test_with_plain_runs_the_input_is_empty_in_all(tmp_path: Path) -> None:
    run = [sys.executable, "-m", "incast", "memory", "record", "--plain", "-q", "-o", "out", "--"]
    done = subprocess.run(
        [*run, "sh", "-c", "wc -c; echo $PPID >> parents"],
        cwd=tmp_path,
        env=environment(),
        input="some input",
        capture_output=True,
        text=True,
        timeout=2 * PATIENCE,
        check=False,
    )
    assert (done.returncode, done.stdout.strip()) == (0, "0"), done.stderr
    assert len(set((tmp_path / "parents").read_text().split())) == 4, "it ran four times"
