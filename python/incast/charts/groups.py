"""Folders that charts and pages show: results of runs, sweeps and studies, recognised by a file in them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import incast
from incast import _input
from incast._echo import shell
from incast._nearest import hint
from incast._quantity import Kind, parsed
from incast.charts.source import Source
from incast.errors import ResultsError
from incast.study.drawing_figures import Figures
from incast.study.results import open_study
from incast.sweep.dataset import Run, Sweep, open_sweep

KINDS = {
    "study.json": "the results of a study",
    "sweep.json": "a sweep",
    "manifest.json": "results of a run",
}
"""The file that identifies each kind of folder, in order of the search."""


@dataclass(frozen=True)
class Variation:
    """One scenario of a group with all its schemes."""

    values: tuple[Any, ...]
    """Values of the varied columns, in their order."""
    source: Source
    """Its tables."""


@dataclass(frozen=True)
class Group:
    """Scenarios that differ in the values of some columns; a single one has no columns."""

    name: str
    """Its name, unique among groups."""
    title: str
    """Title of the scenario or the sweep; empty without one."""
    path: Path
    variations: tuple[Variation, ...]
    columns: tuple[dict[str, Any], ...] = ()
    """The varied columns: `name`, `path` in the scenario if it is one field, `values`."""
    missing: tuple[Run, ...] = ()
    """Runs that failed or did not run."""
    warning: str | None = None
    """Warning about these runs, if there are any."""

    @property
    def seed(self) -> str | None:
        """The column of seeds, if there is one."""
        return next((column["name"] for column in self.columns if column["path"] == "seed"), None)

    @property
    def heading(self) -> str:
        """Title, or name of the folder."""
        return self.title or self.path.resolve().name


@dataclass(frozen=True)
class Study:
    """The results of a study without its sweeps."""

    about: dict[str, Any]
    """`study.json`."""
    claims: list[dict[str, Any]]
    """The claims with their verdicts."""
    figures: Figures
    """Figures of the study."""
    first: dict[str, Variation]
    """First scenario of each sweep, for charts of pauses."""
    without: tuple[str, ...] = ()
    """Notes about sweeps without finished runs, which are not shown."""


@dataclass(frozen=True)
class Material:
    """The contents of some folders."""

    title: str
    groups: tuple[Group, ...]
    studies: tuple[Study, ...] = field(default=())


def read(folders: Sequence[Path]) -> Material:
    """Read the folders."""
    groups: list[Group] = []
    studies: list[Study] = []
    for folder in folders:
        kind = kind_of(folder)
        if kind == "study.json":
            study, parts = read_study(folder)
            studies.append(study)
            groups += parts
        else:
            groups.append(read_sweep(folder) if kind == "sweep.json" else read_results(folder))
    titles = [str(study.about.get("title") or study.about["study"]) for study in studies]
    titles = titles or list(dict.fromkeys(group.heading for group in groups))
    if len(titles) > 3:
        titles = [f"{titles[0]}, and {len(titles) - 1} others"]
    return Material(" / ".join(titles), tuple(distinguished(groups)), tuple(studies))


def kind_of(folder: Path) -> str:
    """The file that identifies the kind of a folder."""
    kind = next((name for name in KINDS if _input.exists(folder / name)), None)
    if kind is not None:
        return kind
    if not folder.exists():
        why = "no such folder"
    elif not folder.is_dir():
        why = "is a file"
    elif not any(folder.iterdir()):
        why = "the folder is empty"
    else:
        why = f"has none of {', '.join(KINDS)}"
        inner = sorted(path.name for path in folder.iterdir() if any((path / name).is_file() for name in KINDS))
        why += f"; did you mean {folder / inner[0]}?" if inner else ""
    raise ResultsError(f"{folder}: not the results of a run, a sweep or a study: {why}")


def read_results(folder: Path) -> Group:
    """A results folder as a group of one scenario."""
    results = incast.open(folder)
    source = Source([results])
    return Group(folder.resolve().name, source.title, folder, (Variation((), source),))


def read_sweep(folder: Path, name: str | None = None) -> Group:
    """A sweep as a group of its variations."""
    sweep = open_sweep(folder)
    variations = variations_of(sweep)
    if not variations:
        raise sweep.nothing()
    missing = tuple(run for run in sweep.runs if run.state != "done")
    columns = tuple(sweep.index["columns"])
    return Group(
        name or folder.resolve().name, sweep.title or "", folder, variations, columns, missing, sweep.incomplete()
    )


def variations_of(sweep: Sweep) -> tuple[Variation, ...]:
    """The scenarios of a sweep with finished runs."""
    done: dict[tuple[Any, ...], list[Run]] = {}
    for run in sweep.done:
        done.setdefault(tuple(run.columns[column] for column in sweep.columns), []).append(run)
    title = sweep.title or sweep.path.resolve().name
    palette = list(dict.fromkeys(run.scheme for run in sweep.runs))
    return tuple(
        Variation(values, Source([sweep.results(run) for run in runs], title, palette)) for values, runs in done.items()
    )


def read_study(folder: Path) -> tuple[Study, list[Group]]:
    """The results of a study: its claims, and its sweeps as groups."""
    found = open_study(folder)
    groups, without = [], []
    for name in found.manifest["sweeps"]:
        if name not in found.sweeps:
            without.append(f"Sweep {name} has not started.")
        elif not found.sweeps[name].done:
            without.append(f"Sweep {name} has no finished runs.")
        else:
            groups.append(read_sweep(folder / name, name))
    if not groups:
        raise ResultsError(f"{folder}: this study has no finished runs")
    claims = [claim.to_tree() for claim in found.claims]
    first = {group.name: group.variations[0] for group in groups}
    return Study(found.manifest, claims, found.figures, first, tuple(without)), groups


def distinguished(groups: Sequence[Group]) -> Iterator[Group]:
    """The groups with unique names: folders with the same name are named by their paths."""
    names = [group.name for group in groups]
    for group in groups:
        if names.count(group.name) > 1:
            yield replace(group, name=str(group.path))
        else:
            yield group


def chosen(group: Group, where: Mapping[str, str]) -> Variation:
    """The only scenario of a group with these values of columns."""
    names = [column["name"] for column in group.columns]
    for name, value in where.items():
        if name not in names:
            there = f"only {', '.join(names)}" if names else "because it is one run"
            raise ResultsError(f"{group.path} has no column `{name}`, {there}{hint(name, names)}")
        values = group.columns[names.index(name)]["values"]
        if written_as(values, value) is None:
            raise ResultsError(f"{group.path}: no run with {name} = {value}, only {', '.join(map(str, values))}")
    fitting = fitting_of(group, where)
    if not fitting:
        raise ResultsError(f"{group.path}: no finished run with {conditions(where)}")
    if len(fitting) > 1:
        open_ = [name for place, name in enumerate(names) if len({str(each.values[place]) for each in fitting}) > 1]
        say = " ".join(as_option(name, fitting[0].values[names.index(name)]) for name in open_)
        raise ResultsError(f"{group.path}: {len(fitting)} scenarios match; choose one, for example {say}")
    return fitting[0]


def fitting_of(group: Group, where: Mapping[str, str]) -> list[Variation]:
    """The scenarios of a group with these values of columns; none if it lacks a column or a value."""
    columns = {column["name"]: (place, column["values"]) for place, column in enumerate(group.columns)}
    if not columns.keys() >= where.keys():
        return []
    chosen_ = {columns[name][0]: written_as(columns[name][1], value) for name, value in where.items()}
    return [
        each for each in group.variations if all(str(each.values[place]) == text for place, text in chosen_.items())
    ]


def written_as(values: Sequence[Any], text: str) -> str | None:
    """The one of a column's values that a text means, as the sweep writes it: `0.50` means 0.5, `2MB` means 2000kB."""
    texts = [str(value) for value in values]
    if text in texts:
        return text
    meant = _amount(text)
    return next((known for known in texts if meant is not None and _amount(known) == meant), None)


def _amount(text: str) -> tuple[Kind | None, float] | None:
    """Kind and value of a quantity or a number; `None` for other texts."""
    try:
        return parsed(text) or (None, float(text))
    except ValueError:
        return None


def as_option(name: str, value: object) -> str:
    """The option of the command line that chooses a value of a column."""
    return f"--where {shell(f'{name}={value}')}"


def conditions(where: Mapping[str, object]) -> str:
    """Columns and values in a line."""
    return ", ".join(f"{name} = {value}" for name, value in where.items())
