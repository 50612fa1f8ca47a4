"""All commands, and what the command line as a whole says."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterable
from types import FunctionType

from cyclopts import App, CycloptsError

from incast import _companions, _core, _terminal
from incast.cli import codes
from incast.cli.wrong_line import message
from incast.errors import IncastError

EPILOGUE = f"""
Start with:
  incast new mine.toml
  incast run mine.toml

Exit codes:
{codes.explained()}
"""

# Modules are imported when their command is called: `incast --version` needs none of them.
COMMANDS = (
    ("new", "incast.cli.new:app", 0.0, "Write a commented scenario to start from."),
    ("run", "incast.cli.run:app", 1, "Simulate a scenario and write its results."),
    ("sweep", "incast.cli.sweep:app", 1, "Run a scenario many times with varied parameters, into one dataset."),
    (
        "show",
        "incast.cli.show:show_app",
        2,
        "Show a scenario with every default, its derived figures and its estimated cost, without running it.",
    ),
    (
        "deadlock",
        "incast.cli.deadlock:app",
        None,
        "Check a fabric for possible PFC deadlocks, and generate tags and rules (Tagger) that prevent them.",
    ),
    (
        "list",
        "incast.cli.listing:app",
        3,
        "List the fabrics, workloads, controls and other names that a scenario can use, with their parameters.",
    ),
    (
        "study",
        "incast.cli.study:app",
        None,
        "Rerun a published evaluation and check its claims against the measurements.",
    ),
    (
        "results",
        "incast.cli.results:app",
        4,
        "Show the summary of a results folder with the warnings of its run, one of its tables, or figures of a sweep.",
    ),
    (
        "report",
        "incast.cli.report:app",
        4,
        "Write one HTML page of results: scenario, fabric, slowdowns, distributions, queues, rates, pauses, counters.",
    ),
    ("plot", "incast.cli.plot:app", 4, "Draw a chart of results as SVG, PDF or PNG, for a paper."),
    (
        "compare",
        "incast.cli.compare:app",
        4.5,
        "Compare results with other results, another scheme, or output of the HPCC authors' ns-3 or its descendants.",
    ),
    (
        "import",
        "incast.cli.convert:app",
        None,
        "Convert another simulator's files, or the configuration of a SONiC switch, to a scenario or its sections.",
    ),
    (
        "export",
        "incast.cli.export:app",
        None,
        "Export fabric or switch settings of a scenario, or queue lengths of results, to another program's format.",
    ),
    ("trace", "incast.cli.trace:app", 7, "Write the flows of a scenario as a trace, without simulating them."),
    (
        "schema",
        "incast.cli.show:schema_app",
        8,
        "Print the JSON schema of scenario files, for editors that complete and check TOML.",
    ),
    *_companions.COMMANDS,
)
"""Name, app, place in the list of commands if the app itself has none, and first sentence of its help."""
NAMES = frozenset(name for name, *_ in COMMANDS)


def made(*, described: bool) -> App:
    """The app of all commands.

    `described` lists them with descriptions. The help of a command itself would then have only this sentence.
    """
    found = App(
        name="incast",
        help="Simulate datacenter networks packet by packet: PFC, ECN, RDMA and congestion control.",
        help_epilogue=EPILOGUE,
        version=_core.__version__,
        help_format="plaintext",
        suppress_keyboard_interrupt=False,
    )
    for name, of_name, place, sentence in COMMANDS:
        found.command(of_name, name=name, sort_key=place, help=sentence if described else None)
    return found


app = made(described=False)


def run(tokens: Iterable[str] | None = None) -> int:
    """Run the command; returns its exit code. Failures are raised: see `incast.cli.ends`."""
    given = list(sys.argv[1:] if tokens is None else tokens)
    chosen = made(described=True) if NAMES.isdisjoint(given) else app
    try:
        join_lines_of_help(chosen.parse_commands(given)[1])
        code = chosen(
            given,
            console=_terminal.console(),
            exit_on_error=False,
            print_error=False,
            result_action="return_value",
        )
    except CycloptsError as error:
        raise CommandLineError(f"{message(error)}\nTry: {_help(error)}") from None
    return code if isinstance(code, int) else codes.OK


def join_lines_of_help(of: Iterable[App]) -> None:
    """Make each paragraph of commands' docstrings one line, which the help breaks at the width of the terminal."""
    for each in of:
        function = each.default_command
        if isinstance(function, FunctionType) and function.__doc__:
            function.__doc__ = joined(function.__doc__)


def joined(text: str) -> str:
    """A docstring with one line for each paragraph of its description and of its parameters' descriptions."""
    about, heading, parameters = inspect.cleandoc(text).partition("\nParameters\n")
    return _paragraphs(about, 0) + heading + _paragraphs(parameters, 4)


def _paragraphs(text: str, indent: int) -> str:
    """The text with each line of this indentation joined to the line before, if that has the same indentation."""

    def of_paragraph(line: str) -> bool:
        return bool(line) and len(line) - len(line.lstrip()) == indent

    lines: list[str] = []
    for line in text.split("\n"):
        if lines and of_paragraph(lines[-1]) and of_paragraph(line):
            lines[-1] += f" {line.lstrip()}"
        else:
            lines.append(line)
    return "\n".join(lines)


class CommandLineError(IncastError):
    """The command line is not valid."""


def _help(error: CycloptsError) -> str:
    """The help that explains the command that was meant."""
    return " ".join(["incast", *(error.command_chain or ()), "--help"])
