"""Foreign text in messages: shown without anything that a terminal obeys, and cut to a length that a terminal holds.

The same rules as `incast_model::echo`.
"""

from __future__ import annotations

import re
import shlex

SHOWN = 120
"""Characters of a foreign word or line that messages show (our choice: about the width of a terminal)."""
MOST_MESSAGE = 2_000
"""Characters of a whole message; longer ones are cut (our choice: lists of valid names fit)."""
MOST_LINE = 4_000
"""Characters of a line of text; longer ones are cut (our choice: rows of tables fit)."""
MOST_LINES = 1_000
"""Lines of a message; more are left out (our choice)."""
CONTROLS = "\x00-\x1f\x7f-\x9f\xad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff"
"""Characters that a terminal obeys or a reader does not see, for a class of a regular expression: C0, DEL, C1,
separators of lines and paragraphs, invisible characters, and controls of the writing direction."""
CONTROL = re.compile(f"[{CONTROLS}]")
OF_A_LINE = re.compile(f"(?![\\n\\t])[{CONTROLS}]")
WORDS = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}


def _written(found: re.Match[str]) -> str:
    c = found[0]
    return WORDS.get(c) or f"\\u{ord(c):04x}"


def visible(text: str) -> str:
    r"""The text with control characters written as in TOML, such as `\u001b` and `\n`."""
    return CONTROL.sub(_written, text)


def lines(text: str) -> str:
    """The text with all control characters but line breaks and tabs written as in TOML, and long lines cut."""
    return "\n".join(_shortened(line, MOST_LINE) for line in data(text).split("\n"))


def first_lines(text: str) -> str:
    """As `lines`, at most `MOST_LINES` of them."""
    shown = text.split("\n", MOST_LINES)
    if len(shown) > MOST_LINES:
        shown[-1] = f"… ({shown[-1].count(chr(10)) + 1:,} more lines)"
    return lines("\n".join(shown))


def data(text: str) -> str:
    r"""Text, such as JSON or CSV, with control characters of its values as `\u202e`: the same value in JSON."""
    return OF_A_LINE.sub(_written, text)


def _shortened(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[:most]}… ({len(text)} characters)"


def word(text: str) -> str:
    """A foreign word as messages show it: control characters visible, at most `SHOWN` characters."""
    return visible(_shortened(text, SHOWN))


def message(text: str) -> str:
    """A message that quotes foreign text between backticks: control characters visible, long quotations cut."""
    parts = text.split("`")
    parts[1::2] = [_shortened(part, SHOWN) for part in parts[1::2]]
    return visible(_shortened("`".join(parts), MOST_MESSAGE))


def excerpt(text: str, column: int, width: int) -> tuple[str, str, int]:
    """A line, or the part of it around a place; the blanks before the place; and the characters of it that are shown.

    Args:
        text: The line.
        column: First character of the place, from 1.
        width: Length of the place in characters.

    """
    at = max(0, column - 1)
    begin = 0 if len(text) <= SHOWN else min(max(0, at - SHOWN // 3), len(text) - SHOWN)
    end = min(len(text), begin + SHOWN)

    def written(part: str) -> str:
        return CONTROL.sub(lambda found: found[0] if found[0] == "\t" else _written(found), part)

    head, tail = "…" if begin else "", "…" if end < len(text) else ""
    indent = re.sub(r"[^\t]", " ", head + written(text[begin:at]))
    return head + written(text[begin:end]) + tail, indent, max(1, len(written(text[at : min(end, at + width)])))


def shell(name: object) -> str:
    """A name as a word of a shell command that a user may copy."""
    text = str(name)
    if CONTROL.search(text):
        # The form that bash, zsh and ksh read; `shlex.quote` leaves control characters as they are.
        escaped = text.replace("\\", "\\\\").replace("'", "\\'")
        return "$'" + CONTROL.sub(lambda found: f"\\u{ord(found[0]):04x}", escaped) + "'"
    return shlex.quote(text)
