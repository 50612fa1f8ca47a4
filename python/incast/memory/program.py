"""Checks before the start that a program can be instrumented."""

from __future__ import annotations

import os
import shutil
import stat
import struct
from collections.abc import Sequence
from pathlib import Path

from incast._nearest import nearest
from incast.errors import ApplicationError

PT_INTERP = 3
MACHINES = {3: "32-bit x86", 40: "32-bit ARM", 62: "x86-64", 183: "AArch64", 243: "RISC-V"}
DEEPEST = 4
"""Most nested script interpreters, as in Linux."""


def check(command: Sequence[str]) -> str:
    """The path of the program that a command starts.

    Raises:
        ApplicationError: There is no such program, or it cannot be instrumented.

    """
    if not command or isinstance(command, str):
        raise ApplicationError(
            'error: missing program to run\n = allowed: its name and arguments, such as ["sort", "file"]'
        )
    path = _found(command[0])
    _check(Path(path), path, DEEPEST)
    return path


def _found(name: str) -> str:
    path = shutil.which(name)
    if path is not None:
        return path
    if os.sep in name:
        why = "is a folder" if Path(name).is_dir() else "is not executable" if Path(name).exists() else None
        raise ApplicationError(f"cannot start `{name}`: {why}" if why else f"no program `{name}`")
    near = nearest(name, _programs())
    hint = f"\n = did you mean `{near}`?" if near else ""
    raise ApplicationError(f"error: no program `{name}`\n = allowed: a path, or a program on PATH{hint}")


def _programs() -> list[str]:
    """Names of programs on PATH."""
    found: set[str] = set()
    for folder in os.get_exec_path():
        try:
            found.update(entry.name for entry in os.scandir(folder) if entry.is_file())
        except OSError:
            continue
    return sorted(found)


def _check(path: Path, asked: str, deepest: int) -> None:
    try:
        with path.open("rb") as file:
            head = file.read(4096)
            mode = os.fstat(file.fileno())
    except OSError as error:
        raise ApplicationError(
            f"cannot read `{asked}` to check that it can be instrumented: {error.strerror}"
        ) from None
    if head.startswith(b"#!") and deepest:
        _check(Path(_found(_interpreter(head))), asked, deepest - 1)
        return
    if not head.startswith(b"\x7fELF"):
        raise ApplicationError(f"`{asked}` cannot be instrumented: it is neither an ELF program nor a script")
    if mode.st_mode & (stat.S_ISUID | stat.S_ISGID) or _has_capabilities(path):
        raise ApplicationError(
            f"error: `{asked}` is not instrumented: it runs with the rights of its owner (set-uid, set-gid or file "
            "capabilities)\n = allowed: programs that run with your rights; a copy of the program does"
        )
    try:
        _check_elf(path, head, asked)
    except struct.error:
        raise ApplicationError(f"`{asked}` cannot be instrumented: its ELF header is truncated") from None


def _has_capabilities(path: Path) -> bool:
    """True for a file with capabilities (capabilities(7))."""
    try:
        return bool(os.getxattr(path, "security.capability"))
    except OSError:
        return False


def _interpreter(head: bytes) -> str:
    """The interpreter of a script: its first line, without `env`."""
    words = head[2:].partition(b"\n")[0].decode("utf-8", "replace").split()
    if words and Path(words[0]).name == "env":
        words = [word for word in words[1:] if not word.startswith("-") and "=" not in word]
    return words[0] if words else "/bin/sh"


def _check_elf(path: Path, head: bytes, asked: str) -> None:
    machine = struct.unpack_from("<H", head, 18)[0]
    ours = struct.unpack_from("<H", Path("/proc/self/exe").read_bytes()[:20], 18)[0]
    if machine != ours or head[4] != 2:
        kinds = f"{MACHINES.get(machine, f'machine {machine}')}, and incast for {MACHINES.get(ours, f'machine {ours}')}"
        raise ApplicationError(f"`{asked}` cannot be instrumented: it is for {kinds}")
    loader = _loader(path, head)
    if loader is None:
        raise ApplicationError(
            f"error: `{asked}` cannot be instrumented: it is a static binary{_of(path, asked)}\n"
            " = allowed: programs linked dynamically to the GNU C library"
        )
    if "musl" in Path(loader).name:
        raise ApplicationError(
            f"error: `{asked}` cannot be instrumented: its C library is musl{_of(path, asked)}\n"
            " = allowed: programs linked to the GNU C library"
        )


def _of(path: Path, asked: str) -> str:
    return "" if path == Path(asked) else f" ({path})"


def _loader(path: Path, head: bytes) -> str | None:
    """The loader that an ELF program names; `None` if it loads itself."""
    offset, size, count = struct.unpack_from("<Q", head, 32)[0], *struct.unpack_from("<HH", head, 54)
    with path.open("rb") as file:
        for each in range(count):
            file.seek(offset + each * size)
            kind, _, at, _, _, length = struct.unpack("<IIQQQQ", file.read(40))
            if kind == PT_INTERP:
                file.seek(at)
                return file.read(length).rstrip(b"\0").decode("utf-8", "replace")
    return None
