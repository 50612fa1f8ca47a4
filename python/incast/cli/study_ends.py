"""Ends of a study's command: interruption, and warnings and failures of its sweeps."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from incast.cli import codes
from incast.cli.sweep import Unfinished, by_text, named
from incast.sweep import Sweep
from incast.sweep.dataset import Run
from incast.sweep.warned import grouped


class UnfinishedStudy(Unfinished):
    """A study was interrupted; finished runs are kept."""

    def __str__(self) -> str:
        return f"interrupted; finished runs are kept in {self.folder}; repeat the command to resume"


def complaints(sweeps: Mapping[str, Sweep], help_: str, label: Callable[[Run], str] = lambda run: run.label) -> int:
    """Print the warnings of sweeps by kind, and their failures; returns the exit code.

    A study sets what it warns of on purpose, and can provoke deadlocks and losses. So a kind has one line, without
    advice; `help_` says where each warning is.
    """
    warnings = [*_kinds(sweeps, Sweep.bad_ends_of_runs), *_kinds(sweeps, Sweep.warnings_of_runs)]
    codes.warn(warnings)
    if warnings:
        codes.complain(f"note: {help_}")
    code = codes.OK
    for each in sweeps.values():
        for error, labels in by_text((label(run), run.error or "") for run in each.failed).items():
            codes.complain(f"{named(labels)}: {error}")
            code = codes.ENDED_BADLY
    return code


def _kinds(sweeps: Mapping[str, Sweep], texts: Callable[[Sweep], Iterator[list[str]]]) -> Iterator[str]:
    """Each kind of warning, with the number of its runs and their sweeps. Advice follows a semicolon."""
    runs = [(name, [text.partition("; ")[0] for text in run]) for name, each in sweeps.items() for run in texts(each)]
    for text, places in grouped(run for _, run in runs).items():
        names = list(dict.fromkeys(runs[place][0] for place in places))
        where = f"{'sweep' if len(names) == 1 else 'sweeps'} {', '.join(names)}"
        yield f"{len(places):,} of {len(runs):,} {'run' if len(runs) == 1 else 'runs'} ({where}): {text}"
