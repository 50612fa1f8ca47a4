"""Follow the pages as a reader would: every block of a page runs, in order, in a folder of its own.

    make docs

runs all pages and writes what their commands print now into the `text` blocks; the tests compare.

The language of a block decides: `sh` runs, and a `text` block after it is what it prints; `python` runs, with the names
of the blocks before it; `toml` is a scenario, or a part of one that is laid over a small one, and must be valid.

Comments before a block say what the block cannot:

    <!-- file: mine.toml -->         it is that file, for the blocks after it
    <!-- test: exit 2 -->            the command ends with that code
    <!-- test: onto mine.toml -->    the part is laid over that file
    <!-- picture: a.svg, docs/b.svg -->    it draws a.svg, which `make docs` copies to docs/b.svg
    <!-- test: no, WHY -->           it is not run, or its text not compared
    <!-- test: docs, WHY -->         the text is written by `make docs`, and not compared
    <!-- test: off --> ... <!-- test: on -->    nothing between them is run
    <!-- test: served -->            it runs programs under `incast memory`; where page faults may not be
                                     served here, it must fail and say so
    <!-- test: measured -->          the text after such a block: words are compared, figures are not, nor
                                     notes and warnings, which depend on the machine

In a `text` block a line `...` stands for any lines. Times of the machine are not compared.
"""

from __future__ import annotations

import contextlib
import functools
import io
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from incast import EnvironmentFailure, _core, memory

ROOT = Path(__file__).parent.parent
PAGES = ["README.md", "CONTRIBUTING.md", *sorted(str(page.relative_to(ROOT)) for page in ROOT.glob("docs/**/*.md"))]
RUN = [page for page in PAGES if not page.startswith(("docs/design", "docs/reference"))]
"""Design pages and the generated reference have nothing to run, only links."""
DIRECTIVE = re.compile(r"<!-- (file|test|picture): (.*?) -->")
MACHINE = (
    (re.compile(r"in \d+\.\d\d s\b(, [\d.]+ M packet-hops/s)?"), "in # s"),
    (re.compile(r" +"), " "),
    (re.compile(r"─+|━+|-{3,}"), "--"),
)
"""Text that differs from run to run, and the fitting of table columns."""
DOUBT = re.compile(r"^ *(note|warning): .*\n(    .*\n)*", re.MULTILINE)
FIGURE = re.compile(r"[+-]?\d[\d,]*(\.\d+)?( ([num]?s|[KMG]iB|B)\b)?")
"""Machine-dependent part of a text with measured figures."""
PROGRESS = re.compile(r".*: (done|\d+%), .* simulated, .* flows.*")
BASE = """\
[fabric.leaf_spine]
leaves = 2
spines = 2
hosts_per_leaf = 4

[[workload]]
label = "background"
list = [{ src = 0, dst = 3, size = "10kB" }]

[[workload]]
label = "incast"
list = [{ src = 1, dst = 3, size = "10kB" }]

[scheme.HPCC]
control = "hpcc"

[scheme.DCQCN]
control = "dcqcn"
"""
"""Scenario that parts of scenarios are laid over."""


@dataclass
class Block:
    """A fenced block of a page."""

    language: str
    text: str
    line: int
    says: dict[str, str] = field(default_factory=dict)
    """Directives in the comments before it."""


def blocks(page: str) -> Iterator[Block]:
    """The blocks of a page that are meant to run."""
    says: dict[str, str] = {}
    block: Block | None = None
    on = True
    for number, line in enumerate((ROOT / page).read_text(encoding="utf-8").splitlines(), 1):
        fence = re.match(r" *```(\w*)$", line)
        if block is not None and fence:
            if on:
                yield block
            block, says = None, {}
        elif block is not None:
            block.text += line + "\n"
        elif fence:
            block = Block(fence[1], "", number, says)
        elif found := DIRECTIVE.search(line):
            on = {"off": False, "on": True}.get(found[2], on) if found[1] == "test" else on
            says[found[1]] = found[2]
        elif line.strip():
            says = {}
    assert block is None, f"{page}: a block is not closed"
    assert on, f"{page}: tests are off to the end"


class Reader:
    """Somebody who does what a page says, in a folder of their own."""

    def __init__(self, folder: Path, *, short: bool = True) -> None:
        """Make the folder look like a checkout, with less to simulate and with an `incast` to call."""
        self.folder = folder
        self.printed: str | None = None
        """Output of the last block that ran."""
        self.names: dict[str, object] = {}
        shutil.copytree(ROOT / "scenarios", folder / "scenarios")
        if short:
            quickstart = folder / "scenarios" / "quickstart.toml"
            text = re.sub(
                r'^duration = ".*"', 'duration = "50us"', quickstart.read_text(encoding="utf-8"), flags=re.MULTILINE
            )
            quickstart.write_text(text, encoding="utf-8")
        bin_ = folder / ".bin"
        bin_.mkdir()
        for name, command in (("incast", "-m incast"), ("python", "")):
            (bin_ / name).write_text(f'#!/bin/sh\nexec "{sys.executable}" {command} "$@"\n', encoding="utf-8")
            (bin_ / name).chmod(0o755)
        self.environment = {
            **os.environ,
            # `python3` is the one that runs this, not a version manager's script, which starts dozens of processes.
            "PATH": os.pathsep.join([str(bin_), str(Path(sys.executable).parent), os.environ["PATH"]]),
            "COLUMNS": "120",
            "NO_COLOR": "1",
            "TERM": "dumb",
        }

    def follow(self, block: Block) -> None:
        """Do what a block says."""
        if name := block.says.get("file"):
            file = self.folder / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(block.text, encoding="utf-8")
        test = block.says.get("test", "")
        if test.startswith(("no,", "docs,")):
            self.printed = None if block.language in ("sh", "python") else self.printed
        elif test == "served" and (why := refusal()) is not None:
            self.see_refusal(block, why)
        elif test != "measured" or refusal() is None:
            getattr(self, f"follow_{block.language}")(block)
            if picture := block.says.get("picture"):
                drawn, kept = picture.split(", ")
                assert (self.folder / drawn).exists(), f"{drawn} is not drawn"
                assert (ROOT / kept).exists(), f"there is no {kept}"

    def see_refusal(self, block: Block, why: str) -> None:
        """See that a block fails where page faults may not be served, and says why."""
        if block.language == "sh":
            self.follow_sh(replace(block, says={"test": "exit 3"}))
            said = self.printed or ""
        else:
            try:
                self.follow_python(block)
            except EnvironmentFailure as error:
                said = str(error)
            else:
                raise AssertionError("page faults may not be served here, but it did not fail")
        assert why in said, said
        self.printed = None

    def follow_sh(self, block: Block) -> None:
        """Run commands."""
        script = f"set -e\n{block.text}"
        done = subprocess.run(
            ["bash", "-c", script],
            cwd=self.folder,
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=600,
            check=False,
        )
        test = block.says.get("test", "")
        wanted = int(test.removeprefix("exit ")) if test.startswith("exit ") else 0
        assert done.returncode == wanted, f"{block.text}\n{done.stdout}"
        self.printed = done.stdout

    def follow_python(self, block: Block) -> None:
        """Run Python."""
        out = io.StringIO()
        with contextlib.chdir(self.folder), contextlib.redirect_stdout(out):
            exec(compile(block.text, "<page>", "exec"), self.names)
        self.printed = out.getvalue()

    def follow_toml(self, block: Block) -> None:
        """Check that a scenario, or a part of one, is valid."""
        part = tomllib.loads(block.text)
        if not {"fabric", "workload", "scheme"} <= part.keys():
            onto = block.says.get("test", "").removeprefix("onto ")
            base = (self.folder / onto).read_text(encoding="utf-8") if onto else BASE
            part = laid_over(tomllib.loads(base), part)
        _core.Scenario.from_json(json.dumps(part), self.folder).summary("text")

    def follow_text(self, block: Block) -> None:
        """Compare with what was printed."""
        assert self.printed is not None, "a text follows no command; say why: <!-- test: no, WHY -->"
        if block.says.get("test") == "measured":
            pattern = re.escape(measured(block.text)).replace(r"\ \.\.\.", ".*")
            assert re.fullmatch(pattern, measured(self.printed)), f"printed:\n{self.printed}"
            return
        wanted, printed = compared(block.text), compared(self.printed)
        pattern = "".join("(?:.*\n)*" if line == "..." else re.escape(line) + "\n" for line in wanted)
        assert re.fullmatch(pattern, "".join(f"{line}\n" for line in printed)), "\n".join(["printed:", *printed])

    def follow_csv(self, block: Block) -> None:
        """A file that another block reads."""
        assert "file" in block.says, "a file is to be named: <!-- file: NAME -->"


def compared(text: str) -> list[str]:
    """The lines of a text that are the same every time."""
    lines = []
    for line in text.splitlines():
        if line.strip() and not PROGRESS.fullmatch(line):
            for pattern, stands_for in MACHINE:
                line = pattern.sub(stands_for, line)
            lines.append(line.strip())
    return lines


def measured(text: str) -> str:
    """Words of a text with measured figures, without line breaks, which depend on the figures."""
    return FIGURE.sub("#", "".join(f" {line}" for line in compared(DOUBT.sub("", text))))


@functools.cache
def refusal() -> str | None:
    """Why page faults may not be served here; `None` if they may."""
    return memory.impossible()


def laid_over(base: dict[str, Any], part: dict[str, Any]) -> dict[str, Any]:
    """A scenario with a part of it replaced; a fabric is replaced whole."""
    merged = dict(base)
    for key, value in part.items():
        below = merged.get(key)
        if isinstance(value, dict) and isinstance(below, dict) and key != "fabric":
            value = laid_over(below, value)
        merged[key] = value
    return merged


def follow(page: str, folder: Path) -> Iterator[tuple[Block, str | None]]:
    """Follow a page; every block with what the last one that ran has printed."""
    reader = Reader(folder)
    for block in blocks(page):
        try:
            reader.follow(block)
        except Exception as error:
            raise AssertionError(f"{page}:{block.line}: {error}") from error
        yield block, reader.printed


def update(page: str) -> None:
    """Write what commands print into a page, where it shows the whole of it."""
    file = ROOT / page
    lines = file.read_text(encoding="utf-8").splitlines()
    with tempfile.TemporaryDirectory() as folder:
        # README shows what a new user sees: the whole quickstart.
        reader = Reader(Path(folder), short=page != "README.md")
        new: list[tuple[Block, list[str]]] = []
        for block in blocks(page):
            test = block.says.get("test", "docs,")
            shown = block.language == "text" and test.startswith("docs,") and "..." not in block.text.splitlines()
            if shown and reader.printed is not None:
                new.append(
                    (block, [line.rstrip() for line in reader.printed.splitlines() if not PROGRESS.fullmatch(line)])
                )
            else:
                reader.follow(block)
                if picture := block.says.get("picture"):
                    drawn, kept = picture.split(", ")
                    shutil.copyfile(reader.folder / drawn, ROOT / kept)
    for block, text in reversed(new):
        if compared(block.text) != compared("\n".join(text)):
            lines[block.line : block.line + block.text.count("\n")] = text
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    for name in sys.argv[1:] or RUN:
        update(name)
