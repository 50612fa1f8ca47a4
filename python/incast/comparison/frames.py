"""Compares pauses with the `pfc.txt` of the HPCC authors' ns-3, frame by frame.

A line is a PFC frame, logged where it arrives: `time_ns node node_type interface type`. Node type is 1 for switches and
0 for hosts; interfaces count from 1 in the order of the node's links; type is 1 for a pause and 0 for a resume.
"""

from __future__ import annotations

import re
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from incast import _input
from incast._database import utf8
from incast.comparison import match, ports
from incast.comparison.ports import PortComparison, Rows
from incast.comparison.reference import TIME, located
from incast.errors import ComparisonError, EnvironmentFailure
from incast.results import Results, open_results

if TYPE_CHECKING:
    import duckdb

COLUMNS = "time_ns node node_type interface type"
NUMBER = "0|[1-9][0-9]{0,8}"
FIELDS = [
    ("the time", TIME, "whole nanoseconds, 0 to 999999999999999"),
    ("the node", NUMBER, "the number of a node, 0 to 999999999"),
    ("the node type", "[01]", "0 (host) or 1 (switch)"),
    ("the interface", "[1-9][0-9]{0,8}", "1 to 999999999"),
    ("the type", "[01]", "1 (pause) or 0 (resume)"),
]
"""Columns of a line: name, pattern, and allowed values, in words."""
LINE = re.compile(" ".join(f"(?:{pattern})" for _, pattern, _ in FIELDS).encode() + rb"\n")
SAME = "time_ps, node, interface, pauses, alike"


def compare_pauses(
    results: Results | str | PathLike[str], pfc: str | PathLike[str], *, scheme: str | None = None
) -> PortComparison:
    """Compare the PFC frames of results with those in a `pfc.txt` of the HPCC authors' ns-3 or its descendants.

    Frames match by time of arrival, node, interface and type. Table `frames` has those of one side only.

    Args:
        results: A results folder, with `measure.pauses`.
        pfc: The file of ns-3, a line for each frame: `time_ns node node_type interface type`.
        scheme: The scheme to compare; required if the results have several.

    """
    if not isinstance(results, Results):
        results = open_results(results)
    scheme = match.chosen(results, scheme)
    if ports.measured(results).get("pauses") is not True:
        raise ComparisonError(f"{results.path} has no intervals of pauses: run the scenario with measure.pauses = true")
    file = Path(pfc)
    connection = ports.connect(results, scheme, "pauses")
    with match.computing(results.path, file):
        _read(connection, file)
        _read_results(connection, results, scheme)
        frames = _alone(connection)
    totals = match.row(connection, "SELECT count(*) FILTER (side = 'reference'), count(*) FROM frames")
    return PortComparison(
        results.path,
        file,
        scheme,
        _verdict(frames, totals[0], totals[1]),
        not frames.rows,
        _ports(connection),
        {"frames": frames},
    )


def _verdict(frames: Rows, of_reference: int, total: int) -> str:
    if not frames.rows:
        if not total:
            return "identical: no PFC frame on either side"
        return f"identical: all {of_reference:,} PFC frames arrive at the same time"
    first = dict(zip(frames.columns, frames.rows[0], strict=True))
    only = sum(row[0] == "reference" for row in frames.rows)
    return (
        f"first difference: {first['type']} of node {first['node']}, interface {first['interface']} "
        f"({first['name']}) at {first['time_ns'] / 1000:.3f} us, only in the {first['side']}; "
        f"{only:,} of {of_reference:,} frames only in the reference, "
        f"{len(frames.rows) - only:,} of {total - of_reference:,} only in the results"
    )


def _read(connection: duckdb.DuckDBPyConnection, file: Path) -> None:
    """Read the frames of a file into the table `frames`."""
    connection.execute(
        "CREATE TABLE frames (side VARCHAR, line BIGINT, time_ps BIGINT, node BIGINT, interface BIGINT, pauses BOOLEAN)"
    )
    rows: list[tuple[Any, ...]] = []
    known = set(connection.execute("SELECT node, interface FROM ports").fetchall())
    try:
        with _input.opened(file, ComparisonError) as opened:
            for number, line in enumerate(opened, 1):
                if not LINE.fullmatch(line):
                    raise _explained(file, number, line)
                time, node, _, interface, kind = map(int, line.split())
                if (node, interface) not in known:
                    message = f"the results' fabric has no interface {interface} of node {node}"
                    raise located(file, number, message, "ports of the fabric; was it another topology?")
                rows.append((number, 1000 * time, node, interface, kind == 1))
    except (FileNotFoundError, IsADirectoryError, NotADirectoryError) as error:
        raise ComparisonError(f"{file}: {error.strerror}; must be a pfc file of ns-3") from None
    except OSError as error:
        raise EnvironmentFailure(f"{file}: {error.strerror}") from None
    columns = [list(column) for column in zip(*rows, strict=True)] or [[] for _ in range(5)]
    connection.execute(
        "INSERT INTO frames SELECT 'reference', unnest($1::BIGINT[]), unnest($2::BIGINT[]), unnest($3::BIGINT[]), "
        "unnest($4::BIGINT[]), unnest($5::BOOLEAN[])",
        columns,
    )


def _explained(file: Path, number: int, line: bytes) -> ComparisonError:
    """The error of a line."""
    text = line.decode("ascii", "backslashreplace")
    words = text.rstrip("\n").split(" ")
    if not text.endswith("\n"):
        allowed = f"whole lines: {COLUMNS}, each line ended"
        return located(file, number, "the file is truncated: it ends in the middle of a line", allowed, text=text)
    if len(words) == len(FIELDS):
        for place, (word, (name, pattern, allowed)) in enumerate(zip(words, FIELDS, strict=True)):
            if not re.fullmatch(pattern, word):
                column = 1 + sum(len(before) + 1 for before in words[:place])
                return located(file, number, f"{name} is `{word}`", allowed, column, len(word), text)
    allowed = f"{len(FIELDS)}, one space between them: {COLUMNS}"
    return located(file, number, f"the line has {len(text.split())} fields", allowed, text=text)


def _read_results(connection: duckdb.DuckDBPyConnection, results: Results, scheme: str) -> None:
    """Add the frames of a scheme: a pause and, unless the run ended first, a resume for each interval."""
    with match.reading(results, "pauses") as file:
        connection.execute(
            """
            INSERT INTO frames
            SELECT 'results', NULL, time_ps, node, interface, pauses
            FROM (SELECT port, unnest([start_ps, end_ps]) AS time_ps, unnest([true, false]) AS pauses
                  FROM read_parquet($file) WHERE scheme = $scheme) JOIN ports USING (port)
            WHERE time_ps IS NOT NULL
            """,
            {"file": utf8(file), "scheme": scheme},
        )


def _alone(connection: duckdb.DuckDBPyConnection) -> Rows:
    """The frames of one side only, in order of time."""
    found = connection.execute(
        f"""
        WITH numbered AS (
            SELECT *, row_number() OVER (PARTITION BY side, time_ps, node, interface, pauses ORDER BY line) AS alike
            FROM frames
        )
        SELECT min(side) AS side, time_ps / 1000 AS time_ns, node, interface, any_value(name) AS name,
               if(pauses, 'pause', 'resume') AS type, any_value(line) AS line
        FROM numbered
        JOIN (SELECT node, interface, node_name || ' -> ' || peer_name AS name FROM ports) USING (node, interface)
        GROUP BY {SAME} HAVING count(*) = 1
        ORDER BY time_ns, node, interface, type, side
        """
    )
    return Rows(tuple(column[0] for column in found.description), found.fetchall())


def _ports(connection: duckdb.DuckDBPyConnection) -> Rows:
    """Numbers of frames by port, largest difference first."""
    counts = ", ".join(
        f"count(*) FILTER (side = '{side}' AND {condition}) AS {side}_{name}"
        for name, condition in (("pauses", "pauses"), ("resumes", "NOT pauses"))
        for side in ("reference", "results")
    )
    found = connection.execute(
        f"""
        SELECT node, interface, node_name || ' -> ' || peer_name AS name, {counts}
        FROM frames JOIN ports USING (node, interface) GROUP BY ALL
        ORDER BY abs(results_pauses - reference_pauses) + abs(results_resumes - reference_resumes) DESC, node, interface
        """
    )
    return Rows(tuple(column[0] for column in found.description), found.fetchall())
