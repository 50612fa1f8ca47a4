"""`incast trace`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from incast import _core
from incast._whole import refuse_if_there
from incast.cli import codes
from incast.cli.command import SEED, Overrides, Overwrite, command, whole
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
    seed: Annotated[int | None, whole(0, SEED)] = None,
    overwrite: Overwrite = False,
) -> None:
    """Write the flows of a scenario as a trace, without simulating them.

    Other tools can read the trace, and a scenario can use it as a workload.

    Parameters
    ----------
    file
        Scenario, a TOML file.
    output
        File to write: .csv or .parquet.
    seed
        Seed of every random choice; overrides the file.
    overwrite
        Replace an existing file.

    """
    overrides = [*(set_ or []), *([] if seed is None else [f"seed={seed}"])]
    refuse_if_there(output, overwrite=overwrite)
    with translated():
        flows = _core.Scenario.load(file, overrides).write_trace(output)
    codes.say(f"wrote {flows:,} {'flow' if flows == 1 else 'flows'} to {output}")


app = command("trace", trace, EXAMPLES)
