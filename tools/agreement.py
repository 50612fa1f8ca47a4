"""Compare incast with runs of the HPCC authors' ns-3; write the data and the table of docs/design/agreement.md.

    python tools/agreement.py REFERENCE --work WORK

REFERENCE holds the input and output of the HPCC authors' ns-3 (commit 9f4be2a): a folder for each case with
`topology.txt` and `flow.txt`, and in it a folder for each scheme with `config.txt`, `fct.txt` and, for the CPU times,
`meta.json` (`user_s`, `wall_s`, `data_packet_hops`, `ack_packet_hops`, `events`). WORK keeps incast's runs; runs that
are there already are not repeated.

The data are CSV files in `python/incast/studies/hpcc/agreement`. In the page, the text between
`<!-- generated: NAME -->` and `<!-- end -->` is replaced.
"""

from __future__ import annotations

import argparse
import csv
import re
from pathlib import Path

import agreement_tables as tables
from agreement_runs import Case, Run, cases, run_all, ways

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "design" / "agreement.md"
DATA = ROOT / "python" / "incast" / "studies" / "hpcc" / "agreement"
STUDIED = "B_ws30"
"""The case with the study's fabric and workload (web search on 320 servers), compared in full."""
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
        parser.error(f"{options.reference} has no {STUDIED}/SCHEME/fct.txt with a config.txt next to it")
    runs = [Run(case, way, moved) for moved in range(ROUNDS + 1) for case in studied for way in ways(case)]
    runs += [Run(case, way, 0) for case in others for way in ("ns3", "exact")]
    for number, run in enumerate(run_all(runs, options.work, options.jobs), 1):
        print(f"{number}: {run.case.name} {run.way} {run.moved}", flush=True)
    for name, rows in data(studied, others, options.work).items():
        save(DATA / f"{name}.csv", rows)
    write(PAGE, {"overview": tables.overview_table(read(DATA / "overview.csv"))})
    print(f"wrote {PAGE} and {DATA}/*.csv")


def data(studied: list[Case], others: list[Case], work: Path) -> dict[str, list[tables.Row]]:
    """Rows of every data file by its name."""
    compared = [tables.Compared.read(case, work, ROUNDS) for case in studied]
    return {
        "overview": tables.overview(compared),
        "beyond": tables.beyond(compared),
        "smallest": tables.smallest(DATA),
        "marks": tables.marks(compared),
        "bins": tables.bins(compared),
        "others": tables.others(others, work),
        "ns3_costs": tables.costs(studied),
    }


def save(file: Path, rows: list[tables.Row]) -> None:
    """Write rows as CSV."""
    with file.open("w", newline="", encoding="utf-8") as opened:
        writer = csv.DictWriter(opened, rows[0].keys(), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def read(file: Path) -> list[dict[str, str]]:
    """Rows of a CSV file."""
    with file.open(newline="", encoding="utf-8") as opened:
        return list(csv.DictReader(opened))


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
