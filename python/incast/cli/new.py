"""`incast new`."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from incast._echo import shell
from incast._nearest import hint
from incast._whole import refuse_if_there, writing
from incast.cli import codes
from incast.cli.command import command
from incast.cli.listing import wrapped
from incast.cli.run import examples

EXAMPLES = """
Examples:
  incast new mine.toml
  incast new mine.toml --template leaf-spine
  incast new --list
"""
USUAL = "incast"
"""The default template."""
HEADING = "Examples, also for `incast run --example NAME`:"


def new(
    file: Path | None = None,
    /,
    *,
    template: Annotated[str, Parameter(name=["--template", "-t"])] = USUAL,
    overwrite: Annotated[bool, Parameter(name=["--overwrite", "--force"], negative=(), show_default=False)] = False,
    list_: Annotated[bool, Parameter(name="--list", negative=(), show_default=False)] = False,
) -> int:
    """Write a commented scenario to start from.

    Parameters
    ----------
    file
        Scenario to write, a TOML file.
    template
        Template or example to copy; --list shows all.
    overwrite
        Replace an existing file.
    list_
        List the templates and examples; write nothing.

    """
    known = templates() | examples()
    if list_:
        print("\n".join([*listed(templates()), "", HEADING, *listed(examples())]))
        return codes.OK
    if file is None:
        codes.complain("missing file name; example: incast new mine.toml")
        return codes.BAD_INPUT
    if template not in known:
        codes.complain(f"unknown template `{template}`, allowed: {', '.join(known)}{hint(template, known)}")
        return codes.BAD_INPUT
    if file.suffix != ".toml":
        codes.complain(f"{file}: the name of a scenario must end in .toml")
        return codes.BAD_INPUT
    if overwrite:
        refuse_if_there(file, overwrite=True)
    with writing(file):
        try:
            with file.open("w" if overwrite else "x", encoding="utf-8") as out:
                out.write(known[template])
        except FileExistsError:
            codes.complain(f"{file} exists already; use --overwrite to replace it, or choose another name")
            return codes.BAD_INPUT
    codes.say(f"wrote {file}: {about(known[template])}")
    codes.say(f"  incast show {shell(file)}    every default, derived figures, estimated cost")
    codes.say(f"  incast run {shell(file)}     simulate it")
    return codes.OK


def templates() -> dict[str, str]:
    """The text of every template by name, the default first."""
    found = (entry for entry in files("incast").joinpath("templates").iterdir() if entry.name.endswith(".toml"))
    texts = {entry.name.removesuffix(".toml"): entry.read_text(encoding="utf-8") for entry in found}
    return dict(sorted(texts.items(), key=lambda item: (item[0] != USUAL, item[0])))


def about(text: str) -> str:
    """Description of a template: the first sentence of the comment that it begins with."""
    lines = itertools.takewhile(lambda line: line.startswith("# "), text.splitlines())
    return re.split(r"(?<=[.?]) (?=[A-Z0-9])", " ".join(line.removeprefix("#").strip() for line in lines))[0]


def listed(known: dict[str, str]) -> Iterator[str]:
    """Every template with what it is."""
    for name, text in known.items():
        yield name + (" (default)" if name == USUAL else "")
        yield from wrapped(about(text), 4)


app = command("new", new, EXAMPLES)
