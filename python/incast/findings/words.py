"""Phrases of findings: counts with nouns, values of several schemes, places and times."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence

from incast.charts import look

FEW = 3
"""Most different values that a phrase lists; of more it gives the lowest and the highest (our choice)."""
NAMED = 3
"""Most names in a list (our choice)."""
LOWER = ("deadlock ", "flows ", "hosts ", "iterations ", "packets ", "rate limits ", "switches ", "the ")
"""First words of texts that may follow the name of a scheme."""
UNIT = r"(?<=\d) (?=%|[pnum]?s\b|[kMGT]?B\b|[kMGT]?b\/s\b|times\b)"
"""The space between a number and its unit: a regular expression of Python and JavaScript."""
TIMES = {1: "once", 2: "twice"}

time, size = look.time, look.size


def number(value: float) -> str:
    """A number with three significant digits, or all digits before the point: 1,418, 61.8, 0.125."""
    if isinstance(value, int) or value >= 999.5:
        return f"{round(value):,}"
    return f"{value:.3g}"


def share(value: float) -> str:
    """A share in percent; a part that rounds to the whole or to nothing is marked."""
    if 0.9995 <= value < 1:
        return "more than 99.9 %"
    if 0 < value < 0.0005:
        return "less than 0.1 %"
    return f"{number(value * 100)} %"


def noun(count: float, one: str, many: str | None = None) -> str:
    """A noun in the number of a count."""
    return one if count == 1 else many or f"{one}s"


def count(value: int, one: str, many: str | None = None) -> str:
    """A count with its noun: 1 packet, 3,675 packets."""
    return f"{value:,} {noun(value, one, many)}"


def times(value: int) -> str:
    """A number of times: once, twice, 3 times."""
    return TIMES.get(value, f"{value:,} times")


def joined(names: Iterable[str], most: int | None = None) -> str:
    """Names as a list; of many, the first, and the number of the others."""
    listed = list(names)
    if most is not None and len(listed) > most:
        listed = [*listed[: most - 1], f"{len(listed) - most + 1:,} others"]
    return listed[0] if len(listed) == 1 else f"{', '.join(listed[:-1])} and {listed[-1]}" if listed else ""


def spread(
    values: Mapping[str, float], shown: Callable[[float], str] = number, order: Sequence[str] | None = None
) -> str:
    """Values of schemes, lowest first: `38 (HPCC) and 1,418 (DCQCN)`; one value if all are shown alike.

    With `order`, values stand in this order of their schemes. Of more than three different values, the lowest and the
    highest.
    """
    lowest_first = sorted(values, key=lambda scheme: values[scheme])
    few = len({shown(value) for value in values.values()}) <= FEW
    groups: dict[str, list[str]] = {}
    for scheme in order if order and few else lowest_first:
        if scheme in values:
            groups.setdefault(shown(values[scheme]), []).append(scheme)
    if len(groups) == 1:
        return next(iter(groups))
    parts = [f"{value} ({', '.join(_few(names))})" for value, names in groups.items()]
    return joined(parts) if len(parts) <= FEW else f"{parts[0]} to {parts[-1]}"


def counted(values: Mapping[str, int], one: str, many: str | None = None, order: Sequence[str] | None = None) -> str:
    """Counts of schemes with their noun: `38 (HPCC) and 1,418 (DCQCN) packets`; `order` as for `spread`."""
    number_of_all = next(iter(values.values())) if len(set(values.values())) == 1 else 2
    return f"{spread(values, order=order)} {noun(number_of_all, one, many)}"


def above_0(values: Mapping[str, int]) -> dict[str, int]:
    """The values above 0."""
    return {scheme: value for scheme, value in values.items() if value}


def prefix_if_equal(values: Mapping[str, float], all_: Sequence[str]) -> str:
    """The schemes of equal values, at the start of a sentence; empty if these are all of the run, or values differ."""
    return prefix(list(values), all_) if len(set(values.values())) == 1 else ""


def bound(text: str) -> str:
    """A text with no-break spaces between numbers and units."""
    return re.sub(UNIT, "\N{NO-BREAK SPACE}", text)


def sentence(text: str) -> str:
    """A text that begins with a capital letter, unless it begins with a name of the scenario."""
    return text[0].upper() + text[1:] if text.startswith(LOWER) else text


def prefix(schemes: Sequence[str], all_: Sequence[str]) -> str:
    """The schemes that a sentence is about, at its start: `DCQCN, HPCC: `; empty if it is about all of the run."""
    return "" if len(schemes) == len(all_) else f"{', '.join(_few(schemes))}: "


def _few(names: Sequence[str]) -> list[str]:
    rest = len(names) - NAMED
    return [*names[:NAMED], f"{rest} more"] if rest > 0 else list(names)
