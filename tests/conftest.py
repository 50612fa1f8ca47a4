"""Shared by the tests: small scenarios, and the command as a user starts it."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from fork_server import ForkServer

ROOT = Path(__file__).parent.parent
pytest_plugins = ["memory.compiling"]

PATIENCE = 120.0
"""Seconds until a wait fails: only a hang takes as long, on any machine."""

# A shell without job control ignores it in what it runs in the background, and `nohup` the other; the tests start
# programs that are to end by them.
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGHUP, signal.SIG_DFL)

SMALL = """\
title = "two schemes, eight hosts"
seed = 7

[fabric.star]
hosts = 8

[[workload]]
[workload.incast]
fan_in = 6
size = "64kB"

[[workload]]
[workload.poisson]
load = 0.3
sizes = { uniform = { min = "1kB", max = "100kB" } }
duration = "100us"

[scheme.DCQCN]
control = "dcqcn"

[scheme.HPCC]
control = "hpcc"
"""
"""Runs in well under a second."""

LONG = """\
[fabric.leaf_spine]
leaves = 4
spines = 4
hosts_per_leaf = 8

[[workload]]
[workload.poisson]
load = 0.5
sizes = "10MB"
duration = "5s"

[scheme.DCQCN]
control = "dcqcn"
"""
"""Runs for far longer than `PATIENCE`: for tests that stop it."""

RING = """\
[fabric.custom]
hosts = 3
switches = ["s0", "s1", "s2"]
links = [
    { a = "h0", b = "s0" },
    { a = "h1", b = "s1" },
    { a = "h2", b = "s2" },
    { a = "s0", b = "s1" },
    { a = "s1", b = "s2" },
    { a = "s2", b = "s0" },
]

[[workload]]
list = [
    { src = 0, dst = 2, size = "20MB", path = ["h0", "s0", "s1", "s2", "h2"] },
    { src = 1, dst = 0, size = "20MB", path = ["h1", "s1", "s2", "s0", "h0"] },
    { src = 2, dst = 1, size = "20MB", path = ["h2", "s2", "s0", "s1", "h1"] },
]

[switch]
buffer = "1MB"

[scheme.none]
control = "unlimited"
"""
"""Three flows that chase each other around three switches until each waits for the next."""

Command = Callable[..., subprocess.CompletedProcess[str]]
Start = Callable[..., subprocess.Popen[str]]


def write(folder: Path, text: str, name: str = "scenario.toml") -> Path:
    """A scenario file with this text."""
    file = folder / name
    file.write_text(text, encoding="utf-8")
    return file


def wait_until(true: Callable[[], bool]) -> None:
    """Wait for something to become true."""
    end = time.monotonic() + PATIENCE
    while not true():
        assert time.monotonic() < end, f"it did not happen within {PATIENCE:.0f} s"
        time.sleep(0.02)


def stop(process: subprocess.Popen[str], number: signal.Signals) -> tuple[int, str]:
    """Send a signal; the exit code and stderr."""
    process.send_signal(number)
    _, errors = process.communicate(timeout=PATIENCE)
    return process.returncode, errors


def processor_s(pid: int) -> float:
    """Processor time of a process, in seconds."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@pytest.fixture(scope="session")
def fork_server() -> Iterator[ForkServer]:
    """Python with the libraries of incast, from which commands are forked."""
    server = ForkServer(environment())
    yield server
    server.close()


@pytest.fixture
def command(tmp_path: Path, fork_server: ForkServer) -> Command:
    """Run `incast` in a folder of its own; returns what it printed and its exit code."""

    def run(*arguments: object, cwd: Path = tmp_path) -> subprocess.CompletedProcess[str]:
        return fork_server.run([*map(str, arguments)], cwd, environment(), timeout=2 * PATIENCE)

    return run


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """Start `incast` without waiting for it. It is killed if it runs after the test."""
    started: list[subprocess.Popen[str]] = []

    def run(*arguments: object) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [sys.executable, "-m", "incast", *map(str, arguments)],
            cwd=tmp_path,
            env=environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        started.append(process)
        return process

    yield run
    for process in started:
        if process.poll() is None:
            process.kill()
            process.communicate()


BROWSERS = ("chromium", "chromium-browser", "google-chrome")
"""Names of the system's browser."""
PACKAGES = {"nft": "nftables", "ip": "iproute2", "chromium": "chromium", "memcached": "memcached"}
"""Optional programs of the tests, and the Debian packages that have them."""


def system_browser() -> str | None:
    """The path of the system's Chromium."""
    return next(filter(None, map(shutil.which, BROWSERS)), None)


def own_browser() -> str | None:
    """The path of the Chromium that Playwright has installed."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        path = playwright.chromium.executable_path
    return path if Path(path).exists() else None


def pytest_report_header() -> str | None:
    """The optional programs that are missing, with the command that installs them."""
    found = {name: shutil.which(name, path=f"{os.environ['PATH']}:/usr/sbin:/sbin") for name in PACKAGES}
    found["chromium"] = system_browser() or own_browser()
    missing = [name for name, path in found.items() if path is None]
    if not missing:
        return None
    packages = " ".join(PACKAGES[name] for name in missing)
    return f"missing programs: {', '.join(missing)} (apt-get install {packages}); their tests are skipped"


def environment() -> dict[str, str]:
    """The environment of a user with a wide, colourless terminal."""
    return {**os.environ, "COLUMNS": "160", "NO_COLOR": "1", "TERM": "dumb", "PYTHONUNBUFFERED": "1"}


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """A scenario that runs in no time."""
    return write(tmp_path, SMALL)


@pytest.fixture(scope="session")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The results folder of the small scenario."""
    import incast

    folder = tmp_path_factory.mktemp("small")
    incast.load(write(folder, SMALL)).run(folder / "results")
    return folder / "results"
