"""Jobs (collectives of one label) next to other traffic and alone: iteration times and their ratio."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from incast import _tables
from incast.charts.source import Source
from incast.errors import ResultsError
from incast.iterations import aligned
from incast.results import Results, open_results
from incast.table import Given, Table

if TYPE_CHECKING:
    from incast.scenario import Scenario
    from incast.schema import Scheme

FOLDER = "alone"
"""Folder in the results of a scenario that has a results folder for each job."""
FIELDS = (
    Given("scheme", "name", None, "scheme"),
    Given("label", "name", None, "label of the job's collectives"),
    Given("iterations", "i64", None, "compared iterations: those completed in both simulations"),
    Given("mean_ps", "f64", "ps", "mean time of an iteration since the end of the one before, with the other traffic"),
    Given("alone_ps", "f64", "ps", "the same in a simulation of the job alone"),
    Given("slowdown", "f64", None, "`mean_ps` / `alone_ps`"),
)
HEAD = ("job", "scheme", "iterations", "mean", "alone", "slowdown")
LEGEND = (
    "jobs next to the other traffic and alone: mean time of an iteration since the end of the one before,\n"
    "with compute time (the first has none); less than its communication time if iterations overlap"
)
BY_LABEL = ("control_by_label", "transport_by_label", "window_by_label")
"""Settings of a scheme for the flows of some labels."""
NO_JOB = "jobs are not also simulated alone: no iteration of a collective completed"
"""Warning if there is no job to simulate alone."""
Key = tuple[int, int]
"""An iteration of a label: place of its collective among those of the label, and its number in the collective."""
Times = dict[tuple[str, str], dict[Key, int]]
"""By scheme and label: time of each iteration."""


def only_job(scenario: Scenario) -> str | None:
    """The warning that the traffic of a scenario has one label, which makes simulations of jobs alone pointless."""
    labels = {_label(entry) for entry in scenario.workload}
    if len(labels) != 1:
        return None
    return f"jobs are not also simulated alone: there is no traffic next to label {labels.pop()}"


def parts(scenario: Scenario, results: Results) -> Iterator[tuple[Scenario, Path]]:
    """For each job with a completed iteration: the scenario without other traffic, and the folder for its results."""
    for number, label in enumerate(dict.fromkeys(label for _, label in _times(results))):
        part = copy.copy(scenario)
        part.workload = [entry for entry in scenario.workload if _label(entry) == label]
        part.scheme = {name: _of_label(scheme, label) for name, scheme in (scenario.scheme or {}).items()}
        yield part, results.path / FOLDER / str(number)


def alone(results: Results) -> Table:
    """Iteration time of each job next to the other traffic, alone, and the ratio, by scheme.

    Raises:
        ResultsError: The jobs have not been simulated alone.

    """
    # Other programs leave files of their own, such as .DS_Store.
    numbered = [one for one in (results.path / FOLDER).glob("*") if one.name.isascii() and one.name.isdecimal()]
    folders = sorted(numbered, key=lambda folder: int(folder.name))
    if not folders:
        raise ResultsError(f"{results.path}: jobs were not simulated alone; run the scenario with --alone")
    together = _times(results)
    rows = [
        row
        for folder in folders
        for (scheme, label), times in _times(open_results(folder)).items()
        if (row := _row(scheme, label, together.get((scheme, label), {}), times))
    ]
    return Table.of_rows("alone", FIELDS, rows)


def text(results: Results) -> str:
    """One line for each job and scheme, with a legend; empty if jobs were not simulated alone."""
    if not (results.path / FOLDER).is_dir():
        return ""
    return "\n".join((*aligned([HEAD, *map(_cells, alone(results).dicts())]), LEGEND))


def _row(scheme: str, label: str, together: dict[Key, int], times: dict[Key, int]) -> tuple[Any, ...] | None:
    """A row of the iterations that completed in both simulations."""
    both = [key for key in times if key in together]
    if not both:
        return None
    mean_ps, alone_ps = (sum(each[key] for key in both) / len(both) for each in (together, times))
    return scheme, label, len(both), mean_ps, alone_ps, mean_ps / alone_ps


def _times(results: Results) -> Times:
    """Times of the completed iterations of results, in order of the schemes: from the end of the previous iteration.

    Ranks that have finished compute while others communicate, so compute and communication times of an iteration
    overlap. The first iteration of a collective has no compute time and begins with its first message.
    """
    found: Times = {}
    if "iterations" not in results.tables:
        return found
    order = list(results.manifest["schemes"])
    places = _places(results)
    table = _tables.checked(results, "iterations")
    rows: dict[tuple[str, str], dict[Key, Any]] = {}
    for row in sorted(table.dicts(), key=lambda row: order.index(row["scheme"])):
        key = places[row["label"], row["collective"]], row["iteration"]
        rows.setdefault((row["scheme"], row["label"]), {})[key] = row
    for job, mine in rows.items():
        times = found.setdefault(job, {})
        for (place, number), row in mine.items():
            before = mine.get((place, number - 1))
            times[place, number] = row["end_ps"] - (before["end_ps"] if before else row["start_ps"])
    return found


def _places(results: Results) -> dict[tuple[str, int], int]:
    """Place of each collective among those of its label, by label and number; numbers depend on the other traffic.

    Flows also name collectives without a completed iteration.
    """
    source = Source([results])
    try:
        query = (
            "select label, collective from flows where collective is not null "
            "union select label, collective from iterations"
        )
        numbers = [(str(label), int(number)) for label, number in source.rows(query)]
    finally:
        source.close()
    places: dict[tuple[str, int], int] = {}
    for label in {label for label, _ in numbers}:
        mine = sorted(number for each, number in numbers if each == label)
        places |= {(label, number): place for place, number in enumerate(mine)}
    return places


def _label(entry: Any) -> str:
    """Label of a workload entry: by default the name of its pattern, its only field that is no plain value."""
    tree = entry.to_tree()
    return str(tree.get("label") or next(name for name, value in tree.items() if isinstance(value, (dict, list))))


def _of_label(scheme: Scheme, label: str) -> Scheme:
    """A scheme without settings for other labels, which have no flows."""
    part = copy.copy(scheme)
    for name in BY_LABEL:
        given = getattr(scheme, name) or {}
        setattr(part, name, {label: given[label]} if label in given else None)
    return part


def _cells(row: dict[str, Any]) -> tuple[str, ...]:
    times = (f"{row[name] / 1e6:,.1f} us" for name in ("mean_ps", "alone_ps"))
    return row["label"], row["scheme"], str(row["iterations"]), *times, f"{row['slowdown']:.3f}"
