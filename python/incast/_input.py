"""Files that users name, or that lie in folders of others: regular files only, read up to a limit.

The same rules as `incast_model::input`, which reads the files of the core.
"""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Callable, Iterable
from io import BufferedReader
from os import PathLike, fspath
from pathlib import Path
from typing import Any

from incast import _core
from incast._echo import visible
from incast.errors import IncastError

DOCUMENT: int = _core.DOCUMENT
"""Bytes of the largest document, such as a scenario, an index or explanations."""
LARGE: int = _core.LARGE
"""Bytes of the largest file of another program, such as a trace."""
DEEPEST = 32
"""Nested objects and arrays of a JSON file (our choice; claims.json has 9, CONFIG_DB has 3)."""
PIECE = 1 << 20
"""Bytes of one read."""
KINDS = (
    (stat.S_ISDIR, "a folder"),
    (stat.S_ISFIFO, "a named pipe"),
    (stat.S_ISCHR, "a character device"),
    (stat.S_ISBLK, "a block device"),
    (stat.S_ISSOCK, "a socket"),
)
AT_ONCE = getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0)
"""Flags with which a named pipe is opened without waiting for its writer."""

Refused = Callable[[str], IncastError]
"""Makes the error for a file that is not read."""


def exists(path: Path) -> bool:
    """True if a folder has this name, also of a pipe, a device or a broken link, which a reader then reports."""
    return os.path.lexists(path)


def of_core(path: str | PathLike[str]) -> Path:
    """A path that the core returns. It decodes UTF-8, where Python uses the encoding of the locale."""
    try:
        os.fsencode(path)
    except UnicodeEncodeError:
        return Path(os.fsdecode(fspath(path).encode("utf-8")))
    return Path(path)


def opened(path: str | PathLike[str], refused: Refused, most: int = LARGE) -> BufferedReader:
    """Open a regular file of at most `most` bytes.

    Raises:
        IncastError: The file is no regular file, or too large; made by `refused`.
        OSError: The operating system refuses.

    """
    # Opening alone can have effects, such as on a tape.
    _check(path, Path(path).stat(), refused, most)
    file = os.fdopen(os.open(path, os.O_RDONLY | AT_ONCE), "rb")
    try:
        _check(path, os.fstat(file.fileno()), refused, most)
    except BaseException:
        file.close()
        raise
    return file


def read_bytes(path: str | PathLike[str], refused: Refused, most: int = LARGE) -> bytes:
    """The bytes of a file; raises like `opened`."""
    content = bytearray()
    with opened(path, refused, most) as file:
        # Python reserves memory for the whole of a read, and a file can grow.
        while len(content) <= most and (piece := file.read(PIECE)):
            content += piece
    if len(content) > most:
        raise refused(_larger(path, most))
    return bytes(content)


def read_text(path: str | PathLike[str], refused: Refused, most: int = DOCUMENT) -> str:
    """The text of a file in UTF-8; raises like `opened`, and for a byte that is not UTF-8 with its place."""
    content = read_bytes(path, refused, most)
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        before = content[: error.start]
        line, column = before.count(b"\n") + 1, len(before.rpartition(b"\n")[2].decode("utf-8")) + 1
        what = f"not UTF-8 text: byte 0x{content[error.start]:02x}"
        raise refused(f"{_shown(path)}:{line}:{column}: {what}") from None


def read_json(path: str | PathLike[str], refused: Refused, most: int = DOCUMENT) -> Any:
    """The value in a JSON file; raises like `read_text`.

    Raises:
        ValueError: The text is not JSON, or has more than `DEEPEST` objects and arrays in each other.

    """
    too_deep = f"more than {DEEPEST} objects and arrays in each other"
    try:
        value = json.loads(read_text(path, refused, most))
    except RecursionError:
        raise ValueError(too_deep) from None
    # Other functions than the parser are recursive too, and have less of the stack left.
    level = [value]
    for _ in range(DEEPEST + 1):
        level = [each for one in level for each in _values(one)]
        if not level:
            return value
    raise ValueError(too_deep)


def _values(value: Any) -> Iterable[Any]:
    """The values in an object or an array that have values themselves."""
    values = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return (each for each in values if isinstance(each, dict | list))


def check(path: str | PathLike[str], refused: Refused, most: int = LARGE) -> None:
    """Raise like `opened` for a file that a library will open itself."""
    opened(path, refused, most).close()


def _check(path: str | PathLike[str], found: os.stat_result, refused: Refused, most: int) -> None:
    if not stat.S_ISREG(found.st_mode):
        kind = next((name for is_kind, name in KINDS if is_kind(found.st_mode)), "no regular file")
        raise refused(f"{_shown(path)}: it is {kind}; allowed: a regular file")
    if found.st_size > most:
        raise refused(_larger(path, most))


def _larger(path: str | PathLike[str], most: int) -> str:
    return f"{_shown(path)}: it has more than {most / 1e6:,.0f} MB, the most that is read"


def _shown(path: str | PathLike[str]) -> str:
    return visible(fspath(path))
