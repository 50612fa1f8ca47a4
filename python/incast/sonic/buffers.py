"""`[switch]` from pools, profiles and priority groups."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from incast.sonic import model
from incast.sonic.config import ConfigDb
from incast.sonic.device import DevicePort, common
from incast.sonic.lossless import TABLE, Lookup, Lossless, of_config
from incast.sonic.sections import Section, rate, size

Kinds = dict[tuple[int | None, int | None], Lossless]
"""Profiles in use by speed and cable."""


class Buffers:
    """Buffer and PFC settings of a device."""

    def __init__(self, config: ConfigDb, lookup: Lookup, ports: list[DevicePort], notes: list[str]) -> None:
        self.config, self.ports, self.notes = config, ports, notes
        self.kinds = self._kinds()
        if not ports:
            self.kinds |= lookup.items()

    def write(self, section: Section) -> None:
        """Add the fields of `[switch]`."""
        self._buffer(section)
        self._priorities(section)
        if self.kinds:
            self._reserve(section)
            self._resume(section)
            self._profiles(section)
        self._lossy(section)

    def _kinds(self) -> Kinds:
        kinds: Kinds = {}
        used: dict[tuple[int | None, int | None], list[Lossless]] = {}
        for port in self.ports:
            if port.profile and port.groups:
                used.setdefault((port.speed, port.cable), []).append(port.profile)
            if port.others:
                self.notes.append(f"{', '.join(port.others)} at {port.name}: incast has one profile per port")
        for (speed, cable), profiles in used.items():
            chosen, others = common(profiles)
            if chosen:
                kinds[speed, cable] = chosen
            if others:
                sources = listed([one.source for one in others])
                self.notes.append(f"{sources} at ports of {speed} Mb/s and {cable} m: the most common was taken")
        return kinds

    def _buffer(self, section: Section) -> None:
        pool = model.INGRESS_POOL
        total, xoff = (self.config.number("BUFFER_POOL", pool, field) for field in ("size", "xoff"))
        if total is None:
            self.notes.append(f"BUFFER_POOL|{pool} has no size (SONiC computes it): switch.buffer keeps its default")
            return
        lossless = [(port.profile, port.groups) for port in self.ports if port.profile]
        groups = sum(count for _, count in lossless)
        if lossless and self._xoff_apart():
            headrooms = sum(profile.xoff * count for profile, count in lossless)
            source = f"size {total} + headrooms of {groups} lossless groups {headrooms}"
            if xoff and headrooms > xoff:
                self.notes.append(
                    f"shared headroom: xoff {xoff} of {pool} is less than all headrooms, {headrooms} B. In incast each "
                    f"port has its own, so switch.buffer is {headrooms - xoff} B larger, not the shared buffer smaller"
                )
            elif xoff and headrooms < xoff:
                self.notes.append(f"{xoff - headrooms} B of xoff of {pool} that no lossless group of this device uses")
            section.add("buffer", size(total + headrooms), f"BUFFER_POOL|{pool}: {source}")
            more = groups - len(lossless)
            reserve = max(self._reserved(profile) for profile, _ in lossless)
            if more and reserve:
                self.notes.append(
                    f"{more} further reserves of {reserve} B: SONiC has one per lossless group, incast one per port, "
                    f"so the shared buffer is {more * reserve} B larger"
                )
        elif lossless:
            sizes = sum(profile.size * count for profile, count in lossless)
            source = f"size {total} + sizes of {groups} lossless groups {sizes}, which have the headroom in them"
            section.add("buffer", size(total + sizes), f"BUFFER_POOL|{pool}: {source}")
        else:
            section.add("buffer", size(total), f"BUFFER_POOL|{pool}: size")

    def _priorities(self, section: Section) -> None:
        sets, others = common(port.pfc for port in self.ports if port.pfc)
        if sets is None:
            if self.ports:
                section.add("pfc", False, "PORT_QOS_MAP, BUFFER_PG: no lossless priority")
            return
        if 0 in sets:
            self.notes.append("priority 0 with PFC: in incast it carries PFC frames and is lossy")
        section.add(
            "lossless", [one for one in sets if one], "PORT_QOS_MAP: pfc_enable, or lossless groups of BUFFER_PG"
        )
        for other in others:
            names = [port.name for port in self.ports if port.pfc == other]
            self.notes.append(
                f"PFC for {','.join(map(str, other))} at {listed(names)}: incast has one list for all ports"
            )
        without = [port.name for port in self.ports if not port.pfc]
        if without:
            self.notes.append(f"no PFC at {listed(without)}: in incast all ports have it")

    def _reserve(self, section: Section) -> None:
        reserve = self._one("size", self._reserved)
        source = "size of lossless profiles" if self._xoff_apart() else "size - xoff of lossless profiles"
        section.add("reserve", size(reserve), source)
        for profile in {one.source: one for one in self.kinds.values()}.values():
            if profile.xon != self._reserved(profile):
                self.notes.append(
                    f"{profile.source}: xon {profile.xon}: incast resumes at the reserve, {self._reserved(profile)} B, "
                    "where the threshold minus xon_offset is less"
                )
                break

    def _resume(self, section: Section) -> None:
        given = [one.xon_offset for one in self.kinds.values() if one.xon_offset is not None]
        if any(given):
            section.add("resume_offset", size(self._common("xon_offset", given)), "xon_offset of profiles")
            if lacking := dict.fromkeys(one.source for one in self.kinds.values() if one.xon_offset is None):
                self.notes.append(f"no xon_offset in {listed(list(lacking))}: all ports get that of other profiles")
        else:
            xon = self._one("xon", lambda one: one.xon)
            self.notes.append(
                f"no xon_offset: SONiC resumes at xon, {xon} B, whatever the threshold. In incast XON follows the "
                "threshold: switch.resume_offset keeps its default"
            )

    def _profiles(self, section: Section) -> None:
        """Thresholds and headroom: one value for all ports, or `by_rate`."""
        statics = {one.static for one in self.kinds.values()}
        if statics != {None}:
            if None in statics:
                self.notes.append("dynamic_th of profiles: others have static_th, which all ports get in incast")
            known = [one for one in self.kinds.values() if one.static is not None]
            chosen, others = common(one.static for one in known)
            section.add("pfc_mode.static.xoff", size(chosen or 0), f"static_th of {known[0].source}")
            self._others("static_th", others)
        alphas = {} if statics != {None} else self._alphas()
        same_alpha = len(set(alphas.values())) == 1
        if same_alpha:
            alpha = next(iter(alphas.values()))
            section.add("pfc_mode.dynamic.alpha", alpha, f"dynamic_th {model.log2(alpha)}: log2 of alpha")
        headrooms = {one.xoff for one in self.kinds.values()}
        if len(headrooms) == 1:
            section.add("headroom", size(headrooms.pop()), f"xoff of lossless profiles: {self._links()}")
        if (alphas and not same_alpha) or headrooms:
            self._by_rate(section, {} if same_alpha else alphas, with_headroom=bool(headrooms))

    def _links(self) -> str:
        """Speeds and cables in use."""
        speeds = ", ".join(str(speed) for speed in sorted({speed or 0 for speed, _ in self.kinds}) if speed)
        cables = ", ".join(f"{cable}m" for cable in sorted({cable or 0 for _, cable in self.kinds}) if cable)
        return f"ports of {speeds or 'unknown'} Mb/s, cables of {cables or 'unknown length'}"

    def _alphas(self) -> dict[int | None, float]:
        """Alpha by speed."""
        found: dict[int | None, float] = {}
        for speed in {speed for speed, _ in self.kinds}:
            alpha, others = common(one.alpha for (at, _), one in sorted_kinds(self.kinds) if at == speed)
            found[speed] = alpha or 0.0
            self._others(f"alpha at {speed} Mb/s", others)
        return found

    def _by_rate(self, section: Section, alphas: dict[int | None, float], *, with_headroom: bool) -> None:
        rows = []
        for (speed, cable), one in sorted_kinds(self.kinds):
            if speed is None:
                what = f"{one.source}: the speed of its ports is unknown, and profiles differ"
                raise self.config.wrong(
                    ("PORT",), what, "PORT with speed, or names such as pg_lossless_100000_40m_profile"
                )
            row: dict[str, Any] = {"rate": rate(speed)}
            if with_headroom:
                if cable is not None and sum(at == speed for at, _ in self.kinds) > 1:
                    row["max_delay"] = f"{model.delay_ns(cable)}ns"
                row["headroom"] = size(one.xoff)
            if speed in alphas:
                row["alpha"] = alphas[speed]
            if row not in rows:
                rows.append(row)
        sources = sorted({one.source.split(":")[0].split("|")[0] for one in self.kinds.values()})
        section.add_rows(
            "by_rate", rows, f"xoff and dynamic_th by speed and cable ({', '.join(sources)}); 5.05 ns per metre"
        )

    def _lossy(self, section: Section) -> None:
        name, others = common(self._lossy_profiles())
        name = name or "egress_lossy_profile"
        if others:
            self.notes.append(f"{listed(others)} of lossy queues: incast has one lossy_alpha; that of {name} was taken")
        exponent = self.config.number(TABLE, name, "dynamic_th", model.ALPHAS)
        if exponent is None:
            self.notes.append(f"no dynamic_th in {TABLE}|{name}: switch.lossy_alpha keeps its default")
        else:
            alpha = min(2.0**exponent, 16.0)
            section.add("lossy_alpha", alpha, f"{TABLE}|{name}: dynamic_th {exponent}")
            if alpha != 2.0**exponent:
                self.notes.append(f"{TABLE}|{name}: dynamic_th {exponent}, alpha {2**exponent}: incast has up to 16")
        if kept := self.config.number(TABLE, name, "size"):
            self.notes.append(f"{TABLE}|{name}: size {kept}: incast has no reserve at egress")
        if self.config.text(TABLE, "ingress_lossy_profile", "dynamic_th"):
            self.notes.append(f"{TABLE}|ingress_lossy_profile: dynamic_th: incast limits lossy packets at egress only")
        own, ingress = (
            self.config.number("BUFFER_POOL", pool, "size") for pool in (model.LOSSY_POOL, model.INGRESS_POOL)
        )
        if own and own != ingress:
            self.notes.append(
                f"BUFFER_POOL|{model.LOSSY_POOL}: size {own}: in incast lossy queues share the whole buffer"
            )

    def _lossy_profiles(self) -> list[str]:
        """Egress profiles of queues without PFC."""
        found = []
        for port in self.ports:
            for key, queues in self.config.by_port("BUFFER_QUEUE").get(port.name, {}).items():
                name = self.config.reference("BUFFER_QUEUE", key, "profile", TABLE)
                shares = name and self.config.text(TABLE, name, "dynamic_th")
                if name and shares and not set(queues) & set(port.pfc):
                    found.append(name)
        return found

    def _one(self, what: str, value: Callable[[Lossless], int]) -> int:
        """The most common value of all profiles."""
        return self._common(what, [value(one) for one in self.kinds.values()])

    def _common(self, what: str, values: Iterable[int]) -> int:
        chosen, others = common(values)
        self._others(what, others)
        return chosen or 0

    def _others(self, what: str, others: list[Any]) -> None:
        if others:
            self.notes.append(
                f"{what} of other profiles, {listed(list(map(str, others)))}: incast has one; the most common was taken"
            )

    def _xoff_apart(self) -> bool:
        """True if sizes of profiles have no headroom in them."""
        return bool(self.config.number("BUFFER_POOL", model.INGRESS_POOL, "xoff")) or any(
            one.size < one.xoff for one in self.kinds.values()
        )

    def _reserved(self, profile: Lossless) -> int:
        return profile.size if self._xoff_apart() else profile.size - profile.xoff


def sorted_kinds(kinds: Kinds) -> list[tuple[tuple[int | None, int | None], Lossless]]:
    """Profiles by speed, then cable."""
    return sorted(kinds.items(), key=lambda item: (item[0][0] or 0, item[0][1] or 0))


def unused(config: ConfigDb, ports: list[DevicePort]) -> list[str]:
    """Lossless rows of BUFFER_PROFILE that no port uses."""
    used = {source for port in ports if port.profile for source in (port.profile.source, *port.others)}
    rows = [name for name in config.table(TABLE) if of_config(config, name) is not None]
    return [name for name in rows if f"{TABLE}|{name}" not in used]


def listed(names: list[str]) -> str:
    """Names in a line, the first of many."""
    return ", ".join(names) if len(names) <= 4 else f"{', '.join(names[:3])} and {len(names) - 3} more"
