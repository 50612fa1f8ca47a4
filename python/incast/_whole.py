"""Files that are written whole or not at all."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from incast.errors import ResultsExistError


def refuse_if_there(file: Path, *, overwrite: bool, option: str = "--output") -> None:
    """Raise if the file is there and is not to be replaced; called before the work and once more by `write_whole`.

    `option` is what names the file on the command line.
    """
    if file.is_dir():
        raise ResultsExistError(f"{file} is a folder and is never overwritten; name a file with {option}")
    if file.exists() and not overwrite:
        raise _there(file, option)


def _there(file: Path, option: str) -> ResultsExistError:
    error = ResultsExistError(f"{file} exists already; it was left as it is")
    error.option = option
    return error


def as_usual(made: Path, mode: int) -> None:
    """Give what was made for its owner alone the permissions of what is made the usual way, with `mode`."""
    mask = os.umask(0)
    os.umask(mask)
    made.chmod(mode & ~mask)


def write_whole(file: Path, content: bytes, *, overwrite: bool, option: str = "--output") -> None:
    """Write a file beside its place and move it there; an interruption leaves nothing."""
    refuse_if_there(file, overwrite=overwrite, option=option)
    descriptor, name = tempfile.mkstemp(prefix=f".{file.name}.", dir=file.parent)
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
