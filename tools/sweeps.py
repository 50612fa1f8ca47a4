"""The reference page of sweeps, made from the classes that a sweep file is read into and the columns of its dataset.

Counters are those of this checkout, not of the extension that was built last.
"""

from __future__ import annotations

from collections.abc import Iterator

from fields import table
from incast import _markdown
from incast.declared import Counter
from incast.sweep import runs
from incast.sweep.columns import of_slowdown
from incast.sweep.file import Axis, Point, Scale, SweepFile
from program import Program

FILES = {
    "sweep.json": "sweep, version, outcome of each run",
    "sweep.toml, scenario.toml": "sweep file and scenario file",
    "runs.parquet": "one row per run, [below](#runs)",
    "runs/KEY/": "[results folder](results.md) of one scheme of a finished run; tables end with the varied parameters",
    "runs/KEY/slowdown.parquet": "slowdowns by flow size, [below](#slowdown)",
    "runs/KEY/SHA256SUMS": "checksums; a resumed sweep repeats a run whose files differ",
    "aside/KEY/": "finished runs that the sweep no longer includes; reused if it does again",
}


def page(program: Program) -> Iterator[str]:
    """The lines of the page."""
    yield from [
        "# Sweep file",
        "",
        "`incast sweep` reads it. [How to use one](../howto/sweeps.md); [design](../design/sweeps.md).",
        "",
    ]
    for heading, cls in (
        ("The file", SweepFile),
        ("vary", Axis),
        ("vary.points", Point),
        ("scale.NAME", Scale),
    ):
        yield from [f"## {heading}", "", (cls.__doc__ or "").strip(), "", *table(cls)]
    files = ((", ".join(f"`{one}`" for one in name.split(", ")), text) for name, text in FILES.items())
    yield from ["## The folder", "", *_markdown.table(("file", "content"), files)]
    yield from ["", "## runs", "", "The varied parameters follow `run`.", ""]
    counters, of_hypervisors = (
        [Counter(**each) for each in program.catalogue[kind]] for kind in ("counters", "hypervisor_counters")
    )
    columns = (*runs.of_end(), *runs.of_counters(counters, of_hypervisors))
    of_runs = runs.HEAD | {column.name: column.description for column in columns}
    yield from (f"- `{name}`: {text}" for name, text in of_runs.items())
    yield from [
        "",
        "## slowdown",
        "",
        "Slowdowns over the HPCC evaluation's ideal time, at least 1, in 20 bins of flow sizes with about equally many "
        "flows. The varied parameters follow.",
        "",
    ]
    yield from (f"- `{name}`: {text}" for name, text in of_slowdown().items())
