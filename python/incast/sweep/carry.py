"""Runs on machines without a shared disk: files of a run are sent with it, and its results are sent back."""

from __future__ import annotations

import hashlib
import json
import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from incast.errors import EnvironmentFailure
from incast.sweep.execute import Task, checked

SECTIONS = ("fabric", "workload")
"""Sections of a scenario that name files."""


@dataclass(frozen=True)
class Parcel:
    """A task and the names of its files, as plain values."""

    task: dict[str, Any]
    """The task; its scenario has relative names of files."""
    names: list[str]
    """Names of the files, relative to the folder of the scenario; they may contain `..`."""
    renamed: dict[str, str]
    """Original absolute names of files, by their new relative names."""
    back: str
    """The folder of the scenario, relative to that of the results."""


def pack(task: Task, folder: Path) -> tuple[Parcel, list[Path]]:
    """The parcel of a task and the files to send with it, in the order of their names; results go to `folder`.

    Raises:
        IncastError: A file has changed since the sweep was planned.

    """
    files = list(dict.fromkeys(checked(task).files()))
    new = {str(file): f"incast-carried-{number}{file.suffix}" for number, file in enumerate(files)}
    tree, renamed = json.loads(task.tree), {}

    def relative(value: Any) -> Any:
        if isinstance(value, dict):
            return {name: relative(item) for name, item in value.items()}
        if isinstance(value, list):
            return [relative(item) for item in value]
        if isinstance(value, str) and value in new and Path(value).is_absolute():
            renamed[new[value]] = value
            return new[value]
        return value

    for section in SECTIONS:
        tree[section] = relative(tree[section])
    was = {file: name for name, file in renamed.items()}
    names = [was.get(str(file)) or str(file.relative_to(task.base)) for file in files]
    back = os.path.relpath(os.path.realpath(task.base), os.path.realpath(folder))
    return Parcel({**vars(task), "tree": json.dumps(tree)}, names, renamed, back), files


def unpack(parcel: Parcel, contents: tuple[bytes, ...], home: Path) -> Path:
    """Write the files of a parcel; returns the folder that their names are relative to.

    That folder is nested in `home` as deep as names with `..` need.
    """
    names = [Path(os.path.normpath(name)) for name in parcel.names]
    base = home.joinpath(*["in"] * max((name.parts.count("..") for name in names), default=0))
    base.mkdir(parents=True, exist_ok=True)
    for name, content in zip(names, contents, strict=True):
        file = Path(os.path.normpath(base / name))
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)
    return base


def restore(parcel: Parcel, folder: Path) -> None:
    """Restore the original names of files in a results folder."""
    scenario, manifest = folder / "scenario.toml", folder / "manifest.json"
    before = scenario.read_bytes()
    text = before.decode()
    for name, was in parcel.renamed.items():
        text = text.replace(json.dumps(name), json.dumps(was, ensure_ascii=False))
    after = text.encode()
    scenario.write_bytes(after)
    said = manifest.read_text(encoding="utf-8")
    dir_ = f'"scenario_dir": {json.dumps(parcel.back, ensure_ascii=False)}'
    said = re.sub(r'"scenario_dir": "(?:[^"\\]|\\.)*"', lambda _: dir_, said, count=1)
    said = said.replace(hashlib.sha256(before).hexdigest(), hashlib.sha256(after).hexdigest())
    manifest.write_text(said, encoding="utf-8")


def at_home(parcel: Parcel, base: Path, error: str) -> str:
    """An error with the original names of files."""
    for name, was in parcel.renamed.items():
        error = error.replace(str(base / name), was)
    return error.replace(str(base), parcel.task["base"])


def write(folder: Path, files: dict[str, bytes]) -> None:
    """Write the files of a results folder; raises `EnvironmentFailure` on failure."""
    try:
        folder.mkdir(parents=True)
        for name, content in files.items():
            (folder / name).write_bytes(content)
    except OSError as error:
        raise EnvironmentFailure(f"cannot write {folder}: {error.strerror}") from None
