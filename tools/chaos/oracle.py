"""Comparison of a folder after faults with undisturbed results."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

TIMES = {"wall_s", "cpu_s", "packet_hops_per_s", "date"}
"""What two undisturbed runs differ in."""
LOCK = re.compile(r"\.(sweep\.)?lock")
Kept = dict[str, tuple[int, int]]
"""Inode and time of change of files, by path."""


def contents(folder: Path) -> dict[str, str]:
    """Digests of all files of a folder, without times of the machine."""
    return {str(file.relative_to(folder)): digest(file) for file in sorted(folder.rglob("*")) if file.is_file()}


def digest(file: Path) -> str:
    """Digest of a file without times; of files that only derive from others, their existence."""
    if file.name in ("manifest.json", "study.json"):
        return sha256(json.dumps(without_times(json.loads(file.read_text(encoding="utf-8")))).encode()).hexdigest()
    if file.name == "runs.parquet":
        import duckdb

        columns = ", ".join(f'"{name}"' for name in sorted(TIMES & {"wall_s", "cpu_s"}))
        rows = duckdb.connect().execute(f"select * exclude ({columns}) from '{file}' order by all").fetchall()
        return sha256(repr(rows).encode()).hexdigest()
    # Checksums of the manifest; the page shows its times. The lock is empty.
    if file.name in ("SHA256SUMS", "report.html") or LOCK.fullmatch(file.name):
        return ""
    return sha256(file.read_bytes()).hexdigest()


def without_times(tree: object) -> object:
    """A JSON tree without times."""
    if isinstance(tree, dict):
        return {key: without_times(value) for key, value in tree.items() if key not in TIMES}
    return [without_times(value) for value in tree] if isinstance(tree, list) else tree


def finished(folder: Path) -> Kept:
    """Files of finished runs of sweeps: done again, they would change."""
    files = (file for file in folder.glob("**/runs/*/*") if ".work" not in file.parts)
    return {str(file): (file.stat().st_ino, file.stat().st_mtime_ns) for file in files}


def differences(expected: dict[str, str], found: dict[str, str]) -> Iterator[str]:
    """Files that are missing, left over or different."""
    for name in sorted(expected.keys() | found.keys()):
        if name not in found:
            yield f"{name} is missing"
        elif name not in expected:
            yield f"{name} is left over"
        elif expected[name] != found[name]:
            yield f"{name} is different"
