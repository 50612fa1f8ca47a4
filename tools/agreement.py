"""Write the tables of `python/incast/studies/hpcc/agreement.md` from the reference's runs and ours.

    python tools/agreement.py REFERENCE --work WORK

REFERENCE holds what the HPCC authors' ns-3 (commit 9f4be2a) reads and writes: a folder for each case with
`topology.txt` and `flow.txt`, and in it a folder for each scheme with `config.txt`, `fct.txt` and, for the table of
costs, `meta.json` (`user_s`, `wall_s`, `data_packet_hops`, `ack_packet_hops`, `events`). WORK keeps our runs: what is
there is not run again.

The words of the page are written by hand; what stands between `<!-- generated: NAME -->` and `<!-- end -->` is
replaced.
"""

from __future__ import annotations

import argparse
import re
from pathlib import Path

import agreement_tables as tables
from agreement_runs import Case, Run, cases, run_all, ways

PAGE = Path(__file__).parent.parent / "python" / "incast" / "studies" / "hpcc" / "agreement.md"
COSTS = PAGE.parent / "agreement" / "ns3_costs.csv"
STUDIED = "B_ws30"
"""The case of the study's own fabric and workload, which is compared in full: web search on 320 servers."""
ROUNDS = 16
"""Runs of each case with starts moved, in each arithmetic (our choice)."""


def main() -> None:
    """Run what is missing and write the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("reference", type=Path, help="the reference's cases")
    parser.add_argument("--work", type=Path, required=True, help="folder for our runs")
    parser.add_argument("--jobs", type=int, default=1, help="runs at a time (default 1)")
    options = parser.parse_args()
    found = cases(options.reference)
    studied = [case for case in found if case.folder.name == STUDIED]
    others = [case for case in found if case.folder.name != STUDIED]
    if not studied:
        parser.error(f"{options.reference} has no {STUDIED}/SCHEME/fct.txt with a config.txt beside it")
    runs = [Run(case, way, moved) for moved in range(ROUNDS + 1) for case in studied for way in ways(case)]
    runs += [Run(case, way, 0) for case in others for way in ("ns3", "exact")]
    for number, run in enumerate(run_all(runs, options.work, options.jobs), 1):
        print(f"{number}: {run.case.name} {run.way} {run.moved}", flush=True)
    write(PAGE, blocks(studied, others, options.work))
    COSTS.write_text(tables.costs_csv(studied), encoding="utf-8")
    print(f"wrote {PAGE} and {COSTS}")


def blocks(studied: list[Case], others: list[Case], work: Path) -> dict[str, str]:
    """Every generated part of the page."""
    compared = [tables.Compared.read(case, work, ROUNDS) for case in studied]
    return {
        "overview": tables.overview(compared),
        "beyond": tables.beyond(compared),
        "smallest": tables.smallest(PAGE.parent / "agreement"),
        "marks": tables.marks(compared),
        "bins": tables.bins(compared),
        "others": tables.others(others, work),
        "costs": tables.costs(studied),
    }


def write(page: Path, parts: dict[str, str]) -> None:
    """Replace the generated parts of a page."""
    text = page.read_text(encoding="utf-8")
    for name, part in parts.items():
        block = re.compile(rf"(<!-- generated: {name} -->\n).*?(<!-- end -->)", re.DOTALL)
        if not block.search(text):
            raise ValueError(f"{page} has no part `{name}`")
        text = block.sub(lambda match, part=part: f"{match[1]}{part}\n{match[2]}", text)  # type: ignore[misc]
    page.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
