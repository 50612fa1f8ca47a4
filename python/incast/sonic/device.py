"""Ports of a device: speed, cable, and lossless groups with their profiles."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from typing import TypeVar

from incast.sonic import model
from incast.sonic.config import ConfigDb
from incast.sonic.lossless import Lookup, Lossless, of_config

T = TypeVar("T", bound=Hashable)


@dataclass(frozen=True)
class DevicePort:
    """A port of a device."""

    name: str
    speed: int | None
    """Mb/s."""
    cable: int | None
    """Metres."""
    pfc: tuple[int, ...]
    """Priorities with PFC."""
    profile: Lossless | None
    groups: int
    """Number of lossless priority groups."""
    others: tuple[str, ...] = ()
    """Profiles of further groups that differ."""


def ports_of(config: ConfigDb, lookup: Lookup) -> list[DevicePort]:
    """All ports of a file, in order of their numbers.

    Raises:
        ScenarioError: A port has PFC and no lossless profile.

    """
    names = {*config.table("PORT"), *config.by_port("BUFFER_PG"), *config.by_port("QUEUE")}
    names |= {port for row in config.table("CABLE_LENGTH").values() for port in row}
    names |= {port for key in config.table("PORT_QOS_MAP") for port in key.split(",")}
    ordered = sorted((name for name in names if name.startswith("Ethernet")), key=_number)
    return [_port(config, lookup, name) for name in ordered]


def _number(name: str) -> list[int | str]:
    """Order of port names, by number."""
    return [int(part) if part.isdigit() else part for part in re.split(r"(\d+)", name)]


def common(values: Iterable[T]) -> tuple[T | None, list[T]]:
    """The most common value, and the others from the most common on."""
    ordered = [value for value, _ in Counter(values).most_common()]
    return (ordered[0], ordered[1:]) if ordered else (None, [])


def _port(config: ConfigDb, lookup: Lookup, name: str) -> DevicePort:
    groups = config.by_port("BUFFER_PG").get(name, {})
    used = {key: config.reference("BUFFER_PG", key, "profile", "BUFFER_PROFILE") for key in groups}
    named = [profile for profile in used.values() if profile and model.of_profile_name(profile)]
    of_name = model.of_profile_name(named[0]) if named else None
    speed = config.number("PORT", name, "speed") or (of_name[0] if of_name else _speed_of_marking(config, name))
    cable = _cable(config, name)
    cable = of_name[1] if cable is None and of_name else cable
    pfc = _priorities(config, name)
    found = [(key, of_config(config, profile)) for key, profile in used.items() if profile and profile != "NULL"]
    lossless = [(key, profile) for key, profile in found if profile is not None]
    differing: tuple[str, ...] = ()
    if lossless:
        profile: Lossless | None = lossless[0][1]
        differing = tuple(one.source for _, one in lossless[1:] if one != profile)
        count = sum(len(groups[key]) for key, _ in lossless)
        pfc = tuple(sorted(number for key, _ in lossless for number in groups[key])) if pfc is None else pfc
    else:
        dynamic = [key for key, one in used.items() if one == "NULL"]
        pfc = tuple(number for key in dynamic for number in groups[key]) if pfc is None else pfc
        profile, count = _looked_up(config, lookup, (name, speed, cable), pfc), len(pfc)
    return DevicePort(name, speed, cable, pfc, profile, count, differing)


def _looked_up(
    config: ConfigDb, lookup: Lookup, port: tuple[str, int | None, int | None], pfc: tuple[int, ...]
) -> Lossless | None:
    """The profile that buffermgr would create."""
    name, speed, cable = port
    if not pfc:
        return None
    if not lookup:
        what = f"{name} has PFC for {', '.join(map(str, pfc))} and no lossless profile in BUFFER_PG"
        raise config.wrong(
            ("PORT_QOS_MAP", name), what, "BUFFER_PG with a profile that has xoff, or --pg-profile-lookup FILE"
        )
    if speed is None or cable is None:
        what, table = ("speed", "PORT") if speed is None else ("cable length", "CABLE_LENGTH")
        raise config.wrong(
            (table, name), f"{name} has no {what}, which the choice of its lossless profile needs", f"one in {table}"
        )
    if (speed, cable) not in lookup:
        rows = ", ".join(f"{at} Mb/s {metres}m" for at, metres in lookup)
        raise config.wrong(("PORT", name), f"{name}: no profile for {speed} Mb/s and {cable}m in the lookup file", rows)
    return lookup[speed, cable]


def _priorities(config: ConfigDb, name: str) -> tuple[int, ...] | None:
    """`None` if PORT_QOS_MAP does not say."""
    key = next((key for key in config.table("PORT_QOS_MAP") if name in key.split(",")), name)
    text = config.text("PORT_QOS_MAP", key, "pfc_enable")
    if text is None:
        return None
    if not re.fullmatch(r"([0-7](,[0-7])*)?", text):
        at = ("PORT_QOS_MAP", key, "pfc_enable")
        raise config.wrong(at, f"PORT_QOS_MAP|{key}: pfc_enable = `{text}`", "priorities 0 to 7, such as 3,4")
    return tuple(sorted({int(one) for one in text.split(",") if one}))


def _cable(config: ConfigDb, name: str) -> int | None:
    for key, row in config.table("CABLE_LENGTH").items():
        if name in row:
            text = config.text("CABLE_LENGTH", key, name)
            match = re.fullmatch(r"(\d{1,7})m", text or "")
            if match is None and text != "None":
                at = ("CABLE_LENGTH", key, name)
                raise config.wrong(at, f"CABLE_LENGTH|{key}: {name} = `{text}`", "a length in metres, such as 40m")
            return int(match[1]) if match else None
    return None


def _speed_of_marking(config: ConfigDb, name: str) -> int | None:
    """Speed in the name of the port's WRED profile, as `incast export sonic-buffers` writes it."""
    for key in config.by_port("QUEUE").get(name, {}):
        match = re.fullmatch(r"ECN_(\d+)", config.text("QUEUE", key, "wred_profile") or "")
        if match:
            return int(match[1])
    return None
