"""What a run found, for people: slowdowns, what tenants got, how each scheme ended, where the results lie."""

from __future__ import annotations

from typing import Any

from incast.cli import codes
from incast.cli.live import simulated
from incast.results import Results

BINS = 10
"""Bins of the table in the terminal."""
SLOWDOWN = "slowdown: completion time over the ideal of the HPCC evaluation, at least 1; sizes in bins of equal count"
BAD = ("deadlock", "stalled")
"""Reasons to stop that are failures."""
DEADLOCKS = 3
"""Deadlocks of a scheme that are told."""


def show(results: Results) -> None:
    """Print the summary of a results folder."""
    if len(results.slowdown(bins=1)):
        print(results.slowdown_text(bins=BINS))
        print(SLOWDOWN + "\n")
    if "throughput" in results.tables:
        from incast.tenants.text import text

        print(text(results) + "\n")
    schemes = results.manifest["schemes"]
    width = max(map(len, schemes), default=0)
    for name, scheme in schemes.items():
        print(f"{name:<{width}}  {scheme['stop']['text']}{lost(scheme)}; {took(scheme)}")
        for told in [*isolation(scheme), *deadlocks(scheme)]:
            print(f"{'':<{width}}  {told}")
    prints = {name: scheme["fingerprint"] for name, scheme in schemes.items() if "fingerprint" in scheme}
    if prints:
        print("\nfingerprints: of every event, of every packet on a wire")
    for name, one in prints.items():
        print(f"{name:<{width}}  {one['trajectory']} {one['traffic']}")
    flows = results.path / "flows.parquet"
    files = [*(f"{table}.parquet" for table in results.tables), "manifest.json", "scenario.toml"]
    print(f"\nresults in {results.path}: {', '.join(files)}")
    print(f'  polars.read_parquet("{flows}")    pandas.read_parquet("{flows}")')
    print(f'  incast.open("{results.path}").flows    incast results {results.path} --table flows')


def lost(scheme: dict[str, Any]) -> str:
    """What failures of links, loops and the PFC watchdog cost a scheme, if anything."""
    counts = scheme["counts"]
    failures = sum(counts.get(f"{reason}_drops", 0) for reason in ("link_down", "silent", "no_route"))
    costs = {
        "lost to failures of links": failures,
        "dropped at the end of their time to live": counts.get("ttl_drops", 0),
        "dropped by the PFC watchdog": counts.get("watchdog_drops", 0),
    }
    return "".join(f", {packets:,} packets {how}" for how, packets in costs.items() if packets)


def lossless_lost(scheme: dict[str, Any]) -> list[str]:
    """What lossless priorities lost at switches, and why: for lack of room, or to the PFC watchdog."""
    watchdog = scheme["counts"].get("watchdog_lossless_drops", 0)
    lines = {
        "were dropped: the headroom failed": scheme["lossless_drops"],
        "were dropped by the PFC watchdog, as it is told to": watchdog,
    }
    return [f"{packets:,} packets of lossless priorities {how}" for how, packets in lines.items() if packets]


def isolation(scheme: dict[str, Any]) -> list[str]:
    """The isolation messages of a scheme, and what its tables had no place for, if there are any."""
    counts = scheme["counts"]
    sent, to_hosts, refused = (
        counts.get(name, 0) for name in ("isolation_messages", "isolation_messages_to_hosts", "isolations_refused")
    )
    if not sent and not refused:
        return []
    text = f"{sent:,} isolation messages (CIP) sent, {to_hosts:,} of them to hosts"
    return [text + (f"; {refused:,} times a table had no place for a flow" if refused else "")]


def deadlocks(scheme: dict[str, Any]) -> list[str]:
    """The first deadlocks of PFC of a scheme, and how many more there were."""
    found = [one["text"] for one in scheme.get("deadlocks", ())]
    more = len(found) - DEADLOCKS
    return found[:DEADLOCKS] + ([f"and {more:,} more (see deadlocks.parquet)"] if more > 0 else [])


def took(scheme: dict[str, Any]) -> str:
    """How long a scheme was simulated, and how long that took."""
    text = f"{simulated(scheme['end_ps'])} simulated in {scheme['cpu_s']:.2f} s"
    # The speed of a moment says nothing.
    return f"{text}, {scheme['packet_hops_per_s'] / 1e6:.1f} M packet-hops/s" if scheme["cpu_s"] > 0.05 else text


def judge(results: Results) -> int:
    """The exit code for what happened in a run; says on stderr what went badly."""
    code = codes.OK
    for name, scheme in results.manifest["schemes"].items():
        if scheme["stop"]["reason"] in BAD:
            codes.complain(f"{name}: {scheme['stop']['text']}")
            code = codes.ENDED_BADLY
        for dropped in lossless_lost(scheme):
            codes.complain(f"{name}: {dropped} (see drops.parquet)")
            code = codes.ENDED_BADLY
    return code
