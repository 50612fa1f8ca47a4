"""`incast compare`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

import incast
from incast.cli import codes
from incast.cli.command import command, whole
from incast.comparison import compare_pauses, compare_queues, render, render_ports
from incast.comparison.kinds import Kind, kind_of
from incast.comparison.ports import PortComparison
from incast.errors import ComparisonError

EXAMPLES = """
Examples:
  incast compare results/new results/old
  incast compare results/quickstart --scheme HPCC --with DCQCN+w --label background
  incast compare results/imported fct.txt --scheme DCQCN+w --by-flow 20
  incast compare results/imported fct.txt --dport 100 --format markdown
  incast compare results/imported fct.txt --format csv --table flows > flows.csv
  incast compare results/imported pfc.txt --scheme DCQCN+w

fct.txt has a line for each completed flow:
  sip dip sport dport size start_ns fct_ns standalone_ns
Hosts are addresses (0b013701 is node 0x137) or node numbers.

pfc.txt has a line for each PFC frame that arrives:
  time_ns node node_type interface type

qlen.txt has blocks `time: NANOSECONDS` with a line for each switch port:
  node interface samples_of_0_kB samples_of_1_kB ...
"""
Table = Literal["bins", "flows", "unmatched", "ports", "frames"]


def compare(
    folder: Path,
    reference: Path | None = None,
    /,
    *,
    scheme: str | None = None,
    with_: Annotated[str | None, Parameter(name="--with")] = None,
    dport: Annotated[int | None, whole(0, 65535)] = None,
    label: str | None = None,
    by_flow: Annotated[int, whole(0)] = 5,
    format: Literal["text", "csv", "json", "markdown"] = "text",  # noqa: A002 - the name of the option
    table: Table | None = None,
    kind: Kind | None = None,
) -> None:
    """Compare results with other results, another scheme, or output of the HPCC authors' ns-3 or its descendants.

    The first line reports that all flows are identical, the first difference, or that only one side has some flows.
    Percentiles by flow size for both sides follow, then the flows that differ most, and the flows that only one side
    has.

    Flows of two results match by number if both have the same flows, otherwise by hosts, size and start. Flows of an
    fct.txt match by hosts, ports, size and start. Slowdowns use the ideal times of their own side; with an
    fct.txt, both sides use those of the fct.txt, and bins are those of ns-3's fct_analysis.py. A difference does not
    change the exit code.

    A pfc.txt is compared frame by frame. A qlen.txt is compared block by block with the queues that
    measure.sample_every samples.

    Parameters
    ----------
    folder
        Results folder, as written by `incast run`.
    reference
        Another results folder, or a file that ns-3 wrote: fct.txt (completion times), pfc.txt (pauses) or qlen.txt
        (queue lengths). Default: the same folder, with another scheme.
    scheme
        Scheme to compare; required if the results have several.
    with_
        Scheme of a reference that is a results folder. Default for another folder: the same as in the results, or the
        only one. Required within one folder.
    dport
        Compare only flows to this destination port. In ns-3's workloads, 100 is background traffic and 200 is incasts.
    label
        Compare only flows with this label; all for all flows. An fct.txt has no labels.
    by_flow
        Number of flows to list, largest differences first; for pfc.txt, number of frames, in order of time.
    format
        Output format.
    table
        Table for --format csv: bins (default), flows (one row per flow of both sides) or unmatched (flows of one side
        only); for pfc.txt, ports (default) or frames (those of one side only); for qlen.txt, ports.
    kind
        Kind of the file. Default: from its first line; required if it is empty.

    """
    of_file = None if reference is None or reference.is_dir() else kind or kind_of(reference)
    if of_file in ("pfc", "qlen"):
        assert reference is not None
        _refuse({"--with": with_, "--dport": dport, "--label": label}, of_file)
        make = compare_pauses if of_file == "pfc" else compare_queues
        _print_ports(make(folder, reference, scheme=scheme), format, table, by_flow)
        return
    _refuse({"--kind": kind} if of_file is None else {"--label": label}, of_file or "results")
    if table == "ports" or table == "frames":
        raise ComparisonError(
            f"--table {table} has no effect on a comparison of flows; choose one of bins, flows, unmatched"
        )
    _only_csv(table, format)
    found = incast.compare(folder, reference, scheme=scheme, with_scheme=with_, dport=dport, label=label)
    if format == "csv":
        for part in render.as_csv(found, table or "bins"):
            codes.write_data(part)
    elif format == "json":
        print(render.as_json(found, by_flow))
    else:
        codes.say((render.text if format == "text" else render.markdown)(found, by_flow))


def _print_ports(found: PortComparison, written_as: str, table: Table | None, most: int) -> None:
    """Print a comparison by port."""
    if table is not None and table not in found.tables:
        raise ComparisonError(f"{found.reference} has no table {table}; choose one of {', '.join(found.tables)}")
    _only_csv(table, written_as)
    if written_as == "csv":
        codes.write_data(render_ports.as_csv(found.tables[table or "ports"]))
    elif written_as == "json":
        print(render_ports.as_json(found, most))
    else:
        codes.say((render_ports.text if written_as == "text" else render_ports.markdown)(found, most))


def _only_csv(table: Table | None, written_as: str) -> None:
    if table is not None and written_as != "csv":
        raise ComparisonError(f"--table has no effect with --format {written_as}, only with --format csv")


def _refuse(options: dict[str, object], of: str) -> None:
    for option, value in options.items():
        if value is not None:
            raise ComparisonError(f"{option} has no effect on a comparison with {of}")


app = command("compare", compare, EXAMPLES)
