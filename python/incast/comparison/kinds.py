"""Kinds of files of ns-3 that results are compared with."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from incast import _input
from incast.errors import ComparisonError, EnvironmentFailure

Kind = Literal["fct", "pfc", "qlen"]


def kind_of(file: Path) -> Kind:
    """The kind of a file by its first line; a file of no known kind counts as `fct`, which has located errors."""
    try:
        with _input.opened(file, ComparisonError) as opened:
            first = opened.readline()
    except (FileNotFoundError, NotADirectoryError) as error:
        raise ComparisonError(
            f"{file}: {error.strerror}; must be a results folder, or a file of ns-3: fct, pfc or qlen"
        ) from None
    except OSError as error:
        raise EnvironmentFailure(f"{file}: {error.strerror}") from None
    if not first:
        raise ComparisonError(
            f"{file}: the file is empty: no flow completed, or no port was paused; choose with --kind: fct, pfc, qlen"
        )
    if first.startswith(b"time:"):
        return "qlen"
    return "pfc" if len(first.split()) == 5 else "fct"
