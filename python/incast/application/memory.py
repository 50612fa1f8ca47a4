"""The memory flows of a results folder; only these delay an application."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from os import PathLike

from incast.application import wrong
from incast.charts.source import Source
from incast.errors import ApplicationError
from incast.results import Results, open_results

MEMORY = "memory"
"""Label of memory flows, or its end after `-`, as in the workload `disaggregated`."""


@dataclass(frozen=True)
class MemoryFlows:
    """Completion times of the memory flows of a scheme."""

    fct_ps: list[int]
    """Completion times in picoseconds."""
    unfinished: int
    """Number of flows that started and did not complete."""
    labels: tuple[str, ...]
    """Their labels."""
    of: str
    """The folder and the scheme, for messages."""


def is_memory(label: str) -> bool:
    """True for a label of memory flows."""
    return label == MEMORY or label.endswith(f"-{MEMORY}")


def opened(results: Results | str | PathLike[str]) -> Results:
    """The given results, or the results in a folder."""
    return results if isinstance(results, Results) else open_results(results)


def schemes(results: Results, scheme: str | None) -> list[str]:
    """The named scheme, or all schemes."""
    names = [str(name) for name in results.manifest["schemes"]]
    if scheme is not None and scheme not in names:
        raise wrong.unknown(f"scheme in {results.path}", scheme, names)
    return names if scheme is None else [scheme]


def memory_labels(results: Results) -> list[str]:
    """The labels of memory flows; an error with all labels if there are none."""
    file = results.path / "flows.parquet"
    with closing(Source([results])) as source:
        labels = source.labels
    found = [label for label in labels if is_memory(label)]
    if not found:
        there = f"its labels are {', '.join(labels)}" if labels else "it has no flows"
        raise ApplicationError(
            f"error: {file} has no memory flows: {there}\n"
            f" = allowed: flows labelled `{MEMORY}` or `*-{MEMORY}`; only these delay an application"
        )
    return found


def read(
    results: Results | str | PathLike[str], scheme: str | None = None, labels: Sequence[str] | None = None
) -> MemoryFlows:
    """The memory flows of a scheme, of all memory labels or of given ones."""
    results = opened(results)
    names = schemes(results, scheme)
    if len(names) != 1:
        raise wrong.refused("scheme", scheme, f"one of the {len(names)} in {results.path}: {', '.join(names)}")
    known = memory_labels(results)
    for label in labels or ():
        if label not in known:
            raise wrong.unknown(f"label of memory flows in {results.path}", label, known)
    chosen = list(known if labels is None else labels)
    query = "select fct_ps from flows where scheme = ? and list_contains(?, label) and start_ps is not null"
    with closing(Source([results])) as source:
        rows = [fct for (fct,) in source.rows(query, [names[0], chosen])]
    done = [fct for fct in rows if fct is not None]
    if not done:
        flows = f"flows of {results.path} labelled {', '.join(chosen)}"
        raise ApplicationError(f"no latencies: none of the {len(rows):,} {flows} completed under {names[0]}")
    return MemoryFlows(done, len(rows) - len(done), tuple(chosen), f"{results.path}, {names[0]}")
