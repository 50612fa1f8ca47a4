"""The page of results, sweeps and studies, written whole or not at all."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from os import PathLike
from pathlib import Path

from incast._whole import refuse_if_there, write_whole
from incast.charts.groups import read
from incast.errors import ResultsError
from incast.integrity import verify
from incast.report.page import page

Progress = Callable[[int, int], object]
"""Called with the number of scenarios read and the total."""


def write(
    folders: str | PathLike[str] | Sequence[str | PathLike[str]],
    out: str | PathLike[str],
    *,
    overwrite: bool = False,
    progress: Progress | None = None,
) -> Path:
    """Write one self-contained HTML page of runs, sweeps and studies, if none of their files is damaged.

    Args:
        folders: One or several results folders, shown on the same page.
        out: The page to write, named `*.html`.
        overwrite: Replace an existing file.
        progress: Called after each scenario. If it raises, nothing is written.

    """
    file = Path(out)
    if file.suffix != ".html":
        raise ResultsError(f"{file}: the name of a page must end in .html")
    refuse_if_there(file, overwrite=overwrite)
    several = [folders] if isinstance(folders, (str, PathLike)) else folders
    if not several:
        raise ResultsError("a page needs at least one folder")
    paths = [Path(folder) for folder in several]
    verify(paths)
    write_page(paths, file, overwrite=overwrite, progress=progress)
    return file


def write_page(folders: Sequence[Path], file: Path, *, overwrite: bool, progress: Progress | None = None) -> None:
    """Write the page of folders without damage."""
    text = page(read(folders), progress)
    write_whole(file, text.encode("utf-8"), overwrite=overwrite)
