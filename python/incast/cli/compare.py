"""`incast compare`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter
from cyclopts.validators import Number

import incast
from incast.cli.command import command
from incast.comparison import render

EXAMPLES = """
Examples:
  incast compare results/imported fct.txt
  incast compare results/imported fct.txt --scheme DCQCN+w --by-flow 20
  incast compare results/imported fct.txt --dport 100 --format markdown
  incast compare results/imported fct.txt --format csv --table flows > flows.csv

The reference's file has a line for each flow that completed:
  sip dip sport dport size start_ns fct_ns standalone_ns
with hosts as addresses (0b013701 is node 0x137) or as node numbers.
"""


def compare(
    folder: Path,
    reference: Path,
    /,
    *,
    scheme: str | None = None,
    dport: Annotated[int | None, Parameter(validator=Number(gte=0, lte=65535))] = None,
    by_flow: Annotated[int, Parameter(validator=Number(gte=0))] = 5,
    format: Literal["text", "csv", "json", "markdown"] = "text",  # noqa: A002 - the name of the option
    table: Literal["bins", "flows", "unmatched"] = "bins",
) -> None:
    """Compare results with what the HPCC authors' ns-3, or a simulator that came of it, wrote for the same flows.

    Both sides get the reference's own definition of slowdown, that of its fct_analysis.py.

    Prints percentiles by flow size, both sides and their difference; then single flows; then those of one side only.

    Parameters
    ----------
    folder
        Results folder, as written by `incast run`.
    reference
        The reference's fct.txt.
    scheme
        Scheme to compare; may be left out if the results hold one.
    dport
        Flows to this destination port only: in the reference's workloads, 100 is background and 200 incasts.
    by_flow
        Flows to list, those that differ most.
    format
        text to read, markdown for a page, json and csv for programs.
    table
        With csv: bins, flows (each flow on both sides) or unmatched (flows that only one side has).

    """
    found = incast.compare(folder, reference, scheme=scheme, dport=dport)
    if format == "csv":
        for part in render.as_csv(found, table):
            sys.stdout.write(part)
    elif format == "json":
        print(render.as_json(found, by_flow))
    else:
        print((render.text if format == "text" else render.markdown)(found, by_flow))


app = command("compare", compare, EXAMPLES)
