"""DuckDB connections. No other module opens one.

The SQL of a study and the names in a results folder come from other people. A connection therefore opens only the files
that incast names: no other file, no address, no extension, and its settings cannot be changed.
"""

from __future__ import annotations

import json
import os
import re
import threading
from collections.abc import Callable, Iterable
from contextlib import suppress
from os import PathLike
from typing import TYPE_CHECKING, TypeVar

from incast.errors import ResultsError

if TYPE_CHECKING:
    import duckdb

T = TypeVar("T")
QUERY_S = 600.0
"""Most seconds of a query of other people (our choice: those of our studies take seconds)."""
AGAIN_S = 0.1
"""Seconds until a query that has not ended is interrupted again."""
Config = dict[str, str | bool | int | float | list[str]]
CLOSED: Config = {
    "autoinstall_known_extensions": False,
    "autoload_known_extensions": False,
    "allow_community_extensions": False,
    "allow_persistent_secrets": False,
}
"""Settings of every connection, for DuckDB's start."""
PARQUET_FILE = "format parquet, compression zstd, use_tmp_file false"
"""Options of COPY for a Parquet file. Callers rename the file; a temporary file of DuckDB itself would be refused."""
LAST = (
    # SQL must not read variables of Python programs.
    "SET python_enable_replacements = false",
    "SET enable_external_access = false",
    "SET lock_configuration = true",
)
"""Statements of every connection, in this order, after its files are known."""
MESSAGE = re.compile(r'"exception_message":("(?:[^"\\]|\\.)*")')
"""The message in the JSON of an error."""


def connect(
    files: Iterable[str | PathLike[str]] = (),
    *,
    database: str | PathLike[str] | None = None,
    memory_limit: str | None = None,
    scratch: str | PathLike[str] | None = None,
) -> duckdb.DuckDBPyConnection:
    """Open a database in which SQL can do nothing but compute.

    Args:
        files: Files that SQL may read and write.
        database: File of the database. Default: in memory.
        memory_limit: Most memory, such as `512MB`. Default: 80 % of the machine's (DuckDB).
        scratch: Folder for what does not fit into memory. Default: `.tmp` in the working folder (DuckDB).

    Raises:
        ResultsError: The name of a file is not UTF-8.

    """
    import duckdb

    config = dict(CLOSED)
    if memory_limit is not None:
        config["memory_limit"] = memory_limit
    if scratch is not None:
        config["temp_directory"] = utf8(scratch)
    allowed = ", ".join(literal(utf8(file)) for file in files)
    connection = duckdb.connect(":memory:" if database is None else utf8(database), config=config)
    try:
        # Without ipywidgets, DuckDB refuses to change this in a notebook, and shows no bar there.
        if connection.execute("SELECT current_setting('enable_progress_bar')").fetchall() == [(True,)]:
            connection.execute("SET enable_progress_bar = false")
        for statement in (f"SET allowed_paths = [{allowed}]", *LAST):
            connection.execute(statement)
    except BaseException:
        connection.close()
        raise
    return connection


class TooLongError(Exception):
    """A query took longer than `QUERY_S`."""

    def __str__(self) -> str:
        return f"takes longer than {QUERY_S / 60:g} minutes"


def limited(connection: duckdb.DuckDBPyConnection, query: Callable[[], T]) -> T:
    """The result of a query of other people, which a signal such as Ctrl-C ends, and the limit of time.

    DuckDB itself notices signals between its tasks only, and one task of a recursive query can last forever.

    Raises:
        TooLongError: The query took longer than `QUERY_S`.

    """
    results: list[T] = []
    errors: list[BaseException] = []

    def run() -> None:
        try:
            results.append(query())
        except BaseException as error:
            errors.append(error)
        ended.set()

    # Not `Thread.join`: if a signal interrupts it, Python 3.11 takes the thread for ended.
    ended = threading.Event()
    threading.Thread(target=run, daemon=True).start()
    try:
        if not ended.wait(QUERY_S):
            raise TooLongError
    finally:
        # A query that is about to begin does not notice the first interruption.
        while not ended.is_set():
            # A second signal must not leave the loop: the connection cannot be closed while the query runs.
            with suppress(BaseException):
                connection.interrupt()
                ended.wait(AGAIN_S)
    if errors:
        raise errors[0]
    return results[0]


class NameNotUtf8Error(ResultsError):
    """DuckDB cannot open a file because of its name."""


def utf8(path: str | PathLike[str]) -> str:
    """A path as text for DuckDB, which reads UTF-8 only."""
    try:
        return os.fsencode(path).decode("utf-8")
    except UnicodeDecodeError:
        shown = ascii(os.fspath(path)).strip("'\"")
        raise NameNotUtf8Error(
            f"error: DuckDB cannot open {shown}: the name is not valid UTF-8\n = allowed: names in UTF-8; rename it"
        ) from None


def reason(error: BaseException) -> str:
    """The first line of an error of DuckDB; of an asynchronous write, which has JSON, the message alone."""
    line = str(error).partition("\n")[0]
    found = MESSAGE.search(line)
    return str(json.loads(found[1])) if found else line


def quoted(name: str) -> str:
    """A name in SQL."""
    return '"' + name.replace('"', '""') + '"'


def literal(text: str) -> str:
    """A text in SQL."""
    return "'" + text.replace("'", "''") + "'"
