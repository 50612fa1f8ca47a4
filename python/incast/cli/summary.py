"""Text summary of a run: slowdowns, iterations, tenants, how each scheme ended, findings, files of the results."""

from __future__ import annotations

import json
import textwrap
from contextlib import closing
from typing import Any

from incast import declared, few
from incast._database import NameNotUtf8Error
from incast._echo import shell
from incast.charts.source import SPLIT, Source
from incast.cli import codes
from incast.cli.live import simulated
from incast.findings import findings
from incast.findings.words import bound
from incast.results import Results

BINS = 10
"""Bins of the table in the terminal."""
ROWS = "rows hold about equally many flows, each size in one row"
WIDTH = 100
"""Characters of a line of a finding."""


def show(results: Results) -> None:
    """Print the summary of a results folder."""
    if len(results.slowdown(bins=1)):
        codes.say(results.slowdown_text(bins=BINS))
        of_few = few.note(row["flows"] for row in results.slowdown(bins=BINS).dicts())
        print(f"slowdown = completion time / {_ideal(results)}; {ROWS}")
        if results.manifest["tables"].get("messages", {}).get("rows"):
            print(f"flows are {SPLIT}")
        print(f"{of_few}\n" if of_few else "")
    if "iterations" in results.tables:
        from incast import alone, iterations

        if shown := iterations.text(results):
            codes.say(shown + "\n")
        if shown := alone.text(results):
            codes.say(shown + "\n")
    if "throughput" in results.tables:
        from incast.tenants.text import text

        codes.say(text(results) + "\n")
    schemes = results.manifest["schemes"]
    width = max(map(len, schemes), default=0)
    for name, scheme in schemes.items():
        # Findings have the drops with their reasons.
        counts = declared.above_0(scheme, "shown", drops=False)
        ended = ", ".join([scheme["stop"]["text"], *counts])
        codes.say(f"{name:<{width}}  {ended}; {took(scheme)}")
    print_findings(results)
    prints = {name: scheme["fingerprint"] for name, scheme in schemes.items() if "fingerprint" in scheme}
    if prints:
        print("\nfingerprints: hash of all events, hash of all packets on wires")
    for name, one in prints.items():
        codes.say(f"{name:<{width}}  {one['trajectory']} {one['traffic']}")
    flows = results.path / "flows.parquet"
    files = [*(f"{table}.parquet" for table in results.tables), "manifest.json", "scenario.toml"]
    codes.say(f"\nresults in {results.path}: {', '.join(files)}")
    literal, folder = json.dumps(str(flows), ensure_ascii=False), json.dumps(str(results.path), ensure_ascii=False)
    codes.say(f"  polars.read_parquet({literal})    pandas.read_parquet({literal})")
    codes.say(f"  incast.open({folder}).flows    incast results {shell(results.path)} --table flows")


def _ideal(results: Results) -> str:
    """The ideal time of the table's slowdowns."""
    try:
        with closing(Source([results])) as source:
            ((exact,),) = source.rows("select bool_and(ideal_hpcc_ps = ideal_exact_ps) from flows")
    except NameNotUtf8Error:
        return "ideal time"
    return "exact ideal time of the flow alone" if exact else "ideal time of HPCC's formula"


def print_findings(results: Results) -> None:
    """Print what happened in a run."""
    try:
        found = findings(results)
    except NameNotUtf8Error:
        print("\nfindings: not available for a folder with a name that is not valid UTF-8; rename the folder")
        return
    if found:
        print("\nfindings:")
    for finding in found:
        codes.say(bullet(finding.text))


def bullet(text: str) -> str:
    """A sentence as an item of a list, in lines that never begin with a unit."""
    lines = textwrap.wrap(bound(text), WIDTH, initial_indent="- ", subsequent_indent="  ", break_on_hyphens=False)
    return "\n".join(lines).replace("\N{NO-BREAK SPACE}", " ")


def took(scheme: dict[str, Any]) -> str:
    """Simulated time of a scheme, CPU time and speed."""
    text = f"{simulated(scheme['end_ps'])} simulated in {scheme['cpu_s']:.2f} s"
    # The speed of a very short run is noise.
    return f"{text}, {scheme['packet_hops_per_s'] / 1e6:.1f} M packet-hops/s" if scheme["cpu_s"] > 0.05 else text


def judge(results: Results) -> int:
    """The exit code of a run; prints deadlocks, stalls and lossless drops on stderr."""
    found = []
    schemes = results.manifest["schemes"]
    for name, scheme in schemes.items():
        dropped = (f"{each} (see drops.parquet)" for each in declared.above_0(scheme, "failure"))
        found += [(name, why) for why in (*declared.bad_stop(scheme), *dropped)]
    codes.complain_grouped(found, schemes)
    return codes.ENDED_BADLY if found else codes.OK
