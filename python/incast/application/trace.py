"""Traces of page faults: checked, and read into segments.

A CSV or Parquet file. Each row is a segment of a thread, which computes and then waits for fetches. Columns, in any
order:

    thread       thread: a number of 0 or more, or a name
    fetches      pages fetched together, 0 to 10^9
    compute_us   compute time before the fetches; or compute_s, compute_ms, compute_ns
    time_us      instead of it: time of the fault; or time_s, time_ms, time_ns
    stage        optional: stage; all threads wait at the end of each

With times, the compute time is the gap to the previous row of the same thread and stage, or to the earliest time of the
stage. Time spent on fetches during the recording then counts as compute, and the slowdown is too small: use a clock
that stops meanwhile, such as the thread's CPU time, or give compute times. Cells of CSV are not quoted.
"""

from __future__ import annotations

from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING, Any

from incast import _database, _input
from incast._library import needed
from incast.application import wrong
from incast.application.latencies import NUMPY_FOR, PER_SECOND, Unit
from incast.application.replay import MOST_FETCHES, Segments
from incast.errors import ApplicationError, EnvironmentFailure
from incast.table import PARQUET

if TYPE_CHECKING:
    import duckdb

UNITS: tuple[Unit, ...] = ("s", "ms", "us", "ns")
COMPUTE = {f"compute_{unit}": PER_SECOND[unit] for unit in UNITS}
TIME = {f"time_{unit}": PER_SECOND[unit] for unit in UNITS}
CLOCK = COMPUTE | TIME
"""Columns of times, one of which is required, with their units per second."""
COLUMNS = ("thread", "fetches", *CLOCK, "stage")
# A cell with a quote comes from a program that quotes cells, also those with commas and line breaks.
NAME = (
    "a number of 0 or more or a name, without quotes",
    "{0} <> '' and not contains({0}, '\"') and not coalesce(try_cast({0} as double) < 0, false)",
)
FETCHES = (
    f"a whole number of fetches, 0 to {MOST_FETCHES}",
    f"try_cast({{0}} as double) between 0 and {MOST_FETCHES} and try_cast({{0}} as double) % 1 = 0",
)
NUMBER = (
    "a time of 0 or more, at most 1e18, without a unit",
    "try_cast({0} as double) between 0 and 1e18",
)
"""The limit is our choice: sums of all rows are finite."""
# Not a floating-point number: of nanoseconds since 1970 it would keep every 256th.
INSTANT = ("a time, without a unit", "try_cast({} as decimal(38, 12)) is not null")
FITS = (
    {"thread": NAME, "stage": NAME, "fetches": FETCHES} | dict.fromkeys(COMPUTE, NUMBER) | dict.fromkeys(TIME, INSTANT)
)
"""Allowed values of each column, in words and in SQL."""


def read_trace(path: str | PathLike[str]) -> Segments:
    """Read a trace of page faults (extra `incast[application]`), with the columns of this module.

    Messages number the rows of a Parquet file as in CSV: the first row is line 2.

    Raises:
        ApplicationError: The file does not exist or is not a valid trace; with the place of the error.

    """
    import duckdb

    needed("numpy", NUMPY_FOR)
    file = Path(path)
    try:
        with _database.connect([file]) as connection:
            columns = _read(connection, file)
            _check(connection, file, columns)
            found = connection.execute(_segments(columns)).fetchnumpy()
    except (FileNotFoundError, IsADirectoryError, NotADirectoryError) as error:
        raise ApplicationError(f"{file}: {error.strerror}; must be a trace of page faults") from None
    except (OSError, duckdb.OutOfMemoryException) as error:
        raise EnvironmentFailure(f"{file}: {error}") from None
    except duckdb.Error as error:
        raise ApplicationError(f"{file}: {str(error).splitlines()[0]}") from None
    except RuntimeError as error:
        # DuckDB, of the names of columns in a Parquet file.
        if "conversion error" not in str(error):
            raise
        raise ApplicationError(f"{file}: the name of a column is not valid UTF-8") from None
    if not found["compute_s"].any():
        raise ApplicationError(f"{file}: the trace has no compute time")
    return Segments(found["compute_s"], found["fetches"], found["thread"], found["stage"], file.stem)


def _read(connection: duckdb.DuckDBPyConnection, file: Path) -> list[str]:
    """Read a file into the table `cells` with line numbers and all cells as text; returns the names of the cells."""
    with _input.opened(file, ApplicationError) as opened:
        parquet = opened.read(len(PARQUET)) == PARQUET
    if parquet:
        connection.from_parquet(fspath(file), file_row_number=True).create_view("rows")
        columns = [name for name in connection.table("rows").columns if name != "file_row_number"]
        _header(file, ",".join(columns), columns)
        cells = [f"coalesce({name}::varchar, '')" for name in columns]
        named = ", ".join(f"{cell} as {name}" for cell, name in zip(cells, columns, strict=True))
        text = " || ',' || ".join(cells)
        connection.execute(
            f"create table cells as select file_row_number + 2 as line, {text} as text, {named} from rows"
        )
        return columns
    try:
        content = _input.read_bytes(file, ApplicationError).decode("utf-8-sig")
    except UnicodeDecodeError:
        raise ApplicationError(f"{file}: is neither UTF-8 text nor Parquet; must be a trace of page faults") from None
    head = content.partition("\n")[0].rstrip("\r")
    columns = [name.strip() for name in head.split(",")]
    _header(file, head, columns)
    connection.execute(
        "create table lines as select line, rtrim(text, chr(13)) as text, string_split(text, ',') as parts from "
        "(select unnest(parts) as text, generate_subscripts(parts, 1) as line "
        "from (select string_split(?, chr(10)) as parts)) "
        "where line > 1 and trim(text, ' ' || chr(9) || chr(13)) <> ''",
        [content],
    )
    uneven = "select line, text, len(parts) from lines where len(parts) <> ? order by line limit 1"
    if found := connection.execute(uneven, [len(columns)]).fetchone():
        line, text, count = found
        allowed = f"{len(columns)} cells, as in the header, got {count}"
        raise wrong.at_cell(str(file), line, text, None, f"`{text.strip()}` is not allowed here", allowed)
    named = ", ".join(
        f"trim(parts[{place}], ' ' || chr(9) || chr(13)) as {name}" for place, name in enumerate(columns, 1)
    )
    connection.execute(f"create table cells as select line, text, {named} from lines")
    return columns


def _header(file: Path, text: str, columns: list[str]) -> None:
    """Raise if the columns are not valid for a trace."""
    for place, name in enumerate(columns):
        if name not in COLUMNS:
            allowed = f"a column of a trace of page faults ({', '.join(COLUMNS)})"
            raise wrong.at_cell(str(file), 1, text, place, f"`{name}` is not allowed here", allowed, COLUMNS)
        if name in columns[:place] or any(other in CLOCK and name in CLOCK for other in columns[:place]):
            raise wrong.at_cell(str(file), 1, text, place, f"`{name}` is not allowed here", "one column of its kind")
    needed = {"thread": ("thread",), "fetches": ("fetches",), "compute_us or time_us (or _s, _ms, _ns)": tuple(CLOCK)}
    for name, ones in needed.items():
        if not set(ones) & set(columns):
            message = f"`{text.strip()}` is not allowed here"
            raise wrong.at_cell(str(file), 1, text, None, message, f"a header with a column {name}")


def _check(connection: duckdb.DuckDBPyConnection, file: Path, columns: list[str]) -> None:
    """Raise at the first cell that is not allowed."""
    found: list[tuple[Any, ...]] = []
    for place, name in enumerate(columns):
        allowed, fits = FITS[name]
        query = (
            f"select line, text, {name} from cells where not coalesce({fits.format(name)}, false) order by line limit 1"
        )
        found += [(line, place, text, value, allowed) for line, text, value in connection.execute(query).fetchall()]
    if not found and (times := [name for name in columns if name in TIME]):
        query = f"select line, text, {times[0]}, before from ({_gaps(columns)}) where gap < 0 order by line limit 1"
        for line, text, value, before in connection.execute(query).fetchall():
            allowed = f"a time not before the thread's previous row, {before}"
            found.append((line, columns.index(times[0]), text, value, allowed))
    if found:
        line, place, text, value, allowed = min(found, key=lambda each: each[:2])
        raise wrong.at_cell(str(file), line, text, place, f"`{value}` is not allowed here", allowed)
    if connection.execute("select count(*) from cells").fetchall() == [(0,)]:
        raise ApplicationError(f"{file}: the trace has no rows, only a header")


def _gaps(columns: list[str]) -> str:
    """SQL of the rows with their gaps, in the unit of the file, and the cell before each gap."""
    name = next(each for each in columns if each in TIME)
    stage = "stage" if "stage" in columns else "''"
    at = f"{name}::decimal(38, 12)"
    return (
        f"select *, {at} - coalesce(lag({at}) over thread, min({at}) over (partition by {stage})) as gap, "
        f"lag({name}) over thread as before from cells window thread as (partition by thread, {stage} order by line)"
    )


def _segments(columns: list[str]) -> str:
    """SQL of the segments, threads and stages by number."""
    name = next(each for each in columns if each in CLOCK)
    stage = "dense_rank() over (order by stage)" if "stage" in columns else "0"
    gap, rows = ("gap", f"({_gaps(columns)})") if name in TIME else (name, "cells")
    return (
        f"select {gap}::double / {CLOCK[name]} as compute_s, fetches::double as fetches, "
        f"dense_rank() over (order by thread) as thread, {stage} as stage from {rows} order by line"
    )
