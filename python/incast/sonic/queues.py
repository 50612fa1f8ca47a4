"""`[ecn]`, schedulers and the watchdog from tables by queue and port."""

from __future__ import annotations

import math
import re
from typing import Any

from incast.sonic import model
from incast.sonic.buffers import listed
from incast.sonic.config import ConfigDb
from incast.sonic.device import DevicePort, common
from incast.sonic.sections import Section, rate, size

MTU = 1500
"""Bytes per weight of DWRR in a round (our choice: a quantum of one full packet or more)."""
GREEN = ("ecn_all", "ecn_green", "ecn_green_yellow", "ecn_green_red")
"""Modes that mark green packets, as all packets of incast."""
ECN_MODES = (*GREEN, "ecn_none", "ecn_yellow", "ecn_red", "ecn_yellow_red")
NEVER = {"kmin": "2GiB", "kmax": "2GiB", "pmax": 0.0}
"""Thresholds of ports that do not mark: the largest buffer of a switch."""
ACTIONS = ("drop", "forward", "alert")


def write_ecn(config: ConfigDb, ports: list[DevicePort], section: Section, notes: list[str]) -> None:
    """Add the fields of `[ecn]`: thresholds by rate, of lossless queues if any, else of all."""
    found: dict[int, list[str]] = {}
    for port in ports:
        for key, queues in config.by_port("QUEUE").get(port.name, {}).items():
            name = config.reference("QUEUE", key, "wred_profile", "WRED_PROFILE")
            if name and (not port.pfc or set(queues) & set(port.pfc)):
                if port.speed is None:
                    what = f"QUEUE|{key} marks by {name}, and the speed of {port.name} is unknown"
                    raise config.wrong(("QUEUE", key), what, "PORT with the speed of this port")
                found.setdefault(port.speed, []).append(name)
    rows: list[dict[str, Any]] = []
    used: set[str] = set()
    for speed, names in sorted(found.items()):
        name, others = common(names)
        if others:
            notes.append(f"WRED_PROFILE {listed(others)} at {speed} Mb/s: incast has one per rate; {name} was taken")
        row = _marking(config, name, notes) if name else None
        used |= {name} if name and row else set()
        rows.append({"rate": rate(speed), **(row or NEVER)})
    rows += [{"rate": rate(speed), **NEVER} for speed in sorted({port.speed or 0 for port in ports} - {0, *found})]
    if any(config.text("WRED_PROFILE", name, "wred_green_enable") == "true" for name in used):
        notes.append("WRED_PROFILE: WRED drops packets without ECN above the thresholds; in incast it only marks")
    if used:
        never = f"; ports with {NEVER['kmin']} do not mark" if any(row["kmin"] == NEVER["kmin"] for row in rows) else ""
        section.add_rows("by_rate", rows, f"WRED_PROFILE {', '.join(sorted(used))}{never}")
    elif ports:
        section.add("enabled", False, "QUEUE, WRED_PROFILE: no lossless queue marks")


def _marking(config: ConfigDb, name: str, notes: list[str]) -> dict[str, Any] | None:
    """Thresholds of a profile; `None` if it does not mark."""
    if config.choice("WRED_PROFILE", name, "ecn", ECN_MODES) not in GREEN:
        return None
    row = config.table("WRED_PROFILE")[name]
    own = {"min_threshold": "ecn_green_min_threshold", "max_threshold": "ecn_green_max_threshold"}
    usual = {"min_threshold": "green_min_threshold", "max_threshold": "green_max_threshold"}
    apart = all(field in row for field in own.values())
    fields = own if apart else usual
    low, high = (config.number("WRED_PROFILE", name, field) for field in fields.values())
    if low is None or high is None or low > high:
        raise config.wrong(
            ("WRED_PROFILE", name),
            f"WRED_PROFILE|{name} marks from {low} to {high}",
            "green_min_threshold <= green_max_threshold",
        )
    probability = "ecn_green_mark_probability" if apart else "green_drop_probability"
    percent = config.number("WRED_PROFILE", name, probability, range(101))
    prefix = "ecn_" if apart else ""
    colours = [
        [row.get(f"{prefix}{colour}_{bound}_threshold") for bound in ("min", "max")]
        for colour in ("green", "yellow", "red")
    ]
    if any(given not in ([None, None], colours[0]) for given in colours[1:]):
        notes.append(
            f"WRED_PROFILE|{name}: thresholds of yellow and red: packets have no colour in incast; green was taken"
        )
    pmax = 1.0 if percent is None else percent / 100
    return {"kmin": size(low), "kmax": size(high), "pmax": pmax}


def write_scheduler(config: ConfigDb, ports: list[DevicePort], section: Section, notes: list[str]) -> None:
    """Add `switch.scheduler`."""
    own = [(port.name, _of_queues(config, port.name)) for port in ports]
    chosen, others = common(tuple(sorted(found.items())) for _, found in own if found)
    if chosen is None:
        notes.append("no scheduler in QUEUE: switch.scheduler keeps its default")
        return
    if others:
        names = [name for name, found in own if found and tuple(sorted(found.items())) != chosen]
        notes.append(f"schedulers of {listed(names)} differ: incast has one for all ports; the most common was taken")
    kinds = {queue: (_kind(config, name), _weight(config, name)) for queue, name in chosen if 0 < queue < 8}
    missing = [queue for queue in range(1, 8) if queue not in kinds]
    if missing:
        notes.append(f"queues {', '.join(map(str, missing))} without scheduler: the smallest weight")
    if dict(chosen).get(0) and _kind(config, dict(chosen)[0]) != "STRICT":
        notes.append("scheduler of queue 0: in incast it carries PFC frames and is served first")
    for name in sorted({name for _, name in chosen}):
        given = [field for field in ("cir", "pir", "cbs", "pbs") if config.text("SCHEDULER", name, field)]
        if given:
            notes.append(f"SCHEDULER|{name}: {', '.join(given)}: incast has no shapers")
    strict = sorted(queue for queue, (kind, _) in kinds.items() if kind == "STRICT")
    shared = {queue: weight for queue, (kind, weight) in kinds.items() if kind != "STRICT"}
    least = min(shared.values(), default=1)
    weights = {queue: shared.get(queue, least) for queue in range(1, 8)}
    source = "SCHEDULER of QUEUE"
    packets = "WRR" in {kind for kind, _ in kinds.values()}
    if len(strict) == 7:
        section.add("scheduler", "strict-priority", f"{source}: STRICT")
    elif not strict and packets and len(set(weights.values())) == 1:
        section.add("scheduler", "round-robin", f"{source}: WRR with equal weights")
    else:
        if packets:
            notes.append("WRR counts packets; weighted rounds of incast count bytes")
        common_factor = math.gcd(*weights.values())
        quanta = [MTU] + [MTU * weights[queue] // common_factor for queue in range(1, 8)]
        drr: dict[str, Any] = {"quanta": quanta, **({"strict": strict} if strict else {})}
        section.add("scheduler.drr", drr, f"{source}: weights, {MTU} B each; quanta[0] is not used")


def _of_queues(config: ConfigDb, port: str) -> dict[int, str]:
    found: dict[int, str] = {}
    for key, queues in config.by_port("QUEUE").get(port, {}).items():
        name = config.reference("QUEUE", key, "scheduler", "SCHEDULER")
        if name:
            found |= dict.fromkeys(queues, name)
    return found


def _kind(config: ConfigDb, name: str) -> str:
    return config.choice("SCHEDULER", name, "type", ("DWRR", "WRR", "STRICT")) or "WRR"


def _weight(config: ConfigDb, name: str) -> int:
    return config.number("SCHEDULER", name, "weight", model.WEIGHTS) or 1


def write_watchdog(config: ConfigDb, ports: list[DevicePort], section: Section, notes: list[str]) -> None:
    """Add `switch.watchdog`."""
    watched = {port.name: config.table("PFC_WD")[port.name] for port in ports if port.name in config.table("PFC_WD")}
    if not watched:
        return
    row, others = common(tuple(sorted(fields.items())) for fields in watched.values())
    name = next(name for name, fields in watched.items() if tuple(sorted(fields.items())) == row)
    if others:
        notes.append("PFC_WD differs by port: incast has one watchdog; the most common row was taken")
    times = {"poll": config.number("PFC_WD", "GLOBAL", "POLL_INTERVAL", model.POLL_MS)}
    # The last row read is the chosen one; all are checked.
    for port in [*watched, name]:
        times["detection"] = config.number("PFC_WD", port, "detection_time", model.DETECTION_MS)
        times["restoration"] = config.number("PFC_WD", port, "restoration_time", model.RESTORATION_MS)
        action = config.choice("PFC_WD", port, "action", ACTIONS)
    given = {field: f"{time}ms" for field, time in times.items() if time is not None}
    fields = {"enabled": True, **given, **({"action": action} if action else {})}
    section.add("watchdog", fields, f"PFC_WD|GLOBAL, PFC_WD|{name}")
    absent = [field for field, time in times.items() if time is None]
    if absent:
        notes.append(f"PFC_WD without {', '.join(absent)}: switch.watchdog keeps the default")
    without = [port.name for port in ports if port.pfc and port.name not in watched]
    if without:
        notes.append(f"no watchdog at {listed(without)}: in incast all ports have it")
    queues = {config.text("PORT_QOS_MAP", port.name, "pfcwd_sw_enable") for port in ports if port.name in watched}
    lossless = {",".join(map(str, port.pfc)) for port in ports if port.name in watched}
    if queues - {None} and queues != lossless:
        shown = listed(sorted(str(one) for one in queues))
        notes.append(f"pfcwd_sw_enable {shown}: in incast the watchdog watches all lossless queues")


def write_maps(config: ConfigDb, ports: list[DevicePort], notes: list[str]) -> None:
    """Report maps that incast does not have."""
    lossless = {priority for port in ports for priority in port.pfc}
    for table in ("TC_TO_PRIORITY_GROUP_MAP", "TC_TO_QUEUE_MAP", "MAP_PFC_PRIORITY_TO_QUEUE"):
        for name in config.table(table):
            moved = [
                f"{tc} to {to}" for tc, to in config.table(table)[name].items() if tc != to and _is_in(tc, lossless)
            ]
            if moved:
                notes.append(
                    f"{table}|{name}: {', '.join(moved)}: in incast a priority is class, group and queue of one number"
                )
    for name, row in config.table("DSCP_TO_TC_MAP").items():
        mapped: dict[str, list[str]] = {}
        for dscp, tc in row.items():
            if _is_in(tc, lossless):
                mapped.setdefault(tc, []).append(dscp)
        shown = "; ".join(f"DSCP {', '.join(dscps)} is priority {tc}" for tc, dscps in sorted(mapped.items()))
        notes.append(f"DSCP_TO_TC_MAP|{name}: flows have priorities, no DSCPs" + (f": {shown}" if shown else ""))


def _is_in(text: Any, numbers: set[int]) -> bool:
    return isinstance(text, str) and re.fullmatch(r"\d", text) is not None and int(text) in numbers
