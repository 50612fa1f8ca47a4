"""The warnings of several runs, in one list."""

from __future__ import annotations

import re
from collections.abc import Iterable

# Not the index in `workload[1]` and the digit of `leaf0`: they name what a warning is about.
NUMBER = re.compile(r"(?<![\w\[.])\d[\d.,]*")


def grouped(runs: Iterable[Iterable[str]]) -> dict[str, list[int]]:
    """Places of the runs that have a warning, by warning; the warnings of most runs first.

    Warnings that differ only in numbers count as one, which has the numbers of its first run and says so.
    """
    found: dict[str, dict[int, set[str]]] = {}
    for place, warnings in enumerate(runs):
        for text in warnings:
            found.setdefault(NUMBER.sub("#", text), {}).setdefault(place, set()).add(text)
    places = {}
    for of_runs in found.values():
        text = min(next(iter(of_runs.values())))
        same = all(texts == {text} for texts in of_runs.values())
        places[text if same else f"{text} (numbers of one run)"] = list(of_runs)
    return dict(sorted(places.items(), key=lambda each: (-len(each[1]), each[0])))


def counted(runs: Iterable[Iterable[str]]) -> dict[str, int]:
    """Number of runs by warning, as `grouped` has them."""
    return {text: len(places) for text, places in grouped(runs).items()}
