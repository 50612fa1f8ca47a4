"""Misconfigured routes: switches that send what is for a host to a neighbour which nobody meant.

Packets that come back to a switch wait for themselves: a routing loop is a cyclic buffer dependency, whatever else
there is. Where no packet loops, the paths are finite, and such as `incast deadlock check` takes in a file.
"""

from __future__ import annotations

import json
import random
import tempfile
from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from incast import _core
from incast.errors import ScenarioError, translated
from incast.wiring import Wiring

Wrong = Mapping[int, Mapping[int, int]]
"""The neighbour that switches send to instead, by destination and switch."""
NextHops = Mapping[int, tuple[int, ...]]
"""Next hops of each switch towards one destination."""


@dataclass(frozen=True)
class Routes:
    """Shortest-path routes (ECMP) between the hosts of a fabric."""

    wiring: Wiring

    @cached_property
    def hosts(self) -> tuple[int, ...]:
        """The hosts."""
        return tuple(number for number, node in enumerate(self.wiring.nodes) if node.host)

    @cached_property
    def near(self) -> dict[int, tuple[int, ...]]:
        """The switches beside a node."""
        found: dict[int, set[int]] = {number: set() for number in range(len(self.wiring.nodes))}
        for link in self.wiring.links:
            for one, other in ((link.a, link.b), (link.b, link.a)):
                if not self.wiring.nodes[other].host:
                    found[one].add(other)
        return {number: tuple(sorted(switches)) for number, switches in found.items()}

    @cached_property
    def sources(self) -> dict[int, list[int]]:
        """The hosts of each switch that has some."""
        found: dict[int, list[int]] = {}
        for host in self.hosts:
            for switch in self.near[host]:
                found.setdefault(switch, []).append(host)
        return found

    @cached_property
    def right(self) -> dict[int, NextHops]:
        """Next hops by destination; its own switches send to the destination itself."""
        return {host: self._towards(host) for host in self.hosts}

    def _towards(self, host: int) -> NextHops:
        far = dict.fromkeys(self.near[host], 1)
        waiting = deque(far)
        while waiting:
            switch = waiting.popleft()
            for other in self.near[switch]:
                if other not in far:
                    far[other] = far[switch] + 1
                    waiting.append(other)
        return {
            switch: (host,) if distance == 1 else tuple(n for n in self.near[switch] if far.get(n) == distance - 1)
            for switch, distance in far.items()
        }

    def drawn(self, count: int, rng: random.Random) -> dict[int, dict[int, int]]:
        """So many wrong routes, each of another switch or for another host, to any switch beside it."""
        places = [(host, switch) for host in self.hosts for switch in self.right[host] if self.near[switch]]
        if not 1 <= count <= len(places):
            raise ScenarioError(f"misroutes = {count} is out of range, allowed: 1 to {len(places):,} on this fabric")
        found: dict[int, dict[int, int]] = {}
        for host, switch in rng.sample(places, count):
            found.setdefault(host, {})[switch] = rng.choice(self.near[switch])
        return found

    def with_wrong(self, host: int, wrong: Mapping[int, int]) -> NextHops:
        """The next hops of a destination's packets with these wrong ones."""
        return {**self.right[host], **{switch: (to,) for switch, to in wrong.items()}}

    def loop(self, hops: NextHops) -> int | None:
        """Switches of a loop that packets of hosts can come to; `None` if there is none."""
        state: dict[int, int] = {}

        def visit(switch: int, depth: int) -> int | None:
            if self.wiring.nodes[switch].host or state.get(switch) == -1:
                return None
            if switch in state:
                return depth - state[switch]
            state[switch] = depth
            for to in hops.get(switch, ()):
                if (found := visit(to, depth + 1)) is not None:
                    return found
            state[switch] = -1
            return None

        for switch in self.sources:
            if (found := visit(switch, 0)) is not None:
                return found
        return None

    def paths(self, host: int, hops: NextHops) -> list[str]:
        """All paths to a destination from a host of each switch; no packet may loop."""

        def onward(switch: int) -> Iterator[tuple[int, ...]]:
            for to in hops.get(switch, ()):
                if to == host:
                    yield (switch, host)
                else:
                    yield from ((switch, *rest) for rest in onward(to))

        names = [node.name for node in self.wiring.nodes]
        return [
            " ".join(names[node] for node in (source, *path))
            for switch, hosts in self.sources.items()
            for source in [each for each in hosts if each != host][:1]
            for path in onward(switch)
        ]


def cyclic(scenario: _core.Scenario, misroutes: int, samples: int, seed: int) -> tuple[int, int | None]:
    """In how many of so many sets of wrong routes there is a cyclic dependency, and the shortest cycle of any."""
    with translated():
        routes = Routes(Wiring.read(scenario.fabric()))
    usual = {host: routes.paths(host, hops) for host, hops in routes.right.items()}
    rng, found, lengths = random.Random(seed), 0, []
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(samples):
            wrong = routes.drawn(misroutes, rng)
            length = shortest(scenario, routes, usual, wrong, Path(folder))
            found += length is not None
            lengths += [length] if length is not None else []
    return found, min(lengths, default=None)


def shortest(
    scenario: _core.Scenario, routes: Routes, usual: Mapping[int, list[str]], wrong: Wrong, folder: Path
) -> int | None:
    """The buffers of the shortest cycle with these wrong routes, of a loop if there is one; `None` without any.

    `usual` has the paths of each destination without wrong routes.
    """
    changed = {host: routes.with_wrong(host, each) for host, each in wrong.items()}
    loops = [length for hops in changed.values() if (length := routes.loop(hops)) is not None]
    if loops:
        return min(loops)
    lines = [line for host in usual for line in (routes.paths(host, changed[host]) if host in changed else usual[host])]
    (folder / "paths.txt").write_text("\n".join(lines), encoding="utf-8")
    options = {"paths": {"file": "paths.txt"}, "fail": [], "samples": 1, "most": 1, "seed": 1}
    with translated():
        _, _, text = scenario.deadlock_check(json.dumps(options), str(folder))
    graphs = json.loads(text)["graphs"]
    lengths = [len(cycle["turns"]) for graph in graphs for part in graph["components"] for cycle in part["cycles"]]
    return min(lengths, default=None)
