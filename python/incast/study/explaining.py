"""explanations.md: explanations of claims, and the run of the figures in them."""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from incast import _input
from incast._located import located
from incast._nearest import nearest
from incast.errors import ScenarioError
from incast.study.description import Scale

FENCE = "---"
"""Around the head of the file."""
HEAD = "measured: SCALE, DATE, COMMIT, or measured ID ...: SCALE, DATE, COMMIT"
"""Form of a line of the head."""
COMMIT = re.compile(r"[0-9a-f]{7,40}")


@dataclass(frozen=True)
class Taken:
    """The run that the figures of a text were taken from. They stay as they are when the study is run again."""

    scale: Scale
    date: datetime.date
    commit: str
    """Commit of incast: of the run, or of the text which was written after it."""

    def sentence(self, scale: Scale) -> str:
        """For people, beside results of a scale."""
        here = "" if scale == self.scale else f"; results: scale {scale}"
        return (
            f"Figures in this text: scale {self.scale}, {self.date.isoformat()}, incast at commit {self.commit}{here}."
        )


@dataclass(frozen=True)
class Explanation:
    """Explanation of a claim."""

    text: str
    """In Markdown."""
    taken: Taken | None
    """Run of its figures; `None` if the file does not say."""


def read(file: Path, known: Sequence[str], scales: Sequence[Scale]) -> dict[str, Explanation]:
    """The sections of the file, by the id of their claim; `ScenarioError` at what is wrong with it."""
    return _Reader(file, known, scales).read()


class _Reader:
    def __init__(self, file: Path, known: Sequence[str], scales: Sequence[Scale]) -> None:
        self.file = file
        self.known = known
        self.scales = scales
        self.lines: list[str] = []
        content = _input.read_bytes(file, ScenarioError, _input.DOCUMENT)
        try:
            self.lines = content.decode("utf-8").splitlines()
        except UnicodeDecodeError as error:
            self.lines = content.decode("utf-8", "backslashreplace").splitlines()
            before = content[: error.start].decode("utf-8").splitlines(keepends=True) or [""]
            number = len(before) + before[-1].endswith("\n")
            column = 1 if before[-1].endswith("\n") else len(before[-1]) + 1
            message = f"byte 0x{content[error.start]:02x} is not UTF-8"
            raise self._wrong(number, column, message, "text in UTF-8") from None

    def read(self) -> dict[str, Explanation]:
        begin, taken = self._head()
        return {name: Explanation(text, taken.get(name, taken.get(""))) for name, text in self._sections(begin)}

    def _head(self) -> tuple[int, dict[str, Taken]]:
        """Where the text begins, and the runs by claim; of claims that have none of their own by the empty name."""
        if not self.lines or self.lines[0].strip() != FENCE:
            return 0, {}
        end = next((number for number, line in enumerate(self.lines[1:], 1) if line.strip() == FENCE), None)
        if end is None:
            raise self._wrong(1, 1, f"the head has no end, a line `{FENCE}`")
        found: dict[str, Taken] = {}
        for number, line in enumerate(self.lines[1:end], 2):
            match = re.fullmatch(r"measured((?: +[^\s:]+)*) *: *(.*?) *", line)
            if match is None:
                raise self._wrong(number, 1, "this is no line of a head", HEAD)
            taken = self._taken(number, match)
            for name in match[1].split() or [""]:
                if name and name not in self.known:
                    raise self._wrong(number, line.index(name) + 1, f"there is no claim `{name}`", None, name)
                if name in found:
                    raise self._wrong(number, 1, f"{f'claim `{name}`' if name else 'this'} is said already")
                found[name] = taken
        return end + 1, found

    def _taken(self, number: int, match: re.Match[str]) -> Taken:
        parts = [part.strip() for part in match[2].split(",")]
        if len(parts) != 3:
            raise self._wrong(number, match.start(2) + 1, "a scale, a date and a commit are needed", HEAD)
        scale, date, commit = parts
        chosen = next((each for each in self.scales if each == scale), None)
        if chosen is None:
            at, scales = match.start(2) + 1, ", ".join(self.scales)
            raise self._wrong(number, at, f"the study has no scale `{scale}`", scales, scale, self.scales)
        try:
            day = datetime.date.fromisoformat(date)
        except ValueError:
            at = self.lines[number - 1].index(date, match.start(2)) + 1
            raise self._wrong(number, at, f"`{date}` is no date", "such as 2026-01-31") from None
        if not COMMIT.fullmatch(commit):
            at = self.lines[number - 1].rindex(commit) + 1
            raise self._wrong(number, at, f"`{commit}` is no commit", "7 to 40 digits from 0 to f")
        return Taken(chosen, day, commit)

    def _sections(self, begin: int) -> Iterator[tuple[str, str]]:
        """The sections whose headings, `## ID`, are the ids of claims."""
        found: dict[str, list[str]] = {}
        lines: list[str] = []
        fenced = False
        for number, line in enumerate(self.lines[begin:], begin + 1):
            fenced ^= line.lstrip().startswith("```")
            heading = None if fenced else re.match(r"## +(.*?) *$", line)
            if heading is None:
                lines.append(line)
                continue
            name = heading[1]
            if name not in self.known:
                message = f"there is no claim `{name}` to explain"
                raise self._wrong(number, 4, message, ", ".join(self.known), name)
            if name in found:
                raise self._wrong(number, 4, f"claim `{name}` is explained already")
            lines = found.setdefault(name, [])
        for name, text in found.items():
            yield name, "\n".join(text).strip()

    def _wrong(
        self,
        number: int,
        column: int,
        message: str,
        allowed: str | None = None,
        wrong: str = "",
        names: Sequence[str] | None = None,
    ) -> ScenarioError:
        """An error at a place in the file."""
        line = self.lines[number - 1]
        width = len(wrong) if wrong else len(line) - column + 1
        near = nearest(wrong, self.known if names is None else names) if wrong else None
        text, diagnostic = located(str(self.file), number, column, line, width, message, allowed, near)
        return ScenarioError(text, (diagnostic,))
