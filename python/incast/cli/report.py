"""What a run found, for people: slowdowns by flow size, how each scheme ended, where the results lie."""

from __future__ import annotations

from rich.console import Console

from incast.cli import codes
from incast.results import Results


def show(results: Results, console: Console) -> None:
    """Print the summary of a results folder."""


def judge(results: Results) -> int:
    """The exit code for what happened in a run; says on stderr what went badly."""
    return codes.OK
