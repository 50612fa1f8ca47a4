"""Builds a wheel and an sdist into dist/: `make wheel`, in an environment with requirements/release.txt.

zig links both libraries to the C library of manylinux_2_17 (2014), so the wheel installs on Linux distributions since
then. The check at the end reads every library in the wheel.
"""

from __future__ import annotations

import json
import os
import platform
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
DIST = ROOT / "dist"
LIBRARY = ROOT / "python" / "incast" / "memory" / "libincast_memory.so"
GLIBC = (2, 17)
MACHINE = platform.machine()
TARGET = f"{MACHINE}-unknown-linux-gnu"
TAG = f"manylinux_{GLIBC[0]}_{GLIBC[1]}"


def main() -> None:
    """Builds both files and checks the wheel."""
    bin_ = Path(sys.executable).parent
    os.environ["PATH"] = f"{bin_}{os.pathsep}{os.environ['PATH']}"
    shutil.rmtree(DIST, ignore_errors=True)
    build_library()
    run("maturin", "build", "--release", "--locked", "--zig", "--target", TARGET, "--compatibility", TAG, "--out", DIST)
    run("maturin", "sdist", "--out", DIST)
    (wheel,) = DIST.glob("*.whl")
    check(wheel)
    for file in sorted(DIST.iterdir()):
        print(f"{file.relative_to(ROOT)}  {file.stat().st_size / 1e6:.1f} MB")


def build_library() -> None:
    """Builds the library of `incast memory` where the package has it, which is where maturin finds it."""
    build = ["--release", "--locked", "--package", "incast-memory", "--target", f"{TARGET}.{GLIBC[0]}.{GLIBC[1]}"]
    said = run("cargo", "zigbuild", *build, "--message-format=json-render-diagnostics", quiet=True)
    for line in said.splitlines():
        message = json.loads(line)
        if message.get("reason") == "compiler-artifact" and message["target"]["name"] == "incast_memory":
            LIBRARY.unlink(missing_ok=True)
            shutil.copyfile(message["filenames"][0], LIBRARY)


def check(wheel: Path) -> None:
    """Ends with an error if a library in the wheel needs a newer C library than the name of the wheel says."""
    found = json.loads(run("auditwheel", "show", "--json", wheel, quiet=True))
    tag = re.match(r"manylinux_(\d+)_(\d+)_", found.get("overall_tag", ""))
    if tag is None or tuple(map(int, tag.groups())) > GLIBC:
        sys.exit(f"error: a library in {wheel.name} needs more than {TAG}: {found}")


def run(*command: object, quiet: bool = False) -> str:
    """Runs a command in the repository; returns what it prints if `quiet`."""
    print("+", *command, file=sys.stderr, flush=True)
    out = subprocess.PIPE if quiet else None
    return subprocess.run([str(word) for word in command], cwd=ROOT, check=True, stdout=out, text=True).stdout or ""


if __name__ == "__main__":
    try:
        main()
    except subprocess.CalledProcessError as error:
        sys.exit(f"error: {error.cmd[0]} failed (exit code {error.returncode}); its messages are above")
