"""Slowdown of flows by size, over the seeds of a sweep."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate
from typing import Any

from incast._database import literal, utf8
from incast.charts import look
from incast.charts.chart import Chart, Field, Spec
from incast.charts.slowdown import BINS, PERCENTILES, SLOWDOWN, heading, spec
from incast.charts.source import Source, of_labels

FIELDS = (
    Field("scheme", "scheme"),
    Field("label", "label of the flows, or the name of several together"),
    Field("bin", "number of the bin, from the smallest flows up, from 0; the same for all seeds and schemes"),
    Field("seed", "seed of the run"),
    Field("flows", "completed flows of this seed in the bin"),
    Field("size_min_bytes", "payload of the smallest of them", "B"),
    Field("size_max_bytes", "payload of the largest of them", "B"),
    *(Field(name, f"{text} of their slowdowns") for name, text in PERCENTILES.items()),
)
"""Columns of the chart: a row for each scheme, label, bin and seed."""
Size = tuple[int, int, list[int]]
"""A size in bytes, the number of its flows, and the places of the seeds that have such flows."""
_STARTED = (
    "create temp table started as select place, scheme, label, size_bytes as size, slowdown_hpcc as slowdown "
    "from ({tables}) where start_ps is not null and not backlogged"
)
_SIZES = (
    "select name, size, count(*), list(distinct place) from started join names using (label) "
    "group by name, size order by name, size"
)
_PERCENTILE = "slowdowns[least(floor(len(slowdowns) * {share}::double)::bigint, len(slowdowns) - 1) + 1]"
_ROWS = f"""\
select scheme, name, bin, place, len(slowdowns), smallest, largest,
    {", ".join(_PERCENTILE.format(share=int(name[1:]) / 100) for name in PERCENTILES)}
from (
    select scheme, done.name, bin, place, min(size) as smallest, max(size) as largest,
        list(greatest(slowdown, 1) order by slowdown) as slowdowns
    from (select * from started join names using (label) where slowdown is not null) as done
        asof join (select unnest($names) as name, unnest($bins) as bin, unnest($lows) as low) as bins
        on done.name = bins.name and done.size >= bins.low
    group by all
)
order by list_position($schemes, scheme), list_position($names, name), bin, place
"""
"""Percentiles as in the table of slowdowns: element floor(p n) of the n sorted slowdowns, each at least 1."""


class Seeds:
    """The runs of one scenario with several seeds, whose flows have common bins of sizes."""

    def __init__(self, sources: Mapping[Any, Source]) -> None:
        """Take the tables of each seed."""
        self._seeds = list(sources)
        palette = next(iter(sources.values())).palette
        self._source = Source([each for source in sources.values() for each in source.results], palette=palette)
        self._places = {
            scheme: {place for place, source in enumerate(sources.values()) if scheme in source.manifests}
            for scheme in self._source.schemes
        }
        """The seeds of each scheme: a run may be missing."""
        tables = (
            f"select {place} as place, * from read_parquet([{_files(source)}], union_by_name = true)"
            for place, source in enumerate(sources.values())
        )
        self._source.rows(_STARTED.format(tables=" union all by name ".join(tables)))

    def close(self) -> None:
        """Close the files."""
        self._source.close()

    def chart(self, label: str | None = None, *, bins: int = BINS) -> Chart | None:
        """Percentiles of each seed by flow size, for a label or each label; `None` if no bin can be drawn."""
        groups = self._source.groups(label)
        sizes = self._sizes(groups)
        alike = {name: found[0][0] for name, found in sizes.items() if len(found) == 1}
        lows = {name: self._lows(found, bins) for name, found in sizes.items() if name not in alike}
        rows = self._complete(self._rows(lows)) if lows else []
        if not rows:
            return None
        ticks = {name: dict(enumerate(map(look.size, _highs(sizes[name], found)))) for name, found in lows.items()}
        palette = self._source.palette
        named = label is None and len(self._source.labels) > 1
        return Chart(
            name="slowdown",
            title=heading(label),
            about=self._about(bins),
            fields=FIELDS,
            rows=rows,
            palette=tuple(palette),
            spec=over_seeds(spec(palette, ticks, named=named)),
            left_out=(
                *self._source.of_queue_pairs,
                *self._source.of_unfinished(label),
                *of_labels([group for group in groups if group[0] in lows]),
                *_of_one_size(alike),
                *self._of_incomplete(rows, sum(map(len, lows.values()))),
            ),
        )

    def _about(self, bins: int) -> str:
        """The description: how bins are cut, and what a point is."""
        counts = {scheme: len(places) for scheme, places in self._places.items()}
        alike = len(set(counts.values())) == 1
        seeds = counts[self._source.schemes[0]] if alike else ", ".join(f"{n} ({name})" for name, n in counts.items())
        return (
            f"{SLOWDOWN} Bins hold about equally many flows of all seeds, and all flows of a size; each tick is the "
            "largest size of a bin. All seeds and schemes have the same bins. Their number, at most "
            f"{bins}, is the one with the most bins that have flows of every seed. Points: mean over {seeds} seeds of "
            "the percentile of each seed. Bands: minimum to maximum over seeds. Each label has its own panel."
        )

    def _sizes(self, groups: Sequence[tuple[str, Sequence[str]]]) -> dict[str, list[Size]]:
        """The sizes of the started flows of each group, smallest first."""
        named = {label: name for name, labels in groups for label in labels or self._source.labels}
        self._source.rows(
            "create or replace temp table names as select unnest($labels) as label, unnest($names) as name",
            {"labels": list(named), "names": list(named.values())},
        )
        sizes: dict[str, list[Size]] = {name: [] for name, _ in groups}
        for name, *size in self._source.rows(_SIZES):
            sizes[name].append((size[0], size[1], size[2]))
        return {name: found for name, found in sizes.items() if found}

    def _lows(self, sizes: Sequence[Size], bins: int) -> list[int]:
        """The smallest size of each bin, for the number of bins for which most of them have flows of every seed."""
        ends = list(accumulate(flows for _, flows, _ in sizes))
        seeds = [[at for at, size in enumerate(sizes) if place in size[2]] for place in range(len(self._seeds))]
        cuts = (starts_of(ends, count) for count in range(1, bins + 1))
        return [sizes[at][0] for at in max(cuts, key=lambda starts: _common(starts, seeds))]

    def _rows(self, lows: Mapping[str, Sequence[int]]) -> list[tuple[Any, ...]]:
        """A row for each scheme, group, bin and place of a seed with completed flows."""
        bins = [(name, number, low) for name, found in lows.items() for number, low in enumerate(found)]
        columns = dict(zip(("names", "bins", "lows"), map(list, zip(*bins, strict=True)), strict=True))
        return self._source.rows(_ROWS, {**columns, "schemes": self._source.palette})

    def _complete(self, rows: Sequence[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
        """The rows of bins in which each seed of the scheme has completed flows, with seeds for their places."""
        seeds = Counter(row[:3] for row in rows)
        return [
            (*row[:3], self._seeds[row[3]], *row[4:]) for row in rows if seeds[row[:3]] == len(self._places[row[0]])
        ]

    def _of_incomplete(self, rows: Sequence[tuple[Any, ...]], bins: int) -> Iterator[str]:
        """A note on the bins that a scheme lacks, if there are any."""
        drawn = Counter(scheme for scheme, *_ in {row[:3] for row in rows})
        counts = {scheme: bins - drawn[scheme] for scheme in self._source.schemes}
        missing = ", ".join(f"{count} of {bins} ({scheme})" for scheme, count in counts.items() if count)
        if missing:
            yield f"Bins are not drawn if a seed has no completed flow in them: {missing}."


def starts_of(ends: Sequence[int], bins: int) -> list[int]:
    """The places of the sizes that begin bins of about equally many flows: the rule of `slowdown_bins` in Rust.

    A boundary within a size moves to the nearer end of its flows, the lower on a tie.

    Args:
        ends: Number of flows up to each size, smallest size first.
        bins: Number of bins; fewer if boundaries meet.

    """
    starts = set()
    for number in range(bins):
        flow = number * ends[-1] // bins
        at = bisect_right(ends, flow)
        begin = ends[at - 1] if at else 0
        starts.add(at if flow - begin <= ends[at] - flow else at + 1)
    return sorted(starts - {len(ends)})


def over_seeds(single: Spec) -> Spec:
    """The panels of a single run for rows of several seeds: a line of the means, a band from minimum to maximum."""
    panel = single["spec"]
    shared = {name: panel["encoding"][name] for name in ("x", "color")}
    value = panel["encoding"]["y"]
    band = {
        "mark": {"type": "area", "opacity": 0.16},
        "encoding": {
            **shared,
            "y": {**value, "aggregate": "min"},
            "y2": {"field": "slowdown", "aggregate": "max"},
        },
    }
    tooltip = [
        {"field": "scheme"},
        {"field": "label"},
        {"field": "percentile"},
        *(
            {**value, "aggregate": name, "title": text, "format": ".4~g"}
            for name, text in (("mean", "mean slowdown"), ("min", "minimum"), ("max", "maximum"))
        ),
        {"field": "size_min_bytes", "type": "quantitative", "aggregate": "min", "title": "from (B)", "format": ","},
        {"field": "size_max_bytes", "type": "quantitative", "aggregate": "max", "title": "to (B)", "format": ","},
        {"field": "flows", "type": "quantitative", "aggregate": "sum", "format": ",", "title": "flows"},
        {"aggregate": "count", "title": "seeds"},
    ]
    line = {
        "mark": {**panel["mark"]},
        "encoding": {
            **shared,
            "y": {**value, "aggregate": "mean"},
            "shape": panel["encoding"]["shape"],
            "strokeDash": panel["encoding"]["strokeDash"],
            "tooltip": tooltip,
        },
    }
    return {**single, "spec": {"width": panel["width"], "height": panel["height"], "layer": [band, line]}}


def _common(starts: Sequence[int], seeds: Sequence[Sequence[int]]) -> int:
    """Number of bins with a size of every seed; bins and seeds have places of sizes."""
    firsts = [[*(bisect_left(seed, start) for start in starts), len(seed)] for seed in seeds]
    return sum(all(first[number] < first[number + 1] for first in firsts) for number in range(len(starts)))


def _highs(sizes: Sequence[Size], lows: Sequence[int]) -> list[int]:
    """The largest size of each bin."""
    values = [size for size, _, _ in sizes]
    return [values[bisect_left(values, low) - 1] for low in lows[1:]] + values[-1:]


def _of_one_size(alike: Mapping[str, int]) -> Iterator[str]:
    """A note on groups with flows of one size, if there are any."""
    if alike:
        yield f"{', '.join(f'{name} ({look.size(size)})' for name, size in alike.items())}: all flows have one size."


def _files(source: Source) -> str:
    """The files of flows of a run, as a list in SQL."""
    return ", ".join(literal(utf8(each.path / "flows.parquet")) for each in source.results)
