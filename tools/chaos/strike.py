"""Faults at a change of the file system, by a preloaded library: every step of writing is hit, however short it is."""

from __future__ import annotations

import os
import subprocess
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

SOURCE = Path(__file__).with_name("strike.c")


@dataclass(frozen=True)
class Strike:
    """A fault at a change by one process."""

    mode: str
    """`kill` or `full`."""

    def environment(self, at: int, folder: Path) -> dict[str, str]:
        """Variables for a command: its processes are struck at this change, counted in each."""
        self.hit_file(folder).unlink(missing_ok=True)
        return {
            "LD_PRELOAD": str(library()),
            "INCAST_CHAOS_AT": str(at),
            "INCAST_CHAOS_MODE": self.mode,
            "INCAST_CHAOS_HIT": str(self.hit_file(folder)),
        }

    def hit(self, folder: Path) -> bool:
        """True if the fault has happened."""
        return self.hit_file(folder).exists()

    def hit_file(self, folder: Path) -> Path:
        """File that the library makes."""
        return folder / "hit"


STRIKES = {
    "SIGKILL at a change of a file": Strike("kill"),
    "disk full from a change of a file on": Strike("full"),
}


@cache
def library() -> Path:
    """The compiled library."""
    made = Path(folder().name) / "strike.so"
    compiler = os.environ.get("CC", "cc")
    subprocess.run([compiler, "-O1", "-shared", "-fPIC", "-o", made, SOURCE, "-ldl"], check=True)
    return made


@cache
def folder() -> TemporaryDirectory[str]:
    """The folder of the library, removed at the end of the program."""
    return TemporaryDirectory(prefix="incast-chaos-")
