"""Ends of a study's command: interruption, and warnings and failures of its sweeps."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from incast.cli import codes
from incast.cli.sweep import Unfinished, by_text, named, warned
from incast.sweep import Sweep
from incast.sweep.dataset import Run


class UnfinishedStudy(Unfinished):
    """A study was interrupted; finished runs are kept."""

    def __str__(self) -> str:
        return f"interrupted; finished runs are kept in {self.folder}; repeat the command to resume"


def complaints(sweeps: Mapping[str, Sweep], label: Callable[[Run], str] = lambda run: run.label) -> int:
    """Print the warnings and failures of sweeps; returns the exit code."""
    code = codes.OK
    for name, each in sweeps.items():
        codes.warn(f"sweep {name}: {text}" for text in warned(each))
        for why, labels in by_text(each.ended_badly()).items():
            codes.complain(f"warning: {named(labels)}: {why}")
        for error, labels in by_text((label(run), run.error or "") for run in each.failed).items():
            codes.complain(f"{named(labels)}: {error}")
            code = codes.ENDED_BADLY
    return code
