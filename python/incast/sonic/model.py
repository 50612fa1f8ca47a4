"""Ranges of SONiC's fields, units, names of ports and names of profiles."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from incast.errors import ScenarioError

INGRESS_POOL = "ingress_lossless_pool"
"""Pool of all ingress profiles; buffermgr expects this name."""
LOSSLESS_POOL = "egress_lossless_pool"
LOSSY_POOL = "egress_lossy_pool"
ALPHAS = range(-8, 8)
"""`dynamic_th`, log2 of alpha (`sonic-buffer-profile`)."""
DETECTION_MS = range(100, 5001)
RESTORATION_MS = range(100, 60_001)
POLL_MS = range(100, 1001)
"""Times of the watchdog (`sonic-pfcwd`)."""
WEIGHTS = range(1, 101)
"""Weights of DWRR (`sonic-scheduler`)."""
QUEUES = range(8)
MBPS = 1_000_000
MS = 1_000_000_000
"""Picoseconds."""
METRES_PER_SECOND = 198_000_000
"""Signal speed in cables (sonic-net/sonic-swss, `cfgmgr/buffer_headroom_mellanox.lua`)."""


def metres(delay_ps: int) -> int:
    """Shortest cable with at least this delay, 1 m or more."""
    return max(1, -(-delay_ps * METRES_PER_SECOND // 10**12))


def delay_ns(cable: int) -> int:
    """Delay of a cable in ns, rounded up."""
    return -(-cable * 10**9 // METRES_PER_SECOND)


def log2(alpha: float) -> int | None:
    """Exact logarithm of a power of two; `None` for other numbers."""
    mantissa, exponent = math.frexp(alpha)
    return exponent - 1 if mantissa == 0.5 else None


def profile_name(speed: int, cable: int) -> str:
    """Name of the profile that buffermgr looks up, for Mb/s and metres."""
    return f"pg_lossless_{speed}_{cable}m_profile"


def of_profile_name(name: str) -> tuple[int, int] | None:
    """Speed in Mb/s and cable in metres of such a name."""
    match = re.fullmatch(r"pg_lossless_(\d+)_(\d+)m_profile", name)
    return (int(match[1]), int(match[2])) if match else None


def ranges(numbers: Iterable[int]) -> Iterator[str]:
    """Numbers as SONiC's keys: `3`, or `3-4` for neighbours."""
    run: list[int] = []
    for number in [*sorted(numbers), None]:
        if run and number != run[-1] + 1:
            yield str(run[0]) if len(run) == 1 else f"{run[0]}-{run[-1]}"
            run = []
        if number is not None:
            run.append(number)


@dataclass(frozen=True)
class PortNames:
    """Names of a switch's ports."""

    prefix: str = "Ethernet"
    first: int = 0
    step: int = 4
    """Lanes of a port: SONiC counts lanes."""

    @classmethod
    def parsed(cls, text: str) -> PortNames:
        """Read `Ethernet0/8`: name of the first port, and the step between numbers (default 1)."""
        match = re.fullmatch(r"(Ethernet)(\d{1,4})(?:/([1-9]\d?))?", text)
        if match is None:
            allowed = "Ethernet and a number, such as Ethernet0, or Ethernet0/8 where names count by 8"
            raise ScenarioError(f"--port-names {text}: is not the name of a first port; allowed: {allowed}")
        return cls(match[1], int(match[2]), int(match[3] or 1))

    def __getitem__(self, port: int) -> str:
        return f"{self.prefix}{self.first + self.step * port}"
