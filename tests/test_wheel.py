"""The wheel in an environment without a compiler: it has what a user needs, and the first commands work."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from conftest import PATIENCE, ROOT
from test_page import browser, opened

__all__ = ["browser"]
SHORT = ("--set", "workload[0].poisson.duration=20us", "--set", "workload[1].incast.duration=20us")
"""The quickstart with one incast and little else."""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A wheel for this machine, in the profile that was built last."""
    folder = tmp_path_factory.mktemp("wheel")
    profile = ["--release"] if built("release") > built("debug") else []
    maturin = Path(sys.executable).with_name("maturin")
    subprocess.run(
        [maturin, "build", "--locked", "--skip-auditwheel", *profile, "--out", folder],
        cwd=ROOT,
        env={**os.environ, "MATURIN_NO_MISSING_BUILD_BACKEND_WARNING": "1"},
        check=True,
    )
    (wheel,) = folder.glob("*.whl")
    return wheel


def built(profile: str) -> float:
    """Time of the last build of the extension module in a profile."""
    module = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / profile / "lib_core.so"
    return module.stat().st_mtime if module.exists() else 0.0


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment with the wheel and what it depends on, and no more; its folder of programs."""
    folder = tmp_path_factory.mktemp("installed")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
    pip = [sys.executable, "-m", "pip", "--python", str(folder / "bin" / "python")]
    subprocess.run([*pip, "install", "--quiet", "--no-index", "--no-deps", wheel], check=True)
    (site,) = folder.glob("lib/python*/site-packages")
    for requirement in (ROOT / "requirements" / "demo.txt").read_text(encoding="utf-8").splitlines():
        if not requirement.startswith("#"):
            for top, source in tops(requirement.partition("==")[0]):
                (site / top).symlink_to(source)
    return folder / "bin"


def tops(name: str) -> Iterator[tuple[str, Path]]:
    """Folders and modules that an installed distribution has put into site-packages."""
    distribution = metadata.distribution(name)
    names = {file.parts[0] for file in distribution.files or ()} - {"..", "__pycache__"}
    for each in sorted(names):
        yield each, Path(str(distribution.locate_file(each)))


def test_what_is_in_it(wheel: Path) -> None:
    assert re.search(r"-cp311-abi3-", wheel.name), "one wheel for Python 3.11 and later"
    names = set(zipfile.ZipFile(wheel).namelist())
    files = subprocess.run(
        ["git", "ls-files", "python/incast"], cwd=ROOT, capture_output=True, text=True, check=False
    ).stdout.split()
    lacking = {name.removeprefix("python/") for name in files} - names
    assert lacking == set()
    assert "incast/memory/libincast_memory.so" in names


def test_the_first_commands(installed: Path, tmp_path: Path, browser: Browser) -> None:
    environment = {"PATH": str(installed), "HOME": str(tmp_path), "LANG": "C.UTF-8", "COLUMNS": "120"}

    def run(*words: str) -> str:
        done = subprocess.run(
            [installed / words[0], *words[1:]],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            timeout=2 * PATIENCE,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    place = Path(run("python", "-c", "import incast; print(incast.__file__)").strip())
    assert installed.parent in place.parents
    assert "HPCC" in run("incast", "run", "--example", "quickstart", *SHORT)
    run("incast", "report", "results/quickstart")
    page = opened(browser, tmp_path / "results" / "quickstart.html")
    assert page.said == []
    assert page.page.title().startswith("HPCC and DCQCN+w under web search")
    assert page.page.locator("#figure-slowdown svg path").count() > 0
    assert "quickstart" in run("incast", "new", "--list")
