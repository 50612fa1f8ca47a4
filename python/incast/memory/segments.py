"""Converts a recording for the replay model, which predicts the cost of delays without running the program."""

from __future__ import annotations

from os import PathLike
from pathlib import Path

from incast import _database
from incast._library import needed
from incast.application import Segments
from incast.application.latencies import NUMPY_FOR
from incast.errors import ApplicationError
from incast.memory.recording import open_recording, reading


def recorded_segments(path: str | PathLike[str], window_s: tuple[float, float] | None = None) -> Segments:
    """The threads of a recording as segments of computing, each with a fetch at its end (extra `incast[application]`).

    A thread computes from the end of a fetch to the next fault; what the instrument takes for a fault is part of
    that, as it is of the time without delay that measured slowdowns are held against. After its last fetch a thread
    goes on until the program ends.

    Args:
        path: A folder that `record` has written.
        window_s: From when to when, in seconds since the program's start; the whole program if not given.

    Raises:
        ApplicationError: It is none, or nothing was fetched.

    """
    recording = open_recording(path)
    begin, end = window_s or (0.0, recording.summary.seconds)
    asked = {"trace": str(recording.trace), "begin": begin * 1e9, "end": end * 1e9}
    query = """
    with fetches as (
        select *, row_number() over (order by time_ns) as number from read_parquet($trace)
        where kind = 'read' and time_ns between $begin and $end),
      gaps as (
        select process, thread, number, time_ns - coalesce(lag(time_ns + achieved_ns) over (
          partition by process, thread order by number), $begin) as compute_ns, 1 as fetches from fetches),
      ends as (
        select process, thread, max(number) + 0.5 as number, $end - max(time_ns + achieved_ns) as compute_ns, 0 as
        fetches from fetches group by all)
    select greatest(compute_ns, 0) * 1e-9 as compute_s, fetches,
      dense_rank() over (order by process, thread) as thread
    from (from gaps union all from ends) order by process, thread, number
    """
    needed("numpy", NUMPY_FOR)
    with reading([recording]), _database.connect([recording.trace]) as connection:
        found = connection.execute(query, asked).fetchnumpy()
    if not len(found["fetches"]):
        raise ApplicationError(f"{path}: nothing was fetched, so that delays of fetches change nothing")
    return Segments(found["compute_s"], found["fetches"], found["thread"], name=Path(path).name)
