"""Drawing of a cyclic buffer dependency or a deadlock on its fabric."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from html import escape

from incast.charts.places import HEIGHT, Places, Point, place
from incast.wiring import Hop, Link, Wiring

MOST_SWITCHES = 40
"""Switches of a fabric that is drawn whole, with multi-homed hosts counted (our choice: more are too small to read)."""
MOST_LINKS = 160
"""Links between them (our choice)."""
DOTS = 8
"""Most dots of a group of hosts."""
RED, INK, QUIET, LINE, GROUND = "#a13d00", "#1b2126", "#55616b", "#b9c3cb", "#ffffff"
FONT = "system-ui, -apple-system, 'Segoe UI', 'DejaVu Sans', sans-serif"
Box = tuple[float, float, float, float]
"""Left, top, right, bottom."""


@dataclass(frozen=True)
class Drawing:
    """A picture as SVG text, shown in notebooks. Its CSS classes begin with `cycle-`, so pages can recolour it."""

    svg: str
    left_out: tuple[str, ...] = ()
    """Notes about parts of the fabric that are not drawn, with the rule; the picture has them too."""

    def _repr_svg_(self) -> str:
        return self.svg


def cycle(
    wiring: Wiring, hops: Sequence[Hop], *, down: Collection[tuple[str, str]] = (), title: str | None = None
) -> Drawing:
    """Draw a fabric with a cycle on it: tiers as rows, arrows in the direction of the blocked packets.

    For a large fabric, only the switches of the cycle and of links that are down are drawn.

    Args:
        wiring: The fabric, such as `scenario.wiring()`.
        hops: The cycle in order; the last hop leads to the first switch. Tuples `(switch, port, to)` are accepted. For
            a simulated deadlock: `wiring.hops(results.manifest["schemes"][scheme]["stop"]["cycle"])`.
        down: Links that are down, each named by its ends.
        title: Heading of the picture.

    """
    steps = [Hop(*hop) for hop in hops]
    wiring.check(steps)
    broken = {frozenset((wiring.number(a), wiring.number(b))) for a, b in down}
    shown, homes, left_out = _shown(wiring, steps, broken)
    places = place(wiring, shown, set(homes))
    picture = _Picture(wiring, places, steps, broken)
    picture.links()
    picture.nodes(homes)
    picture.steps()
    heading = title or f"Cyclic buffer dependency of {len(steps)} buffers"
    return Drawing(picture.whole(heading, left_out), left_out)


def _shown(
    wiring: Wiring, steps: Sequence[Hop], broken: Collection[frozenset[int]]
) -> tuple[list[int], dict[int, list[int]], tuple[str, ...]]:
    """The nodes to draw, the hosts to draw as a group at their switch, and notes about omitted parts."""
    neighbours: dict[int, list[int]] = defaultdict(list)
    for link in wiring.links:
        neighbours[link.a].append(link.b)
        neighbours[link.b].append(link.a)
    homes: dict[int, list[int]] = defaultdict(list)
    nodes = []
    for number, node in enumerate(wiring.nodes):
        if node.host and len(neighbours[number]) == 1:
            homes[neighbours[number][0]].append(number)
        else:
            nodes.append(number)
    there = set(nodes)
    links = sum(link.a in there and link.b in there for link in wiring.links)
    if len(nodes) <= MOST_SWITCHES and links <= MOST_LINKS:
        return nodes, dict(homes), ()
    on_it = dict.fromkeys(wiring.number(hop.switch) for hop in steps)
    ends = dict.fromkeys(sorted(end for pair in broken for end in pair))
    switches = sum(not node.host for node in wiring.nodes)
    drawn = "the cycle and of links that are down" if set(ends) - set(on_it) else "the cycle"
    kept = list(on_it | ends)
    return kept, {}, (f"Drawn: {len(kept)} of {switches:,} switches, those of {drawn}; no hosts.",)


@dataclass(frozen=True)
class _Curve:
    """A link: a quadratic curve from the edge of one box to that of another."""

    a: Point
    middle: Point
    b: Point

    def at(self, t: float) -> Point:
        weights = ((1 - t) ** 2, 2 * t * (1 - t), t**2)
        parts = list(zip(weights, (self.a, self.middle, self.b), strict=True))
        return sum(w * p[0] for w, p in parts), sum(w * p[1] for w, p in parts)

    def part(self, first: float, last: float) -> _Curve:
        ways = ((1 - first) * (1 - last), (1 - first) * last + first * (1 - last), first * last)
        parts = list(zip(ways, (self.a, self.middle, self.b), strict=True))
        middle = (sum(w * p[0] for w, p in parts), sum(w * p[1] for w, p in parts))
        return _Curve(self.at(first), middle, self.at(last))

    def outside(self, width: float) -> _Curve:
        """Without what lies in the boxes around its ends."""
        steps = [number / 100 for number in range(101)]
        first = next((t for t in steps if not _within(self.at(t), self.a, width)), 0.0)
        last = next((t for t in reversed(steps) if not _within(self.at(t), self.b, width)), 1.0)
        return self.part(first, max(first, last))

    def d(self) -> str:
        return f"M{_pair(self.a)} Q{_pair(self.middle)} {_pair(self.b)}"


def _within(point: Point, centre: Point, width: float) -> bool:
    return abs(point[0] - centre[0]) <= width / 2 + 1 and abs(point[1] - centre[1]) <= HEIGHT / 2 + 1


def _pair(point: Point) -> str:
    return f"{point[0]:.1f} {point[1]:.1f}"


class _Picture:
    """The parts of the SVG as they come."""

    def __init__(
        self, wiring: Wiring, places: Places, steps: Sequence[Hop], broken: Collection[frozenset[int]]
    ) -> None:
        self.wiring, self.places, self.hops, self.broken = wiring, places, steps, broken
        self.parts: list[str] = []
        self.taken: list[Box] = []
        """Where no label may stand."""
        self.on_it = {(wiring.number(hop.switch), hop.port) for hop in steps}
        priorities = {hop.priority for hop in steps}
        self.priority = priorities.pop() if len(priorities) == 1 else None
        """That of all queues of the cycle, if they have one; else each label says its own."""

    def links(self) -> None:
        """Links that are not on the cycle."""
        drawn: Counter[frozenset[int]] = Counter()
        for link in self.wiring.links:
            pair = frozenset((link.a, link.b))
            if not pair <= self.places.at.keys() or {link[:2], link[2:]} & self.on_it:
                continue
            curve = self.curve(link, 6.0 * drawn[pair])
            drawn[pair] += 1
            if pair in self.broken:
                x, y = curve.at(0.5)
                self.parts.append(
                    f'<path class="cycle-down" d="{curve.d()}" fill="none" stroke="{INK}" stroke-width="1.5" '
                    f'stroke-dasharray="5 4"/><path class="cycle-down" d="M{x - 5:.1f} {y - 5:.1f}l10 10m0 -10l-10 10" '
                    f'fill="none" stroke="{INK}" stroke-width="2"/>'
                )
                self.taken.append((x - 7, y - 7, x + 7, y + 7))
            else:
                self.parts.append(f'<path class="cycle-link" d="{curve.d()}" fill="none" stroke="{LINE}"/>')

    def curve(self, link: Link, bend: float) -> _Curve:
        """A link's curve from its first end, bent to the right; more so in a row, where others stand between."""
        a, b = self.places.at[link.a], self.places.at[link.b]
        length = math.dist(a, b) or 1.0
        if self.places.rows and a[1] == b[1]:
            bend -= math.copysign(24 + length * 0.16, b[0] - a[0])
        across = (-(b[1] - a[1]) / length * bend, (b[0] - a[0]) / length * bend)
        # The middle of the curve lies half as far aside as this.
        middle = ((a[0] + b[0]) / 2 + 2 * across[0], (a[1] + b[1]) / 2 + 2 * across[1])
        return _Curve(a, middle, b).outside(self.places.box)

    def nodes(self, homes: dict[int, list[int]]) -> None:
        """Boxes with names, and hosts in groups."""
        on_cycle = {node for node, _ in self.on_it}
        half = self.places.box / 2
        for switch, hosts in homes.items():
            self.group(switch, hosts)
        for node, (x, y) in self.places.at.items():
            ink = f'stroke="{RED}" stroke-width="2.5"' if node in on_cycle else f'stroke="{QUIET}"'
            kind = "cycle-node cycle-on" if node in on_cycle else "cycle-node"
            self.parts.append(
                f'<rect class="{kind}" x="{x - half:.1f}" y="{y - HEIGHT / 2:.1f}" width="{2 * half:.1f}" '
                f'height="{HEIGHT}" rx="4" fill="{GROUND}" {ink}/>'
                + _text((x, y + 4.5), self.wiring.nodes[node].name, size=12.5, middle=True, bold=node in on_cycle)
            )
            self.taken.append((x - half - 2, y - HEIGHT / 2 - 2, x + half + 2, y + HEIGHT / 2 + 2))

    def group(self, switch: int, hosts: Sequence[int]) -> None:
        """The hosts of a switch: dots, and their names below."""
        (x, y), at = self.places.hosts[switch], self.places.at[switch]
        dots = min(len(hosts), DOTS)
        for number in range(dots):
            dot = (x + (number - (dots - 1) / 2) * 10, y)
            self.parts.append(
                f'<path class="cycle-link" d="M{_pair(at)} L{_pair(dot)}" stroke="{LINE}"/>'
                f'<circle class="cycle-host" cx="{dot[0]:.1f}" cy="{dot[1]:.1f}" r="3" fill="{QUIET}"/>'
            )
        names = [self.wiring.nodes[host].name for host in hosts]
        text = names[0] if len(names) == 1 else f"{names[0]} to {names[-1]}"
        below = 17 if y >= at[1] else -9
        self.parts.append(_text((x, y + below), text, size=11, middle=True, quiet=True))
        self.taken.append((x - 44, y - 20, x + 44, y + 20))

    def steps(self) -> None:
        """The links of the cycle with arrows, ports and priorities."""
        drawn = []
        for hop in self.hops:
            near = (self.wiring.number(hop.switch), hop.port)
            far = self.wiring.far(*near)
            # Both directions of a link, or two links side by side, are drawn separately, each bent to its right.
            pairs = [{self.wiring.number(each.switch), self.wiring.number(each.to)} for each in self.hops]
            curve = self.curve(Link(*near, *far), 24.0 if pairs.count({near[0], far[0]}) > 1 else 0.0)
            self.parts.append(_arrow(curve))
            self.taken.append((curve.b[0] - 9, curve.b[1] - 9, curve.b[0] + 9, curve.b[1] + 9))
            drawn.append((curve, hop, far[1]))
        for curve, hop, far_port in drawn:
            priority = "" if hop.priority in (None, self.priority) else f", priority {hop.priority}"
            others = [other.at(t / 40) for other, _, _ in drawn if other is not curve for t in range(41)]
            self.label(curve, f"port {hop.port}", others, full=False)
            self.label(curve, f"port {far_port}{priority}", others, full=True)

    def label(self, curve: _Curve, text: str, others: Sequence[Point], *, full: bool) -> None:
        """A label near one end of a curve: if there is a place, where it covers nothing, other curves included."""
        width = len(text) * 6.2 + 10
        places = [0.1 + 0.02 * number for number in range(19)]

        def box(t: float) -> Box:
            x, y = curve.at(1 - t if full else t)
            return x - width / 2, y - 8.5, x + width / 2, y + 8.5

        def covers(each: Box) -> float:
            points = sum(each[0] <= x <= each[2] and each[1] <= y <= each[3] for x, y in others)
            return 20 * points + sum(_overlap(each, other) for other in self.taken)

        left, top, right, bottom = min((box(t) for t in places), key=covers)
        self.taken.append((left - 2, top - 2, right + 2, bottom + 2))
        self.parts.append(pill((left + right) / 2, (top + bottom) / 2, width, text, full=full))

    def whole(self, heading: str, left_out: Sequence[str]) -> str:
        """The SVG: heading, drawing, and below it what it means."""
        width = self.places.width
        top, foot = 50, 26
        first = self.hops[0]
        ports = [(hop.to, self.wiring.far(self.wiring.number(hop.switch), hop.port)[1]) for hop in self.hops]
        named = [f"{name}\u00a0port\u00a0{port}" for name, port in [ports[-1], *ports]]
        lines = _wrapped(" → ".join(named), width - 40)
        if left_out:
            lines += [line for each in left_out for line in _wrapped(each, width - 40)]
        y = top + self.places.height + foot
        below = [self.key(y)]
        for number, line in enumerate(lines):
            below.append(_text((20, y + 30 + 19 * number), line, size=12.5))
        height = y + 30 + 19 * len(lines)
        about = f"{heading}, from {first.switch} on: {', '.join(f'{hop.switch} to {hop.to}' for hop in self.hops)}"
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" class="cycle" role="img" viewBox="0 0 {width:.0f} {height:.0f}" '
            f'width="{width:.0f}" height="{height:.0f}" font-family="{FONT}">'
            f"<title>{escape(heading)}</title><desc>{escape(about)}</desc>"
            f'<rect class="cycle-ground" width="100%" height="100%" fill="{GROUND}"/>'
            + _text((20, 28), heading, size=15, bold=True)
            + f'<g transform="translate(0 {top})">{"".join(self.parts)}</g>'
            + "".join(below)
            + "</svg>\n"
        )

    def key(self, y: float) -> str:
        """Legend of the marks."""
        x, parts = 20.0, []
        buffer = "buffer" if self.priority is None else f"buffer of priority {self.priority}"
        for full, text in ((False, "egress port that waits"), (True, f"ingress port whose {buffer} is full")):
            parts.append(pill(x + 21, y - 4.5, 42, "port", full=full))
            parts.append(_text((x + 49, y), text, size=12, quiet=True))
            x += 49 + len(text) * 6.3 + 22
        if self.broken:
            dashed = f'stroke="{INK}" stroke-width="1.5" stroke-dasharray="5 4"'
            parts.append(f'<path class="cycle-down" d="M{x} {y - 4.5}h30" {dashed}/>')
            parts.append(_text((x + 37, y), "down", size=12, quiet=True))
        return "".join(parts)


def pill(x: float, y: float, width: float, text: str, *, full: bool) -> str:
    """A label: filled for a buffer that is full, else outlined."""
    fill, ink = (RED, GROUND) if full else (GROUND, RED)
    kind = "cycle-full" if full else "cycle-wait"
    return (
        f'<rect class="{kind}" x="{x - width / 2:.1f}" y="{y - 8.5:.1f}" width="{width:.1f}" height="17" rx="8.5" '
        f'fill="{fill}" stroke="{RED}"/><text class="{kind}-text" x="{x:.1f}" y="{y + 4:.1f}" font-size="11" '
        f'text-anchor="middle" fill="{ink}">{escape(text)}</text>'
    )


def _arrow(curve: _Curve) -> str:
    tip, before = curve.b, curve.at(0.96)
    length = math.dist(tip, before) or 1.0
    way = ((tip[0] - before[0]) / length, (tip[1] - before[1]) / length)
    end = (tip[0] - 11 * way[0], tip[1] - 11 * way[1])
    sides = [(end[0] - 5.5 * side * way[1], end[1] + 5.5 * side * way[0]) for side in (1, -1)]
    total = math.dist(curve.a, curve.b) or 1.0
    line = curve.part(0.0, max(0.0, 1 - 8 / total))
    return (
        f'<path class="cycle-hop" d="{line.d()}" fill="none" stroke="{RED}" stroke-width="3.5"/>'
        f'<path class="cycle-head" d="M{_pair(tip)} L{_pair(sides[0])} L{_pair(sides[1])}Z" fill="{RED}"/>'
    )


def _text(at: Point, text: str, *, size: float, middle: bool = False, bold: bool = False, quiet: bool = False) -> str:
    anchor = ' text-anchor="middle"' if middle else ""
    weight = ' font-weight="600"' if bold else ""
    kind, ink = ("cycle-quiet", QUIET) if quiet else ("cycle-text", INK)
    return (
        f'<text class="{kind}" x="{at[0]:.1f}" y="{at[1]:.1f}" font-size="{size:g}"{anchor}{weight} fill="{ink}">'
        f"{escape(text)}</text>"
    )


def _overlap(a: Box, b: Box) -> float:
    return max(0.0, min(a[2], b[2]) - max(a[0], b[0])) * max(0.0, min(a[3], b[3]) - max(a[1], b[1]))


def _wrapped(text: str, width: float) -> list[str]:
    """Lines of words that are at most so wide."""
    lines = [""]
    for word in text.split(" "):
        if lines[-1] and (len(lines[-1]) + len(word)) * 6.8 > width:
            lines.append(word)
        else:
            lines[-1] = f"{lines[-1]} {word}".strip()
    return lines
