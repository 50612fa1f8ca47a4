"""`incast trace`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from incast import _core
from incast.cli.command import Overrides, command
from incast.errors import translated

EXAMPLES = """
Examples:
  incast trace scenarios/quickstart.toml -o flows.csv
  incast trace mine.toml --seed 7 -o flows.parquet
"""


def trace(
    file: Path,
    /,
    *,
    output: Annotated[Path, Parameter(name=["--output", "-o"])],
    set_: Overrides = None,
    seed: int | None = None,
) -> None:
    """Write the flows of a scenario as a trace, without simulating them.

    A trace can be read by other tools, and by a scenario as its workload.

    Parameters
    ----------
    file
        Scenario, a TOML file.
    output
        File to write; its ending, .csv or .parquet, says how.
    seed
        Seed of every random choice; overrules the file.

    """
    overrides = [*(set_ or []), *([] if seed is None else [f"seed={seed}"])]
    with translated():
        flows = _core.Scenario.load(file, overrides).write_trace(output)
    print(f"{flows:,} flows in {output}")


app = command("trace", trace, EXAMPLES)
