"""Two hosts and the switch between them, H1 - T1 - H2: three networks of the kernel's, and what goes through them."""

from __future__ import annotations

import gc
import os
import signal
import socket
import struct
import time
from collections.abc import Iterator
from contextlib import contextmanager

from incast.testbed.namespaces import Namespace, Refused, end_with_parent
from incast.testbed.rules import CODE_POINT, HERE

TOS = CODE_POINT << 2
"""The byte of the IP header that has the code point in its upper six bits."""
MTU = 1500
MIB = 1 << 20
WARM_PINGS = 200
"""Pings before those that count: the kernel learns its neighbours, and caches fill."""
WARM_SHARE = 0.1
"""Time that a stream gets before it counts, over the time that counts."""
ANSWER_S = 1
"""Seconds in which a ping has to be answered."""
ECHO, ECHO_REPLY = 8, 0
UNLIMITED = 65535


class Line:
    """H1 and H2 in networks of their own, with T1 forwarding between them."""

    def __init__(self) -> None:
        self._h1, self._t1, self._h2 = Namespace(), Namespace(), Namespace()
        for number, host, port in ((1, self._h1, HERE[0]), (2, self._h2, HERE[1])):
            self._t1.wire(port, host, "eth0")
            self._t1.ip("address", "add", f"10.0.{number}.1/24", "dev", port)
            host.ip("address", "add", f"10.0.{number}.2/24", "dev", "eth0")
            host.ip("route", "add", "default", "via", f"10.0.{number}.1")
        self._t1.set("ipv4/ip_forward", "1")

    def load(self, rules: str) -> None:
        """Put a file for `nft -f` into T1, in place of what was there."""
        self._t1.nft("-f", "-", text=f"flush ruleset\n{rules}")

    def ping(self, count: int) -> tuple[list[int], int]:
        """Round-trip times of ICMP echoes H1 - H2, one at a time without a pause, in ns; and how many were lost.

        Raises:
            Refused: An answer came back with another tag.

        """
        with self._h1.socket(socket.SOCK_RAW, socket.IPPROTO_ICMP) as raw:
            raw.setsockopt(socket.IPPROTO_IP, socket.IP_TOS, TOS)
            # A timeout of Python's would be two more system calls for each packet.
            raw.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, struct.pack("ll", ANSWER_S, 0))
            raw.connect(("10.0.2.2", 0))
            with _without_garbage_collection():
                for number in range(WARM_PINGS):
                    _ping(raw, number)
                times = [_ping(raw, number) for number in range(count)]
        answered = [time_ns for time_ns in times if time_ns is not None]
        return answered, count - len(answered)

    def stream(self, seconds: float, *, aggregates: bool) -> tuple[float, float]:
        """Payload of one TCP connection H1 to H2 in bit/s, and the mean size of the packets that T1 got, in bytes.

        With `aggregates` the kernel hands packets on in bunches of up to 64 kB, and each bunch meets the rules once, as
        it is where a NIC does the cutting; without, each packet of 1,500 B does.
        """
        self._h1.ip("link", "set", "eth0", "gso_max_segs", str(UNLIMITED if aggregates else 1))
        with self._h2.socket(socket.SOCK_STREAM) as listener:
            listener.bind(("10.0.2.2", 0))
            listener.listen(1)
            listener.settimeout(10)
            sender = self._sender(listener.getsockname()[1])
            try:
                connection, _ = listener.accept()
                with connection:
                    # ACKs have the tag too: no packet of the connection is cheaper than others.
                    connection.setsockopt(socket.IPPROTO_IP, socket.IP_TOS, TOS)
                    connection.settimeout(10)
                    return self._received(connection, seconds)
            except TimeoutError:
                raise Refused("the TCP connection between the hosts came to a halt") from None
            finally:
                os.kill(sender, signal.SIGKILL)
                os.waitpid(sender, 0)

    def _received(self, connection: socket.socket, seconds: float) -> tuple[float, float]:
        buffer = bytearray(MIB)
        _drain(connection, buffer, WARM_SHARE * seconds)
        before = self._t1.counters(HERE[0])
        received, took = _drain(connection, buffer, seconds)
        size, packets = (now - then for now, then in zip(self._t1.counters(HERE[0]), before, strict=True))
        return 8 * received / took, size / packets

    def _sender(self, port: int) -> int:
        """Start a process that sends from H1 for ever; its number."""
        parent = os.getpid()
        child = os.fork()
        if child:
            return child
        try:
            end_with_parent(parent)
            with self._h1.socket(socket.SOCK_STREAM) as sender:
                sender.setsockopt(socket.IPPROTO_IP, socket.IP_TOS, TOS)
                sender.connect(("10.0.2.2", port))
                data = bytes(MIB)
                while True:
                    sender.sendall(data)
        finally:
            os._exit(1)


def _drain(connection: socket.socket, buffer: bytearray, seconds: float) -> tuple[int, float]:
    """Read for so many seconds; bytes and how long it was."""
    began = time.perf_counter()
    received, now = 0, began
    while now < began + seconds:
        got = connection.recv_into(buffer)
        if got == 0:
            raise Refused("the sending host ended")
        received += got
        now = time.perf_counter()
    return received, now - began


def _ping(raw: socket.socket, number: int) -> int | None:
    """Send an echo and wait for its answer: the time it took in ns, or nothing if there was none."""
    packet = _echo(number)
    began = time.perf_counter_ns()
    raw.send(packet)
    while True:
        try:
            got = raw.recv(2048)
        except BlockingIOError:
            return None
        ended = time.perf_counter_ns()
        header = 4 * (got[0] & 15)
        if got[header] == ECHO_REPLY and got[header + 4 :] == packet[4:]:
            if got[1] != TOS:
                raise Refused(f"packets of code point {CODE_POINT} came back with {got[1] >> 2}: the rules do not hold")
            return ended - began


def _echo(number: int) -> bytes:
    """An ICMP echo request with 56 bytes of payload, as `ping` sends it."""
    payload = bytes(range(56))
    fields = (os.getpid() & 0xFFFF, number & 0xFFFF)
    words = struct.unpack("!32H", struct.pack("!BBHHH", ECHO, 0, 0, *fields) + payload)
    total = sum(words)
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return struct.pack("!BBHHH", ECHO, 0, ~total & 0xFFFF, *fields) + payload


@contextmanager
def _without_garbage_collection() -> Iterator[None]:
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()
