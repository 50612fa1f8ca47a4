"""Runs that `make pgo` profiles: short ones of every control and transport, and the scenarios of the repository."""

from __future__ import annotations

from pathlib import Path

import incast

FOLDER = Path(__file__).resolve().parents[1] / "scenarios"
CONTROLS = ("dcqcn", "dctcp", "hpcc_pint", "swift", "timely", "timely_patched")
SHORT = ("workload[0].poisson.duration=200us", "workload[1].incast.duration=600us", "workload[1].start=100us")
"""The HPCC evaluation's fabric and traffic for a short time."""
OTHERS = (
    "clos-testbed",
    "dumbbell",
    "incast16",
    "isolation",
    "leafspine_mixed",
    "link_failure",
    "routing-loop",
    "transports",
)


def main() -> None:
    """Run all, one scheme at a time: counters of a profile lose counts of concurrent threads."""
    controls = (f"scheme.{name}.control={name}" for name in CONTROLS)
    quickstart = incast.load(FOLDER / "quickstart.toml", (*SHORT, *controls))
    for scenario in [quickstart, *(incast.load(FOLDER / f"{name}.toml") for name in OTHERS)]:
        scenario.run(threads=1, progress=False)
        print(scenario.title)


if __name__ == "__main__":
    main()
