"""`incast compare`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter
from cyclopts.validators import Number

import incast
from incast.cli import codes
from incast.cli.command import command
from incast.comparison import render

EXAMPLES = """
Examples:
  incast compare results/new results/old
  incast compare results/quickstart --scheme HPCC --with DCQCN
  incast compare results/imported fct.txt --scheme DCQCN+w --by-flow 20
  incast compare results/imported fct.txt --dport 100 --format markdown
  incast compare results/imported fct.txt --format csv --table flows > flows.csv

fct.txt has a line for each completed flow:
  sip dip sport dport size start_ns fct_ns standalone_ns
Hosts are addresses (0b013701 is node 0x137) or node numbers.
"""


def compare(
    folder: Path,
    reference: Path | None = None,
    /,
    *,
    scheme: str | None = None,
    with_: Annotated[str | None, Parameter(name="--with")] = None,
    dport: Annotated[int | None, Parameter(validator=Number(gte=0, lte=65535))] = None,
    by_flow: Annotated[int, Parameter(validator=Number(gte=0))] = 5,
    format: Literal["text", "csv", "json", "markdown"] = "text",  # noqa: A002 - the name of the option
    table: Literal["bins", "flows", "unmatched"] = "bins",
) -> None:
    """Compare results with other results, another scheme, or an fct.txt of the HPCC authors' ns-3 or its descendants.

    The first line says that all flows are identical, or where the difference begins. Then come percentiles by flow size
    for both sides, the flows that differ most, and the flows that only one side has.

    Flows of two results match by number if both have the same flows, otherwise by hosts, size and start. Flows of an
    fct.txt match by hosts, ports, size and start. Slowdowns of both sides are computed as in ns-3's fct_analysis.py,
    with the reference's ideal times. A difference does not change the exit code.

    Parameters
    ----------
    folder
        Results folder, as written by `incast run`.
    reference
        Another results folder, or the fct.txt that ns-3 wrote. Default: the same folder, with another scheme.
    scheme
        Scheme to compare; required if the results have several.
    with_
        Scheme of the reference, if that is a results folder. Default: the same as in the results, or the only one.
    dport
        Compare only flows to this destination port. In ns-3's workloads, 100 is background traffic and 200 is incasts.
    by_flow
        Number of flows to list, largest differences first.
    format
        Output format.
    table
        Table for --format csv: bins, flows (one row per flow of both sides) or unmatched (flows of one side only).

    """
    found = incast.compare(folder, reference, scheme=scheme, with_scheme=with_, dport=dport)
    if format == "csv":
        for part in render.as_csv(found, table):
            sys.stdout.write(part)
    elif format == "json":
        print(render.as_json(found, by_flow))
    else:
        codes.say((render.text if format == "text" else render.markdown)(found, by_flow))


app = command("compare", compare, EXAMPLES)
