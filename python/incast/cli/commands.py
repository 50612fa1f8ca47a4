"""All commands, and what the command line as a whole says."""

from __future__ import annotations

import re
from collections.abc import Iterable

from cyclopts import App, CoercionError, CycloptsError, UnknownOptionError

from incast import _companions, _core, _terminal
from incast._nearest import renamed
from incast.cli import codes
from incast.errors import IncastError

EPILOGUE = f"""
Start with:
  incast new mine.toml
  incast run mine.toml

Exit codes:
{codes.explained()}
"""

app = App(
    name="incast",
    help="Simulate datacenter networks packet by packet: PFC, ECN, RDMA and congestion control.",
    help_epilogue=EPILOGUE,
    version=_core.__version__,
    help_format="plaintext",
    suppress_keyboard_interrupt=False,
)
# Modules are imported when their command is called: `incast --version` needs none of them.
COMMANDS = (
    ("new", "incast.cli.new:app", 0.0),
    ("run", "incast.cli.run:app", 1),
    ("sweep", "incast.cli.sweep:app", 1),
    ("show", "incast.cli.show:show_app", 2),
    ("deadlock", "incast.cli.deadlock:app", None),
    ("list", "incast.cli.listing:app", 3),
    ("study", "incast.cli.study:app", None),
    ("results", "incast.cli.results:app", 4),
    ("report", "incast.cli.report:app", 4),
    ("plot", "incast.cli.plot:app", 4),
    ("compare", "incast.cli.compare:app", 4.5),
    ("import", "incast.cli.convert:app", None),
    ("export", "incast.cli.export:app", None),
    ("trace", "incast.cli.trace:app", 7),
    ("schema", "incast.cli.show:schema_app", 8),
    *_companions.COMMANDS,
)
"""Name, app, and place in the list of commands if the app itself has none."""
for _name, _app, _place in COMMANDS:
    app.command(_app, name=_name, sort_key=_place)


def run(tokens: Iterable[str] | None = None) -> int:
    """Run the command; returns its exit code. Failures are raised: see `incast.cli.ends`."""
    try:
        code = app(
            tokens,
            console=_terminal.console(),
            exit_on_error=False,
            print_error=False,
            result_action="return_value",
        )
    except CycloptsError as error:
        raise CommandLineError(f"{_renamed(error) or error}\nTry: {_help(error)}") from None
    return code if isinstance(code, int) else codes.OK


class CommandLineError(IncastError):
    """The command line is not valid."""


def _renamed(error: CycloptsError) -> str | None:
    """The message for an option, or a value of one, of an earlier version: it names the new one."""
    if isinstance(error, UnknownOptionError):
        written = (error.token.keyword or error.token.value).partition("=")[0]
        known = {name.strip("-").replace("-", "_"): name for each in error.argument_collection for name in each.names}
        now = renamed(written.strip("-").replace("-", "_"), known)
        return f"option `{written}` is now `{known[now]}`" if now else None
    if isinstance(error, CoercionError) and error.token:
        now = renamed(error.token.value, re.findall(r"[\w-]+", str(error).partition("Choose from:")[2]))
        return f"`{error.token.value}` is now `{now}`" if now else None
    return None


def _help(error: CycloptsError) -> str:
    """The help that explains the command that was meant."""
    return " ".join(["incast", *(error.command_chain or ()), "--help"])
