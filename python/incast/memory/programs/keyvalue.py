"""memcached under load on loopback: keyvalue.py MEMCACHED ITEMS OPERATIONS SEED.

Starts the server, stores the items, and reads them in random order over one connection, one after the other. Prints the
throughput of reading, and when that began and ended on the clock CLOCK_MONOTONIC.
"""

import os
import random
import socket
import subprocess
import sys
import time

VALUE = 1_000
"""Bytes of a value."""
TOGETHER = 100
"""Items that are stored at a time."""


def main() -> None:
    """Serve and load."""
    items, operations, seed = map(int, sys.argv[2:5])
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    megabytes = str(64 + items * 2 * VALUE // 1_000_000)
    user = ["-u", "root"] if os.geteuid() == 0 else []
    server = subprocess.Popen(
        [sys.argv[1], "-l", "127.0.0.1", "-p", str(port), "-U", "0", "-t", "1", "-m", megabytes, *user]
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
    for first in range(0, items, TOGETHER):
        keys = range(first, min(first + TOGETHER, items))
        connection.sendall(b"".join(b"set key%d 0 0 %d noreply\r\n%s\r\n" % (key, VALUE, value) for key in keys))
    # Answered when all before it is done.
    connection.sendall(b"version\r\n")
    while not connection.recv(4096).endswith(b"\r\n"):
        pass


def ask(connection: socket.socket, items: int, operations: int, rng: random.Random) -> None:
    """Read items."""
    keys = [rng.randrange(items) for _ in range(operations)]
    begin = time.monotonic()
    for key in keys:
        connection.sendall(b"get key%d\r\n" % key)
        answer = b""
        while not answer.endswith(b"END\r\n"):
            more = connection.recv(65536)
            if not more:
                raise SystemExit("the server has gone")
            answer += more
        if len(answer) < VALUE:
            raise SystemExit(f"key{key} is not there")
    end = time.monotonic()
    print(f"throughput: {operations / (end - begin):.1f} operations/s")
    print(f"from {begin:.6f} to {end:.6f}")


if __name__ == "__main__":
    main()
