"""Keys and fields of CONFIG_DB as SONiC's YANG models allow them.

Copied by hand from `src/sonic-yang-models/yang-models` of sonic-net/sonic-buildimage: `sonic-buffer-pool`,
`-buffer-profile` (revision 2021-07-01), `-buffer-pg`, `-buffer-queue`, `-wred-profile` (2026-06-23), `-queue`,
`-scheduler`, `-port-qos-map`, `-pfcwd` (2021-07-01), `-cable-length` (2021-11-11), and maps of traffic classes.
"""

from __future__ import annotations

import re
from typing import Any

UINT = r"\d{1,19}"
PORT = r"Ethernet\d+"
NAME = r"[a-zA-Z0-9][-a-zA-Z0-9_]{0,31}"
DIGIT = r"[0-7]"
LIST = r"([0-7](,[0-7])*)?"
COLOURS = {
    f"{colour}_{rest}": pattern
    for colour in ("green", "yellow", "red")
    for rest, pattern in (
        ("min_threshold", UINT),
        ("max_threshold", UINT),
        ("drop_probability", r"\d{1,2}|100"),
    )
}
SAME = {f"[{number}]": DIGIT for number in range(8)}

TABLES: dict[str, tuple[str, dict[str, str], tuple[str, ...]]] = {
    "BUFFER_POOL": (
        r"\w+",
        {"type": "ingress|egress|both", "mode": "static|dynamic", "size": UINT, "xoff": UINT},
        ("type", "mode"),
    ),
    "BUFFER_PROFILE": (
        r"\w+",
        {
            "pool": r"\w+",
            "size": UINT,
            "static_th": UINT,
            "dynamic_th": "-[1-8]|[0-7]",
            "xon": UINT,
            "xoff": UINT,
            "xon_offset": UINT,
        },
        ("size", "pool"),
    ),
    "BUFFER_PG": (rf"{PORT}\|[0-7](-[0-7])?", {"profile": r"\w+"}, ("profile",)),
    "BUFFER_QUEUE": (rf"{PORT}\|(1[0-5]|[0-9])(-(1[0-5]|[0-9]))?", {"profile": r"\w+"}, ("profile",)),
    "CABLE_LENGTH": (NAME, {PORT: r"\d+m|None"}, ()),
    "TC_TO_PRIORITY_GROUP_MAP": (NAME, SAME, ()),
    "TC_TO_QUEUE_MAP": (NAME, SAME, ()),
    "MAP_PFC_PRIORITY_TO_QUEUE": (NAME, SAME, ()),
    "PORT_QOS_MAP": (
        PORT,
        {
            "tc_to_pg_map": NAME,
            "tc_to_queue_map": NAME,
            "pfc_to_queue_map": NAME,
            "pfc_enable": LIST,
            "pfcwd_sw_enable": LIST,
        },
        (),
    ),
    "WRED_PROFILE": (
        NAME,
        {
            "ecn": "ecn_(none|green|yellow|red|green_yellow|green_red|yellow_red|all)",
            "wred_(green|yellow|red)_enable": "true|false",
        }
        | COLOURS,
        (),
    ),
    "SCHEDULER": (r"\w+", {"type": "DWRR|WRR|STRICT", "weight": r"[1-9]\d?|100"}, ()),
    "QUEUE": (rf"{PORT}\|\d+(-\d+)?", {"scheduler": r"\w+", "wred_profile": NAME}, ()),
    "PFC_WD": (
        rf"{PORT}|GLOBAL",
        {"action": "drop|forward|alert", "detection_time": UINT, "restoration_time": UINT, "POLL_INTERVAL": UINT},
        (),
    ),
}
"""Pattern of keys, patterns of fields by pattern of their names, and mandatory fields of each table."""
REFERENCES = {
    ("BUFFER_PROFILE", "pool"): "BUFFER_POOL",
    ("BUFFER_PG", "profile"): "BUFFER_PROFILE",
    ("BUFFER_QUEUE", "profile"): "BUFFER_PROFILE",
    ("PORT_QOS_MAP", "tc_to_pg_map"): "TC_TO_PRIORITY_GROUP_MAP",
    ("PORT_QOS_MAP", "tc_to_queue_map"): "TC_TO_QUEUE_MAP",
    ("PORT_QOS_MAP", "pfc_to_queue_map"): "MAP_PFC_PRIORITY_TO_QUEUE",
    ("QUEUE", "scheduler"): "SCHEDULER",
    ("QUEUE", "wred_profile"): "WRED_PROFILE",
}
LIMITS = {"detection_time": (100, 5000), "restoration_time": (100, 60_000), "POLL_INTERVAL": (100, 1000)}


def faults(config: dict[str, dict[str, dict[str, Any]]]) -> list[str]:
    """Violations of the models."""
    found = []
    for table, rows in config.items():
        keys, fields, mandatory = TABLES[table]
        for key, row in rows.items():
            if not re.fullmatch(keys, key):
                found.append(f"{table}|{key}: key")
            found += [f"{table}|{key}: no {name}" for name in mandatory if name not in row]
            for name, value in row.items():
                pattern = next((pattern for field, pattern in fields.items() if re.fullmatch(field, name)), None)
                if pattern is None or not isinstance(value, str) or not re.fullmatch(pattern, value):
                    found.append(f"{table}|{key}: {name} = {value!r}")
                elif (to := REFERENCES.get((table, name))) and value not in config[to]:
                    found.append(f"{table}|{key}: {name} = {value}: not in {to}")
                elif name in LIMITS and not LIMITS[name][0] <= int(value) <= LIMITS[name][1]:
                    found.append(f"{table}|{key}: {name} = {value}: out of range")
    return found
