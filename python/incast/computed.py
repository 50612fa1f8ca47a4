"""Tables that are computed from those of a results folder."""

from __future__ import annotations

import json
from typing import Any

from incast import _core
from incast.alone import FIELDS as ALONE
from incast.tenants.guarantees import FIELDS as GUARANTEES
from incast.tenants.sharing import FIELDS as SHARING

DESCRIPTIONS = {
    "slowdown": "one row per scheme, label and bin of flow sizes: slowdowns of completed flows",
    "sharing": "one row per scheme: guarantees, utilisation and fairness of tenants",
    "guarantees": "one row per VM and direction with traffic: throughput relative to the guarantee",
    "alone": "one row per job and scheme, after `incast run --alone`: time of an iteration next to the other traffic "
    "and alone",
}
"""Rows of each table."""


def catalogue() -> list[dict[str, Any]]:
    """Name, description and columns of each table, as the simulator declares tables of results folders."""
    fields = {"sharing": SHARING, "guarantees": GUARANTEES, "alone": ALONE}
    columns = {}
    for name, given in fields.items():
        columns[name] = [_column(each.name, each.unit, each.description) for each in given]
    columns["slowdown"] = [
        _column(each["name"], each["unit"], each["description"], nullable=each["nullable"])
        for each in json.loads(_core.slowdown_columns())
    ]
    return [{"name": name, "description": about, "columns": columns[name]} for name, about in DESCRIPTIONS.items()]


def _column(name: str, unit: str | None, description: str, *, nullable: bool = False) -> dict[str, Any]:
    return {"name": name, "unit": unit or "", "description": description, "nullable": nullable}
