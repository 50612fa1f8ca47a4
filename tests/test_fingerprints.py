"""Fingerprints: two numbers that are equal where two runs are equal."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import incast
from conftest import ROOT, Command, write

TABLE = ROOT / "crates/incast-lab/tests/examples/snapshots/examples__fingerprints__of_the_examples.snap"
"""Fingerprints of the example scenarios, as the tests of the lab check them too."""


def fingerprints(results: incast.Results) -> dict[str, tuple[str, str]]:
    """Both fingerprints of every scheme."""
    schemes: dict[str, Any] = results.manifest["schemes"]
    prints = {name: scheme["fingerprint"] for name, scheme in schemes.items()}
    return {name: (one["trajectory"], one["traffic"]) for name, one in prints.items()}


def run(file: Path, out: Path, *, threads: int | None = None, change: str = "") -> dict[str, tuple[str, str]]:
    """The fingerprints of a run."""
    changes = ["measure.fingerprint=true", *filter(None, [change])]
    return fingerprints(incast.load(file, changes).run(out, threads=threads))


def test_command_prints_them(command: Command, small: Path, tmp_path: Path) -> None:
    done = command("run", small, "--fingerprint", "-o", "out")
    assert done.returncode == 0, done.stderr
    found = fingerprints(incast.open(tmp_path / "out"))
    assert len({number for pair in found.values() for number in pair}) == 4
    for name, (trajectory, traffic) in found.items():
        line = next(line for line in done.stdout.splitlines() if line.endswith(f"{trajectory} {traffic}"))
        assert line.startswith(name)


def test_only_where_asked_for(command: Command, small: Path, tmp_path: Path) -> None:
    done = command("run", small, "-o", "out")
    assert "fingerprint" not in done.stdout
    schemes = incast.open(tmp_path / "out").manifest["schemes"]
    assert all("fingerprint" not in scheme for scheme in schemes.values())


def test_they_depend_on_what_happens_only(small: Path, tmp_path: Path) -> None:
    first = run(small, tmp_path / "first", threads=1)
    assert run(small, tmp_path / "second", threads=2) == first
    assert run(small, tmp_path / "measured", change='measure.sample_every="1us"') == first
    other = run(small, tmp_path / "other", change="seed=8")
    for name, (trajectory, traffic) in first.items():
        assert trajectory != other[name][0]
        assert traffic != other[name][1]


def test_an_event_that_nobody_sees_changes_the_first_only(tmp_path: Path) -> None:
    # One short flow: it ends before a timer of the host could do anything but tick.
    text = """
        [fabric.star]
        hosts = 2
        [[workload]]
        list = [{ src = 0, dst = 1, size = "400kB" }]
        [scheme.A]
        control = "unlimited"
        [rdma]
        rto = "RTO"
    """
    often = write(tmp_path, text.replace("RTO", "10us"), "often.toml")
    seldom = write(tmp_path, text.replace("RTO", "1ms"), "seldom.toml")
    (first,) = run(often, tmp_path / "often").values()
    (second,) = run(seldom, tmp_path / "seldom").values()
    assert first[0] != second[0]
    assert first[1] == second[1]


@pytest.mark.parametrize("name", ["dumbbell", "incast16"])
def test_of_the_examples(name: str, tmp_path: Path) -> None:
    # Whichever way the extension module was built, debug or release.
    rows = [line for line in TABLE.read_text(encoding="utf-8").splitlines() if line.startswith(f"{name} ")]
    found = run(ROOT / "scenarios" / f"{name}.toml", tmp_path / name)
    assert len(rows) == len(found)
    for row, (scheme, prints) in zip(rows, found.items(), strict=True):
        assert row.removeprefix(name).strip().startswith(scheme)
        assert tuple(row.split()[-2:]) == prints
