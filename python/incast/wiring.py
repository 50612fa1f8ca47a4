"""Nodes, links and ports of a fabric."""

from __future__ import annotations

import json
from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from typing import Any, NamedTuple

from incast._nearest import hint


class Node(NamedTuple):
    """A host or a switch."""

    name: str
    """Unique name."""
    tier: int
    """Tier: 0 for hosts, 1 for their switches, and so on."""
    host: bool
    """True for a host, which does not forward packets."""


class Link(NamedTuple):
    """A link between two ports."""

    a: int
    """Number of the node at one end."""
    a_port: int
    """Port of that node."""
    b: int
    """Number of the node at the other end."""
    b_port: int
    """Port of that node."""


class Hop(NamedTuple):
    """A hop of a cycle: a queue of a switch that is paused because the next buffer is full."""

    switch: str
    """Name of the switch."""
    port: int
    """Its egress port, numbered from 0 within the switch."""
    to: str
    """Name of the next switch."""
    priority: int | None = None
    """PFC priority of the queue; `None` for any."""


@dataclass(frozen=True)
class Wiring:
    """A fabric without rates and delays. The number of a node is its index in `nodes`; ports are numbered per node."""

    nodes: tuple[Node, ...]
    """Hosts and switches."""
    links: tuple[Link, ...]
    """Full-duplex links."""

    @classmethod
    def read(cls, text: str) -> Wiring:
        """From the JSON text of the compiled part."""
        graph = json.loads(text)
        return cls(tuple(Node(*each) for each in graph["nodes"]), tuple(Link(*each) for each in graph["links"]))

    @cached_property
    def _numbers(self) -> dict[str, int]:
        return {node.name: number for number, node in enumerate(self.nodes)}

    @cached_property
    def _far(self) -> dict[tuple[int, int], tuple[int, int]]:
        ways = ((link[:2], link[2:]) for link in self.links)
        return {near: far for a, b in ways for near, far in ((a, b), (b, a))}

    @cached_property
    def _first_ports(self) -> list[int]:
        """By node: number of ports of all nodes before it."""
        degrees = [0] * len(self.nodes)
        for link in self.links:
            degrees[link.a] += 1
            degrees[link.b] += 1
        return list(accumulate(degrees, initial=0))

    def number(self, name: str) -> int:
        """The number of a node; `ValueError` for an unknown name."""
        if name not in self._numbers:
            raise ValueError(f"the fabric has no node `{name}`{hint(name, self._numbers)}")
        return self._numbers[name]

    def far(self, node: int, port: int) -> tuple[int, int]:
        """Node and port at the other end of a port's link."""
        if (node, port) not in self._far:
            ports = self._first_ports[node + 1] - self._first_ports[node]
            raise ValueError(f"{self.nodes[node].name} has no port {port}; allowed: 0 to {ports - 1}")
        return self._far[node, port]

    def hops(self, queues: Iterable[Mapping[str, Any]]) -> list[Hop]:
        """The hops of a deadlock's cycle, from the queues in a manifest (`stop.cycle`), with ports of the fabric."""
        hops = []
        for queue in queues:
            node = bisect_right(self._first_ports, queue["port"]) - 1
            port = queue["port"] - self._first_ports[node]
            hops.append(Hop(queue["node"], port, queue["peer"], queue["priority"]))
        return hops

    def check(self, hops: Sequence[Hop]) -> None:
        """Raise `ValueError` unless the hops are a cycle on this fabric."""
        if len(hops) < 2:
            raise ValueError(f"a cycle needs at least 2 hops, got {len(hops)}")
        for place, (hop, after) in enumerate(zip(hops, [*hops[1:], hops[0]], strict=True)):
            to, _ = self.far(self.number(hop.switch), hop.port)
            if self.number(hop.to) != to:
                leads = f"port {hop.port} of {hop.switch} leads to {self.nodes[to].name}, not to {hop.to}"
                raise ValueError(f"hop {place + 1}: {leads}")
            if hop.to != after.switch:
                raise ValueError(f"hop {place + 1} leads to {hop.to}, but the next begins at {after.switch}")
