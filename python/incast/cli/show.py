"""`incast show` and `incast schema`."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from incast import _core
from incast._file_kind import expected
from incast.cli.command import Overrides, command
from incast.cli.phases import Phases
from incast.errors import translated

SHOW_EXAMPLES = """
Examples:
  incast show scenarios/quickstart.toml
  incast show fabric.toml --format json
  incast show mine.toml --set fabric.leaf_spine.leaves=8 --format toml
"""


def show(
    file: Path,
    /,
    *,
    set_: Overrides = None,
    format: Literal["text", "json", "toml"] = "text",  # noqa: A002 - the name of the option
) -> None:
    """Show a scenario with every default, its derived figures and its estimated cost, without running it.

    Derived figures include headroom, PFC thresholds and ECN thresholds of switch ports.

    Parameters
    ----------
    file
        Scenario, a TOML file. A file without a workload shows its fabric and its switches.
    format
        Output format; toml is a complete scenario file.

    """
    with Phases("preparing fabric, routes and flows"), expected("scenario", file), translated():
        core = _core.Scenario.load_fabric(file, set_ or [])
        core.check()
        summary = core.summary("json" if format == "json" else "text")
    if format == "json":
        print(summary)
        return
    if format == "text":
        print(summary, end="\n\n")
    print(core.whole("toml").rstrip("\n"))


SCHEMA_EXAMPLES = """
Examples:
  incast schema > incast.schema.json

then, as the first line of a scenario:
  #:schema ./incast.schema.json
"""


def schema() -> None:
    """Print the JSON schema of scenario files, for editors that complete and check TOML."""
    print(_core.schema())


show_app = command("show", show, SHOW_EXAMPLES)
schema_app = command("schema", schema, SCHEMA_EXAMPLES)
