"""Lossless profiles of ports: rows of BUFFER_PROFILE and of `pg_profile_lookup.ini`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from incast._input import DOCUMENT, read_text
from incast._located import located
from incast.errors import ScenarioError
from incast.sonic import model
from incast.sonic.config import ConfigDb

TABLE = "BUFFER_PROFILE"
COLUMNS = "speed, cable, size, xon, xoff, threshold and, if any, xon_offset"


@dataclass(frozen=True)
class Lossless:
    """A lossless profile; sizes in bytes."""

    size: int
    xon: int
    xoff: int
    """Headroom."""
    xon_offset: int | None
    alpha: float | None
    """`None`: a static threshold."""
    static: int | None
    """Static XOFF threshold above `size`."""
    source: str
    """Row that it comes from."""


Lookup = dict[tuple[int, int], Lossless]
"""Profiles by speed in Mb/s and cable in metres."""


def of_config(config: ConfigDb, name: str) -> Lossless | None:
    """A row of BUFFER_PROFILE; `None` for a lossy profile, which has no XOFF."""
    if not config.number(TABLE, name, "xoff"):
        return None
    if config.number(TABLE, name, "size") is None:
        raise config.wrong((TABLE, name), f"{TABLE}|{name} has xoff, but no size", "a size in bytes")
    if config.table("BUFFER_POOL"):
        config.reference(TABLE, name, "pool", "BUFFER_POOL")
    size, xon, xoff = (config.number(TABLE, name, field) or 0 for field in ("size", "xon", "xoff"))
    exponent = config.number(TABLE, name, "dynamic_th", model.ALPHAS)
    static = config.number(TABLE, name, "static_th")
    if (exponent is None) == (static is None):
        raise config.wrong((TABLE, name), f"{TABLE}|{name} has no threshold, or two", "dynamic_th or static_th")
    alpha = None if exponent is None else 2.0**exponent
    return Lossless(size, xon, xoff, config.number(TABLE, name, "xon_offset"), alpha, static, f"{TABLE}|{name}")


def read_lookup(path: Path, *, static: bool) -> Lookup:
    """Rows of `pg_profile_lookup.ini`; `static`: thresholds are bytes, as the pool's mode says.

    Raises:
        ScenarioError: The file cannot be read, or a line is wrong, with its place.

    """
    try:
        text = read_text(path, ScenarioError, DOCUMENT)
    except OSError as error:
        raise ScenarioError(f"cannot read {path}: {error.strerror or error}") from None
    rows: Lookup = {}
    for number, line in enumerate(text.splitlines(), 1):
        if line.strip() and not line.startswith("#"):
            speed, cable, row = _row(path, number, line, static=static)
            if (speed, cable) in rows:
                raise _wrong(path, number, line, line.strip(), f"{speed} Mb/s and {cable} m twice", "each pair once")
            rows[speed, cable] = row
    if not rows:
        raise ScenarioError(f"{path} has no profile; allowed: a line with {COLUMNS} for each")
    return rows


def _row(path: Path, number: int, line: str, *, static: bool) -> tuple[int, int, Lossless]:
    words = line.split()
    if len(words) not in (6, 7):
        raise _wrong(path, number, line, line.strip(), f"{len(words)} columns", COLUMNS)
    cable = re.fullmatch(r"(\d{1,7})m", words[1])
    if cable is None:
        raise _wrong(path, number, line, words[1], f"cable `{words[1]}`", "a length in metres, such as 40m")
    for place, word in enumerate(words):
        negative = place == 5 and not static
        if place != 1 and not re.fullmatch(r"-?\d{1,18}" if negative else r"\d{1,18}", word):
            what = "a whole number" if negative else "a whole number, 0 or more"
            raise _wrong(path, number, line, word, f"{COLUMNS.split(', ')[min(place, 5)]} `{word}`", what)
    threshold = int(words[5])
    if not static and threshold not in model.ALPHAS:
        limits = f"log2 of alpha, {model.ALPHAS.start} to {model.ALPHAS.stop - 1}"
        raise _wrong(path, number, line, words[5], f"threshold {threshold}", limits)
    row = Lossless(
        int(words[2]),
        int(words[3]),
        int(words[4]),
        int(words[6]) if len(words) == 7 else None,
        None if static else 2.0**threshold,
        threshold if static else None,
        f"{path.name}:{number}",
    )
    return int(words[0]), int(cable[1]), row


def _wrong(path: Path, number: int, line: str, word: str, message: str, allowed: str) -> ScenarioError:
    text, diagnostic = located(str(path), number, line.find(word) + 1, line, len(word), message, allowed)
    return ScenarioError(text, (diagnostic,))
