"""Commands that are disturbed: each takes seconds, writes `out`, and is repeated after a fault."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
SCENARIO = """\
seed = 7

[fabric.star]
hosts = 8

[[workload]]
[workload.poisson]
load = 0.3
sizes = { uniform = { min = "1kB", max = "100kB" } }
duration = "DURATION"

[scheme.DCQCN]
control = "dcqcn"
"""
SWEEP = 'scenario = "scenario.toml"\n[[vary]]\npath = "seed"\nvalues = [1, 2, 3, 4, 5, 6]\n'
STUDY = ROOT / "tests" / "data" / "study"
OUT = "out"


@dataclass(frozen=True)
class Case:
    """A command."""

    name: str
    command: tuple[str, ...]
    duration: str = "20ms"
    """Simulated time of each run."""
    changes: tuple[int, int] = (1, 50)
    """Changes of the file system by a process that are struck. A study first makes some in its temporary folder."""
    replaces: bool = False
    """True if it replaces older results."""
    workers: bool = False
    """True if it has processes for its runs."""

    def prepare(self, folder: Path) -> None:
        """Write the input files."""
        (folder / "scenario.toml").write_text(SCENARIO.replace("DURATION", self.duration), encoding="utf-8")
        (folder / "sweep.toml").write_text(SWEEP, encoding="utf-8")
        shutil.copytree(STUDY, folder / "study")


SWEEP_HERE = ("sweep", "sweep.toml", "-o", OUT, "--quiet")
CASES = (
    Case("run", ("run", "scenario.toml", "-o", OUT, "--quiet")),
    Case("run --overwrite", ("run", "scenario.toml", "-o", OUT, "--quiet", "--overwrite"), replaces=True),
    Case("sweep", (*SWEEP_HERE, "--jobs", "2"), duration="5ms", changes=(1, 200), workers=True),
    Case(
        "study",
        ("study", "run", "study", "--scale", "smoke", "-o", OUT, "--quiet", "--jobs", "2"),
        changes=(90, 260),
        workers=True,
    ),
)
RAY = Case("sweep --ray", SWEEP_HERE)
