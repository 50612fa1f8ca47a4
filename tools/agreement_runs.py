"""The runs that `agreement.py` compares: every case of the reference in its own arithmetic, and in ours.

A case of the reference is a folder with `topology.txt` and `flow.txt`, and for each scheme a folder with `config.txt`
and the `fct.txt` that came of it.
"""

from __future__ import annotations

import csv
import json
import math
import os
import random
import re
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import incast
from incast import _core

MOVED_NS = 64
"""Starts are moved by less than this: less than a full packet takes at 100 Gb/s (our choice)."""
GBPS = 10**9
PROFILE = 'profile = "ns3"\n'
SAME_PATHS = '\n[network]\nhash = "murmur3"\nnext_hop_order = "neighbour-descending"\n'
"""Both sides use the same ECMP, so that every flow takes the same path."""
FULL_PACKET = {"dcqcn": 1048, "dctcp": 1048, "timely": 1056, "hpccPint": 1050}
"""Bytes on the wire of a full data packet. HPCC-INT is missing: its packets are only 0.2 % too fast."""
HOSTS_GBPS = 100
"""Rate of every host's link."""


@dataclass(frozen=True)
class Case:
    """A run of the reference."""

    folder: Path
    """The case: topology and flows."""
    cc: str
    """The reference's name of the scheme; the folder of its run."""

    @property
    def fct(self) -> Path:
        """Completion times, as the reference wrote them."""
        return self.folder / self.cc / "fct.txt"

    @property
    def name(self) -> str:
        """Case and scheme."""
        return f"{self.folder.name}.{self.cc}"


@dataclass(frozen=True)
class Run:
    """One of our runs of a case."""

    case: Case
    way: str
    """`ns3` (the reference's arithmetic), `exact` (ours), `wires` (ours, links as fast as the reference's truncated
    times make them)."""
    moved: int
    """0 for the flows as they are; else the number of a round of moved starts, and
    one less than the seed."""

    def folder(self, work: Path) -> Path:
        """Its results folder."""
        return work / "runs" / self.case.name / f"{self.way}-{self.moved}"


def cases(reference: Path) -> list[Case]:
    """All runs of the reference in a folder."""
    found = sorted(path.parent for path in reference.glob("*/*/fct.txt") if (path.parent / "config.txt").exists())
    return [Case(folder.parent, folder.name) for folder in found]


def ways(case: Case) -> list[str]:
    """How a case can be run."""
    return ["ns3", "exact", *(["wires"] if full_packet(case.cc) else [])]


def full_packet(cc: str) -> int | None:
    """Bytes of a full data packet of a scheme that is run on links as fast as the reference's."""
    return next((size for name, size in FULL_PACKET.items() if cc.startswith(name)), None)


def speed_up(case: Case, gbps: int) -> Fraction:
    """How much faster the reference's links are for full packets."""
    packet = full_packet(case.cc)
    assert packet is not None
    return Fraction(packet * 8, gbps) / truncated_ns(packet, gbps)


def truncated_ns(packet: int, gbps: int) -> int:
    """Time in which the reference sends a packet: rounded down to nanoseconds, and one less if it is whole."""
    return (packet * 8 - 1) // gbps


def topology(case: Case) -> Path:
    """The topology file of a case."""
    return case.folder / "topology.txt"


def run_all(runs: list[Run], work: Path, jobs: int) -> Iterator[Run]:
    """Run what has not been run yet; yields each run as it ends."""
    missing = [run for run in runs if not run.folder(work).exists()]
    with ProcessPoolExecutor(jobs) as pool:
        for run, _ in zip(missing, pool.map(_run, missing, [work] * len(missing)), strict=True):
            yield run


def _run(run: Run, work: Path) -> None:
    folder = run.folder(work)
    folder.parent.mkdir(parents=True, exist_ok=True)
    scenario = folder.with_name(f"{folder.name}.{os.getpid()}.toml")
    _core.import_ns3(
        topology(run.case),
        run.case.folder / "flow.txt",
        [run.case.folder / run.case.cc / "config.txt"],
        scenario,
        True,
    )
    text = scenario.read_text()
    if run.way != "ns3":
        assert PROFILE in text
        text = text.replace(PROFILE, "") + SAME_PATHS
        text = text.replace("ns3.flows", "ns3.ns3_starts = true\nns3.flows")
    scenario.write_text(text)
    flows = folder.with_name(f"{folder.name}.{os.getpid()}.csv")
    if run.moved:
        _core.Scenario.load(scenario, []).write_trace(flows)
        move_starts(flows, run.moved)
        line = next(line for line in text.splitlines() if line.startswith("ns3.flows"))
        text = text.replace("ns3.ns3_starts = true\n", "").replace(line, f'trace.file = "{flows.name}"')
    if run.way == "wires":
        text = on_fast_wires(text, run.case, scenario)
        scenario.with_suffix(".topology").write_text(faster(topology(run.case).read_text(), run.case, "{}"))
    scenario.write_text(text)
    incast.load(scenario, [f"seed={1 + run.moved}"]).run(folder, threads=1)
    for file in folder.parent.glob(f"{folder.name}.{os.getpid()}.*"):
        file.unlink()


def move_starts(flows: Path, seed: int) -> None:
    """Move the starts of a trace by 0 to 63 ns, each flow's own number of each round."""
    chance = random.Random(seed)
    with flows.open(newline="") as file:
        rows = list(csv.DictReader(file))
    for row in rows:
        row["start_ps"] = str(int(row["start_ps"]) + 1000 * chance.randrange(MOVED_NS))
    with flows.open("w", newline="") as file:
        writer = csv.DictWriter(file, rows[0].keys())
        writer.writeheader()
        writer.writerows(rows)


def on_fast_wires(text: str, case: Case, scenario: Path) -> str:
    """The scenario on links that carry the scheme's full packets as fast as the reference's truncated times do.

    Its base round-trip time and its window stay those of the links as they are named, and so do its thresholds.
    HPCC-PINT steers to a share of the rate that a link says it has: its target is lowered so that it stays that rate.
    """
    fabric = json.loads(_core.Scenario.load(scenario, []).summary("json"))["fabric"]
    text = re.sub(r"^topology = .*$", f'topology = "{scenario.with_suffix(".topology").name}"', text, flags=re.M)
    nominal = f'[rdma]\nbase_rtt = "{fabric["max_base_rtt"]}"\nwindow = "{fabric["max_bdp"]}"\n'
    text = re.sub(r"^eta = (.*)$", lambda eta: f"eta = {float(eta[1]) / speed_up(case, HOSTS_GBPS)}", text, flags=re.M)
    return faster(text.replace("[rdma]\n", nominal), case, 'rate = "{}"')


def faster(text: str, case: Case, written: str) -> str:
    """Replaces every rate in a text by the rate at which a full packet takes the time of the HPCC authors' ns-3."""

    def rate(match: re.Match[str]) -> str:
        return written.format(f"{math.ceil(int(match[1]) * GBPS * speed_up(case, int(match[1])))}bps")

    return re.sub(written.format(r"(\d+)Gbps"), rate, text)
