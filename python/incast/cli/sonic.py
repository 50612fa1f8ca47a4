"""`incast export sonic-buffers` and `incast import sonic`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from incast import _core
from incast._whole import refuse_if_there, write_all, write_whole
from incast.cli import codes
from incast.cli.command import Overrides, Overwrite
from incast.errors import IncastError, ScenarioError, translated

if TYPE_CHECKING:
    from incast.sonic.exact import Inexact

EXPORT_EXAMPLES = """
Examples:
  incast export sonic-buffers scenarios/clos-testbed.toml -o sonic
  incast export sonic-buffers mine.toml --port-names Ethernet0/8 -o sonic
"""
IMPORT_EXAMPLES = """
Examples:
  incast import sonic config_db.json -o switch.toml
"""
Output = Parameter(name=["--output", "-o"])


def sonic_buffers(
    file: Path,
    /,
    *,
    output: Annotated[Path, Output],
    scheme: str | None = None,
    port_names: str = "Ethernet0/4",
    round_: Annotated[bool, Parameter(name="--round", negative=(), show_default=False)] = False,
    overwrite: Overwrite = False,
    set_: Overrides = None,
) -> None:
    """Export buffers, PFC, ECN, schedulers and watchdog of the switches for SONiC: CONFIG_DB and pg_profile_lookup.ini.

    Writes one file of CONFIG_DB for all switches with equal ports, and a README.md. Lists settings that CONFIG_DB does
    not have. Workload and schemes may be missing.

    Parameters
    ----------
    file
        Scenario, a TOML file.
    output
        Folder for the files.
    scheme
        Scheme to export; required if schemes have different switch settings.
    port_names
        Port names, given by the first and the step between their numbers.
    round_
        Write the nearest value that SONiC can hold, and list it. Default: values without an exact form are errors.
    overwrite
        Replace existing files. Either all files are written or none.

    """
    from incast.sonic.export import exported
    from incast.sonic.model import PortNames
    from incast.sonic.readme import NAME, readme
    from incast.sonic.thresholds import of_scenario

    names = PortNames.parsed(port_names)
    if output.exists() and not output.is_dir():
        raise ScenarioError(f"--output {output}: is a file, must be a folder")
    with translated():
        scenario = _core.Scenario.load_fabric(file, set_ or [])
    found = of_scenario(scenario, scheme)
    export = exported(found, names, lambda one: _placed(file, set_ or [], found.schemes, one), rounding=round_)
    files = {**export.files, NAME: readme(file.name, found, export)}
    write_all(output, {name: text.encode() for name, text in files.items()}, overwrite=overwrite)
    _list_notes("not in these files", export.notes)
    codes.say(f"wrote {len(files)} files to {output}: {', '.join(files)}")


def read(
    config_db: Path,
    /,
    *,
    pg_profile_lookup: Path | None = None,
    output: Annotated[Path | None, Output] = None,
    overwrite: Overwrite = False,
) -> None:
    """Convert buffers, PFC, ECN, schedulers and watchdog of a SONiC switch to the sections [switch] and [ecn].

    Comments name the source of each value. Settings that incast does not have are listed.

    Parameters
    ----------
    config_db
        Configuration of the switch, such as /etc/sonic/config_db.json.
    pg_profile_lookup
        Table of lossless profiles by speed and cable, of the same platform; needed if CONFIG_DB has none.
    output
        File to write, TOML. Default: print the sections.
    overwrite
        Replace an existing file.

    """
    from incast.sonic.importing import imported

    if output is not None:
        refuse_if_there(output, overwrite=overwrite)
    found = imported(config_db, pg_profile_lookup)
    if output is None:
        codes.write_data(found.text.rstrip("\n") + "\n")
        return
    write_whole(output, found.text.encode(), overwrite=overwrite)
    _list_notes("not taken over", found.notes)
    codes.say(f"wrote {output}: add its sections to a scenario")


def _placed(file: Path, sets: list[str], schemes: tuple[str, ...], one: Inexact) -> IncastError:
    """The error for a value, with its place in the scenario or in an override."""
    from incast._document import Document, join
    from incast._located import located

    for text in reversed(sets):
        path, equals, value = text.partition("=")
        if equals and (path.startswith(one.field) or one.field.startswith(path)):
            shown, diagnostic = located("--set", 1, len(path) + 2, text, len(value), one.message, one.allowed)
            return ScenarioError(shown, (diagnostic,))
    document = Document(file)
    section, _, _ = one.field.partition(".")
    own = [name for name in schemes if section in document.tree.get("scheme", {}).get(name, {})]
    if not own and section not in document.tree:
        return ScenarioError(f"error: {one.field} (default): {one.message}; allowed: {one.allowed}")
    field = f"{join('scheme', own[0])}.{one.field}" if own else one.field
    return document.wrong(field, one.message, allowed=one.allowed)


def _list_notes(title: str, notes: list[str]) -> None:
    if notes:
        codes.tell("\n".join([f"{title}:", *(f"- {note}" for note in notes)]))
