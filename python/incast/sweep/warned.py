"""The warnings of several runs, in one list."""

from __future__ import annotations

import re
from collections.abc import Iterable

# Not the index in `workload[1]` and the digit of `leaf0`: they name what a warning is about.
NUMBER = re.compile(r"(?<![\w\[.])\d[\d.,]*")


def counted(runs: Iterable[Iterable[str]]) -> dict[str, int]:
    """Number of runs by warning; the warnings of most runs first.

    Warnings that differ only in numbers count as one, which has the numbers of its first run and says so.
    """
    found: dict[str, list[set[str]]] = {}
    for warnings in runs:
        kinds: dict[str, set[str]] = {}
        for text in warnings:
            kinds.setdefault(NUMBER.sub("#", text), set()).add(text)
        for kind, texts in kinds.items():
            found.setdefault(kind, []).append(texts)
    counts = {}
    for of_runs in found.values():
        text = min(of_runs[0])
        same = all(texts == {text} for texts in of_runs)
        counts[text if same else f"{text} (numbers of one run)"] = len(of_runs)
    return dict(sorted(counts.items(), key=lambda each: (-each[1], each[0])))
