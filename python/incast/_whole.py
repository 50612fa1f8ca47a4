"""Atomic writing of files."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from incast.errors import EnvironmentFailure, ResultsExistError

PARTIAL = ".partial"
"""End of the names of temporary files."""


@contextlib.contextmanager
def writing(path: Path) -> Iterator[None]:
    """Report failures of the operating system for `path`, not for a temporary file."""
    try:
        yield
    except OSError as error:
        raise EnvironmentFailure(f"cannot write {path}: {error.strerror or error}") from None


def refuse_if_there(file: Path, *, overwrite: bool, option: str = "--output") -> None:
    """Raise if the file exists and `overwrite` is false; called before the work and again by `write_whole`.

    `option` is the option of the command line for the file.
    """
    if file.is_dir():
        raise ResultsExistError(f"{file} is a folder and is never overwritten; choose a file with {option}")
    if file.exists() and not file.is_file():
        raise ResultsExistError(f"{file} is not a regular file and is never overwritten; choose a file with {option}")
    if file.exists() and not overwrite:
        raise _there(file, option)


def _there(file: Path, option: str) -> ResultsExistError:
    error = ResultsExistError(f"{file} exists already; it was not changed")
    error.option = option
    return error


def as_usual(made: Path, mode: int) -> None:
    """Set the usual permissions, `mode` without the umask, on a file created for its owner only."""
    mask = os.umask(0)
    os.umask(mask)
    made.chmod(mode & ~mask)


def write_all(folder: Path, files: Mapping[str, bytes], *, overwrite: bool) -> None:
    """Write files into a folder, all or none: an error or an interruption leaves the folder unchanged.

    Creates the folder and its parents. Other files in it stay.

    Raises:
        ResultsExistError: A file exists and `overwrite` is false, or a folder has the name of a file.
        EnvironmentFailure: The files cannot be written.

    """
    for name in files:
        refuse_if_there(folder / name, overwrite=overwrite)
    made = [one for one in (folder, *folder.parents) if not one.exists()]
    aside: Path | None = None
    old: list[str] = []
    new: list[str] = []
    try:
        folder.mkdir(parents=True, exist_ok=True)
        # On the same file system, so that moving files needs no space.
        aside = Path(tempfile.mkdtemp(prefix=".incast-", dir=folder))
        for part in ("old", "new"):
            (aside / part).mkdir()
        for name, content in files.items():
            (aside / "new" / name).write_bytes(content)
        for name in files:
            if overwrite and (folder / name).exists():
                old.append(name)
                (folder / name).rename(aside / "old" / name)
            new.append(name)
            os.link(aside / "new" / name, folder / name)
    except BaseException as error:
        if isinstance(error, FileExistsError) and new:
            # Another program has created it since the check.
            taken = folder / new.pop()
            error = ResultsExistError(f"{taken} exists already; it was not changed")
        elif isinstance(error, OSError):
            error = EnvironmentFailure(f"cannot write {folder}: {error.strerror or error}")
        _undo(folder, aside, old, new)
        for one in made:
            # Another program may have written into it.
            with contextlib.suppress(OSError):
                one.rmdir()
        raise error from None
    shutil.rmtree(aside, ignore_errors=True)


def _undo(folder: Path, aside: Path | None, old: Iterable[str], new: Iterable[str]) -> None:
    """Remove new files and restore old ones."""
    if aside is None:
        return
    for name in new:
        (folder / name).unlink(missing_ok=True)
    for name in old:
        if (aside / "old" / name).exists():
            (aside / "old" / name).rename(folder / name)
    shutil.rmtree(aside, ignore_errors=True)


def remove_partial(folder: Path) -> None:
    """Remove temporary files of killed processes. Nobody else may write into the folder."""
    for file in folder.glob(f".*{PARTIAL}"):
        file.unlink(missing_ok=True)


def write_text(file: Path, text: str) -> None:
    """Write a text whole or not at all; replaces an existing file."""
    write_whole(file, text.encode("utf-8"), overwrite=True)


def write_whole(file: Path, content: bytes, *, overwrite: bool, option: str = "--output") -> None:
    """Write a temporary file next to `file` and rename it; an interruption leaves nothing."""
    refuse_if_there(file, overwrite=overwrite, option=option)
    with writing(file):
        descriptor, name = tempfile.mkstemp(prefix=f".{file.name}.", suffix=PARTIAL, dir=file.parent)
        try:
            with os.fdopen(descriptor, "wb") as out:
                out.write(content)
            as_usual(Path(name), 0o666)
            if overwrite:
                Path(name).replace(file)
            else:
                os.link(name, file)
        except FileExistsError:
            raise _there(file, option) from None
        finally:
            Path(name).unlink(missing_ok=True)
