"""Give changed files to the readers in Python: `python tools/fuzz_readers.py SECONDS [TARGET...]`, part of `make fuzz`.

A reader must return or raise an `IncastError` that blames the input. Everything else is a finding: its file is kept in
`fuzz/artifacts`. Files of `fuzz/readers/TARGET` are changed at random, without feedback; `tests/test_fuzz.py` reads
them unchanged.
"""

from __future__ import annotations

import random
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from incast import _database, memory
from incast.application.trace import read_trace
from incast.comparison import reference
from incast.errors import IncastError, InternalError
from incast.sonic.importing import imported
from incast.study import load_study
from incast.sweep import plan

ROOT = Path(__file__).parent.parent
CORPORA = ROOT / "fuzz" / "readers"
ARTIFACTS = ROOT / "fuzz" / "artifacts"
STUDY = {file.name: file.read_bytes() for file in (ROOT / "tests" / "data" / "study").iterdir()}
SCENARIO = """\
[fabric.star]
hosts = 4
[[workload]]
poisson = { load = 0.2, sizes = "fb_hadoop", duration = "10us" }
[scheme.DCQCN]
control = "dcqcn"
[scheme.HPCC]
control = "hpcc"
"""
NUMBERS = (b"0", b"-1", b"1e308", b"nan", b"18446744073709551616", b"0.1", b"true", b'""', b"[]", b"{}")
MOST_CHANGES = 4
"""Most changes of an input (our choice)."""

Reader = Callable[[Path, bytes], object]


def _sweep(folder: Path, content: bytes) -> None:
    (folder / "scenario.toml").write_text(SCENARIO)
    (folder / "sweep.toml").write_bytes(content)
    plan.read(folder / "sweep.toml")


def _study(name: str) -> Reader:
    def read(folder: Path, content: bytes) -> None:
        for other, text in STUDY.items():
            (folder / other).write_bytes(text)
        (folder / name).write_bytes(content)
        load_study(folder)

    return read


def _fct(folder: Path, content: bytes) -> None:
    (folder / "fct.txt").write_bytes(content)
    with _database.connect([folder / "fct.txt"]) as connection:
        reference.read(connection, folder / "fct.txt")


def _of_two(name: str, files: dict[str, str], whole: Callable[[Path], object]) -> Reader:
    """Reader of a folder with two files; `files` names each by its corpus."""

    def read(folder: Path, content: bytes) -> None:
        for target, file in files.items():
            (folder / file).write_bytes(content if target == name else next(inputs(target))[1])
        whole(folder)

    return read


def _sonic(folder: Path) -> None:
    imported(folder / "config_db.json", folder / "pg_profile_lookup.ini")


def _page_faults(folder: Path, content: bytes) -> None:
    (folder / "faults").write_bytes(content)
    read_trace(folder / "faults")


def _recording(folder: Path) -> None:
    memory.write_traffic([folder], folder / "traffic")


SONIC = {"sonic": "config_db.json", "sonic_lookup": "pg_profile_lookup.ini"}
RECORDING = {"recording_summary": "summary.json", "recording_trace": "trace.parquet"}

TARGETS: dict[str, Reader] = {
    "sweep": _sweep,
    "study": _study("study.toml"),
    "claims": _study("claims.toml"),
    "explanations": _study("explanations.md"),
    "fct": _fct,
    "page_faults": _page_faults,
    **{name: _of_two(name, SONIC, _sonic) for name in SONIC},
    **{name: _of_two(name, RECORDING, _recording) for name in RECORDING},
}
"""Readers by the name of their corpus; each gets an empty folder and the content of a file."""


def inputs(target: str) -> Iterator[tuple[str, bytes]]:
    """Files of a corpus, by name."""
    for file in sorted((CORPORA / target).iterdir()):
        yield file.name, file.read_bytes()


def finding(target: str, content: bytes) -> BaseException | None:
    """The exception by which a reader breaks its promise, if any."""
    with tempfile.TemporaryDirectory(dir=_memory_folder()) as folder:
        try:
            TARGETS[target](Path(folder), content)
        except InternalError as error:
            return error
        except IncastError:
            return None
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # a panic of the core is not an `Exception`
            return error
    return None


def _memory_folder() -> str | None:
    shared = Path("/dev/shm")
    return str(shared) if shared.is_dir() else None


def changed(content: bytes, others: list[bytes], draw: random.Random) -> bytes:
    """The content with a few changes: bytes, ranges, numbers, and parts of other files."""
    data = bytearray(content)
    for _ in range(draw.randint(1, MOST_CHANGES)):
        begin = draw.randint(0, len(data))
        end = min(len(data), begin + draw.choice((1, 1, 2, 8, 32)))
        kind = draw.randrange(6)
        if kind == 0 and begin < len(data):
            data[begin] ^= 1 << draw.randrange(8)
        elif kind == 1:
            del data[begin:end]
        elif kind == 2:
            data[begin:begin] = data[begin:end] * draw.choice((1, 2, 50))
        elif kind == 3:
            data[begin:end] = draw.choice(NUMBERS)
        elif kind == 4:
            data[begin:end] = draw.randbytes(end - begin)
        else:
            other = draw.choice(others)
            start = draw.randint(0, len(other))
            data[begin:end] = other[start : start + draw.choice((4, 32, 256))]
    return bytes(data)


@dataclass(frozen=True)
class Tally:
    """Result of some time on one target."""

    target: str
    inputs: int
    seconds: float
    findings: list[Path]


def fuzz(target: str, seconds: float, seed: int) -> Tally:
    """Change the files of a corpus until the time is up, or to the tenth finding."""
    draw, begin, count = random.Random(seed), time.monotonic(), 0
    files, found = [content for _, content in inputs(target)], dict[str, Path]()
    while time.monotonic() - begin < seconds and len(found) < 10:
        content = changed(draw.choice(files), files, draw)
        count += 1
        if error := finding(target, content):
            kind = f"{type(error).__name__}: {error}"[:300]
            if kind not in found:
                found[kind] = _kept(target, content)
                print(f"{target}: {kind}\n  {found[kind]}", file=sys.stderr)
    return Tally(target, count, time.monotonic() - begin, list(found.values()))


def _kept(target: str, content: bytes) -> Path:
    folder = ARTIFACTS / f"reader-{target}"
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"{len(list(folder.iterdir()))}"
    file.write_bytes(content)
    return file


def main() -> int:
    """Fuzz the named targets, or all; prints a row for each."""
    seconds, names = float(sys.argv[1]), sys.argv[2:] or list(TARGETS)
    tallies = [fuzz(name, seconds, time.time_ns()) for name in names]
    for one in tallies:
        print(f"{one.target:<20} {one.inputs:>12,} inputs {one.seconds:>8.0f} s {len(one.findings):>4} findings")
    return int(any(one.findings for one in tallies))


if __name__ == "__main__":
    sys.exit(main())
