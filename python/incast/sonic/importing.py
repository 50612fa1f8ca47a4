"""`[switch]` and `[ecn]` of a scenario from a SONiC device's files."""

from __future__ import annotations

import json
import tomllib
from dataclasses import dataclass
from pathlib import Path

from incast import _core
from incast._echo import visible
from incast.errors import ScenarioError, translated
from incast.sonic import model, queues
from incast.sonic.buffers import Buffers, unused
from incast.sonic.config import ConfigDb
from incast.sonic.device import ports_of
from incast.sonic.lossless import read_lookup
from incast.sonic.sections import Section

OWN = {
    "BUFFER_POOL",
    "BUFFER_PROFILE",
    "BUFFER_PG",
    "BUFFER_QUEUE",
    "CABLE_LENGTH",
    "DSCP_TO_TC_MAP",
    "MAP_PFC_PRIORITY_TO_QUEUE",
    "PFC_WD",
    "PORT",
    "PORT_QOS_MAP",
    "QUEUE",
    "SCHEDULER",
    "TC_TO_PRIORITY_GROUP_MAP",
    "TC_TO_QUEUE_MAP",
    "WRED_PROFILE",
}
"""Tables that are read. Of egress profiles, only `egress_lossy_profile` has an effect in incast."""

COLOURS = {
    f"{prefix}{colour}_{field}"
    for prefix, field in (
        ("", "min_threshold"),
        ("", "max_threshold"),
        ("", "drop_probability"),
        ("ecn_", "min_threshold"),
        ("ecn_", "max_threshold"),
        ("ecn_", "mark_probability"),
        ("wred_", "enable"),
    )
    for colour in ("green", "yellow", "red")
}
FIELDS: dict[str, set[str]] = {
    "BUFFER_POOL": {"type", "mode", "size", "xoff"},
    "BUFFER_PROFILE": {"pool", "size", "xon", "xoff", "xon_offset", "dynamic_th", "static_th"},
    "BUFFER_PG": {"profile"},
    "BUFFER_QUEUE": {"profile"},
    "QUEUE": {"scheduler", "wred_profile"},
    "SCHEDULER": {"type", "weight", "cir", "pir", "cbs", "pbs"},
    "WRED_PROFILE": {"ecn", *COLOURS},
    "PFC_WD": {"action", "detection_time", "restoration_time", "POLL_INTERVAL"},
}
"""Fields that have an effect or a note of their own."""


@dataclass(frozen=True)
class Import:
    """Sections of a scenario, and what they leave out."""

    text: str
    notes: list[str]


def imported(config_db: Path, lookup: Path | None) -> Import:
    """Sections from CONFIG_DB, and from `pg_profile_lookup.ini` if profiles are not in CONFIG_DB.

    Raises:
        ScenarioError: A file is wrong, with its place, or has no buffer configuration.

    """
    config = ConfigDb(config_db)
    if not set(config.tables) & {"BUFFER_POOL", "BUFFER_PROFILE", "BUFFER_PG", "WRED_PROFILE", "PFC_WD"}:
        raise config.wrong((), "no table of buffers", "a CONFIG_DB with BUFFER_POOL, BUFFER_PROFILE and BUFFER_PG")
    static = config.choice("BUFFER_POOL", model.INGRESS_POOL, "mode", ("dynamic", "static")) == "static"
    rows = read_lookup(lookup, static=static) if lookup else {}
    ports = ports_of(config, rows)
    notes: list[str] = []
    switch, ecn = Section("switch"), Section("ecn")
    Buffers(config, rows, ports, notes).write(switch)
    queues.write_scheduler(config, ports, switch, notes)
    queues.write_watchdog(config, ports, switch, notes)
    queues.write_ecn(config, ports, ecn, notes)
    queues.write_maps(config, ports, notes)
    if more := unused(config, ports):
        notes.append(f"profiles that no port uses: {', '.join(more)}")
    for table, fields in FIELDS.items():
        more_fields = {field for row in config.table(table).values() for field in row} - fields
        if more_fields:
            notes.append(f"fields of {table} that incast does not have: {', '.join(sorted(more_fields))}")
    if other := [name for name in config.tables if name not in OWN]:
        notes.append(f"tables not about buffers: {', '.join(other)}")
    files = " and ".join(visible(path.name) for path in (config_db, lookup) if path)
    head = [f"# From {files} (SONiC): {len(ports)} ports.", *(["#", "# Not taken over:"] if notes else [])]
    head += [f"# - {visible(note)}" for note in notes]
    text = "\n".join(["\n".join(head) + "\n", *(one.text for one in (switch, ecn) if one.text)])
    _check(config_db, text)
    return Import(text, notes)


def _check(config_db: Path, text: str) -> None:
    """Raise if the values are not possible in a scenario."""
    hosts = {"fabric": {"star": {"hosts": 2}}, "workload": [{"list": [{"src": 0, "dst": 1, "size": 1}]}]}
    scenario = {**hosts, "scheme": {"any": {"control": "unlimited"}}, **tomllib.loads(text)}
    try:
        with translated():
            _core.Scenario.from_json(json.dumps(scenario), config_db.parent)
    except ScenarioError as error:
        raise ScenarioError(f"{config_db}: these values are not possible in incast:\n{error}") from None
