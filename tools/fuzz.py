"""Fuzz the readers in Rust and runs of drawn scenarios: `python tools/fuzz.py [options] SECONDS [TARGET...]`.

Each target of `fuzz/fuzz_targets` runs for the time given, or until it has had `--inputs`, under libFuzzer, from its
corpus in `fuzz/corpus` and from what earlier calls found in `fuzz/found`. A finding ends its target; its input is in
`fuzz/artifacts`. `--minimise` then selects from both folders those inputs that together reach most branches.
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parent.parent
FUZZ = ROOT / "fuzz"
TARGETS = sorted(file.stem for file in (FUZZ / "fuzz_targets").iterdir())
LIMITS = ("-timeout=60", "-rss_limit_mb=4096", "-max_len=16384", "-len_control=10")
"""Seconds and memory of one input, and its most bytes: as long as the longest of a corpus (our choice)."""


SELECTED = 40
"""Most inputs that `--minimise` selects: 40 reach 86 to 100 % of the branches of hundreds of inputs (our choice)."""
SHORT = 1024
"""Most bytes of a selected input."""
FOUND = re.compile(r"[0-9a-f]{40}")
"""Name that libFuzzer gives to an input."""


@dataclass(frozen=True)
class Tally:
    """Result of some time on one target."""

    target: str
    inputs: int
    seconds: float
    features: int
    """Edges and counters that inputs reach."""
    failed: bool


def build() -> Path:
    """Build all targets; returns the folder of the programs.

    Assertions check the only `unsafe` code, so no sanitizer is needed, and stable Rust suffices.
    """
    subprocess.run(["cargo", "fuzz", "build", "--sanitizer", "none"], cwd=ROOT, check=True)
    host = re.search(r"^host: (.*)$", subprocess.check_output(["rustc", "-vV"], text=True), re.MULTILINE)
    assert host
    return FUZZ / "target" / host[1] / "release"


def run(program: Path, target: str, seconds: int, inputs: int) -> Tally:
    """Run a target; prints what libFuzzer says of a finding."""
    found, artifacts = FUZZ / "found" / target, FUZZ / "artifacts" / target
    for folder in (found, artifacts):
        folder.mkdir(parents=True, exist_ok=True)
    options = [
        f"-max_total_time={seconds}",
        f"-runs={inputs}",
        f"-artifact_prefix={artifacts}/",
        "-print_final_stats=1",
        *LIMITS,
    ]
    begin = time.monotonic()
    command: list[str | Path] = [program, *options, found, FUZZ / "corpus" / target]
    ran = subprocess.run(command, capture_output=True, text=True, errors="replace", cwd=FUZZ)
    if ran.returncode:
        print("\n".join(line for line in ran.stderr.splitlines() if not line.startswith("#")), file=sys.stderr)
    executed = re.findall(r"stat::number_of_executed_units: +(\d+)", ran.stderr)
    features = re.findall(r" ft: (\d+)", ran.stderr)
    return Tally(
        target,
        int(executed[-1]) if executed else 0,
        time.monotonic() - begin,
        int(features[-1]) if features else 0,
        ran.returncode != 0,
    )


def minimise(program: Path, target: str) -> None:
    """Select inputs of the corpus and of what was found; inputs with a name of their own stay."""
    corpus, small = FUZZ / "corpus" / target, FUZZ / "found" / f"{target}.small"
    shutil.rmtree(small, ignore_errors=True)
    small.mkdir(parents=True)
    options = ["-set_cover_merge=1", "-use_counters=0", *LIMITS, f"-max_len={SHORT}"]
    command: list[str | Path] = [program, *options, small, corpus, FUZZ / "found" / target]
    subprocess.run(command, capture_output=True, cwd=FUZZ, check=True)
    # libFuzzer writes first what reaches most.
    selected = sorted(small.iterdir(), key=lambda file: file.stat().st_mtime_ns)[:SELECTED]
    contents = {file.name: file.read_bytes() for file in selected}
    for file in corpus.iterdir():
        if FOUND.fullmatch(file.name):
            file.unlink()
    named = {file.read_bytes() for file in corpus.iterdir()}
    for name, content in contents.items():
        if content not in named:
            (corpus / name).write_bytes(content)
    shutil.rmtree(small)


def main() -> int:
    """Fuzz the named targets, or all; prints a row for each."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("seconds", type=int)
    parser.add_argument("target", nargs="*", metavar="TARGET", help=", ".join(TARGETS))
    parser.add_argument("--inputs", type=int, default=-1, help="most inputs of a target, without the corpus")
    parser.add_argument("--minimise", action="store_true")
    asked = parser.parse_args()
    if unknown := set(asked.target) - set(TARGETS):
        parser.error(f"no target {', '.join(sorted(unknown))}; there are {', '.join(TARGETS)}")
    programs, failed = build(), False
    for target in asked.target or TARGETS:
        one = run(programs / target, target, asked.seconds, asked.inputs)
        failed |= one.failed
        state = "FINDING" if one.failed else "no finding"
        print(f"{one.target:<16} {one.inputs:>12,} inputs {one.seconds:>6.0f} s {one.features:>7} features  {state}")
        sys.stdout.flush()
        if asked.minimise:
            minimise(programs / target, target)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
