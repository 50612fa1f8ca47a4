"""memcached under load on loopback: keyvalue.py MEMCACHED ITEMS OPERATIONS SEED.

Starts the server, stores the items, and reads them in random order over one connection, one after the other: server and
load wait for each other all the time. Prints the throughput of reading, and when that began and ended on the clock
CLOCK_MONOTONIC.
"""

import os
import random
import socket
import subprocess
import sys
import time

VALUE = 1_000
"""Bytes of a value."""
QUIET = ("-o", "no_lru_maintainer,no_lru_crawler")
"""Options of memcached without which threads of its own walk over items, whatever is asked for."""


def main() -> None:
    """Serve and load."""
    items, operations, seed = map(int, sys.argv[2:5])
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    megabytes = str(64 + items * 2 * VALUE // 1_000_000)
    user = ["-u", "root"] if os.geteuid() == 0 else []
    server = subprocess.Popen(
        [sys.argv[1], "-l", "127.0.0.1", "-p", str(port), "-U", "0", "-t", "1", "-m", megabytes, *QUIET, *user]
    )
    try:
        with connected(port) as connection:
            load(connection, items)
            ask(connection, items, operations, random.Random(seed))
    finally:
        server.terminate()
        server.wait()


def connected(port: int) -> socket.socket:
    """A connection to the server, as soon as it listens."""
    until = time.monotonic() + 10
    while True:
        try:
            connection = socket.create_connection(("127.0.0.1", port))
        except ConnectionRefusedError:
            if time.monotonic() > until:
                raise
            time.sleep(0.01)
        else:
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            return connection


def load(connection: socket.socket, items: int) -> None:
    """Store all items."""
    value = b"v" * VALUE
    for key in range(items):
        connection.sendall(b"set key%d 0 0 %d\r\n%s\r\n" % (key, VALUE, value))
        if answered(connection, b"\r\n") != b"STORED\r\n":
            raise SystemExit(f"key{key} was not stored")


def answered(connection: socket.socket, end: bytes) -> bytes:
    """An answer, up to its end."""
    answer = b""
    while not answer.endswith(end):
        more = connection.recv(65536)
        if not more:
            raise SystemExit("the server has gone")
        answer += more
    return answer


def ask(connection: socket.socket, items: int, operations: int, rng: random.Random) -> None:
    """Read items."""
    keys = [rng.randrange(items) for _ in range(operations)]
    begin = time.monotonic()
    for key in keys:
        connection.sendall(b"get key%d\r\n" % key)
        if len(answered(connection, b"END\r\n")) < VALUE:
            raise SystemExit(f"key{key} is not there")
    end = time.monotonic()
    print(f"throughput: {operations / (end - begin):.1f} operations/s")
    print(f"from {begin:.6f} to {end:.6f}")


if __name__ == "__main__":
    main()
