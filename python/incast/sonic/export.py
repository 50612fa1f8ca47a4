"""CONFIG_DB and `pg_profile_lookup.ini` of a scenario's switches."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from incast.errors import IncastError, ScenarioError
from incast.sonic import model, schedule
from incast.sonic.exact import Exact, Inexact
from incast.sonic.model import PortNames
from incast.sonic.notes import Notes
from incast.sonic.thresholds import Port, Switch, Thresholds

MAPS = "INCAST"
"""Name of the maps that are written, so that others of the switch stay."""
LOOKUP = "pg_profile_lookup.ini"
Table = dict[str, dict[str, Any]]


@dataclass(frozen=True)
class Profile:
    """A row of `pg_profile_lookup.ini`; sizes in bytes."""

    speed: int
    """Mb/s."""
    cable: int
    """Metres."""
    size: int
    xon: int
    xoff: int
    threshold: int
    """`dynamic_th`, or `static_th` in bytes."""
    xon_offset: int

    @property
    def name(self) -> str:
        """Name in BUFFER_PROFILE."""
        return model.profile_name(self.speed, self.cable)

    def fields(self, mode: str) -> dict[str, str]:
        """Row of BUFFER_PROFILE, for a pool of mode `dynamic` or `static`."""
        return {
            "pool": model.INGRESS_POOL,
            "size": str(self.size),
            "xon": str(self.xon),
            "xon_offset": str(self.xon_offset),
            "xoff": str(self.xoff),
            f"{mode}_th": str(self.threshold),
        }


@dataclass
class Export:
    """Files to write, and what they leave out."""

    files: dict[str, str] = field(default_factory=dict)
    """Text by name."""
    switches: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """Switches of each file of CONFIG_DB."""
    notes: list[str] = field(default_factory=list)
    """Settings without a place in CONFIG_DB, and rounded values."""


def exported(found: Thresholds, names: PortNames, fault: Callable[[Inexact], IncastError], *, rounding: bool) -> Export:
    """Files for the switches of a scenario; `fault` makes the error for a value with its place.

    Raises:
        ScenarioError: Ports have their own buffers, or a value does not fit SONiC's fields and `rounding` is false.

    """
    if found.params["queues"] != "shared":
        raise fault(Inexact("switch.queues", "a buffer for each port", "shared"))
    exact, notes = Exact(rounding=rounding), Notes(found)
    writer = _Writer(found, names, exact)
    profiles = writer.profiles()
    export = Export()
    for switch in found.switches:
        name = f"{switch.names[0]}.json"
        if name.startswith(".") or set(name) & set("/\\\0"):
            raise ScenarioError(f"`{switch.names[0]}` cannot be a file's name; rename this switch")
        export.files[name] = json.dumps(writer.config_db(switch, profiles), indent=4) + "\n"
        export.switches[name] = switch.names
    exact.check(fault)
    if found.paused:
        export.files[LOOKUP] = lookup(list(profiles.values()))
    export.notes = [*exact.rounded, *writer.notes, *notes.all(export.switches)]
    return export


def lookup(profiles: list[Profile]) -> str:
    """Text of `pg_profile_lookup.ini`."""
    heads = ["# speed", "cable", "size", "xon", "xoff", "threshold", "xon_offset"]
    rows = [
        [str(one.speed), f"{one.cable}m", *map(str, (one.size, one.xon, one.xoff, one.threshold, one.xon_offset))]
        for one in sorted(profiles, key=lambda one: (one.cable, one.speed))
    ]
    widths = [max(len(row[column]) for row in [heads, *rows]) for column in range(len(heads))]
    aligned = [[cell.rjust(width) for cell, width in zip(row, widths, strict=True)] for row in [heads, *rows]]
    # buffermgr skips a line only if its first character is #.
    aligned[0][0] = heads[0].ljust(widths[0])
    return "\n".join(["# PG lossless profiles.", *("  ".join(row) for row in aligned)]) + "\n"


class _Writer:
    def __init__(self, found: Thresholds, names: PortNames, exact: Exact) -> None:
        self.found, self.names, self.exact = found, names, exact
        self.notes: list[str] = []
        self.lossy = [queue for queue in model.QUEUES if queue not in found.paused]
        self.mode = "static" if "static" in found.params["pfc_mode"] else "dynamic"

    def profiles(self) -> dict[tuple[int, int], Profile]:
        """Profiles by speed and cable."""
        reserve, offset = (
            self.exact.size(self.found.params["reserve"]),
            self.exact.size(self.found.params["resume_offset"]),
        )
        ports: dict[tuple[int, int], list[Port]] = defaultdict(list)
        for switch in self.found.switches:
            for port in switch.ports:
                ports[self.speed(port), model.metres(port.delay)].append(port)
        profiles = {}
        for (speed, cable), each in ports.items():
            headrooms = {port.headroom for port in each}
            if len(headrooms) > 1:
                self.notes.append(
                    f"headroom of {speed} Mb/s and {cable} m: SONiC has whole metres and one value; of "
                    f"{min(headrooms)} to {max(headrooms)} B the largest is written"
                )
            # XON where no shared buffer is in use, as in incast: at most the reserve is queued.
            size, xoff, threshold = reserve, max(headrooms), self.threshold(each[0])
            profiles[speed, cable] = Profile(speed, cable, size, reserve, xoff, threshold, max(offset, 1))
        return profiles

    def speed(self, port: Port) -> int:
        return self.exact.whole(
            "fabric", port.rate / model.MBPS, f"a rate of {port.rate} b/s", "whole Mb/s", range(1, 2**32)
        )

    def threshold(self, port: Port) -> int:
        if port.alpha is None:
            return port.xoff or 0
        return self.alpha(self.alpha_field(port.alpha), port.alpha)

    def alpha_field(self, alpha: float) -> str:
        own = next(
            (at for at, row in enumerate(self.found.params.get("by_rate", [])) if row.get("alpha") == alpha), None
        )
        return "switch.pfc_mode.dynamic.alpha" if own is None else f"switch.by_rate[{own}].alpha"

    def alpha(self, field: str, alpha: float) -> int:
        return self.exact.power_of_two(field, alpha, model.ALPHAS)

    def config_db(self, switch: Switch, profiles: dict[tuple[int, int], Profile]) -> dict[str, Table]:
        """CONFIG_DB of one switch."""
        found, ports = self.found, [(self.names[at], port) for at, port in enumerate(switch.ports)]
        own = {name: profiles[self.speed(port), model.metres(port.delay)] for name, port in ports}
        tables = {
            "BUFFER_POOL": self.pools(switch),
            "BUFFER_PROFILE": self.buffer_profiles(switch, list(own.values())),
            "BUFFER_PG": self.groups(own),
            "BUFFER_QUEUE": self.queues([name for name, _ in ports]),
            "CABLE_LENGTH": {"AZURE": {name: f"{one.cable}m" for name, one in own.items()}},
            "TC_TO_PRIORITY_GROUP_MAP": {MAPS: {str(tc): str(tc if tc in found.paused else 0) for tc in model.QUEUES}},
            "TC_TO_QUEUE_MAP": {MAPS: _same()},
            "MAP_PFC_PRIORITY_TO_QUEUE": {MAPS: _same()},
            "PORT_QOS_MAP": {name: self.port_map() for name, _ in ports},
            "WRED_PROFILE": self.wred(switch),
            "SCHEDULER": schedule.schedulers(found.params["scheduler"], self.exact),
            "QUEUE": {},
            "PFC_WD": self.watchdog([name for name, _ in ports]),
        }
        queues = schedule.by_queue(found.params["scheduler"], self.exact)
        for name, port in ports:
            for keys, scheduler in queues:
                fields = {"scheduler": scheduler}
                if found.ecn and keys != "0":
                    fields["wred_profile"] = f"ECN_{self.speed(port)}"
                tables["QUEUE"][f"{name}|{keys}"] = fields
        return {name: table for name, table in tables.items() if table}

    def pools(self, switch: Switch) -> Table:
        size = switch.shared + switch.reserved
        pools = {
            model.INGRESS_POOL: {"type": "ingress", "mode": self.mode, "size": str(size)},
            model.LOSSLESS_POOL: {"type": "egress", "mode": "static", "size": str(size + switch.headroom)},
            model.LOSSY_POOL: {"type": "egress", "mode": "dynamic", "size": str(size)},
        }
        if switch.headroom:
            pools[model.INGRESS_POOL]["xoff"] = str(switch.headroom)
        return pools

    def buffer_profiles(self, switch: Switch, profiles: list[Profile]) -> Table:
        size = switch.shared + switch.reserved
        # Without a lossless priority, the lossy group has the port's reserve.
        reserve = 0 if self.found.paused else self.exact.size(self.found.params["reserve"])
        lossy_alpha = self.found.params["lossy_alpha"]
        table: Table = {
            "ingress_lossy_profile": {"pool": model.INGRESS_POOL, "size": str(reserve), "static_th": str(size)},
            "egress_lossless_profile": {
                "pool": model.LOSSLESS_POOL,
                "size": "0",
                "static_th": str(size + switch.headroom),
            },
            "egress_lossy_profile": {
                "pool": model.LOSSY_POOL,
                "size": "0",
                "dynamic_th": str(self.alpha("switch.lossy_alpha", lossy_alpha)),
            },
        }
        if self.found.paused:
            table |= {one.name: one.fields(self.mode) for one in profiles}
        return table

    def groups(self, own: dict[str, Profile]) -> Table:
        table = {}
        for name, profile in own.items():
            table[f"{name}|0"] = {"profile": "ingress_lossy_profile"}
            for keys in model.ranges(self.found.paused):
                table[f"{name}|{keys}"] = {"profile": profile.name}
        return table

    def queues(self, ports: list[str]) -> Table:
        kinds = (("egress_lossless_profile", self.found.paused), ("egress_lossy_profile", self.lossy))
        of_port = [(keys, profile) for profile, queues in kinds for keys in model.ranges(queues)]
        return {f"{name}|{keys}": {"profile": profile} for name in ports for keys, profile in of_port}

    def port_map(self) -> dict[str, str]:
        lossless = ",".join(map(str, self.found.paused))
        maps = {"tc_to_pg_map": MAPS, "tc_to_queue_map": MAPS, "pfc_to_queue_map": MAPS, "pfc_enable": lossless}
        return {**maps, "pfcwd_sw_enable": lossless} if self.watched() else maps

    def wred(self, switch: Switch) -> Table:
        return {f"ECN_{self.speed(port)}": self.marking(port) for port in switch.ports} if self.found.ecn else {}

    def marking(self, port: Port) -> dict[str, str]:
        percent = 100 if port.kmin == port.kmax else self.percent(port.pmax)
        fields = {"ecn": "ecn_all"}
        for colour in ("green", "yellow", "red"):
            fields |= {
                f"wred_{colour}_enable": "true",
                f"{colour}_min_threshold": str(port.kmin),
                f"{colour}_max_threshold": str(port.kmax),
                f"{colour}_drop_probability": str(percent),
            }
        return fields

    def percent(self, pmax: float) -> int:
        return self.exact.whole("ecn.pmax", round(100 * pmax, 9), f"{pmax:g}", "whole percent", range(101))

    def watched(self) -> bool:
        return bool(self.found.params["watchdog"]["enabled"] and self.found.paused)

    def watchdog(self, ports: list[str]) -> Table:
        if not self.watched():
            return {}
        params = self.found.params["watchdog"]
        poll = self.exact.ms("switch.watchdog.poll", params["poll"], model.POLL_MS)
        least = range(poll, model.DETECTION_MS.stop), range(poll, model.RESTORATION_MS.stop)
        times = {
            "detection_time": self.exact.ms("switch.watchdog.detection", params["detection"], least[0]),
            "restoration_time": self.exact.ms("switch.watchdog.restoration", params["restoration"], least[1]),
        }
        fields = {"action": params["action"], **{name: str(time) for name, time in times.items()}}
        return {"GLOBAL": {"POLL_INTERVAL": str(poll)}, **{name: dict(fields) for name in ports}}


def _same() -> dict[str, str]:
    return {str(number): str(number) for number in model.QUEUES}
