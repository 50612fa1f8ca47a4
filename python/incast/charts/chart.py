"""A chart: rows with named columns, their description, omitted data, and the specification of the drawing."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

Spec = dict[str, Any]
"""A Vega-Lite specification, or a part of one."""


@dataclass(frozen=True)
class Field:
    """A column of a chart's data."""

    name: str
    """Its name, as in the table it comes from."""
    about: str
    """Its description."""
    unit: str | None = None
    """Its unit, such as `ps`; `None` for names and plain numbers."""


@dataclass(frozen=True)
class Chart:
    """Data and specification of a chart, from which page, notebooks, vector files and CSV are made."""

    name: str
    """Its short name, such as `slowdown`."""
    title: str
    """Its heading."""
    about: str
    """Its description, with definitions."""
    fields: tuple[Field, ...]
    """The columns of its data."""
    rows: list[tuple[Any, ...]]
    """Its data, in order of the fields."""
    spec: Spec | None = None
    """Vega-Lite specification without data; `None` for charts that Vega-Lite does not draw."""
    events: tuple[dict[str, Any], ...] = ()
    """Events marked on the time axis: field of the panels, `event_ps`, `event` and `what`; not part of its data."""
    palette: tuple[str, ...] = ()
    """The schemes in the order of their colours."""
    left_out: tuple[str, ...] = ()
    """Notes about data of the tables that the chart omits, with the rule."""
    incomplete: str = ""
    """The one of these notes that pictures have too: without it, the chart seems to show all flows."""
    why_empty: str | None = None
    """Reason for an empty chart."""

    def dicts(self) -> Iterator[dict[str, Any]]:
        """The rows as dictionaries."""
        names = [each.name for each in self.fields]
        return (dict(zip(names, row, strict=True)) for row in self.rows)

    def equal_schemes(self) -> dict[str, str]:
        """Schemes with the same rows as an earlier scheme, and this scheme."""
        place = next((place for place, each in enumerate(self.fields) if each.name == "scheme"), None)
        if place is None:
            return {}
        parts: dict[str, list[tuple[Any, ...]]] = {}
        for row in self.rows:
            parts.setdefault(row[place], []).append((*row[:place], *row[place + 1 :]))
        mine = [(scheme, parts[scheme]) for scheme in self.palette if scheme in parts]
        found = {}
        for number, (scheme, rows) in enumerate(mine):
            if earlier := next((name for name, before in mine[:number] if before == rows), None):
                found[scheme] = earlier
        return found

    def to_csv(self) -> str:
        """The data as CSV text, with one line of names."""
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(each.name for each in self.fields)
        writer.writerows(self.rows)
        return out.getvalue()

    def to_vegalite(self) -> Spec:
        """A complete Vega-Lite specification, data included."""
        if self.spec is None:
            raise ValueError(f"chart {self.name} has no Vega-Lite specification")
        return {
            "$schema": "https://vega.github.io/schema/vega-lite/v6.json",
            "description": f"{self.title}. {self.about}",
            **self.spec,
            "data": {"values": [*self.dicts(), *self.events]},
        }

    def _repr_mimebundle_(self, **_: object) -> dict[str, Any]:
        """The chart in notebooks that draw Vega-Lite, else a short text."""
        text = f"<Chart {self.name}: {len(self.rows)} rows of {', '.join(each.name for each in self.fields)}>"
        if self.spec is None or not self.rows:
            return {"text/plain": text}
        # Through JSON, so that nothing in it is a type that only Python knows.
        spec = json.loads(json.dumps(self.to_vegalite()))
        return {"application/vnd.vegalite.v6+json": spec, "text/plain": text}
