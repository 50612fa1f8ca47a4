"""A newcomer follows CONTRIBUTING.md to the letter: adds a control, transport, guard, pattern, fabric and column."""

from __future__ import annotations

import filecmp
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pyarrow.parquet
import pytest

from conftest import ROOT

CONTRIBUTING = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
EXAMPLES = [part.split("\n## ")[0] for part in CONTRIBUTING.split("### Complete example: ")[1:]]
STEP = re.compile(r"\*\*`(?P<file>\S+)`\*\*|^```(?P<language>\w+)\n(?P<text>.*?)^```", re.MULTILINE | re.DOTALL)
COPIED = ("Cargo.toml", "Cargo.lock", "Makefile", "pyproject.toml", "crates", "python", "tools", "docs/reference")
VERSION = re.compile(r'^(name = "incast-[\w-]+"\n|\[workspace.package\]\n)version = "(.*)"', re.MULTILINE)
QUICK = {"CARGO_PROFILE_DEV_OPT_LEVEL": "1", "CARGO_PROFILE_DEV_DEBUG": "false", "CARGO_INCREMENTAL": "0"}
"""The copy is built for two short runs. Libraries have profiles of their own, so this leaves them as they are."""
OF_CONTROL = {
    "crates/incast-sim/src/congestion/aimd.rs",
    "crates/incast-sim/src/congestion/mod.rs",
    "crates/incast-sim/tests/simulation/snapshots/controls/aimd.txt",
    "docs/reference/controls/aimd.md",
    "python/incast/schema.py",
}
OF_TRANSPORT = {
    "crates/incast-sim/src/transport/fixed.rs",
    "crates/incast-sim/src/transport/mod.rs",
    "docs/reference/transports/fixed.md",
}
OF_GUARD = {
    "crates/incast-sim/src/guards/mod.rs",
    "crates/incast-sim/src/guards/policer.rs",
    "docs/reference/results.md",
    "docs/reference/scenario.md",
    "docs/reference/sweeps.md",
    "python/incast/schema.py",
}
OF_PATTERN = {
    "crates/incast-model/src/workload/mod.rs",
    "crates/incast-model/src/workload/neighbours.rs",
    "crates/incast-model/src/workload/spec.rs",
    "docs/reference/workloads.md",
}
OF_FABRIC = {
    "crates/incast-model/src/fabric/generators/line.rs",
    "crates/incast-model/src/fabric/generators/mod.rs",
    "crates/incast-model/src/fabric/generators/spec.rs",
    "docs/reference/fabrics.md",
}
OF_COLUMN = {
    "crates/incast-lab/src/results/tables/ports.rs",
    "crates/incast-sim/src/outcome.rs",
    "crates/incast-sim/src/nodes/outcome.rs",
    "docs/reference/results.md",
}


def target() -> Path:
    """Where cargo keeps what it has built: the libraries of `cargo test` are not built again."""
    return Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")).resolve()


def steps() -> Iterator[tuple[str, str, str]]:
    """Every block of the examples: the file named last before it, its language, its text."""
    file = ""
    for found in (found for example in EXAMPLES for found in STEP.finditer(example)):
        if found["file"]:
            file = found["file"]
        else:
            yield file, found["language"], found["text"]


def insert(text: str, lines: str) -> str:
    """`lines` in place of their first one if `text` has it, else at the head of what they belong to in `text`."""
    there = lines.splitlines(keepends=True)[0]
    if f"\n{there}" in text:
        assert text.count(f"\n{there}") == 1
        return text.replace(f"\n{there}", f"\n{lines}")
    first = lines.lstrip().split(" ")[0]
    if first.startswith("/"):
        head = re.search(r"^(controls|transports|patterns|fabrics)! \{\n", text, re.MULTILINE)
        assert head is not None
        at = head.end()
    else:
        at = text.index(f"\n{first} ") + 1
    return text[:at] + lines + text[at:]


@pytest.fixture
def checkout() -> Path:
    """A copy of what is built, at the same place every time, so that cargo knows what it has built there before.

    Its crates have a version of their own, or cargo would take them for those of this checkout, and mix what it builds.
    """
    copy = target() / "contributing"
    shutil.rmtree(copy, ignore_errors=True)
    copy.mkdir(parents=True)
    for name in COPIED:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, copy / name, ignore=shutil.ignore_patterns("__pycache__", "*.so"))
        else:
            shutil.copy2(ROOT / name, copy)
    for name, versions in (("Cargo.toml", 1), ("Cargo.lock", len(list(copy.glob("crates/*/Cargo.toml"))))):
        text, found = VERSION.subn(r'\1version = "\2-contributing"', (copy / name).read_text(encoding="utf-8"))
        assert found == versions
        (copy / name).write_text(text, encoding="utf-8")
    return copy


def run(command: str, checkout: Path) -> str:
    """Run a line of the example; what it printed. Python's environment is this one, whatever its stamps say."""
    if command.startswith("make "):
        here = shlex.quote(sys.prefix)
        command += f" VENV={here} -o {here}/.dev"
    environment = {**os.environ, "CARGO_TARGET_DIR": str(target()), "CARGO_NET_OFFLINE": "true", **QUICK}
    done = subprocess.run(
        command, shell=True, cwd=checkout, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def changed(checkout: Path) -> set[str]:
    """The files of a copy that are new or not as they were."""
    files = (file for name in COPIED for file in (checkout / name).rglob("*") if file.is_file())
    names = (str(file.relative_to(checkout)) for file in files if "__pycache__" not in file.parts)
    same = (ROOT / name for name in names)
    return {str(file.relative_to(ROOT)) for file in same if not (file.is_file() and equal(file, checkout))}


def equal(file: Path, checkout: Path) -> bool:
    """True if a file of this checkout is the same in the copy."""
    return filecmp.cmp(file, checkout / file.relative_to(ROOT), shallow=False)


@pytest.mark.long
def test_the_examples_are_as_written(checkout: Path) -> None:
    printed: dict[str, str] = {}
    for name, language, text in steps():
        file = checkout / name
        if language == "sh":
            printed |= {line: run(line, checkout) for line in text.splitlines()}
        elif file.exists():
            file.write_text(insert(file.read_text(encoding="utf-8"), text), encoding="utf-8")
        else:
            file.parent.mkdir(exist_ok=True)
            file.write_text(text, encoding="utf-8")
    tested = "".join(output for line, output in printed.items() if "--lib" in line)
    simulated = "".join(output for line, output in printed.items() if "--example" in line)
    assert "transport::fixed::tests::a_window_is_in_flight ... ok" in tested
    assert "workload::neighbours::tests::neighbours_close_a_ring ... ok" in tested
    assert "generators::line::tests::ends_have_one_neighbour ... ok" in tested
    assert re.search(r"^DCQCN: every flow completed", simulated, re.MULTILINE)
    assert re.search(r"^16 packets: every flow completed", simulated, re.MULTILINE)
    assert re.search(r"^4 packets: every flow completed", simulated, re.MULTILINE)
    assert "class FixedParams(Tree):" in (checkout / "python/incast/schema.py").read_text(encoding="utf-8")
    assert "congestion::aimd::tests::one_step_a_round ... ok" in tested
    assert re.search(r"^AIMD: every flow completed", simulated, re.MULTILINE)
    assert re.search(r"^AIMD, careful: every flow completed", simulated, re.MULTILINE)
    assert "class AimdParams(Tree):" in (checkout / "python/incast/schema.py").read_text(encoding="utf-8")
    page = (checkout / "docs/reference/controls/aimd.md").read_text(encoding="utf-8")
    assert re.search(r"^\| `decrease` \| number in \(0, 1\); `0.5` ", page, re.MULTILINE)
    tables = (checkout / "crates/incast-sim/tests/simulation/snapshots/controls/aimd.txt").read_text(encoding="utf-8")
    assert re.search(r"^default, rate +16 to 1 ", tables, re.MULTILINE)
    assert "guards::policer::tests::a_burst_passes_and_then_the_rate ... ok" in tested
    assert re.search(r"^Policed: every flow completed", simulated, re.MULTILINE)
    dropped = pyarrow.parquet.read_table(checkout / "results/policer/drops.parquet")["reason"].to_pylist()
    assert set(dropped) == {"policer"}
    assert "class PolicerParams(Tree):" in (checkout / "python/incast/schema.py").read_text(encoding="utf-8")
    for page, text in (
        ("scenario", "`policer`, a table"),
        ("results", "`policer_bytes`"),
        ("sweeps", "`policer_drops`"),
    ):
        assert text in (checkout / f"docs/reference/{page}.md").read_text(encoding="utf-8"), page
    left = pyarrow.parquet.read_table(checkout / "results/left/ports.parquet")["left_bytes"]
    assert max(left.to_pylist()) > 0
    assert changed(checkout) == OF_CONTROL | OF_TRANSPORT | OF_GUARD | OF_PATTERN | OF_FABRIC | OF_COLUMN


@pytest.mark.parametrize(
    ("heading", "name", "number", "files"),
    [("a congestion control", "aimd", "Five", OF_CONTROL), ("a switch feature", "policer", "Six", OF_GUARD)],
)
def test_the_files_are_those_listed(heading: str, name: str, number: str, files: set[str]) -> None:
    section = CONTRIBUTING.partition(f"\n## Adding {heading}\n")[2].partition("\n## ")[0]
    listed = re.findall(r"^\| `(\S+)` \|", section, re.MULTILINE)
    assert {file.replace("NAME", name) for file in listed if "/" in file} == files
    assert f"{number} files change" in section


def test_the_examples_of_style_are_in_the_code() -> None:
    style = " ".join(CONTRIBUTING.partition("\n## Style\n")[2].partition("\n## ")[0].split())
    examples = re.findall(r"`([^`]+)` \(\[\S+\]\((\S+)\)\)", style)
    assert examples
    missing = [one for one in examples if one[0] not in (ROOT / one[1]).read_text(encoding="utf-8")]
    assert missing == []
