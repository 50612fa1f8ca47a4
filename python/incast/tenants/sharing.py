"""Sharing of a network by tenants, one row for each scheme."""

from __future__ import annotations

from typing import Any

from incast.charts.source import Source
from incast.fairness import jain
from incast.results import Results
from incast.table import Given, Table
from incast.tenants.guarantees import guarantees
from incast.tenants.window import PAIRS, SKIP, checked, parameters

TOLERANCE = 0.05
"""Largest shortfall from a kept guarantee (our choice, as in the study `elasticswitch`)."""
FIELDS = (
    Given("scheme", "name", None, "scheme"),
    Given("vms", "i64", None, "VMs with a guarantee and traffic to receive"),
    Given(
        "below", "i64", None, f"VMs that received less than {100 - 100 * TOLERANCE:g} % of the guaranteed throughput"
    ),
    Given("least", "f64", None, "lowest received throughput / guaranteed throughput of a VM"),
    Given("wire_bps", "f64", "bit/s", "throughput of all pairs between servers, including headers and interframe gaps"),
    Given("utilisation", "f64", None, "wire_bps / work-conserving optimum (max-min on the links)"),
    Given("jain_vms", "f64", None, "Jain's index of the throughput received by VMs"),
    Given("jain_pairs", "f64", None, "Jain's index of the throughput of pairs with one receiver; mean over receivers"),
    Given("messages", "i64", None, "messages between hypervisors"),
    Given("message_share", "f64", None, "bytes of these messages / bytes of all pairs between servers"),
)


def sharing(results: Results, *, skip: float = SKIP) -> Table:
    """Guarantees, utilisation, fairness and hypervisor messages of each scheme.

    Args:
        results: Results of a scenario with tenants.
        skip: Share of the load to skip at its start, 0 or more and less than 1; messages are of the whole run.

    Raises:
        ResultsError: The scenario has no tenants.
        ValueError: `skip` is out of range.

    """
    source = Source([results])
    checked(source, skip)
    received = [row for row in guarantees(results, skip=skip).dicts() if row["direction"] == "receive"]
    try:
        given = parameters(source, skip)
        pairs = source.rows(
            f"{PAIRS} select scheme, dst, src, any_value(src_server is distinct from dst_server), sum(wire_bytes), "
            "sum(wire_bytes) filter (counts), sum(optimum_bytes) filter (counts) from pairs "
            "group by scheme, dst, src order by all",
            given,
        )
        span = f"{PAIRS} select scheme, max(end_ps) - min(start_ps) from pairs where counts group by scheme"
        spans = dict(source.rows(span, given))
    finally:
        source.close()
    rows = []
    for scheme, manifest in source.manifests.items():
        judged = [row["satisfaction"] for row in received if row["scheme"] == scheme]
        mine = [row for row in pairs if row[0] == scheme]
        counted = [row for row in mine if row[5] is not None]
        far = [row for row in counted if row[3]]
        wire, optimum = sum(row[5] for row in far), sum(row[6] for row in far)
        by_receiver: dict[int, list[float]] = {}
        for row in counted:
            by_receiver.setdefault(row[1], []).append(float(row[5]))
        shared = [jain(each) for each in by_receiver.values() if len(each) > 1 and any(each)]
        everything = sum(row[4] for row in mine if row[3])
        hypervisors: dict[str, Any] = manifest.get("hypervisors") or {}
        rows.append((
            scheme,
            len(judged),
            sum(one < 1 - TOLERANCE for one in judged),
            min(judged, default=None),
            wire * 8e12 / spans[scheme] if spans.get(scheme) else None,
            wire / optimum if optimum else None,
            _jain([sum(each) for each in by_receiver.values()]),
            sum(shared) / len(shared) if shared else None,
            hypervisors.get("messages"),
            hypervisors["message_bytes"] / everything if hypervisors and everything else None,
        ))  # fmt: skip
    return Table.of_rows("sharing", FIELDS, rows)


def _jain(values: list[float]) -> float | None:
    return jain(values) if any(values) else None
