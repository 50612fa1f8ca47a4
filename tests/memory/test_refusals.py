"""`incast memory` refuses bad input before it starts a program; if the machine lacks something, with a remedy."""

from __future__ import annotations

import errno
import os
import shutil
import stat
import struct
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest

import incast
from conftest import PATIENCE, Command, environment
from incast import memory
from incast.memory import amounts, library, program
from incast.memory.listener import Failure
from incast.memory.permission import describe, explained
from memory.compiling import Compiled
from memory.running import permitted

SWITCH = Path("/proc/sys/vm/unprivileged_userfaultfd")
INTERPRETER = 3
"""The kind of the program header that names the loader (elf(5), PT_INTERP)."""


def refused(command: Command, folder: Path, *arguments: object) -> str:
    """The message of a command that is refused before it does anything."""
    before = {path.name for path in folder.iterdir()}
    done = command("memory", "record", *arguments)
    assert done.returncode == 2, done.stderr
    assert done.stderr.startswith("error: ")
    assert "Traceback" not in done.stderr
    assert done.stdout == ""
    assert {path.name for path in folder.iterdir()} == before, "nothing is left behind"
    return done.stderr


def executable(file: Path, content: bytes | bytearray) -> Path:
    file.write_bytes(content)
    file.chmod(0o755)
    return file


# Programs that it cannot be.


def test_a_static_binary(command: Command, compiled: Compiled, tmp_path: Path) -> None:
    static = compiled("walker", "-static")
    assert subprocess.run([static, "1", "1"], capture_output=True, check=False).returncode == 0
    message = refused(command, tmp_path, "--", static, 1, 1)
    assert f"`{static}` cannot be instrumented: it is a static binary" in message
    assert "allowed: programs linked dynamically to the GNU C library" in message
    script = executable(tmp_path / "script", f"#!{static} 1\n".encode())
    assert f"`{script}` cannot be instrumented: it is a static binary ({static})" in refused(
        command, tmp_path, "--", script
    )


def test_a_static_binary_at_any_address(compiled: Compiled) -> None:
    with pytest.raises(incast.ApplicationError, match="it is a static binary"):
        program.check([str(compiled("walker", "-static-pie"))])


@pytest.mark.parametrize(
    ("wide", "machine", "name"),
    [(1, 3, "32-bit x86"), (1, 40, "32-bit ARM"), (2, 183, "AArch64"), (2, 243, "RISC-V"), (2, 21, "machine 21")],
)
def test_a_binary_of_another_machine(tmp_path: Path, own_elf: bytearray, wide: int, machine: int, name: str) -> None:
    own = struct.unpack_from("<H", own_elf, 18)[0]
    if machine == own:
        machine, name = 62, "x86-64"
    own_elf[4] = wide
    struct.pack_into("<H", own_elf, 18, machine)
    with pytest.raises(incast.ApplicationError, match=f"it is for {name}, and incast for {program.MACHINES[own]}"):
        program.check([str(executable(tmp_path / "other", own_elf))])


@pytest.fixture
def own_elf() -> bytearray:
    """A program of this machine, to be changed."""
    found = shutil.which("true")
    assert found
    return bytearray(Path(found).read_bytes())


def test_a_binary_of_musl(command: Command, tmp_path: Path, own_elf: bytearray) -> None:
    (headers,), (size, count) = struct.unpack_from("<Q", own_elf, 32), struct.unpack_from("<HH", own_elf, 54)
    for header in range(headers, headers + count * size, size):
        kind, _, at, _, _, length = struct.unpack_from("<IIQQQQ", own_elf, header)
        if kind == INTERPRETER:
            own_elf[at : at + length] = b"/lib/ld-musl-x.so.1".ljust(length, b"\0")
    musl = executable(tmp_path / "musl", own_elf)
    message = refused(command, tmp_path, "--", musl)
    assert (
        f"`{musl}` cannot be instrumented: its C library is musl\n = allowed: programs linked to the GNU C library"
        in message
    )


@pytest.mark.parametrize("length", [4, 18, 40, 64])
def test_a_binary_that_is_not_whole(tmp_path: Path, own_elf: bytearray, length: int) -> None:
    with pytest.raises(incast.ApplicationError, match="its ELF header is truncated"):
        program.check([str(executable(tmp_path / "cut", own_elf[:length]))])


def test_scripts(tmp_path: Path) -> None:
    for first in ("#!/bin/sh", "#! /bin/sh -e", "#!/usr/bin/env sh", "#!/usr/bin/env -S A=1 sh -e", "#!/bin/sh -c 'x"):
        script = executable(tmp_path / "script", f"{first}\n:\n".encode())
        assert program.check([str(script)]) == str(script)
    again = executable(tmp_path / "again", f"#!{script}\n".encode())
    assert program.check([str(again)]) == str(again)


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"echo hello\n", "it is neither an ELF program nor a script"),
        (b"", "it is neither an ELF program nor a script"),
        (b"#!/gone/python\n", "no program `/gone/python`"),
        (b"#!/usr/bin/env pythn3\n", "no program `pythn3`"),
        (b"#!SELF\n", "it is neither an ELF program nor a script"),
    ],
)
def test_scripts_that_it_cannot_be(command: Command, tmp_path: Path, content: bytes, says: str) -> None:
    script = tmp_path / "script"
    executable(script, content.replace(b"SELF", bytes(script)))
    assert says in refused(command, tmp_path, "--", script)


def test_a_program_that_is_not_there(command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    executable(tmp_path / "sortabc", b"")
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    message = refused(command, tmp_path, "--", "sortabd")
    assert "no program `sortabd`\n = allowed: a path, or a program on PATH\n = did you mean `sortabc`?" in message
    assert "did you mean" not in refused(command, tmp_path, "--", "nothing-like-it-at-all")
    with pytest.raises(incast.ApplicationError, match=r"no program `\./gone`"):
        program.check(["./gone"])
    with pytest.raises(incast.ApplicationError, match="cannot start `/`: is a folder"):
        program.check(["/"])
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(incast.ApplicationError, match=": is not executable"):
        program.check([str(tmp_path / "file")])


def test_a_program_with_the_rights_of_its_owner(
    tmp_path: Path, own_elf: bytearray, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = executable(tmp_path / "own", own_elf)
    for bit in (stat.S_ISUID, stat.S_ISGID):
        own.chmod(0o755 | bit)
        with pytest.raises(incast.ApplicationError, match="it runs with the rights of its owner"):
            program.check([str(own)])
    own.chmod(0o755)
    assert program.check([str(own)]) == str(own)
    monkeypatch.setattr("os.getxattr", lambda _path, name: b"\x01" if name == "security.capability" else b"")
    with pytest.raises(incast.ApplicationError, match="file capabilities"):
        program.check([str(own)])


# Amounts.


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("25%", memory.Share(250_000)),
        ("0.5 %", memory.Share(5_000)),
        (".5%", memory.Share(5_000)),
        ("100%", memory.Share(1_000_000)),
        ("0.00000001%", memory.Share(1)),
        ("256KiB", memory.Bytes(1 << 18)),
        ("8MiB", memory.Bytes(8 << 20)),
        ("1.5 GiB", memory.Bytes(3 << 29)),
        ("64MB", memory.Bytes(64_000_000)),
        ("300kB", memory.Bytes(300_000)),
    ],
)
def test_local_memory(text: str, expected: memory.Share | memory.Bytes) -> None:
    assert amounts.local(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        *("0%", "101%", "100.0001%", "-5%", "25", "%", "", "a quarter", "nan%", "1.2.3%"),
        *("255KiB", "0B", "-8MiB", "8mib", "8 MiB x", "1e3MiB", "99999999999999999GiB"),
    ],
)
def test_local_memory_that_there_is_not(text: str) -> None:
    with pytest.raises(incast.ApplicationError, match="--local cannot be `") as raised:
        amounts.local(text)
    assert "above 0% and up to 100%, such as 25%; or a size of 256KiB or more, such as 64MiB" in str(raised.value)


@pytest.mark.parametrize(("text", "expected"), [("4096B", 4096), ("128KiB", 131072), ("1MB", 1_000_000)])
def test_a_threshold(text: str, expected: int) -> None:
    assert amounts.threshold(text) == expected


@pytest.mark.parametrize("text", ["4095B", "4kB", "0B", "128", "10%", "99999999999GiB", "-1MiB"])
def test_a_threshold_that_is_none(text: str) -> None:
    with pytest.raises(incast.ApplicationError, match="--threshold cannot be `") as raised:
        amounts.threshold(text)
    assert "a size of 4096B or more, such as 128KiB" in str(raised.value)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ((), "missing program to run\n = allowed: -- PROGRAM ARGUMENTS at the end"),
        (("--local", "150%", "--", "true"), "--local cannot be `150%`"),
        (("--threshold", "1kB", "--", "true"), "--threshold cannot be `1kB`"),
        (("--policy", "lfu", "--", "true"), "fifo"),
        (("--locl", "5%", "--", "true"), "unknown option `--locl`"),
    ],
)
def test_the_command_tells_what_is_wrong(
    command: Command, tmp_path: Path, arguments: tuple[str, ...], says: str
) -> None:
    assert says in refused(command, tmp_path, *arguments)


def test_what_is_said_of_a_process_that_the_instrument_ended() -> None:
    ended = Failure("ended", 0, "the program has given memory back by a system call", 7, "sort")
    assert describe(ended) == "the instrument aborted `sort`: the program has given memory back by a system call"
    panic = Failure("panic", 0, "pager.rs:5", 7, "sort")
    assert describe(panic).endswith("internal error of the instrument: pager.rs:5")
    not_begun = Failure("userfaultfd", errno.EPERM, "", 7, "sort")
    assert describe(not_begun).startswith(
        "`sort` could not be served and was ended: this user may not serve page faults"
    )


# What the Python interface is given.


@pytest.mark.parametrize(
    ("value", "says"),
    [
        (lambda: memory.Share(0), "Share cannot be `0`"),
        (lambda: memory.Share(5_000_000), "allowed: a whole number of millionths, from 1 to 1000000"),
        (lambda: memory.Share(0.25), "Share cannot be `0.25`"),  # type: ignore[arg-type]
        (lambda: memory.Bytes(0), "allowed: a whole number of bytes, from 4096 to 2^63"),
        (lambda: memory.Bytes(2**64), "Bytes cannot be `"),
        (lambda: memory.Instrument(local="25%"), "allowed: memory.Share(millionths) or memory.Bytes(bytes)"),  # type: ignore[arg-type]
        (
            lambda: memory.Instrument(policy="lur"),  # type: ignore[arg-type]
            "unknown policy: `lur`\n = allowed: fifo, lru\n = did you mean `lru`?",
        ),
        (lambda: memory.Instrument(threshold_bytes=0), "threshold_bytes cannot be `0`"),
        (lambda: memory.Instrument(seed=-1), "seed cannot be `-1`"),
        (lambda: memory.Instrument(seed=2**63), "seed cannot be `"),
        (lambda: memory.Instrument(delays_ns=[1, -1]), "delays_ns cannot be `-1`"),
        (lambda: memory.Instrument(delays_ns=[2**32]), "allowed: whole nanoseconds, from 0 to 2^32 - 1"),
        (lambda: memory.Instrument(delays_ns=[0.5]), "delays_ns cannot be `0.5`"),  # type: ignore[list-item]
        (lambda: memory.Instrument(only="memcached"), "only cannot be `memcached`"),
        (lambda: memory.Delays("mine", [-1]), "--latency cannot be `mine`"),
        (lambda: memory.Delays("mine", [5, 1]), "delays from 0 to 4.29 s, in ascending order"),
        (lambda: memory.record([], "out"), "missing program to run"),
        (lambda: memory.record("true", "out"), "missing program to run"),
        (lambda: memory.inject([], []), "missing program to run"),
    ],
)
def test_what_python_is_given(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, value: Callable[[], object], says: str
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(incast.ApplicationError) as raised:
        value()
    assert says in str(raised.value)
    assert list(tmp_path.iterdir()) == []


# Machines and users that cannot.


@pytest.mark.parametrize(
    ("what", "number", "says"),
    [
        ("userfaultfd", errno.EPERM, "error: this user may not serve page faults (userfaultfd)"),
        ("userfaultfd", errno.EACCES, "sudo sysctl vm.unprivileged_userfaultfd=1"),
        ("userfaultfd", errno.EPERM, "sudo setfacl -m u:$USER:rw /dev/userfaultfd"),
        ("userfaultfd", errno.EPERM, "--cap-add SYS_PTRACE"),
        ("userfaultfd", errno.ENOSYS, "this kernel has no userfaultfd (CONFIG_USERFAULTFD)"),
        ("userfaultfd", errno.EINVAL, "Linux 5.7 or later is needed"),
        ("userfaultfd", errno.ENOMEM, "check limits (ulimit -v, ulimit -d) and vm.overcommit_memory=2"),
        ("userfaultfd", errno.EMFILE, "userfaultfd: some reason"),
        ("close_range", errno.ENOSYS, "Linux 5.9 or later is needed (close_range)"),
        ("ring", errno.EFBIG, "ring: some reason: the program was not started"),
    ],
)
def test_why_a_program_was_not_started(what: str, number: int, says: str) -> None:
    message = explained(Failure(what, number, "some reason"))
    assert says in message
    assert "the program was not started" in message.lower()


AS_NOBODY = [
    *("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"),
    *("--inh-caps=-all,+dac_read_search", "--ambient-caps=-all,+dac_read_search", "--"),
]
"""Run as a user who may do nothing but read, as incast's own files and Python's may be another's."""


def can_be_nobody() -> bool:
    """True if the user exists and this process can become that user."""
    if os.getuid() != 0 or not SWITCH.is_file() or SWITCH.read_text().strip() != "0" or not shutil.which("setpriv"):
        return False
    return subprocess.run([*AS_NOBODY, sys.executable, "-c", ""], capture_output=True, check=False).returncode == 0


@pytest.mark.parametrize("run", [("record",), ("record", "--plain"), ("inject", "--latency", "3us")], ids=" ".join)
def test_a_user_who_may_not_serve_page_faults(run: tuple[str, ...]) -> None:
    if can_be_nobody():
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            folder.chmod(0o755)
            (folder / "out").mkdir()
            (folder / "out").chmod(0o777)
            incast_memory = [*AS_NOBODY, sys.executable, "-m", "incast", "memory", *run]
            done = subprocess.run(
                [*incast_memory, "-o", "out/there", "--", "touch", "out/ran"],
                cwd=folder,
                env=environment(),
                capture_output=True,
                text=True,
                timeout=2 * PATIENCE,
                check=False,
            )
            assert list((folder / "out").iterdir()) == [], "nothing was run, and nothing is left"
        assert done.returncode == 3, done.stderr
        message = done.stderr
        assert done.stdout == ""
    else:
        message = explained(Failure("userfaultfd", errno.EPERM, "Operation not permitted")) + "\n"
    assert message == explained(Failure("userfaultfd", errno.EPERM, "")) + "\n"
    assert message.startswith("error: this user may not serve page faults (userfaultfd): the program was not started\n")


def test_the_reason_in_a_line(monkeypatch: pytest.MonkeyPatch) -> None:
    assert (memory.impossible() is None) == permitted()
    monkeypatch.setattr(library, "CHECKOUT", Path("/gone"))
    monkeypatch.setattr(library, "LIBRARY", Path("/gone/library.so"))
    assert memory.impossible() == "/gone/library.so is missing, and this is no checkout to build it from"
    with tempfile.TemporaryDirectory(prefix="a b") as folder:
        blank = shutil.copy(__file__, f"{folder}/library.so")
        monkeypatch.setattr(library, "LIBRARY", Path(blank))
        assert "its path has a space or a colon" in (memory.impossible() or "")


def test_an_installed_package_without_the_library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(library, "CHECKOUT", tmp_path)
    monkeypatch.setattr(library, "LIBRARY", tmp_path / "gone.so")
    with pytest.raises(incast.EnvironmentFailure, match="clone the repository and run `make build`"):
        memory.record(["true"], tmp_path / "out")
    assert list(tmp_path.iterdir()) == []
