"""The library that `incast memory` preloads into programs: where it lies, and how a checkout builds it.

    python python/incast/memory/library.py

builds it if a source is newer. A wheel has it. The script imports nothing of incast, so that it also runs where incast
is not installed.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

LIBRARY = Path(__file__).with_name("libincast_memory.so")
"""The library to preload."""
CHECKOUT = Path(__file__).resolve().parents[3]
"""Repository of a checkout; some other folder for an installed package."""
CRATE = Path("crates", "incast-memory")
BUILD = ("build", "--release", "--locked", "--package", "incast-memory")
SECONDS = 20
"""Approximate build time on two idle cores."""
LINES = 20
"""Lines of cargo's output that an error shows."""


class BuildError(Exception):
    """The library is missing or outdated and cannot be built; the text says why and what to do."""


def build(checkout: Path = CHECKOUT, library: Path = LIBRARY) -> None:
    """Builds the library in a checkout if it is missing or older than its sources.

    Raises:
        BuildError: cargo or the sources are missing, or cargo fails.

    """
    newest = _newest(checkout)
    if newest is None:
        if not library.is_file():
            raise BuildError(
                f"error: {library} is missing, and this is no checkout to build it from\n"
                " = help: install incast from a wheel, or clone the repository and run `make build`"
            )
        return
    with suppress(OSError):
        if library.stat().st_mtime >= newest:
            return
    cargo = shutil.which("cargo")
    if cargo is None:
        state = "outdated" if library.is_file() else "not built yet"
        raise BuildError(
            f"error: the library of incast memory is {state}, and there is no cargo on PATH to build it\n"
            " = help: install Rust 1.88 or later (https://rustup.rs)"
        )
    print(f"building the library of incast memory (once, about {SECONDS} s) ...", file=sys.stderr, flush=True)
    began = time.time()
    _replace(library, _built(cargo, checkout), began)


def _newest(checkout: Path) -> float | None:
    """Time of the newest change of a source; `None` if this is no checkout."""
    if not (checkout / CRATE / "Cargo.toml").is_file():
        return None
    sources = (checkout / "Cargo.toml", *(checkout / CRATE).rglob("*"))
    return max(path.stat().st_mtime for path in sources if path.is_file())


def _built(cargo: str, checkout: Path) -> Path:
    """Runs cargo; returns the file that it built."""
    done = subprocess.run(
        [cargo, *BUILD, "--message-format=json-render-diagnostics"],
        cwd=checkout,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        last = "\n".join(done.stderr.splitlines()[-LINES:])
        raise BuildError(
            f"error: cargo cannot build the library of incast memory (exit code {done.returncode})\n{last}\n"
            f" = help: to see all of its output: cd {checkout} && cargo {' '.join(BUILD)}"
        )
    for line in done.stdout.splitlines():
        message: dict[str, Any] = json.loads(line)
        if message.get("reason") == "compiler-artifact" and "cdylib" in message["target"]["kind"]:
            return Path(message["filenames"][0])
    raise BuildError("error: cargo reports no library of incast memory")


def _replace(library: Path, built: Path, began: float) -> None:
    """Puts the built file in place in one step (another process may use the old one), dated when the build began."""
    try:
        number, name = tempfile.mkstemp(prefix=f".{library.name}.", dir=library.parent)
        os.close(number)
        try:
            shutil.copyfile(built, name)
            Path(name).chmod(0o755)
            os.utime(name, (began, began))
            Path(name).replace(library)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise
    except OSError as error:
        raise BuildError(f"error: {library} cannot be written: {error.strerror}") from None


if __name__ == "__main__":
    try:
        build()
    except BuildError as error:
        sys.exit(str(error))
