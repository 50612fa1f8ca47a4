"""The reference's `fct.txt`: checked line by line, and read into a table.

A line is a flow that completed, in order of completion: `sip dip sport dport size start_ns fct_ns standalone_ns`. The
HPCC authors' ns-3 writes hosts as addresses, eight hexadecimal digits with the node's number in the middle four
(`0b013701` is node 0x137); ConWeave and others that came of it write the node's number itself, in decimal.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from incast import _input, _located
from incast.errors import ComparisonError, EnvironmentFailure

if TYPE_CHECKING:
    import duckdb

COLUMNS = "sip dip sport dport size start_ns fct_ns standalone_ns"
ADDRESS = r"0b[0-9a-f]{4}01"
NUMBER = r"0|[1-9][0-9]{0,4}"
PORT = r"[0-9]{1,4}|[1-5][0-9]{4}|6[0-4][0-9]{3}|65[0-4][0-9]{2}|655[0-2][0-9]|6553[0-5]"
COUNT = r"[1-9][0-9]{0,14}"
TIME = r"0|[1-9][0-9]{0,14}"
REST = [
    ("the source port", PORT, "0 to 65535"),
    ("the destination port", PORT, "0 to 65535"),
    ("the size", COUNT, "whole bytes, 1 to 999999999999999"),
    ("the start", TIME, "whole nanoseconds, 0 to 999999999999999"),
    ("the completion time", COUNT, "whole nanoseconds, 1 to 999999999999999"),
    ("the standalone time", COUNT, "whole nanoseconds, 1 to 999999999999999"),
]
"""Columns of a line after the two hosts: name, pattern, and allowed values, in words."""
HOSTS = {
    "address": (ADDRESS, "an address of 8 hexadecimal digits, 0bxxxx01 with xxxx the number of the node"),
    "number": (NUMBER, "the number of a node, 0 to 99999"),
}
"""The two notations of a host; an address begins with `0b`."""


def read(connection: duckdb.DuckDBPyConnection, path: Path) -> None:
    """Read a file into the table `reference`: its lines with their numbers, hosts by number."""
    written = check(path)
    node = "('0x' || {}[3:6])::INTEGER" if written == "address" else "{}::INTEGER"
    names = COLUMNS.split()
    columns = {name: "VARCHAR" if name in ("sip", "dip") else "BIGINT" for name in names}
    connection.execute(
        f"""
        CREATE TABLE reference AS
        SELECT row_number() OVER () AS line, {node.format("sip")} AS src, {node.format("dip")} AS dst,
               NULL::VARCHAR AS src_name, NULL::VARCHAR AS dst_name, sport, dport, size AS size_bytes,
               1000 * start_ns AS start_ps, 1000 * fct_ns AS fct_ps, 1000 * standalone_ns AS ideal_ps
        FROM read_csv($path, columns = {columns}, auto_detect = false, header = false,
                      delim = ' ', quote = '', escape = '', comment = '', new_line = '\\n')
        """,
        {"path": str(path)},
    )
    twin = connection.execute(
        """
        SELECT min(line), max(line) FROM reference GROUP BY src, dst, sport, dport, size_bytes, start_ps
        HAVING count(*) > 1 ORDER BY 1 LIMIT 1
        """
    ).fetchone()
    if twin:
        raise located(path, twin[1], f"this flow is already in line {twin[0]}", "each flow once")


def check(path: Path) -> str:
    """Check every line of a file; returns its notation of hosts: `address` or `number`."""
    try:
        with _input.opened(path, ComparisonError) as file:
            first = file.readline()
            written = "address" if first[:2] == b"0b" else "number"
            host = HOSTS[written][0]
            patterns = [host, host, *(pattern for _, pattern, _ in REST)]
            line_of = re.compile(" ".join(f"(?:{pattern})" for pattern in patterns).encode() + rb"\n")
            file.seek(0)
            for number, line in enumerate(file, 1):
                if not line_of.fullmatch(line):
                    raise explained(path, number, line, written)
    except (FileNotFoundError, IsADirectoryError, NotADirectoryError) as error:
        raise ComparisonError(f"{path}: {error.strerror}; must be an fct file of ns-3") from None
    except OSError as error:
        raise EnvironmentFailure(f"{path}: {error.strerror}") from None
    if not first:
        raise ComparisonError(f"{path}: the file is empty: no flow completed, or it is not an fct file")
    return written


def explained(path: Path, number: int, line: bytes, written: str) -> ComparisonError:
    """The error of a line."""
    text = line.decode("ascii", "backslashreplace")
    words = text.rstrip("\n").split(" ")
    wanted = [("the source", *HOSTS[written]), ("the destination", *HOSTS[written]), *REST]
    if text.endswith("\n") and len(words) != len(wanted):
        allowed = f"{len(wanted)}, one space between them: {COLUMNS}"
        return located(path, number, f"the line has {len(text.split())} fields", allowed, text=text)
    for place, (word, (name, pattern, allowed)) in enumerate(zip(words, wanted, strict=False)):
        last_cut = place == len(words) - 1 and not text.endswith("\n")
        if not re.fullmatch(pattern, word) and not last_cut:
            column = 1 + sum(len(before) + 1 for before in words[:place])
            other = next(way for way in HOSTS if way != written)
            if place < 2 and re.fullmatch(HOSTS[other][0], word) and number > 1:
                allowed += f": line 1 writes a host as {'an address' if written == 'address' else 'a number'}"
            return located(path, number, f"{name} is `{word}`", allowed, column, len(word), text)
    allowed = f"whole lines: {COLUMNS}, each line ended"
    return located(path, number, "the file is truncated: it ends in the middle of a line", allowed, text=text)


def located(
    path: Path, number: int, message: str, allowed: str, column: int = 1, width: int = 0, text: str | None = None
) -> ComparisonError:
    """An error at a line of the file, shown as errors in a scenario are."""
    if text is None:
        with _input.opened(path, ComparisonError) as file:
            line = next(line for at, line in enumerate(file, 1) if at == number)
        text = line.decode("ascii", "backslashreplace")
    text = text.rstrip("\n")
    message, found = _located.located(str(path), number, column, text, width or len(text), message, allowed)
    return ComparisonError(message, (found,))
