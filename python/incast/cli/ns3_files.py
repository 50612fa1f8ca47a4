"""Files of `incast import ns3`: checks before the core reads them, and the lines that errors name."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from os import fspath
from pathlib import Path

from incast import _input
from incast._echo import visible
from incast._located import located
from incast._whole import writing
from incast.errors import Diagnostic, ScenarioError

BETWEEN = "\n\n"
"""Between the errors of a text."""
HEAD = "error: "


def check(read: Iterable[Path], output: Path) -> None:
    """Raise if a file cannot be read, or the folder of the output is missing.

    The core would name a line of a scenario that it has not written.

    Raises:
        ScenarioError: A file is missing, or not a regular file.
        EnvironmentFailure: The output cannot be written.

    """
    for file in read:
        try:
            _input.check(file, ScenarioError)
        except OSError as error:
            raise ScenarioError(f"cannot read {visible(fspath(file))}: {error.strerror or error}") from None
    with writing(output):
        output.parent.stat()


@contextmanager
def with_lines(configs: Sequence[Path]) -> Iterator[None]:
    """Add the line to errors about configurations; the core names its number only."""
    try:
        yield
    except ScenarioError as error:
        texts = str(error).split(BETWEEN)
        diagnostics = list(error.diagnostics)
        for number, diagnostic in enumerate(diagnostics):
            place = _place(diagnostic.message, configs)
            # The text lists only the first of many errors.
            if diagnostic.file is None and place is not None and number < len(texts):
                texts[number], diagnostics[number] = _located(diagnostic, *place)
        raise ScenarioError(BETWEEN.join(texts), tuple(diagnostics)) from None


def _place(message: str, configs: Sequence[Path]) -> tuple[Path, int, str] | None:
    """File, line and text of the message `FILE:LINE: TEXT`."""
    for config in configs:
        if found := re.fullmatch(rf"{re.escape(fspath(config))}:(\d+): (.*)", message, re.DOTALL):
            return config, int(found[1]), found[2]
    return None


def _located(diagnostic: Diagnostic, config: Path, line: int, message: str) -> tuple[str, Diagnostic]:
    """The error with its line, in which the quoted value is marked, or else the name of the setting."""
    lines = _input.read_bytes(config, ScenarioError).decode("utf-8", "replace").split("\n")
    text = lines[line - 1].rstrip("\r")
    what, _, allowed = message.partition("; allowed: ")
    quoted = re.search("`([^`]+)`", what)
    setting, value = [*text.split(maxsplit=1), "", ""][:2]
    word = quoted[1] if quoted and quoted[1] in value else setting
    column = text.index(word, len(setting) if word != setting else 0) + 1
    shown, found = located(fspath(config), line, column, text, len(word), what, allowed or None)
    return shown, replace(found, field=diagnostic.field)
