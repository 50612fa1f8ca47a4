"""A switch that is the kernel of this machine: a program that a test starts.

It reads rules, the number of ports and code points from standard input, sends a packet for every (family, code point,
ingress, egress) through a network with these rules, and prints what came out at which port.
"""

from __future__ import annotations

import json
import select
import socket
import struct
import sys
from typing import Any

from incast.testbed.namespaces import Namespace, Refused, end_with_parent, enter

IPV4, IPV6 = 0x0800, 0x86DD
FAMILIES = {"ip": IPV4, "ip6": IPV6}
HOPS = 64
PATIENCE_S = 60
"""For how long a packet that has not come out is waited for."""
PRIORITY = 100
"""Number that the observer adds to a packet's priority, to write the sum as the packet's TTL."""
OBSERVER = "\n".join(
    [
        "table inet observer {\n    chain see {\n        type filter hook postrouting priority 300;",
        *(
            f"        meta priority {'none' if priority == 0 else f'0:{priority}'} {field} set {PRIORITY + priority}"
            for priority in range(8)
            for field in ("ip ttl", "ip6 hoplimit")
        ),
        "    }\n}\n",
    ]
)


class Switch:
    """A network that forwards, and one outside it with the other end of each of its cables."""

    def __init__(self, ports: int, rules: str) -> None:
        self.inside, self.outside = Namespace(), Namespace()
        for name, value in (("ipv4/ip_forward", "1"), ("ipv6/conf/all/forwarding", "1"), *QUIET):
            self.inside.set(name, value)
        for port in range(ports):
            name, other = f"swp{port + 1}", f"out{port + 1}"
            self.inside.wire(name, self.outside, other)
            self.inside.set(f"ipv4/conf/{name}/send_redirects", "0")
            for family, network, host in (("-4", f"10.0.{port}.0/24", f"10.0.{port}.9"), ("-6", *_wide(port))):
                self.inside.ip(family, "route", "add", network, "dev", name)
                self.inside.ip("neigh", "add", host, "lladdr", mac(self.outside, other), "dev", name)
        self.inside.nft("-f", "-", text=rules)
        # A second time, as if they had changed.
        self.inside.nft("-f", "-", text=rules)
        self.listed = self.inside.nft("list", "ruleset")
        self.inside.nft("-f", "-", text=OBSERVER)
        self.macs = [mac(self.inside, f"swp{port + 1}") for port in range(ports)]
        with self.outside.entered():
            self.ends = {name: [_end(port, kind) for port in range(ports)] for name, kind in FAMILIES.items()}

    def passed(self, family: str, code_point: int, ingress: int, egress: int, mark: bytes) -> list[int] | None:
        """Send a packet; the egress port where it came out, its code point and priority then, or nothing."""
        frame = bytes.fromhex(self.macs[ingress].replace(":", "")) + bytes(6) + struct.pack("!H", FAMILIES[family])
        ends = self.ends[family]
        ends[ingress].send(frame + (_ipv4 if family == "ip" else _ipv6)(code_point, ingress, egress, mark))
        ready, _, _ = select.select(ends, [], [], PATIENCE_S)
        while ready:
            for end in ready:
                packet = end.recv(4096)[14:]
                if packet.endswith(mark):
                    return [ends.index(end), *(_seen_ipv4 if family == "ip" else _seen_ipv6)(packet)]
            ready, _, _ = select.select(ends, [], [], PATIENCE_S)
        return None


QUIET = [(f"ipv4/conf/{which}/{what}", "0") for which in ("all", "default") for what in ("send_redirects", "rp_filter")]
"""Nothing that the switch says by itself, and no look at where packets come from."""


def _wide(port: int) -> tuple[str, str]:
    return f"fd00:{port}::/64", f"fd00:{port}::9"


def mac(where: Namespace, interface: str) -> str:
    """The address of an interface."""
    with where.entered(), socket.socket(socket.AF_PACKET, socket.SOCK_RAW) as end:
        end.bind((interface, 0))
        address: bytes = end.getsockname()[4]
        return address.hex(":")


def _end(port: int, kind: int) -> socket.socket:
    """The outer end of a port's cable, for packets of one kind."""
    end = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(kind))
    end.bind((f"out{port + 1}", kind))
    return end


def _ipv4(code_point: int, ingress: int, egress: int, mark: bytes) -> bytes:
    addresses = bytes([10, 0, ingress, 7]), bytes([10, 0, egress, 9])
    length = 28 + len(mark)
    header = struct.pack("!BBHIBBH4s4s", 0x45, code_point << 2, length, 0, HOPS, 17, 0, *addresses)
    return header[:10] + struct.pack("!H", _sum(header)) + header[12:] + _udp(mark)


def _ipv6(code_point: int, ingress: int, egress: int, mark: bytes) -> bytes:
    source, target = (
        socket.inet_pton(socket.AF_INET6, f"fd00:{port}::{end}") for port, end in ((ingress, 7), (egress, 9))
    )
    return struct.pack("!IHBB", 6 << 28 | code_point << 22 | 5, 8 + len(mark), 17, HOPS) + source + target + _udp(mark)


def _udp(mark: bytes) -> bytes:
    return struct.pack("!HHHH", 1000, 1000, 8 + len(mark), 0) + mark


def _seen_ipv4(packet: bytes) -> tuple[int, int]:
    # 0 where the header's checksum is right.
    assert _sum(packet[:20]) == 0
    return packet[1] >> 2, packet[8] - PRIORITY


def _seen_ipv6(packet: bytes) -> tuple[int, int]:
    (first,) = struct.unpack("!I", packet[:4])
    # Version and flow label are as they were.
    assert first & ~(0x3F << 22) == 6 << 28 | 5
    return first >> 22 & 0x3F, packet[7] - PRIORITY


def _sum(header: bytes) -> int:
    total: int = sum(struct.unpack(f"!{len(header) // 2}H", header))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def main(parent: int, asked: dict[str, Any]) -> None:
    """Do what is asked for, and print what was seen."""
    try:
        enter()
        end_with_parent(parent)
        switch = Switch(asked["ports"], asked["rules"])
    except Refused as refused:
        print(json.dumps({"refused": str(refused)}))
        return
    ports = range(asked["ports"])
    seen = [
        [family, code_point, i, o, switch.passed(family, code_point, i, o, f"{family} {code_point} {i} {o}.".encode())]
        for family in FAMILIES
        for code_point in asked["code_points"]
        for i in ports
        for o in ports
    ]
    print(json.dumps({"listed": switch.listed, "seen": seen}))


if __name__ == "__main__":
    main(int(sys.argv[1]), json.load(sys.stdin))
