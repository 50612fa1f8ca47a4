"""The data of a page: every chart of every scenario, packed, within a bound."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from incast import charts
from incast.charts import look
from incast.charts.chart import Chart, Spec
from incast.charts.fabric import interval, with_vms
from incast.charts.groups import Group, kind_of
from incast.charts.over import Overview, along, titles
from incast.charts.slowdown import by_size
from incast.charts.slowdown_seeds import Seeds
from incast.charts.source import Source
from incast.few import noted
from incast.findings import findings_of
from incast.report import cycles
from incast.results import ALL

DIGITS = 7
"""Significant digits of figures with decimals on a page."""
LABELS = 8
"""Groups of flows that can be chosen (our choice)."""
MANY = 12
"""Scenarios of a page beyond which time series and pauses are left out, and lines have half the points (our choice)."""
FEW_VMS = 4
"""VMs drawn over time, of each of many scenarios (our choice)."""
FEW_POINTS = 40
"""Points of such a line (our choice)."""
LINKS = 400_000
"""Figures of links on a page, over all scenarios (our choice: about 3 MB)."""
OVER_TIME: dict[str, Callable[[Source], Chart]] = {
    "queues": charts.queues,
    "rates": charts.rates,
    "pauses": charts.pauses,
}
"""Charts over time, by the table that they show."""

Json = dict[str, Any]


def few_vms(source: Source) -> Chart:
    """VMs over time, for one of many scenarios."""
    return charts.vms(source, vms=FEW_VMS, points=FEW_POINTS)


@dataclass
class Packer:
    """Packs charts, and remembers what they share."""

    scenarios: int
    """How many scenarios the page has."""
    palette: Sequence[str] = ()
    """The schemes of all its scenarios, in the order that gives them their colours."""
    alone: int = 0
    """How many of its groups are a single scenario."""
    deadlocks: bool = False
    """True if any of them had a deadlock."""
    specs: list[Json] = field(default_factory=list)
    """Specifications of charts; each is there once."""
    fabrics: list[Json] = field(default_factory=list)
    """Nodes and links of fabrics; each is there once."""
    links: int = 0
    """Figures of links so far."""
    notes: list[str] = field(default_factory=list)
    """Data omitted from the whole page."""
    progress: Callable[[], object] = lambda: None
    """Called after each scenario."""
    _places: dict[str, int] = field(default_factory=dict)

    @property
    def many(self) -> bool:
        """True if there are so many scenarios that some charts are left out."""
        return self.scenarios > MANY

    def few(self, group: Group) -> bool:
        """True if a group's scenarios have all their charts: on a page of few, or as the only one of its sweep."""
        return not self.many or (len(group.variations) == 1 and self.alone <= MANY)

    def group(self, group: Group) -> Json:
        """A group with all its scenarios."""
        variations = []
        overview = Overview([column["name"] for column in group.columns], seed=group.seed)
        for variation in group.variations:
            packed_variation = self.variation(
                variation.source, few=self.few(group), seeds=seed_column(group) is not None
            )
            variations.append({"values": packed_values(variation.values), **packed_variation})
            if group.columns:
                overview.add(variation.values, variation.source)
            variation.source.close()
            self.progress()
        packed: Json = {
            "name": group.name,
            "sweep": kind_of(group.path) == "sweep.json",
            "title": group.heading,
            "columns": [{**column, **axis_of(packed_values(column["values"]))} for column in group.columns],
            "schemes": group.variations[0].source.palette,
            "places": look.places(group.variations[0].source.palette, self.palette),
            "variations": variations,
            "overSeeds": [self.seeds(*cell) for cell in over_seeds_of(group)],
        }
        if group.columns:
            chart = overview.chart(packed["schemes"])
            packed["over"] = {**self.chart(chart), "titles": titles(chart)}
        return packed

    def variation(self, source: Source, *, few: bool, seeds: bool) -> Json:
        """The charts of one scenario, over time too if it is one of few; `seeds`: other scenarios have other seeds."""
        packed: Json = {"labels": self.labels(source), "charts": {}}
        points = 100 if self.many else 200
        # The mix of all labels is there where there are several, and is never drawn unasked.
        for label in keys_of(packed["labels"]):
            key = label or ""
            packed["charts"].setdefault("slowdown", {})[key] = self.chart(noted(by_size(source, label=label)))
            for of in ("fct", "slowdown"):
                chart = charts.cdf(source, of, label=label, points=points)
                packed["charts"].setdefault(chart.name, {})[key] = self.chart(chart)
        if not few:
            self.note(
                f"This page has more than {MANY} scenarios and omits findings, and queues, rates and pauses over time. "
                "Use `incast plot`, or `incast report` on the folder of one run."
            )
        packed["omitted"] = [] if few else [table for table in OVER_TIME if source.count(table)]
        makes: list[Callable[[Source], Chart]] = [charts.counters]
        makes += [make for table, make in OVER_TIME.items() if table not in packed["omitted"]]
        if source.count("throughput"):
            makes += [few_vms if self.many else charts.vms, charts.guarantees]
        if source.count("iterations"):
            makes.append(charts.iterations)
        if self.deadlocks:
            makes.append(charts.closing)
            packed["cycles"] = cycles.drawn(source, 1 if self.many else cycles.DRAWN)
        for make in makes:
            chart = make(source)
            packed["charts"][chart.name] = {"": self.chart(chart)}
        if few:
            found = [finding.to_dict() for finding in findings_of(source)]
            packed["findings"] = [each for each in found if each["kind"] != "seed" or not seeds]
        packed["fabric"] = self.fabric(source)
        packed["ends"] = {name: manifest["end_ps"] for name, manifest in source.manifests.items()}
        return packed

    def labels(self, source: Source) -> Sequence[str]:
        """The labels that can be chosen; none if there is one, or if the page has many scenarios."""
        labels = source.labels
        if len(labels) < 2 or self.many:
            return ()
        if len(labels) > LABELS:
            self.note(f"Only the first {LABELS} of {len(labels)} labels, by start time, can be chosen.")
        return labels[:LABELS]

    def seeds(self, values: Sequence[Any], sources: Mapping[Any, Source]) -> Json:
        """Slowdowns of the runs of several seeds, with the values of the other columns, and none for the seed."""
        seeds = Seeds(sources)
        first = next(iter(sources.values()))
        packed = {label or "": seeds.chart(label) for label in keys_of(self.labels(first))}
        seeds.close()
        return {
            "values": packed_values(values),
            "charts": {label: self.chart(noted(chart)) for label, chart in packed.items() if chart},
        }

    def chart(self, chart: Chart) -> Json:
        """A chart with its specification by number."""
        return {
            "title": chart.title,
            "about": chart.about,
            "leftOut": chart.left_out,
            "whyEmpty": chart.why_empty,
            "spec": None if chart.spec is None else self._once(self.specs, self._coloured(chart, chart.spec)),
            "names": [each.name for each in chart.fields],
            "units": [each.unit for each in chart.fields],
            **({"events": list(chart.events)} if chart.events else {}),
            "columns": [packed(column) for column in zip(*chart.rows, strict=True)],
        }

    def _coloured(self, chart: Chart, spec: Spec) -> Spec:
        """A specification in the colours of the page, with equal schemes marked."""
        return look.equal(look.of_page(spec, chart.palette, self.palette), chart.palette, chart.equal_schemes())

    def fabric(self, source: Source) -> Json | None:
        """Links with their figures, without the fabric; `None` beyond the bound."""
        chart = charts.fabric(source)
        if self.links + 4 * len(chart.rows) > LINKS and self.links:
            self.note(
                f"Links of the first scenarios are drawn, up to {LINKS:,} figures. For the others, use `incast report` "
                "on the folder of one run."
            )
            return None
        self.links += 4 * len(chart.rows)
        # A port that carried nothing under a scheme has no row there.
        ports = {row["port"]: row for row in reversed(list(chart.dicts()))}
        order = [ports[port] for port in sorted(ports)]
        tiers = {row["node_name"]: row["tier"] for row in order}
        for row in order:
            tiers.setdefault(row["peer_name"], row["peer_tier"])
        number = {name: place for place, name in enumerate(tiers)}
        structure = {
            "nodes": list(tiers),
            "tiers": list(tiers.values()),
            "from": [number[row["node_name"]] for row in order],
            "to": [number[row["peer_name"]] for row in order],
            "rate": [row["rate_bps"] for row in order],
            "port": [row["port"] for row in order],
            "vms": with_vms(source),
        }
        figures = {}
        for scheme in source.schemes:
            mine = {row["port"]: row for row in chart.dicts() if row["scheme"] == scheme}
            figures[scheme] = {
                name: [rounded(mine[row["port"]][name]) if row["port"] in mine else 0 for row in order]
                for name in ("utilisation", "paused_share", "marks", "drops", "peak_queue_bytes")
            }
        return {
            "of": self._once(self.fabrics, structure),
            "about": chart.about,
            "leftOut": chart.left_out,
            "interval": interval(source),
            "schemes": figures,
        }

    def note(self, text: str) -> None:
        """Note omitted data, once."""
        if text not in self.notes:
            self.notes.append(text)

    def _once(self, kept: list[Json], value: Json) -> int:
        """The place of a value in a list that has it once."""
        key = json.dumps(value, sort_keys=True)
        if key not in self._places:
            self._places[key] = len(kept)
            kept.append(value)
        return self._places[key]


def axis_of(values: Sequence[Any]) -> Json:
    """Values of a varied column with their horizontal axis: a number for each value, none for names."""
    axis = along(values)
    numbers = [axis.places[value] for value in values] if axis.places else []
    return {"values": values, "numbers": numbers, "label": axis.label, "log": look.geometric(numbers)}


def keys_of(labels: Sequence[str]) -> list[str | None]:
    """Choices of labels: each by itself (`None`), all together, one."""
    return [None, *([ALL, *labels] if labels else [])]


def seed_column(group: Group) -> int | None:
    """Place of the column of seeds, if a group has scenarios with different seeds."""
    return next(
        (place for place, column in enumerate(group.columns) if column["path"] == "seed" and len(column["values"]) > 1),
        None,
    )


def over_seeds_of(group: Group) -> list[tuple[list[Any], dict[Any, Source]]]:
    """Scenarios that differ by their seed alone: the values of the columns, none for the seed, and tables by seed."""
    place = seed_column(group)
    if place is None:
        return []
    found: dict[tuple[Any, ...], dict[Any, Source]] = {}
    for values, source in ((each.values, each.source) for each in group.variations):
        found.setdefault((*values[:place], None, *values[place + 1 :]), {})[values[place]] = source
    return [(list(values), sources) for values, sources in found.items() if len(sources) > 1]


def packed(column: Sequence[Any]) -> Json | list[Any]:
    """A column; one of names as places in a list of them."""
    if column and all(isinstance(value, str) for value in column):
        names = list(dict.fromkeys(column))
        places = {name: place for place, name in enumerate(names)}
        return {"names": names, "places": [places[value] for value in column]}
    return packed_values(column)


def packed_values(values: Sequence[Any]) -> list[Any]:
    """Values of columns, rounded as in the rows of charts, which the page finds by them."""
    return [rounded(value) for value in values]


def rounded(value: Any) -> Any:
    """A figure with as many digits as a page keeps."""
    return float(f"{value:.{DIGITS}g}") if isinstance(value, float) else value
