"""What the README says can be done, can be done."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from conftest import ROOT, Command

README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```", README, re.MULTILINE | re.DOTALL)


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder that looks like the checkout to the commands, with less to simulate."""
    folder = tmp_path_factory.mktemp("checkout")
    shutil.copytree(ROOT / "scenarios", folder / "scenarios")
    quickstart = folder / "scenarios" / "quickstart.toml"
    text = quickstart.read_text(encoding="utf-8")
    quickstart.write_text(re.sub(r'^duration = ".*"', 'duration = "50us"', text, flags=re.MULTILINE), encoding="utf-8")
    yield folder
    shutil.rmtree(folder)


def commands() -> list[str]:
    """Every `incast` command of the README, in order."""
    lines = [line for language, block in BLOCKS if language == "sh" for line in block.splitlines()]
    return [line.partition("#")[0].strip() for line in lines if re.match(r"(\S+/)?incast ", line)]


def test_readme_has_commands() -> None:
    assert len(commands()) >= 5


def test_commands_run(command: Command, checkout: Path) -> None:
    for line in commands():
        arguments = line.split()[1:]
        done = command(*[part for part in arguments if part != ">"][: _end(arguments)], cwd=checkout)
        assert done.returncode == 0, f"{line}\n{done.stderr}"


def _end(arguments: list[str]) -> int:
    """Where a redirection begins."""
    return arguments.index(">") if ">" in arguments else len(arguments)


def test_python_runs(checkout: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(checkout)
    names: dict[str, object] = {}
    for language, block in BLOCKS:
        if language == "python":
            exec(compile(block, "README.md", "exec"), names)


def test_scenario_runs(command: Command, tmp_path: Path) -> None:
    (block,) = (block for language, block in BLOCKS if language == "toml")
    (tmp_path / "readme.toml").write_text(block, encoding="utf-8")
    done = command("run", "readme.toml", "--set", "workload[0].poisson.duration=50us")
    assert done.returncode == 0, done.stderr


def test_links_lead_somewhere() -> None:
    for target in re.findall(r"\]\(([^)#]+)\)", README):
        if not target.startswith("http"):
            assert (ROOT / target).exists(), target
